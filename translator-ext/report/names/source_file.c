/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of sources; source_file.h says what is wanted of it. */
#include "report/names/source_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/foreign.h"
#include "base/intern.h"

#define LONGEST (16 << 20)	/* bytes of a file */

static int read_from(const char *path, const char *root, uid_t writer,
		     struct buf *text)
{
	const struct foreign_rule rule = {
		.root = root, .most = LONGEST, .reader = writer,
	};

	return foreign_read(path, &rule, text);
}

void source_file_read(const char *path, const char *root, uid_t writer,
		      struct source_file *f, size_t *room, struct buf *why)
{
	struct buf text = { 0 };
	char *rest, *line;

	*f = (struct source_file) { 0 };
	if ((!root || read_from(path, root, writer, &text)) &&
	    read_from(path, NULL, writer, &text)) {
		if (errno == ENOENT || errno == ENOTDIR)
			buf_puts(why, "it is not there");
		else if (errno == EACCES && writer)
			buf_puts(why, "who wrote the program may not read it");
		else
			buf_puts(why, foreign_error(errno));
		return;
	}
	if (text.len > *room) {
		buf_puts(why, "the files before it take all room");
		free(text.s);
		return;
	}
	*room -= text.len;
	f->text = rest = buf_take(&text);
	while ((line = strsep(&rest, "\n"))) {
		line[strcspn(line, "\r")] = '\0';
		f->lines = array_room(f->lines, &f->size, f->nr + 1,
				      sizeof(*f->lines));
		f->lines[f->nr++] = line;
	}
	*room -= f->nr * sizeof(*f->lines) < *room ?
		 f->nr * sizeof(*f->lines) : *room;
}

void source_file_free(struct source_file *f)
{
	free(f->lines);
	free(f->text);
}

const char *source_file_line(const struct source_file *f, size_t nr)
{
	return nr && nr <= f->nr ? f->lines[nr - 1] : "";
}
