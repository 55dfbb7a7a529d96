/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line: stap's grammar, as far as it takes to find the scripts in
 * it, and the few options that are ours.
 */
#ifndef STAPWATCH_OPTIONS_H
#define STAPWATCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Where a value stands: argv[arg] + offset, `-e TEXT' as well as `-vgeTEXT'. */
struct arg_ref {
	int arg;		/* 0: nowhere */
	size_t offset;
};

enum script_kind {
	SCRIPT_FILE,
	SCRIPT_STDIN,		/* - */
	SCRIPT_TEXT,		/* -e */
	SCRIPT_EXTRA,		/* -E */
};

struct script_ref {
	enum script_kind kind;
	struct arg_ref at;
};

struct options {
	/* What is stap's: all but our own options, as it came. */
	int argc;
	char **argv;
	/* In the order in which stap reads them: those of -E are the last. */
	struct script_ref *scripts;
	size_t nr_scripts;
	struct arg_ref point;	/* of -l or -L */
	struct arg_ref color;	/* of the last --color, if it says auto */
	bool color_fixed;	/* the last --color says always or never */
	int operand;		/* argv's first operand, or argc */
	const char **args;	/* the script's arguments, $1 the first */
	size_t nr_args;
	long last_pass;
	const char *build_as;	/* of --build-as=USER, or NULL */

	/* What the script's conditions may ask for: as given, or NULL. */
	const char *arch;
	const char *release;
	const char *compatible;
	const char *privilege;
	const char *runtime;
	bool guru;
	bool elsewhere;		/* it is to run on, or for, another system */
	bool other_runtime;	/* of -R, or a server's: not this stap's own */

	bool ours;		/* of a subcommand's making */
	const char *output;	/* for a message on what that writes, or NULL */
	bool help;
	bool version;
	bool lower;
	bool explain;
	const char *pmu;
};

/**
 * options_parse - read the command line
 * @opts: the result; options_free() frees it
 *
 * What stap has no such option for is left for stap to say.
 *
 * Return: 0; -1 if one of our own options is wrong, which has been said then
 */
int options_parse(int argc, char **argv, struct options *opts);
void options_free(struct options *opts);

/** options_value - the value that a reference stands for */
const char *options_value(const struct options *opts,
			  const struct arg_ref *at);

/** options_help - what --help prints */
void options_help(FILE *out);

#endif
