/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A step of a program's call, while it is done.
 *
 * Who may run what, against whom: all of it processes, within an operation of the file.
 */
#ifndef STAPWATCH_CONTROL_STEP_H
#define STAPWATCH_CONTROL_STEP_H

#include "control/abi.h"
#include "control/state.h"
#include <linux/kernel.h>

/* A step as it is done, beside what the program has of it. */
struct sw_control_run {
	struct sw_controller *by;
	bool writes;		/* the file was opened to write */
	struct sw_control_step step;
	/* of most steps "" */
	const char *name;
	const char *text;
	char *words;		/* room for both; NULL: not yet */
	char why[256];
};

#define sw_control_say(r, rc, ...) ({					\
	snprintf((r)->why, sizeof((r)->why), __VA_ARGS__);		\
	rc; })

#endif
