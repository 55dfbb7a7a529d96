/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines that are said once; metrics_log.h says what is wanted of it. */
#define _GNU_SOURCE	/* tdestroy() */
#include "cmd/metrics_log.h"

#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/shown.h"

static int by_string(const void *a, const void *b)
{
	return strcmp(a, b);
}

void metrics_log_begin(struct metrics_log *log)
{
	tdestroy(log->before, free);
	log->before = log->now;
	log->now = NULL;
}

void metrics_log_say(struct metrics_log *log, const char *fmt, ...)
{
	struct buf text = { 0 };
	char *line, **node;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	line = buf_take(&text);
	if (!tfind(line, &log->before, by_string) &&
	    !tfind(line, &log->now, by_string))
		shown_line(stderr, "stapwatch metrics: %s", line);
	/* without memory for it, it is said once more */
	node = tsearch(line, &log->now, by_string);
	if (!node || *node != line)
		free(line);
}

void metrics_log_free(struct metrics_log *log)
{
	tdestroy(log->before, free);
	tdestroy(log->now, free);
	*log = (struct metrics_log) { 0 };
}
