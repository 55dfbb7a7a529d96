/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stap is run, and whether it is new enough. */
#ifndef STAPWATCH_FIND_H
#define STAPWATCH_FIND_H

#include <stdbool.h>

/** find_stap - the path of the stap to run, to be freed; NULL after a message */
char *find_stap(void);

/**
 * find_our_stap - the same, where our tapsets are used
 * @modules: it will make modules for the kernel
 * @release: that kernel's, or NULL; as for pairs_fit()
 *
 * It must not be too old, make modules that the kernel loads, and the tapsets must be of
 * this version.  Nothing is said of modules where @release is NULL and stap has a file of
 * options, which may name another kernel or runtime.
 */
char *find_our_stap(bool modules, const char *release);

/** find_rc - has stap a file of options, which may say anything? */
bool find_rc(void);

/** find_version - what the stap at PATH says it is, to be freed; or NULL */
char *find_version(const char *path);

#endif
