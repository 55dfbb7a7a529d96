/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process between a subcommand and its stap; own.h says what is wanted of it. */
#define _GNU_SOURCE	/* closefrom() */
#include "stap/own.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "stap/child.h"
#include "stap/diag.h"
#include "stap/status.h"
#include "stap/tapsets.h"

bool own_has_terminal(char *const *args)
{
	if (!isatty(STDERR_FILENO))
		return false;
	for (; *args; args++)
		if (!strcmp(*args, "-c"))
			return true;
	return false;
}

/* What it has of a subcommand is not for who goes on without being another program; what
 * nobody handles, as nohup's, stays so. */
static void forget_parent(void)
{
	static const int handled[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction act;
	size_t i;

	for (i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		if (!sigaction(handled[i], NULL, &act) &&
		    act.sa_handler != SIG_IGN)
			signal(handled[i], SIG_DFL);
	closefrom(STDERR_FILENO + 1);
}

static char **own_argv(char *const *args, bool filtered)
{
	const char *tapsets = tapsets_option();
	int n = 0, i = 0;
	char **argv;

	while (args[i])
		i++;
	argv = xmalloc((i + 5) * sizeof(*argv));
	argv[n++] = "stap";
	if (tapsets) {
		argv[n++] = "-I";
		argv[n++] = (char *)tapsets;
	}
	/* behind a pipe it would not see the terminal */
	if (filtered && child_has_colors())
		argv[n++] = "--color=always";
	for (i = 0; args[i]; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	return argv;
}

void own_stap(const char *path, char *const *args, pid_t parent, int sig)
{
	struct child child = { .path = path, .in = -1, .ours = true };
	const bool filtered = !own_has_terminal(args);

	child.argv = own_argv(args, filtered);
	if (filtered)
		child_hold_signals();
	forget_parent();
	/* a stap that outlived its parent would stay for good, and its module */
	child_ends_with(parent, sig);
	if (filtered) {
		child.err = diag_new(NULL, 0, false);
		_exit(child_end(child_run(&child)));
	}
	execv(path, child.argv);
	shown_line(stderr, "stapwatch: %s: %s", path, strerror(errno));
	_exit(RUN_CANNOT);
}
