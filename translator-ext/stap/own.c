/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process between a subcommand and its stap; own.h says what is wanted of it. */
#include "stap/own.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "stap/child.h"
#include "stap/diag.h"
#include "stap/tapsets.h"

static char **own_argv(char *const *args)
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
	if (child_has_colors())
		argv[n++] = "--color=always";
	for (i = 0; args[i]; i++)
		argv[n++] = args[i];
	argv[n] = NULL;
	return argv;
}

void own_stap(const char *path, char *const *args, pid_t parent, int sig)
{
	struct child child = { .path = path, .in = -1, .ours = true };

	child_hold_signals();
	/* a stap that outlived its parent would stay for good, and its module */
	child_ends_with(parent, sig);
	child.argv = own_argv(args);
	child.err = diag_new(NULL, 0, false);
	_exit(child_end(child_run(&child)));
}
