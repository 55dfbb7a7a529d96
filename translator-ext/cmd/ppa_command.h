/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A command that stapwatch ppa runs while it looks. */
#ifndef STAPWATCH_PPA_COMMAND_H
#define STAPWATCH_PPA_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct ppa_command {
	char **argv;		/* NULL after the last; NULL: there is none */
	pid_t pid;
	bool ended;
	int status;		/* as a shell has it, when it has ended */
};

/** ppa_command_is_there - would a shell find a program of that name? */
bool ppa_command_is_there(const char *name);

/** ppa_command_start - run it; 0, or -1 after a message, with its status set */
int ppa_command_start(struct ppa_command *c);

/**
 * ppa_command_wait - for so long, or until it ends, or SIGINT or SIGTERM comes
 * @c: one that was not started does not end
 * @seconds: 0: without a limit
 * @stopped: is set by these signals, and by a handler of theirs at other times
 */
void ppa_command_wait(struct ppa_command *c, double seconds,
		      volatile sig_atomic_t *stopped);

/**
 * ppa_command_end - have it end, if it has not, which is no failure of its own
 *
 * One that does not end within two seconds goes on, after a message.
 */
void ppa_command_end(struct ppa_command *c);

#endif
