/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How stap's COMMAND of -c ended, and its output, by what stap says of them. */
#ifndef STAPWATCH_ENDED_H
#define STAPWATCH_ENDED_H

#include <stdbool.h>
#include <stddef.h>

struct ended {
	int status;		/* as a shell has it; 0: nothing has been said */
	bool failed;		/* stap has said that something of its own did */
	bool unwritten;		/* output was lost, as it could not be written */
};

/**
 * ended_note - look at a line of stap's
 * @line: without its newline; need not end in a NUL
 */
void ended_note(struct ended *e, const char *line, size_t len);

/**
 * ended_unwritten - is it stap's line that it could not write the script's output?
 *
 * It says so again for each part of that, and ends with 0.
 *
 * Return: where the reason stands in the line, from there to its end; NULL if not
 */
const char *ended_unwritten(const char *line, size_t len);

#endif
