/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "WARNING: Child process exited with status 7", or "with signal 15 (Terminated)": with
 * either, stap ends with 1.
 */
#define _GNU_SOURCE	/* memmem() */
#include "stap/ended.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* ERROR: begins a line of stap's, in colours perhaps; what COMMAND says of errors is its own. */
static bool is_error(const char *line, size_t len)
{
	static const char error[] = "ERROR:";

	while (len && *line == '\033') {
		const char *end = memchr(line, 'm', len);

		if (!end)
			return false;
		len -= end + 1 - line;
		line = end + 1;
	}
	return len >= strlen(error) && !memcmp(line, error, strlen(error));
}

void ended_note(struct ended *e, const char *line, size_t len)
{
	static const char said[] = "Child process exited with ";
	/* what COMMAND said last may have no newline, and stand before */
	const char *at = memmem(line, len, said, strlen(said));
	unsigned int n;
	char text[64];
	int end = 0;

	e->failed |= is_error(line, len);
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
