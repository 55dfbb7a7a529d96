/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "WARNING: Child process exited with status 7", or "with signal 15 (Terminated)": with
 * either, stap ends with 1.
 */
#define _GNU_SOURCE	/* memmem() */
#include "stap/ended.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "stap/span.h"

static struct span skip_colours(struct span t)
{
	return rest(t, colours(t));
}

/* ERROR: begins a line of stap's, in colours perhaps; what COMMAND says of errors is its own.
 * *after: what stands there then. */
static bool is_error(struct span t, struct span *after)
{
	static const char error[] = "ERROR:";

	t = skip_colours(t);
	if (!starts(t, error))
		return false;
	*after = skip_colours(rest(t, strlen(error)));
	return true;
}

const char *ended_unwritten(const char *line, size_t len)
{
	static const char said[] = " error writing output: ";
	struct span t = { line, len };

	if (!is_error(t, &t) || !starts(t, said))
		return NULL;
	/* who reads it has enough */
	t = rest(t, strlen(said));
	return starts(t, strerror(EPIPE)) ? NULL : t.s;
}

void ended_note(struct ended *e, const char *line, size_t len)
{
	static const char said[] = "Child process exited with ";
	/* what COMMAND said last may have no newline, and stand before */
	const char *at = memmem(line, len, said, strlen(said));
	struct span t = { line, len };
	unsigned int n;
	char text[64];
	int end = 0;

	e->failed |= is_error(t, &t);
	e->unwritten |= ended_unwritten(line, len) != NULL;
	if (!at)
		return;
	at += strlen(said);
	snprintf(text, sizeof(text), "%.*s", (int)(line + len - at), at);
	if (sscanf(text, "status %3u%n", &n, &end) == 1 && !text[end] &&
	    n <= 255)
		e->status = n;
	/* a COMMAND that cannot begin, as the module failed, gets that from stap */
	else if (sscanf(text, "signal %3u (%n", &n, &end) == 1 && end &&
		 n < NSIG && !(n == SIGKILL && e->failed))
		e->status = 128 + n;
}
