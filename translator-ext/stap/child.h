/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A child that stands for this process: its output filtered, signals passed on,
 * its end taken for our own.
 *
 *	child_hold_signals();	from here on nothing of ours is left behind
 *	...			temporary files
 *	status = child_run(&child);
 *	...			their removal
 *	return child_end(status);
 */
#ifndef STAPWATCH_CHILD_H
#define STAPWATCH_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "stap/diag.h"

struct child {
	const char *path;
	char **argv;
	int in;			/* what it has for stdin, or -1 for ours */
	bool ours;		/* a stap whose COMMAND's status counts as its own */
	struct diag *err;	/* filters its stderr */
	struct diag *out;	/* and its stdout, or NULL: that is ours */
};

/** child_has_colors - would stap show colours if it had our stderr? */
bool child_has_colors(void);

/** child_hold_signals - no signal ends or stops this process from now on */
void child_hold_signals(void);

/**
 * child_run - run it to its end
 *
 * Who sends a signal to this process means the child, which gets it too; what a
 * terminal sends has reached both.
 *
 * Return: its status, as waitpid() has it, or COMMAND's where that failed; -1 if there is
 * no child, after a message
 */
int child_run(const struct child *child);

/**
 * child_ends_with - in a new child: get SIG when PARENT dies
 *
 * Where PARENT is dead already, this ends the child.
 */
void child_ends_with(pid_t parent, int sig);

/**
 * child_end - end as the child did
 *
 * Return: the status to exit with; none if the child died of a signal
 */
int child_end(int status);

#endif
