/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a map calls a counter, as OpenMetrics has names: vfs.read{dev="sda"} is a
 * metric family, vfs_read, and labels.
 */
#ifndef STAPWATCH_METRICS_NAME_H
#define STAPWATCH_METRICS_NAME_H

#include "base/buf.h"
#include "lib/stapwatch.h"

struct metrics_label {
	char *name;
	char *value;
};

struct metrics_name {
	char *shown;		/* the family as the map has it */
	char *family;
	struct metrics_label *labels;	/* sorted by their names */
	size_t nr;
};

/**
 * metrics_name_parse - what a map's name says, in OpenMetrics' letters
 * @p: gets it; metrics_name_free() frees it
 *
 * A name with braces that hold no labels is a name all through.
 */
void metrics_name_parse(const char *name, enum stapwatch_kind kind,
			struct metrics_name *p);
void metrics_name_free(struct metrics_name *p);

/** metrics_name_labels - name="value",..., escaped; to be freed */
char *metrics_name_labels(const struct metrics_name *p);

/**
 * metrics_escape - text between quotes, or in a line of help
 * @quote: what a double quote is written as
 */
void metrics_escape(struct buf *out, const char *s, const char *quote);

#endif
