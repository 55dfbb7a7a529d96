/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How stap's COMMAND of -c ended, by what stap says of it. */
#ifndef STAPWATCH_ENDED_H
#define STAPWATCH_ENDED_H

#include <stdbool.h>
#include <stddef.h>

struct ended {
	int status;		/* as a shell has it; 0: nothing has been said */
	bool failed;		/* stap has said that something of its own did */
};

/**
 * ended_note - look at a line of stap's
 * @line: without its newline; need not end in a NUL
 */
void ended_note(struct ended *e, const char *line, size_t len);

#endif
