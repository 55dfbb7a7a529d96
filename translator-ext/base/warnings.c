/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings; warnings.h says what is wanted of it. */
#include "base/warnings.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/shown.h"

struct warning {
	enum warning_of of;
	double share;
	size_t nr;		/* in the order in which they came */
	char *text;
};

double warnings_share(uint64_t part, uint64_t whole)
{
	return part < whole ? (double)part / whole : 1;
}

void warnings_add(struct warnings *w, enum warning_of of, double share,
		  const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	w->all = array_room(w->all, &w->size, w->nr + 1, sizeof(*w->all));
	w->all[w->nr] = (struct warning) {
		of, share, w->nr, buf_take(&text),
	};
	w->nr++;
}

static int by_concern(const void *a, const void *b)
{
	const struct warning *x = a, *y = b;

	if (x->of != y->of)
		return x->of < y->of ? -1 : 1;
	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return (x->nr > y->nr) - (x->nr < y->nr);
}

void warnings_print(struct warnings *w, const char *command, FILE *out)
{
	struct intern said = { 0 };
	size_t i;

	if (w->nr)
		qsort(w->all, w->nr, sizeof(*w->all), by_concern);
	for (i = 0; i < w->nr; i++) {
		const uint32_t before = said.nr;

		if (intern_string(&said, w->all[i].text) == before)
			shown_line(out, "%s: %s", command, w->all[i].text);
		free(w->all[i].text);
	}
	intern_free(&said);
	free(w->all);
	*w = (struct warnings) { 0 };
}
