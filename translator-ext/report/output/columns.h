/* SPDX-License-Identifier: GPL-2.0-or-later */
/* By what a report can be made: --by comm,image,symbol. */
#ifndef STAPWATCH_COLUMNS_H
#define STAPWATCH_COLUMNS_H

#include "base/buf.h"
#include "report/output/view.h"

#define COLUMNS_MAX 16

struct column {
	const char *name;
	const char *title;
	unsigned int fields;	/* PROFILE_... that it takes */
	uint32_t (*text)(struct view *v, const struct cell_key *key);
	bool is_number;
};

struct columns {
	const struct column *list[COLUMNS_MAX];
	size_t nr;
	unsigned int fields;
};

/**
 * columns_parse - names of columns with commas between them
 * @why: what is wrong, a line without its end
 *
 * Return: 0, or -1
 */
int columns_parse(const char *by, struct columns *columns, struct buf *why);

/** columns_add_trace - tell traces apart, in the first column, if no other does */
void columns_add_trace(struct columns *columns);

/** columns_names - all names there are, with commas between them */
void columns_names(struct buf *out);

#endif
