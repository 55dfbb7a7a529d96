/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The files that the kernel's modules are loaded from. */
#ifndef STAPWATCH_MODULE_FILE_H
#define STAPWATCH_MODULE_FILE_H

/**
 * module_file_find - the file of a module among those of a kernel
 * @root: the directory that they are below, or ""
 * @release: the kernel's
 * @name: the module's; its file may have - for _, and be compressed
 * @try: is called for each that has the name; a number that is not negative is
 *	the end
 *
 * Return: what @try returned last, or -1
 */
int module_file_find(const char *root, const char *release, const char *name,
		     int (*try)(void *arg, const char *path), void *arg);

#endif
