/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The conditions of %( CONDITION %? ... %), decided as stap decides them.
 */
#ifndef STAPWATCH_CONDITION_H
#define STAPWATCH_CONDITION_H

#include "script/lex.h"

/* What stap compares with; NULL for what is not known. */
struct script_facts {
	const char *arch;		/* as stap calls it: arm64 */
	const char *release;		/* the kernel's: 6.12.9-amd64 */
	const char *build_tree;		/* where the kernel's .config is */
	const char *guru_mode;		/* "0" or "1" */
	const char *privilege;
	const char *runtime;
	/* asked only if a script does: NULL, or the version, which stays */
	const char *(*systemtap_v)(const void *of);
	const void *of;
};

enum truth { NO, YES, UNKNOWN };

/**
 * condition_decide - is a condition true?
 * @c: its tokens, without %( and %?
 *
 * Return: UNKNOWN for one that is wrong too, which is for stap to say
 */
enum truth condition_decide(const struct tokens *c,
			    const struct script_facts *facts);

#endif
