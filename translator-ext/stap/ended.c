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

void ended_note(struct ended *e, const char *line, size_t len)
{
	static const char said[] = "Child process exited with ", error[] = "ERROR:";
	/* what COMMAND said last may have no newline, and stand before */
	const char *at = memmem(line, len, said, strlen(said));
	unsigned int n;
	char text[64];
	int end = 0;

	e->failed |= !!memmem(line, len, error, strlen(error));
	if (!at)
		return;
	at += strlen(said);
	snprintf(text, sizeof(text), "%.*s", (int)(line + len - at), at);
	if (sscanf(text, "status %3u%n", &n, &end) == 1 && !text[end])
		e->status = n;
	/* a COMMAND that cannot begin, as the module failed, gets that from stap */
	else if (sscanf(text, "signal %3u (%n", &n, &end) == 1 && end &&
		 !(n == SIGKILL && e->failed))
		e->status = 128 + n;
}
