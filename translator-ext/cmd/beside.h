/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stap as a child, for commands that write a script and read what it says. */
#ifndef STAPWATCH_BESIDE_H
#define STAPWATCH_BESIDE_H

#include <stdbool.h>

struct beside {
	const char *who;		/* the subcommand, for messages */
	char *const *args;		/* of stap, NULL after the last */
	const char *script;
	/* gets each whole line; below 0: it failed, above 0: it has enough */
	int (*on_line)(void *data, const char *line);
	void *data;
	bool *stopped;			/* somebody has asked us to end; or NULL */
};

/**
 * beside_run - run stap until it ends
 *
 * Who asks us to end asks stap, too, whose script then says the rest.  A line "command N"
 * of it is how COMMAND ended, as waitpid() has it, and is no line for on_line().
 *
 * Return: stap's exit status, or COMMAND's where that failed; 0 where on_line() had
 * enough; 1 where it failed, or after a message; RUN_NO_STAP where there is no stap
 */
int beside_run(const struct beside *with);

#endif
