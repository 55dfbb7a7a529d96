/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stap that runs a script of ours, beside the subcommand that wrote it. */
#ifndef STAPWATCH_OWN_H
#define STAPWATCH_OWN_H

#include <stdbool.h>
#include <sys/types.h>

/**
 * own_has_terminal - does stap get the terminal itself for its stderr?
 * @args: as of own_stap()
 *
 * COMMAND shares stap's stderr, and may be an editor or a shell.
 */
bool own_has_terminal(char *const *args);

/**
 * own_stap - in a new child: run stap, filter what it says, and end as it did
 * @path: the stap
 * @args: its arguments, after those that say where our tapsets are; NULL after the last
 * @parent: who has this child
 * @sig: what stap gets when @parent dies, as it gets what is sent to this child
 *
 * Where stap's COMMAND failed, the status is COMMAND's.  Where stap has the terminal, what it
 * says is not filtered, and its status is its own.
 */
void __attribute__((noreturn))
own_stap(const char *path, char *const *args, pid_t parent, int sig);

#endif
