/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lowering: from the notation of 2005 to what stock stap takes.
 *
 * Whatever has none of our words comes out as it went in.  What is replaced is
 * replaced by text that is as long, line by line; definitions go after the
 * last line.  So a line and column of the lowered text is one of the user's
 * own, but after lowered.user_lines.
 */
#ifndef STAPWATCH_LOWER_H
#define STAPWATCH_LOWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/intern.h"
#include "script/condition.h"

/* What scripts define for each other.  { 0 } is nothing. */
struct lower_globals {
	struct intern names;	/* of variables */
	bool own_histogram;	/* there is a function of that name */
};

struct lower_options {
	const char *pmu;		/* as for event_resolve() */
	unsigned int index;		/* of the script, on the command line */
	unsigned int first_native;	/* so many those before it have declared */
	struct script_args args;
	const struct script_facts *facts;
	const struct lower_globals *globals;	/* of all scripts; or NULL */
};

/* An alias that stands for the beginning of a probe point of the user's. */
struct lowered_alias {
	char *name;		/* __sw0 */
	unsigned int line;	/* of its definition in the lowered text */
	unsigned int column;	/* where what it stands for begins there */
	unsigned int user_line;	/* where the user's probe point begins */
	unsigned int user_column;
	char *first;		/* the probe point's first word: kernel */
};

struct lowered {
	char *text;
	size_t len;
	bool changed;			/* false: text is the user's */
	unsigned int user_lines;	/* lines that are the user's */
	struct lowered_alias *aliases;
	size_t nr_aliases;
	unsigned int nr_natives;	/* events that it declares */
	char *explain;			/* what --explain prints */
};

/**
 * lower_script - lower one script
 * @name: what stap would call it in its messages: the path, or <input>
 * @text: the script; any bytes
 * @opt: what it depends on
 * @out: the result; lowered_free() frees it
 * @err: errors go here, one line each: "NAME:LINE:COLUMN: what; what works"
 *
 * Return: 0; -1 if there were errors, with nothing in @out to free
 */
int lower_script(const char *name, const char *text, size_t len,
		 const struct lower_options *opt, struct lowered *out,
		 FILE *err);
void lowered_free(struct lowered *out);

/**
 * lower_globals_add - add what one script defines for all
 * @opt: what the script's conditions depend on; its globals are not looked at
 */
void lower_globals_add(struct lower_globals *g, const char *text, size_t len,
		       const struct lower_options *opt);
void lower_globals_free(struct lower_globals *g);

/**
 * lower_point - lower what stap -l and -L are given: the text after a `probe'
 *
 * Names of the event table become the stock aliases; what no stock alias says
 * is left out.  All else stays as it is, byte by byte.  Return: the text, to be
 * freed; NULL after an error on @err.
 */
char *lower_point(const char *point, const struct lower_options *opt,
		  FILE *err);

#endif
