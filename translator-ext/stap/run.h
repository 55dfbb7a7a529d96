/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Starting stap.
 */
#ifndef STAPWATCH_RUN_H
#define STAPWATCH_RUN_H

#include "options.h"
#include "stap/scripts.h"
#include "stap/status.h"

/**
 * run_stap - run stap on scripts, in place of this process if it can be
 * @opts: the command line
 * @list: its scripts, lowered
 * @point: what -l or -L shall say instead, or NULL
 *
 * It becomes stap, with the user's own arguments, where that shall have the
 * user's own text, and the user is no subcommand.  Otherwise stap is a child: its
 * messages are filtered, signals passed on, and if it dies of one, so does this process.
 *
 * Return: stap's exit status, or COMMAND's where that is a subcommand's and failed, or
 * one of ours after a message
 */
int run_stap(const struct options *opts, const struct script_list *list,
	     const char *point);

#endif
