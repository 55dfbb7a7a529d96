/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings; warnings.h says what is wanted of it. */
#include "base/warnings.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/intern.h"
#include "base/shown.h"

struct warning {
	enum warning_of of;
	double share;
	size_t nr;		/* in the order in which they came */
	uint64_t samples;	/* of a note; 0: it is none */
	bool is_few;
	char *text;
};

/* Notes of less than this are left out. */
#define FEW 0.01

double warnings_share(uint64_t part, uint64_t whole)
{
	return part < whole ? (double)part / whole : 1;
}

static void add(struct warnings *w, enum warning_of of, double share,
		uint64_t samples, const char *fmt, va_list args)
{
	struct buf text = { 0 };

	buf_vprintf(&text, fmt, args);
	w->all = array_room(w->all, &w->size, w->nr + 1, sizeof(*w->all));
	w->all[w->nr] = (struct warning) {
		.of = of,
		.share = share,
		.nr = w->nr,
		.samples = samples,
		.text = buf_take(&text),
	};
	w->nr++;
}

void warnings_add(struct warnings *w, enum warning_of of, double share,
		  const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(w, of, share, 0, fmt, args);
	va_end(args);
}

void warnings_note(struct warnings *w, enum warning_of of, uint64_t samples,
		   uint64_t whole, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add(w, of, warnings_share(samples, whole), samples, fmt, args);
	va_end(args);
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

/* Those that are alike become one. */
static void merge(struct warnings *w)
{
	struct intern said = { 0 };
	size_t i, nr = 0;

	for (i = 0; i < w->nr; i++) {
		const uint32_t before = said.nr;

		if (intern_string(&said, w->all[i].text) == before)
			w->all[nr++] = w->all[i];
		else
			free(w->all[i].text);
	}
	w->nr = nr;
	intern_free(&said);
}

/* Together they are to be few: the last ones have the least shares. */
static void find_few(struct warnings *w)
{
	double sum = 0;
	size_t i;

	w->few = 0;
	w->few_samples = 0;
	for (i = w->all_told ? 0 : w->nr; i-- > 0;) {
		struct warning *one = &w->all[i];

		one->is_few = one->samples && sum + one->share < FEW;
		if (!one->is_few)
			continue;
		sum += one->share;
		w->few++;
		w->few_samples += one->samples;
	}
}

static void sort(struct warnings *w)
{
	if (w->nr)
		qsort(w->all, w->nr, sizeof(*w->all), by_concern);
	merge(w);
	find_few(w);
}

void warnings_print_numbers(struct warnings *w, const char *command, FILE *out)
{
	size_t i, nr = 0;

	sort(w);
	for (i = 0; i < w->nr; i++) {
		if (w->all[i].of != WARNING_NUMBERS || w->all[i].is_few) {
			w->all[nr++] = w->all[i];
			continue;
		}
		shown_line(out, "%s: %s", command, w->all[i].text);
		free(w->all[i].text);
	}
	w->nr = nr;
}

void warnings_print(struct warnings *w, const char *command, FILE *out)
{
	size_t i;

	sort(w);
	for (i = 0; i < w->nr; i++) {
		if (!w->all[i].is_few)
			shown_line(out, "%s: %s", command, w->all[i].text);
		free(w->all[i].text);
	}
	free(w->all);
	w->all = NULL;
	w->nr = w->size = 0;
	if (w->few)
		shown_line(out, "%s: %zu notes on at most %" PRIu64 " of %" PRIu64 " samples; -v shows them",
			   command, w->few, w->few_samples, w->samples);
}

void warnings_drop(struct warnings *w)
{
	size_t i;

	for (i = 0; i < w->nr; i++)
		free(w->all[i].text);
	free(w->all);
	*w = (struct warnings) { .all_told = w->all_told };
}
