/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch top: the counters of a map, live.
 *
 * In steady state a round makes two system calls, a write and a sleep or poll: counters
 * are in mapped memory, the clock is the vDSO's, and SIGWINCH says when the terminal's size
 * has changed.
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "cmd/line.h"
#include "cmd/maps.h"
#include "cmd/top_keys.h"
#include "cmd/top_print.h"
#include "cmd/top_rows.h"
#include "cmd/top_screen.h"
#include "cmd/top_table.h"

static const char *const sort_names[] = {
	[TOP_BY_NAME] = "name",
	[TOP_BY_VALUE] = "value",
	[TOP_BY_RATE] = "rate",
};

enum output {
	TO_TERMINAL,		/* a screen, drawn over itself */
	TO_FILE,		/* with tabs */
	TO_JSON,
	TO_CSV,
};

struct top {
	char *path;
	enum output output;
	uint64_t count;		/* 0: no end */
	char *pattern;		/* that was typed; NULL: the command line's */
	struct top_keys keys;	/* with the order, and the time between rounds */

	struct top_rows rows;
	struct buf out;
	struct timespec at;	/* of the last round */
	double passed;		/* seconds, since the one before */
	struct top_screen screen;
	bool lost;		/* the new instances could not be read */
};

static volatile sig_atomic_t resized;
static volatile sig_atomic_t stopped;

static void on_signal(int sig)
{
	if (sig == SIGWINCH)
		resized = 1;
	else
		stopped = 1;
}

static int write_out(struct top *t)
{
	if (!buf_flush(&t->out, STDOUT_FILENO))
		return 0;
	shown_line(stderr, "stapwatch top: cannot write: %s", strerror(errno));
	return -1;
}

static void ask_size(struct top *t)
{
	struct winsize size;

	t->screen.lines = 24;
	t->screen.columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col) {
		t->screen.lines = size.ws_row;
		t->screen.columns = size.ws_col;
	}
}

/* ---- rounds */

/* Returns whether the map has ended, -1 for what cannot go on. */
static int refresh(struct top *t)
{
	/* before the names, which go with their writer */
	const bool ended = stapwatch_state(t->rows.sw) == STAPWATCH_ENDED;
	const int rc = stapwatch_refresh(t->rows.sw);

	if (rc > 0)
		top_rows_make(&t->rows);
	if (rc >= 0)
		t->lost = false;
	if (rc >= 0 || ended || stapwatch_state(t->rows.sw) == STAPWATCH_ENDED)
		return ended;
	if (errno != EBUSY) {
		shown_line(stderr, "stapwatch top: %s: %s", t->path,
			   stapwatch_error());
		return -1;
	}
	/* what was there before can still be read */
	if (!t->lost)
		shown_line(stderr, "stapwatch top: %s: %s", t->path,
			   stapwatch_error());
	t->lost = true;
	return 0;
}

/* Seconds since the round before. */
static double since(const struct timespec *at, const struct timespec *now)
{
	return now->tv_sec - at->tv_sec + (now->tv_nsec - at->tv_nsec) / 1e9;
}

/* What the rows are now; returns as refresh(). */
static int one_round(struct top *t)
{
	const int ended = refresh(t);
	struct timespec now;

	if (ended < 0)
		return -1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	t->passed = since(&t->at, &now);
	if (t->passed < 1e-9)
		t->passed = 1e-9;
	t->at = now;
	if (!top_rows_read(&t->rows, t->passed))
		return ended;
	shown_line(stderr, "stapwatch top: %s: %s", t->path, stapwatch_error());
	return -1;
}

static void draw(struct top *t)
{
	struct top_screen *s = &t->screen;

	if (resized) {
		resized = 0;
		ask_size(t);
	}
	s->sort = t->keys.sort;
	s->below = top_keys_below(&t->keys);
	s->first = t->keys.first;
	top_screen(s, &t->rows, &t->out);
	t->keys.first = s->first;
	t->keys.last = t->rows.nr - s->page;
	t->keys.page = s->page;
}

static int put(struct top *t, bool ended)
{
	top_rows_sort(&t->rows, t->keys.sort);
	switch (t->output) {
	case TO_TERMINAL:
		draw(t);
		break;
	case TO_FILE:
		if (t->rows.round > 1)
			buf_puts(&t->out, "\n");
		top_table(&t->rows, &t->out);
		break;
	case TO_JSON:
		top_json(&t->rows, t->passed, ended, &t->out);
		break;
	case TO_CSV:
		top_csv(&t->rows, &t->out);
		break;
	}
	if (ended && t->output <= TO_FILE) {
		shown_text(&t->out, t->path);
		buf_puts(&t->out, ": ended\n");
	}
	return write_out(t);
}

static void take_pattern(struct top *t)
{
	t->keys.filtered = false;
	free(t->pattern);
	t->pattern = xstrdup(t->keys.typed);
	t->rows.pattern = *t->pattern ? t->pattern : NULL;
	top_rows_make(&t->rows);
}

/*
 * Waits for the next round's time, and obeys keys meanwhile.  Returns 1 to stop, -1 after a
 * message.
 */
static int wait_for_round(struct top *t)
{
	struct timespec begin, now;
	double left = t->keys.delay;

	/* not from the round on: one that takes longer would leave no time to wait */
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (;;) {
		top_keys_wait(&t->keys, left > 0 ? left : 0);
		if (stopped || t->keys.stop)
			return 1;
		if (t->keys.filtered) {
			take_pattern(t);
			return 0;
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
		left = t->keys.delay - since(&begin, &now);
		if (left <= 0 && !t->keys.paused)
			return 0;
		/* a key, or another size: draw the same values again */
		if (t->output == TO_TERMINAL && put(t, false))
			return -1;
	}
}

static void begin_screen(struct top *t)
{
	const struct sigaction act = { .sa_handler = on_signal };
	const char *no_color = getenv("NO_COLOR");

	sigaction(SIGWINCH, &act, NULL);
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	ask_size(t);
	t->screen.colors = !no_color || !*no_color;
	buf_puts(&t->out, "\033[2J");
	top_keys_begin(&t->keys);
}

static int run(struct top *t)
{
	int ended, rc = 0;

	if (t->output == TO_FILE && isatty(STDOUT_FILENO))
		t->output = TO_TERMINAL;
	t->rows.utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	t->rows.cpus = xmalloc(stapwatch_nr_cpus(t->rows.sw) *
			       sizeof(*t->rows.cpus));
	/* sorting may want memory: let it be kept, not mapped each time */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	if (t->output == TO_TERMINAL)
		begin_screen(t);
	top_rows_make(&t->rows);
	while (!rc) {
		ended = one_round(t);
		rc = ended < 0 ? -1 : put(t, ended);
		if (ended || (t->count && t->rows.round == t->count))
			break;
		if (!rc)
			rc = wait_for_round(t);
	}
	top_keys_end(&t->keys);
	return rc < 0;
}

/* ---- the command */

static int take_sort(struct top *t, const char *s)
{
	size_t i;

	for (i = 0; i < sizeof(sort_names) / sizeof(*sort_names); i++) {
		if (!strcmp(s, sort_names[i])) {
			t->keys.sort = i;
			return 0;
		}
	}
	return cmd_line_say("top", "--sort wants name, value or rate", s);
}

static int take_operands(struct top *t, int argc, char **argv)
{
	struct buf why = { 0 };
	const char *map = NULL;

	if (argc > 2)
		return cmd_line_say("top", "PATTERN and MAP are enough", argv[2]);
	if (argc == 2) {
		t->rows.pattern = argv[0];
		map = argv[1];
	} else if (argc == 1) {
		if (strchr(argv[0], '/') || maps_is_module(argv[0]))
			map = argv[0];
		else
			t->rows.pattern = argv[0];
	}
	t->path = map ? maps_path(map) : maps_only(&why);
	if (!t->path)
		shown_line(stderr, "stapwatch top: %s", why.s);
	free(why.s);
	return t->path ? 0 : -1;
}

static int read_options(struct top *t, int argc, char **argv)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, 'j' },
		{ "csv", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	struct cmd_line line = {
		.letters = ":n:d:I:",
		.names = options,
		.argc = argc,
		.argv = argv,
	};
	bool json = false, csv = false;
	int c, rc = 0;

	while (!rc && (c = cmd_line_next(&line)) != CMD_LINE_END) {
		if (c == CMD_LINE_WRONG)
			rc = -1;
		else if (c == 'n')
			rc = cmd_line_number("top", "-n wants a number from 1 on",
					     optarg, &t->count);
		else if (c == 'I')
			rc = cmd_line_milliseconds("top", optarg,
							   &t->keys.delay);
		else if (c == 'd')
			rc = cmd_line_seconds("top", "-d", optarg,
					      &t->keys.delay);
		else if (c == 'j')
			json = true;
		else if (c == 'c')
			csv = true;
		else
			rc = take_sort(t, optarg);
	}
	if (rc)
		return rc;
	if (json && csv)
		return cmd_line_fail("top", "--json and --csv exclude each other");
	t->output = json ? TO_JSON : csv ? TO_CSV : TO_FILE;
	if (t->keys.sort == TOP_BY_RATE && t->count == 1)
		return cmd_line_say("top", "--sort rate wants a second table, for the first has no rates",
			   "-n 1");
	return take_operands(t, argc - optind, argv + optind);
}

int cmd_top(int argc, char **argv)
{
	struct top t = { .keys = { .delay = 1, .sort = TOP_BY_NAME } };
	int status = 1;

	/* how numbers and text are read and compared stays as it is */
	setlocale(LC_CTYPE, "");
	if (read_options(&t, argc, argv))
		goto out;
	t.rows.sw = stapwatch_open(t.path);
	if (!t.rows.sw) {
		shown_line(stderr, "stapwatch top: %s: %s", t.path,
			   stapwatch_error());
		goto out;
	}
	status = run(&t);
	stapwatch_close(t.rows.sw);
out:
	top_rows_free(&t.rows);
	free(t.out.s);
	free(t.pattern);
	free(t.path);
	return status;
}
