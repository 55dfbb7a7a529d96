/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace's marks; marks.h says what is wanted of them. */
#include "report/input/marks.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/intern.h"

void marks_add(struct marks *m, const struct sw_trace_note *r, uint32_t trace,
	       uint64_t ns)
{
	struct buf name = { 0 };

	buf_puts(&name, r->name);
	m->list = array_room(m->list, &m->size, m->nr + 1, sizeof(*m->list));
	m->list[m->nr] = (struct mark) {
		.ns = ns,
		.pid = r->pid,
		.tid = r->tid,
		.cpu = r->r.cpu,
		.trace = trace,
		.order = m->nr,
		.name = buf_take(&name),
	};
	m->nr++;
}

static int compare(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

void marks_sort(struct marks *m)
{
	if (m->nr)
		qsort(m->list, m->nr, sizeof(*m->list), compare);
}

void marks_free(struct marks *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++)
		free(m->list[i].name);
	free(m->list);
}
