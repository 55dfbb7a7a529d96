/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The command line of a subcommand: how its options are read, and what is said of
 * one that is wrong, the same for all of them.
 */
#ifndef STAPWATCH_LINE_H
#define STAPWATCH_LINE_H

#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>

struct cmd_line {
	const char *letters;		/* as getopt() has them, with ":" before */
	const struct option *names;
	const char *several;		/* letters whose values add up; or NULL */
	int argc;
	char **argv;			/* the first is the subcommand */
	bool begun;
	bool seen[512];			/* options with a value, by their numbers */
};

#define CMD_LINE_END	(-1)
#define CMD_LINE_WRONG	(-2)

/**
 * cmd_line_next - the next option
 *
 * As getopt_long(), whose variables it leaves set.  One value of two would be dropped,
 * so a second one is refused, but for those that add up.
 *
 * Return: the option; CMD_LINE_END after the last; CMD_LINE_WRONG after a message, or
 * after the help that -h or --help asked for
 */
int cmd_line_next(struct cmd_line *line);

/** cmd_line_helped - has an option asked for the help, so that nothing is wrong? */
bool cmd_line_helped(void);

/**
 * cmd_line_say - one line on what is wrong, with the options that there are
 * @command: the subcommand
 * @what: what is wrong
 * @value: with this, as the user wrote it; NULL: with all of it
 *
 * Return: -1
 */
int cmd_line_say(const char *command, const char *what, const char *value);

/** cmd_line_fail - one line on what does not go together; returns -1 */
int cmd_line_fail(const char *command, const char *why);

/**
 * cmd_line_number - read a number from 1 to INT32_MAX
 * @what: what is said if it is none
 *
 * Return: 0, or -1 after a message
 */
int cmd_line_number(const char *command, const char *what, const char *s,
		    uint64_t *n);

/**
 * cmd_line_output - let stdout be a file, of a subcommand that starts no other program
 *
 * The file has still what it had, until cmd_line_output_begin().
 *
 * Return: 0, or -1 after a message
 */
int cmd_line_output(const char *command, const char *file);

/**
 * cmd_line_output_begin - there is something to write: what the file had goes
 * @file: as it was given to cmd_line_output(), or NULL if none was
 *
 * Return: 0, or -1 after a message
 */
int cmd_line_output_begin(const char *command, const char *file);

/**
 * cmd_line_seconds - read seconds, from 0.01 to 86400, for OPTION; 0, or -1 after a
 * message
 */
int cmd_line_seconds(const char *command, const char *option, const char *s,
		     double *seconds);

/** cmd_line_milliseconds - the same of -I, whose milliseconds become seconds */
int cmd_line_milliseconds(const char *command, const char *s, double *seconds);

#endif
