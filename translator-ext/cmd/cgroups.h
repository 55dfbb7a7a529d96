/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The file system of cgroups of version 2, where it is mounted. */
#ifndef STAPWATCH_CGROUPS_H
#define STAPWATCH_CGROUPS_H

/**
 * cgroups_open - the directory where it is mounted
 * @dir: gets its path; of PATH_MAX bytes
 *
 * Return: open; -1 if there is none
 */
int cgroups_open(char *dir);

/**
 * cgroups_check - may there be a cgroup of this path?
 * @who: the command, for the message
 *
 * Where only a part of the file system can be seen, there may.
 *
 * Return: 0; -1 if there is none for certain, after a message
 */
int cgroups_check(const char *who, const char *path);

#endif
