/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of functions; latency_parts.h. */
#include "cmd/latency_parts.h"

#ifdef HAVE_LIBDW

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "cmd/latency.h"

void latency_parts_add(struct latency_parts *p, const char *name,
		       const struct latency_code *code)
{
	p->all = array_room(p->all, &p->room, p->nr + 1, sizeof(*p->all));
	p->all[p->nr++] = (struct latency_part) {
		.name = xstrndup(name, strstr(name, LATENCY_PART) - name),
		.code = *code,
	};
}

static int by_name(const void *a, const void *b)
{
	const struct latency_part *x = a, *y = b;

	return strcmp(x->name, y->name);
}

void latency_parts_sort(struct latency_parts *p)
{
	if (p->nr)
		qsort(p->all, p->nr, sizeof(*p->all), by_name);
}

static int is_of_name(const void *name, const void *part)
{
	return strcmp(name, ((const struct latency_part *)part)->name);
}

void latency_parts_symbol(struct latency_parts *p, const char *name,
			  uint64_t addr)
{
	struct latency_part *part, *end = p->all + p->nr;

	part = p->nr ? bsearch(name, p->all, p->nr, sizeof(*part), is_of_name) :
		       NULL;
	if (!part)
		return;
	while (part > p->all && !strcmp(part[-1].name, name))
		part--;
	for (; part < end && !strcmp(part->name, name); part++)
		part->of = addr;
}

size_t latency_parts_of(const struct latency_parts *p, uint64_t addr,
			struct latency_code *code, size_t most)
{
	size_t i, nr = 0;

	for (i = 0; i < p->nr; i++) {
		if (p->all[i].of != addr)
			continue;
		if (nr < most)
			code[nr] = p->all[i].code;
		nr++;
	}
	return nr;
}

void latency_parts_free(struct latency_parts *p)
{
	size_t i;

	for (i = 0; i < p->nr; i++)
		free(p->all[i].name);
	free(p->all);
}

#endif
