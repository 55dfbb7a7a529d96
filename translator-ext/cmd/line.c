/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command line of a subcommand; line.h says what is wanted of it. */
#include "cmd/line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "base/suggest.h"
#include "cmd/cmd.h"
#include "cmd/elsewhere.h"
#include "cmd/words.h"

static int say(const char *command, const char *what, const char *value,
	       const char *near)
{
	struct buf there = { 0 };

	cmd_put_options(command, &there);
	if (value)
		shown_line(stderr, "stapwatch %s: %s: \"%s\"%s; %s", command,
			   what, value, near, there.s);
	else
		shown_line(stderr, "stapwatch %s: %s %s", command, what,
			   there.s);
	free(there.s);
	return -1;
}

int cmd_line_say(const char *command, const char *what, const char *value)
{
	return say(command, what, value, "");
}

int cmd_line_fail(const char *command, const char *why)
{
	shown_line(stderr, "stapwatch %s: %s", command, why);
	return -1;
}

int cmd_line_number(const char *command, const char *what, const char *s,
		    uint64_t *n)
{
	return words_number(s, n) ? 0 : cmd_line_say(command, what, s);
}

int cmd_line_seconds(const char *command, const char *option, const char *s,
		     double *seconds)
{
	char what[64], *end;

	*seconds = strtod(s, &end);
	if (((*s >= '0' && *s <= '9') || *s == '.') && !*end &&
	    *seconds >= 0.01 && *seconds <= 86400)
		return 0;
	snprintf(what, sizeof(what), "%s wants seconds, from 0.01 to 86400",
		 option);
	return cmd_line_say(command, what, s);
}

static int say_output(const char *command, const char *file)
{
	shown_line(stderr, "stapwatch %s: %s: %s", command, file,
		   strerror(errno));
	return -1;
}

int cmd_line_output(const char *command, const char *file)
{
	const int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		return say_output(command, file);
	if (fd != STDOUT_FILENO)
		close(fd);
	return 0;
}

int cmd_line_output_begin(const char *command, const char *file)
{
	/* a device or a pipe has nothing to lose */
	if (!file || !ftruncate(STDOUT_FILENO, 0) || errno == EINVAL)
		return 0;
	return say_output(command, file);
}

int cmd_line_milliseconds(const char *command, const char *s, double *seconds)
{
	uint64_t ms;

	if (!words_number(s, &ms) || ms < 10 || ms > 86400000)
		return cmd_line_say(command, "-I wants milliseconds, from 10 to 86400000",
				    s);
	*seconds = ms / 1e3;
	return 0;
}

/*
 * The option that getopt_long() has just refused, as the user wrote it: LETTER holds
 * it where it is one letter among others, as in -abc.
 */
static const char *refused(const struct cmd_line *line, int c, char letter[3])
{
	const char *arg = line->argv[optind - 1];

	if (c == ':' || !optopt ||
	    (!strncmp(arg, "--", 2) && strchr(arg, '=')))
		return arg;
	letter[0] = '-';
	letter[1] = optopt;
	letter[2] = '\0';
	return letter;
}

/* Letters are all near to each other. */
static void put_near(const char *command, const char *option, struct buf *out)
{
	struct suggest s;

	if (strncmp(option, "--", 2))
		return;
	suggest_begin(&s, option, strcspn(option, "="));
	cmd_offer_options(command, &s);
	suggest_end(&s, out);
}

static int say_refused(const struct cmd_line *line, int c)
{
	const char *command = line->argv[0], *option, *ours;
	struct buf near = { 0 };
	char letter[3];

	option = refused(line, c, letter);
	if (c == ':')
		return cmd_line_say(command, "a value is missing", option);
	ours = elsewhere_option(command, option, strcspn(option, "="));
	if (ours) {
		shown_line(stderr, "stapwatch %s: unknown option: \"%s\"; %s",
			   command, option, ours);
		return -1;
	}
	put_near(command, option, &near);
	say(command, "unknown option", option, near.s ?: "");
	free(near.s);
	return -1;
}

/*
 * The names that perf has for letters: whoever has the letter has the name, beside those
 * of its own.  Returns what is to be freed.
 */
static struct option *with_names_of_letters(const struct cmd_line *line)
{
	static const struct option names[] = {
		{ "all-cpus", no_argument, NULL, 'a' },
		{ "cgroup", required_argument, NULL, 'G' },
		{ "cpu", required_argument, NULL, 'C' },
		{ "event", required_argument, NULL, 'e' },
		{ "freq", required_argument, NULL, 'F' },
		{ "interval-print", required_argument, NULL, 'I' },
		{ "output", required_argument, NULL, 'o' },
		{ "pid", required_argument, NULL, 'p' },
		{ "tid", required_argument, NULL, 't' },
		{ "verbose", no_argument, NULL, 'v' },
	};
	const size_t nr = sizeof(names) / sizeof(*names);
	struct option *all;
	size_t own = 0, i;

	while (line->names[own].name)
		own++;
	all = xmalloc((own + nr + 1) * sizeof(*all));
	memcpy(all, line->names, own * sizeof(*all));
	for (i = 0; i < nr; i++)
		if (strchr(line->letters, names[i].val))
			all[own++] = names[i];
	all[own] = (struct option) { 0 };
	return all;
}

/* Has this option stood there before, with another value? */
static bool is_second(struct cmd_line *line, int c)
{
	if (!optarg || (c < 256 && line->several && strchr(line->several, c)))
		return false;
	if (line->seen[c])
		return true;
	line->seen[c] = true;
	return false;
}

static bool helped;

bool cmd_line_helped(void)
{
	return helped;
}

/* They are in no subcommand's table: all have them. */
static bool is_help(const struct cmd_line *line, int c)
{
	char letter[3];
	const char *option;

	if (c != '?')
		return false;
	option = refused(line, c, letter);
	return !strcmp(option, "--help") || !strcmp(option, "-h");
}

int cmd_line_next(struct cmd_line *line)
{
	struct option *names;
	int c;

	if (!line->begun) {
		line->begun = true;
		optind = 0;	/* glibc's: begin anew */
		opterr = 0;
	}
	names = with_names_of_letters(line);
	c = getopt_long(line->argc, line->argv, line->letters, names, NULL);
	free(names);
	if (c == -1)
		return CMD_LINE_END;
	if (is_help(line, c)) {
		helped = cmd_help(line->argv[0]);
		return CMD_LINE_WRONG;
	}
	if (c == ':' || c == '?') {
		say_refused(line, c);
		return CMD_LINE_WRONG;
	}
	if (is_second(line, c)) {
		/* the option as it was written now */
		cmd_line_say(line->argv[0], "the option stands there twice",
			     line->argv[optind - 1] == optarg ?
			     line->argv[optind - 2] : line->argv[optind - 1]);
		return CMD_LINE_WRONG;
	}
	return c;
}
