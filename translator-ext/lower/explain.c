/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --explain prints: what each probe point became, and what is counted. */
#include "lower/lowering.h"

#include <inttypes.h>

void explain_point(struct lowering *l, const struct point *p)
{
	const struct token *t = &l->s.t.tok[p->begin];

	buf_printf(&l->explain, "%s:%u:%u: ", l->name, t->line, t->column);
	edit_copy(l, p->begin, p->end, &l->explain);
	buf_puts(&l->explain, "\n");
}

void explain_became(struct lowering *l, const struct point *p,
		    const char *stands_for, size_t parts)
{
	size_t k;

	buf_printf(&l->explain, "\tprobed: %s", stands_for);
	for (k = parts; k < p->nr_parts; k++) {
		if (p->parts[k].kind != PART_OTHER)
			continue;
		buf_puts(&l->explain, ".");
		edit_copy(l, p->parts[k].begin, p->parts[k].end, &l->explain);
	}
	buf_puts(&l->explain, "\n");
}

void explain_attr(struct lowering *l, const struct event_attr *a)
{
	buf_printf(&l->explain, "type %" PRIu32 ", config 0x%" PRIx64, a->type,
		   a->config);
	if (a->config1)
		buf_printf(&l->explain, ", config1 0x%" PRIx64, a->config1);
	if (a->config2)
		buf_printf(&l->explain, ", config2 0x%" PRIx64, a->config2);
	if (a->config3)
		buf_printf(&l->explain, ", config3 0x%" PRIx64, a->config3);
	if (a->config4)
		buf_printf(&l->explain, ", config4 0x%" PRIx64, a->config4);
	if (a->exclude_user)
		buf_puts(&l->explain, ", exclude_user");
	if (a->exclude_kernel)
		buf_puts(&l->explain, ", exclude_kernel");
	if (a->exclude_hv)
		buf_puts(&l->explain, ", exclude_hv");
	if (a->exclude_idle)
		buf_puts(&l->explain, ", exclude_idle");
	if (a->exclude_host)
		buf_puts(&l->explain, ", exclude_host");
	if (a->exclude_guest)
		buf_puts(&l->explain, ", exclude_guest");
	if (a->precise_ip)
		buf_printf(&l->explain, ", precise_ip %u", a->precise_ip);
	if (a->sample_type)
		buf_printf(&l->explain, ", sample_type 0x%" PRIx64,
			   a->sample_type);
}
