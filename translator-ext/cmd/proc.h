/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What /proc tells of processes and threads. */
#ifndef STAPWATCH_PROC_H
#define STAPWATCH_PROC_H

#include <stdbool.h>
#include <stdint.h>

/**
 * proc_is_here - is what a session sees on this machine?
 *
 * Where SYSTEMTAP_RELEASE asks stap for another kernel's module, it is not.
 */
bool proc_is_here(void);

/** proc_is_in - are we in this namespace, "pid:[NUMBER]" or another kind? */
bool proc_is_in(const char *namespace);

/** proc_path - a file's path below /proc, to be freed */
char *proc_path(const char *file);

/** proc_path_of - the same of a process or a thread */
char *proc_path_of(uint64_t id, const char *file);

/**
 * proc_check_target - are there the process and the thread of -p and -t?
 * @who: the command, for the message
 * @pid: a process's number, or 0
 * @tid: a thread's number, or 0
 *
 * Return: 0, also where /proc does not have all of them; -1 after a message
 */
int proc_check_target(const char *who, uint64_t pid, uint64_t tid);

#endif
