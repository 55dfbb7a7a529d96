/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The scripts of a command line: read, and lowered.
 */
#ifndef STAPWATCH_SCRIPT_H
#define STAPWATCH_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "lower/lower.h"
#include "options.h"

struct script {
	enum script_kind kind;
	struct arg_ref at;
	char *name;		/* as stap calls it in its messages */
	char *text;
	size_t len;
	bool unread;		/* stap shall say why */
	bool consumed;		/* stap could not read it once more */
	struct lowered lowered;	/* unless unread */
};

struct script_list {
	struct script *scripts;
	size_t nr;
	bool changed;		/* one of them was lowered to something else */
};

/**
 * scripts_load - read and lower the scripts of a command line
 * @must_read: a script that cannot be read is an error, not stap's business
 *
 * Return: 0; -1 after errors, which have been said, with nothing to free
 */
int scripts_load(const struct options *opts, bool must_read,
		 struct script_list *list);
void scripts_free(struct script_list *list);

/** scripts_point - what -l or -L is to list, lowered; NULL after an error */
char *scripts_point(const struct options *opts);

#endif
