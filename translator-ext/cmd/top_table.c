/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of stapwatch top; top_table.h says what is wanted of it. */
#include "cmd/top_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const char *const top_titles[TOP_NR_COLUMNS] = {
	"NAME", "VALUE", "RATE/S", "MIN/CPU", "MAX/CPU", "P50", "P99",
	"HISTOGRAM",
};

/* What is below 0 has no part in quantiles and shape; a short line still tells. */
static void fill_shape(const struct top_row *r, struct top_cells *c)
{
	const char *shape = *r->spark ? r->spark : "-";

	if (r->negative)
		snprintf(c->shape, sizeof(c->shape), "%" PRIu64 " below 0, %s",
			 r->negative, shape);
	else
		snprintf(c->shape, sizeof(c->shape), "%s", shape);
}

void top_cells(const struct top_row *r, struct top_cells *c)
{
	char (*n)[32] = c->numbers;
	size_t i;

	for (i = TOP_VALUE; i < TOP_SHAPE; i++)
		c->text[i] = n[i];
	snprintf(n[TOP_VALUE], sizeof(*n), "%" PRId64, r->value);
	strcpy(n[TOP_RATE], "-");
	if (r->has_rate)
		snprintf(n[TOP_RATE], sizeof(*n), "%.1f", r->rate);
	snprintf(n[TOP_MIN], sizeof(*n), "%" PRId64, r->min);
	snprintf(n[TOP_MAX], sizeof(*n), "%" PRId64, r->max);
	strcpy(n[TOP_P50], "-");
	strcpy(n[TOP_P99], "-");
	if (r->has_quantiles) {
		snprintf(n[TOP_P50], sizeof(*n), "%" PRIu64, r->p50);
		snprintf(n[TOP_P99], sizeof(*n), "%" PRIu64, r->p99);
	}
	c->text[TOP_NAME] = r->name;
	fill_shape(r, c);
	c->text[TOP_SHAPE] = c->shape;
}

static void plain_line(struct buf *out, const char *const *text)
{
	size_t i;

	for (i = 0; i < TOP_NR_COLUMNS; i++)
		buf_printf(out, "%s%s", i ? "\t" : "", text[i]);
	buf_puts(out, "\n");
}

void top_table(const struct top_rows *r, struct buf *out)
{
	struct top_cells c;
	size_t i;

	plain_line(out, top_titles);
	for (i = 0; i < r->nr; i++) {
		top_cells(&r->all[i], &c);
		plain_line(out, c.text);
	}
}
