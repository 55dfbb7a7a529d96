/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A session of precise process accounting for stapwatch ppa: one that is there,
 * or one of its own, which ends with it.
 */
#ifndef STAPWATCH_PPA_SESSION_H
#define STAPWATCH_PPA_SESSION_H

#include <signal.h>

#include "cmd/ppa_files.h"

/**
 * ppa_session_begin - find or start one
 * @named: a module, or a directory with the files; NULL: any
 * @extra: one that has its file
 * @threads: how many one of its own is to have room for, and no other will do; 0:
 *	as this machine wants
 * @stopped: the user wants no more of it
 *
 * Return: the directory, to be freed; NULL if it was stopped, or after a message
 */
char *ppa_session_begin(const char *named, enum ppa_extra extra,
			uint64_t threads,
			const volatile sig_atomic_t *stopped);

/** ppa_session_end - end it, if it is our own */
void ppa_session_end(void);

#endif
