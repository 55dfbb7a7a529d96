/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A stap that answers in lines; ask.h. */
#define _GNU_SOURCE	/* pipe2() */
#include "stap/ask.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its stdout; NULL if it cannot be started. */
static FILE *start(const char *path, char *const argv[], pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int ends[2], err;

	if (pipe2(ends, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
					 O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
					 O_WRONLY, 0);
	err = posix_spawn(pid, path, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (!err)
		return fdopen(ends[0], "r");
	close(ends[0]);
	return NULL;
}

int ask_stap(const char *path, char *const argv[],
	     void (*on_line)(void *data, const char *line), void *data)
{
	char *line = NULL;
	size_t size = 0;
	pid_t pid;
	FILE *out = start(path, argv, &pid);

	if (!out)
		return -1;
	while (getline(&line, &size, out) > 0) {
		line[strcspn(line, "\n")] = '\0';
		on_line(data, line);
	}
	free(line);
	fclose(out);
	waitpid(pid, NULL, 0);
	return 0;
}
