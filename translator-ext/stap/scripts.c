/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The scripts of a command line; scripts.h says what is wanted of them. */
#include "stap/scripts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "stap/facts.h"

static int read_all(int fd, struct buf *b)
{
	char bytes[65536];
	ssize_t n;

	for (;;) {
		n = read(fd, bytes, sizeof(bytes));
		if (n == 0)
			return 0;
		if (n > 0)
			buf_add(b, bytes, n);
		else if (errno != EINTR)
			return -1;
	}
}

/* Leaves stdin where it was, where that can be done. */
static int read_stdin(struct script *s, struct buf *b)
{
	off_t start = lseek(STDIN_FILENO, 0, SEEK_CUR);

	if (read_all(STDIN_FILENO, b))
		return -1;
	s->consumed = start < 0 ||
		      lseek(STDIN_FILENO, start, SEEK_SET) != start;
	return 0;
}

static int read_file(struct script *s, const char *path, struct buf *b)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	int err;

	if (fd < 0)
		return -1;
	err = fstat(fd, &st) || read_all(fd, b);
	/* a fifo, as of a shell's <(...), gives its text only once */
	s->consumed = !err && !S_ISREG(st.st_mode);
	if (err)
		err = errno;
	close(fd);
	errno = err;
	return err ? -1 : 0;
}

static int read_script(struct script *s, const struct options *opts)
{
	const char *value = options_value(opts, &s->at);
	struct buf b = { 0 };
	int err = 0;

	switch (s->kind) {
	case SCRIPT_FILE:
		err = read_file(s, value, &b);
		break;
	case SCRIPT_STDIN:
		err = read_stdin(s, &b);
		break;
	case SCRIPT_TEXT:
	case SCRIPT_EXTRA:
		buf_puts(&b, value);
		break;
	}
	s->len = b.len;
	s->text = buf_take(&b);
	return err;
}

/* @nth: which of the -E */
static char *script_name(const struct script *s, const struct options *opts,
			 unsigned int nth)
{
	struct buf b = { 0 };

	if (s->kind == SCRIPT_FILE)
		buf_puts(&b, options_value(opts, &s->at));
	else if (s->kind == SCRIPT_EXTRA)
		buf_printf(&b, "<input%u>", nth);
	else
		buf_puts(&b, "<input>");
	return buf_take(&b);
}

static int load(struct script *s, const struct options *opts, bool must_read)
{
	if (!read_script(s, opts))
		return 0;
	s->unread = true;
	if (!must_read)
		return 0;
	shown_line(stderr, "stapwatch: %s: %s; give a script that can be read",
		   s->name, strerror(errno));
	return -1;
}

/* All of them have been read: a global of one is that of all. */
static int lower_all(struct script_list *list, struct lower_options *how)
{
	struct lower_globals globals = { 0 };
	int err = 0;
	size_t i;

	for (i = 0; i < list->nr; i++)
		if (!list->scripts[i].unread)
			lower_globals_add(&globals, list->scripts[i].text,
					  list->scripts[i].len, how);
	how->globals = &globals;
	for (i = 0; i < list->nr; i++) {
		struct script *s = &list->scripts[i];

		if (s->unread)
			continue;
		how->index = i;
		/* on after an error: all of them in one go */
		if (lower_script(s->name, s->text, s->len, how, &s->lowered,
				 stderr)) {
			s->unread = true;
			err = -1;
		} else {
			list->changed |= s->lowered.changed;
			how->first_native += s->lowered.nr_natives;
		}
	}
	lower_globals_free(&globals);
	return err;
}

int scripts_load(const struct options *opts, bool must_read,
		 struct script_list *list)
{
	unsigned int nr_extra = 0;
	struct facts facts;
	struct lower_options how = {
		.pmu = opts->pmu,
		.args = { opts->args, opts->nr_args },
		.facts = &facts.for_scripts,
	};
	int err = 0;

	facts_find(opts, &facts);
	*list = (struct script_list) {
		.scripts = xmalloc(opts->nr_scripts * sizeof(*list->scripts)),
	};
	for (size_t i = 0; i < opts->nr_scripts; i++) {
		struct script *s = &list->scripts[i];

		*s = (struct script) {
			.kind = opts->scripts[i].kind,
			.at = opts->scripts[i].at,
		};
		if (s->kind == SCRIPT_EXTRA)
			nr_extra++;
		s->name = script_name(s, opts, nr_extra);
		list->nr++;
		err |= load(s, opts, must_read);
	}
	err |= lower_all(list, &how);
	facts_free(&facts);
	if (err)
		scripts_free(list);
	return err;
}

void scripts_free(struct script_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct script *s = &list->scripts[i];

		free(s->name);
		free(s->text);
		if (!s->unread)
			lowered_free(&s->lowered);
	}
	free(list->scripts);
	*list = (struct script_list) { 0 };
}

char *scripts_point(const struct options *opts)
{
	struct facts facts;
	struct lower_options how = {
		.pmu = opts->pmu,
		.args = { opts->args, opts->nr_args },
		.facts = &facts.for_scripts,
	};
	char *point;

	facts_find(opts, &facts);
	point = lower_point(options_value(opts, &opts->point), &how, stderr);
	facts_free(&facts);
	return point;
}
