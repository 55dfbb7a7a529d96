/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch top: the counters of a map, live.
 *
 * In steady state a round makes two system calls, a write and a sleep: the
 * counters are in mapped memory, the clock is the vDSO's, and a terminal's size
 * is asked for when it says that it has changed.
 */
#define _GNU_SOURCE	/* FNM_CASEFOLD, M_MMAP_THRESHOLD */
#include "top.h"

#include <errno.h>
#include <fnmatch.h>
#include <getopt.h>
#include <inttypes.h>
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

#include "buf.h"
#include "maps.h"
#include "stapwatch.h"

#define NO_ROUND UINT64_MAX
#define SPARKS 16		/* characters of a sparkline, at most */

enum sort {
	SORT_NAME,
	SORT_VALUE,
	SORT_RATE,
};

static const char *const sort_names[] = {
	[SORT_NAME] = "name",
	[SORT_VALUE] = "value",
	[SORT_RATE] = "rate",
};

struct row {
	uint32_t number;
	enum stapwatch_kind kind;
	char *name;		/* as it is shown */
	int64_t value;		/* of a histogram: how many values */
	int64_t min, max;	/* of the CPUs */
	int64_t before;
	uint64_t round;		/* that `before' is of */
	double rate;
	bool has_rate;
	uint64_t p50, p99;
	char spark[SPARKS * 4 + 1];
};

struct top {
	const char *pattern;
	char *path;
	uint64_t count;		/* 0: no end */
	double delay;
	enum sort sort;

	struct stapwatch *sw;
	struct row *rows;
	size_t nr;
	int64_t *cpus;
	struct buf out;
	struct timespec at;
	uint64_t round;
	bool terminal;
	bool utf8;
	unsigned int lines;
	unsigned int columns;
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

/* ---- the rows */

/* A name is anyone's, and a terminal does as it is told. */
static char *shown_name(const char *name)
{
	struct buf out = { 0 };

	for (; *name; name++) {
		unsigned char c = *name;

		if (c < ' ' || c == 0x7f || c == '\\')
			buf_printf(&out, "\\x%02x", c);
		else
			buf_add(&out, name, 1);
	}
	return buf_take(&out);
}

static bool matches(const char *pattern, const char *name)
{
	if (!pattern)
		return true;
	if (strpbrk(pattern, "*?["))
		return !fnmatch(pattern, name, FNM_CASEFOLD);
	return strcasestr(name, pattern);
}

static void rows_free(struct row *rows, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		free(rows[i].name);
	free(rows);
}

static int by_number(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

/* A row that was there goes on, which its rate needs. */
static void make_rows(struct top *t)
{
	const size_t nr = stapwatch_nr(t->sw);
	const struct stapwatch_instance *in;
	struct row *rows, *old;
	size_t i, used = 0;

	qsort(t->rows, t->nr, sizeof(*t->rows), by_number);
	rows = xmalloc((nr + 1) * sizeof(*rows));
	for (i = 0; i < nr; i++) {
		in = stapwatch_instance(t->sw, i);
		if (!matches(t->pattern, in->name))
			continue;
		rows[used] = (struct row) {
			.number = in->number,
			.kind = in->kind,
			.round = NO_ROUND,
		};
		old = bsearch(&rows[used], t->rows, t->nr, sizeof(*old),
			      by_number);
		if (old) {
			rows[used].before = old->before;
			rows[used].round = old->round;
		}
		rows[used++].name = shown_name(in->name);
	}
	rows_free(t->rows, t->nr);
	t->rows = rows;
	t->nr = used;
}

/* ---- values */

/*
 * The powers of two between the first and the last that has a value, two or
 * more to a character if they are many.
 */
static void draw_spark(const struct top *t, const struct stapwatch_hist *h,
		       char *out)
{
	static const char *const bars[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇",
					    "█" };
	static const char ascii[] = "_.:-=+*#";
	uint64_t powers[65] = { 0 }, chars[SPARKS] = { 0 }, most = 0, low;
	int first = 65, last = -1, per, i, n;

	*out = '\0';
	for (i = 0; i < STAPWATCH_HIST_BUCKETS; i++) {
		low = stapwatch_hist_low(i);
		n = low ? 64 - __builtin_clzll(low) : 0;
		powers[n] += h->buckets[i];
		if (!h->buckets[i])
			continue;
		if (n < first)
			first = n;
		last = n;
	}
	if (last < 0)
		return;
	per = (last - first) / SPARKS + 1;
	for (i = first; i <= last; i++) {
		n = (i - first) / per;
		chars[n] += powers[i];
		if (chars[n] > most)
			most = chars[n];
	}
	for (i = 0; i <= (last - first) / per; i++) {
		/* any value at all is more than none */
		n = chars[i] ? 1 + (int)((double)chars[i] / most * 6.999) : 0;
		out += t->utf8 ? sprintf(out, "%s", bars[n]) :
				 sprintf(out, "%c", ascii[n]);
	}
}

static int read_counter(struct top *t, struct row *r)
{
	const uint32_t nr = stapwatch_nr_cpus(t->sw);
	uint64_t sum = 0;
	uint32_t i;

	if (stapwatch_read_cpus(t->sw, r->number, t->cpus))
		return -1;
	r->min = INT64_MAX;
	r->max = INT64_MIN;
	for (i = 0; i < nr; i++) {
		sum += t->cpus[i];
		if (t->cpus[i] < r->min)
			r->min = t->cpus[i];
		if (t->cpus[i] > r->max)
			r->max = t->cpus[i];
	}
	r->value = sum;
	return 0;
}

static int read_hist(struct top *t, struct row *r)
{
	const uint32_t nr = stapwatch_nr_cpus(t->sw);
	struct stapwatch_hist all = { 0 }, one;
	int64_t count;
	uint32_t i;
	int k;

	r->min = INT64_MAX;
	r->max = INT64_MIN;
	for (i = 0; i < nr; i++) {
		if (stapwatch_read_hist_cpu(t->sw, r->number, i, &one))
			return -1;
		for (k = 0; k < STAPWATCH_HIST_BUCKETS; k++)
			all.buckets[k] += one.buckets[k];
		all.count += one.count;
		all.negative += one.negative;
		count = one.count + one.negative;
		if (count < r->min)
			r->min = count;
		if (count > r->max)
			r->max = count;
	}
	r->value = all.count + all.negative;
	r->p50 = stapwatch_hist_quantile(&all, 0.5);
	r->p99 = stapwatch_hist_quantile(&all, 0.99);
	draw_spark(t, &all, r->spark);
	return 0;
}

static int read_values(struct top *t, double passed)
{
	struct row *r;
	size_t i;

	for (i = 0; i < t->nr; i++) {
		r = &t->rows[i];
		if (r->kind == STAPWATCH_HIST ? read_hist(t, r) :
						read_counter(t, r))
			return -1;
		r->has_rate = r->round != NO_ROUND && r->round + 1 == t->round;
		if (r->has_rate)
			r->rate = (int64_t)((uint64_t)r->value - r->before) /
				  passed;
		r->before = r->value;
		r->round = t->round;
	}
	return 0;
}

static int by_name(const struct row *x, const struct row *y)
{
	return strcmp(x->name, y->name);
}

static int sort_by_name(const void *a, const void *b)
{
	return by_name(a, b);
}

static int sort_by_value(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	return by_name(x, y);
}

static int sort_by_rate(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	double p = x->has_rate ? x->rate : 0, q = y->has_rate ? y->rate : 0;

	if (p != q)
		return p < q ? 1 : -1;
	return by_name(x, y);
}

static void sort_rows(struct top *t)
{
	static int (*const how[])(const void *, const void *) = {
		[SORT_NAME] = sort_by_name,
		[SORT_VALUE] = sort_by_value,
		[SORT_RATE] = sort_by_rate,
	};

	qsort(t->rows, t->nr, sizeof(*t->rows), how[t->sort]);
}

/* ---- what is shown */

static const char *const titles[] = {
	"NAME", "VALUE", "RATE/S", "MIN", "MAX", "P50", "P99", "HISTOGRAM",
};

#define NR_COLUMNS (sizeof(titles) / sizeof(*titles))

struct cells {
	const char *text[NR_COLUMNS];
	char numbers[6][32];
};

static void fill_cells(const struct row *r, struct cells *c)
{
	const bool hist = r->kind == STAPWATCH_HIST;
	size_t i;

	snprintf(c->numbers[0], sizeof(c->numbers[0]), "%" PRId64, r->value);
	strcpy(c->numbers[1], "-");
	if (r->has_rate)
		snprintf(c->numbers[1], sizeof(c->numbers[1]), "%.1f", r->rate);
	snprintf(c->numbers[2], sizeof(c->numbers[2]), "%" PRId64, r->min);
	snprintf(c->numbers[3], sizeof(c->numbers[3]), "%" PRId64, r->max);
	strcpy(c->numbers[4], "-");
	strcpy(c->numbers[5], "-");
	if (hist) {
		snprintf(c->numbers[4], sizeof(c->numbers[4]), "%" PRIu64,
			 r->p50);
		snprintf(c->numbers[5], sizeof(c->numbers[5]), "%" PRIu64,
			 r->p99);
	}
	c->text[0] = r->name;
	for (i = 0; i < 6; i++)
		c->text[i + 1] = c->numbers[i];
	c->text[7] = hist && *r->spark ? r->spark : "-";
}

static void plain_line(struct buf *out, const char *const *text)
{
	size_t i;

	for (i = 0; i < NR_COLUMNS; i++)
		buf_printf(out, "%s%s", i ? "\t" : "", text[i]);
	buf_puts(out, "\n");
}

static void show_plain(struct top *t)
{
	struct cells c;
	size_t i;

	if (t->round)
		buf_puts(&t->out, "\n");
	plain_line(&t->out, titles);
	for (i = 0; i < t->nr; i++) {
		fill_cells(&t->rows[i], &c);
		plain_line(&t->out, c.text);
	}
}

/* Of a terminal's columns; a number that is wider moves the others. */
static const int widths[NR_COLUMNS - 1] = { 0, 13, 11, 9, 9, 9, 9 };

static void terminal_line(struct top *t, const char *const *text, int name,
			  size_t columns)
{
	size_t i;

	buf_printf(&t->out, "%-*.*s", name, name, text[0]);
	for (i = 1; i < columns && i < NR_COLUMNS - 1; i++)
		buf_printf(&t->out, " %*s", widths[i], text[i]);
	if (columns == NR_COLUMNS)
		buf_printf(&t->out, "  %s", text[i]);
	buf_puts(&t->out, "\033[K\n");
}

/* How many columns there is room for beside the names, two at least. */
static size_t fitting(const struct top *t, int *name)
{
	const int room = t->columns;
	int used = *name;
	size_t i;

	for (i = 1; i < NR_COLUMNS; i++) {
		used += i < NR_COLUMNS - 1 ? widths[i] + 1 : SPARKS + 2;
		if (used > room && i > 2)
			return i;
		if (used > room && i == 2)
			*name -= used - room;
	}
	return i;
}

static void show_terminal(struct top *t)
{
	struct cells c;
	size_t i, len, columns;
	int name = 8;

	for (i = 0; i < t->nr; i++) {
		len = strlen(t->rows[i].name);
		if (len < 200 && (int)len > name)
			name = len;
	}
	columns = fitting(t, &name);
	if (name < 8)
		name = 8;

	/* a long line ends at the edge, and does not wrap */
	buf_puts(&t->out, "\033[?7l\033[H\033[1m");
	terminal_line(t, titles, name, columns);
	buf_puts(&t->out, "\033[m");
	for (i = 0; i < t->nr && i + 2 < t->lines; i++) {
		fill_cells(&t->rows[i], &c);
		terminal_line(t, c.text, name, columns);
	}
	buf_puts(&t->out, "\033[J\033[?7h");
}

static int write_out(struct top *t)
{
	if (!buf_flush(&t->out, STDOUT_FILENO))
		return 0;
	fprintf(stderr, "stapwatch top: cannot write: %s\n", strerror(errno));
	return -1;
}

static void ask_size(struct top *t)
{
	struct winsize size;

	t->lines = 24;
	t->columns = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_row &&
	    size.ws_col) {
		t->lines = size.ws_row;
		t->columns = size.ws_col;
	}
}

/* ---- rounds */

/* Returns whether the map has ended, -1 for what cannot go on. */
static int refresh(struct top *t)
{
	/* before the names, which go with their writer */
	const bool ended = stapwatch_state(t->sw) == STAPWATCH_ENDED;
	const int rc = stapwatch_refresh(t->sw);

	if (rc > 0)
		make_rows(t);
	if (rc >= 0)
		t->lost = false;
	if (rc >= 0 || ended || stapwatch_state(t->sw) == STAPWATCH_ENDED)
		return ended;
	if (errno != EBUSY) {
		fprintf(stderr, "stapwatch top: %s: %s\n", t->path,
			stapwatch_error());
		return -1;
	}
	/* what was there before can still be read */
	if (!t->lost)
		fprintf(stderr, "stapwatch top: %s: %s\n", t->path,
			stapwatch_error());
	t->lost = true;
	return 0;
}

/* Since the round before, in seconds. */
static double pass_time(struct top *t)
{
	struct timespec now;
	double passed;

	clock_gettime(CLOCK_MONOTONIC, &now);
	passed = now.tv_sec - t->at.tv_sec +
		 (now.tv_nsec - t->at.tv_nsec) / 1e9;
	t->at = now;
	return passed > 1e-9 ? passed : 1e-9;
}

static void wait_round(const struct top *t)
{
	struct timespec ts = {
		.tv_sec = t->delay,
		.tv_nsec = (t->delay - (time_t)t->delay) * 1e9,
	};

	/* SIGWINCH cuts it short, to be redrawn by what it has */
	nanosleep(&ts, NULL);
}

static int one_round(struct top *t)
{
	int ended = refresh(t);

	if (ended < 0)
		return -1;
	if (read_values(t, pass_time(t))) {
		fprintf(stderr, "stapwatch top: %s: %s\n", t->path,
			stapwatch_error());
		return -1;
	}
	sort_rows(t);
	if (t->terminal) {
		if (resized) {
			resized = 0;
			ask_size(t);
		}
		show_terminal(t);
	} else {
		show_plain(t);
	}
	if (ended)
		buf_printf(&t->out, "%s: ended\n", t->path);
	return write_out(t) ? -1 : ended;
}

static int run(struct top *t)
{
	struct sigaction act = { .sa_handler = on_signal };
	int ended = 0;

	t->terminal = isatty(STDOUT_FILENO);
	t->utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8");
	t->cpus = xmalloc(stapwatch_nr_cpus(t->sw) * sizeof(*t->cpus));
	/* sorting may want memory: let it be kept, not mapped each time */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	if (t->terminal) {
		sigaction(SIGWINCH, &act, NULL);
		sigaction(SIGINT, &act, NULL);
		sigaction(SIGTERM, &act, NULL);
		ask_size(t);
		buf_puts(&t->out, "\033[2J");
	}
	t->rows = xmalloc(0);
	make_rows(t);
	for (;;) {
		ended = one_round(t);
		t->round++;
		if (ended || (t->count && t->round == t->count))
			break;
		wait_round(t);
		if (stopped)
			break;
	}
	return ended < 0;
}

/* ---- the command */

#define USAGE "there are -n COUNT, -d SECS and --sort name|value|rate"

static int say(const char *what, const char *value)
{
	char *shown = shown_name(value);

	fprintf(stderr, "stapwatch top: %s: \"%s\"; " USAGE "\n", what, shown);
	free(shown);
	return -1;
}

static int take_count(struct top *t, const char *s)
{
	char *end;

	errno = 0;
	t->count = strtoull(s, &end, 10);
	if (*s < '0' || *s > '9' || *end || errno || !t->count)
		return say("-n wants a number from 1 on", s);
	return 0;
}

static int take_delay(struct top *t, const char *s)
{
	char *end;

	t->delay = strtod(s, &end);
	if (((*s < '0' || *s > '9') && *s != '.') || *end ||
	    !(t->delay >= 0.01 && t->delay <= 86400))
		return say("-d wants seconds, from 0.01 to 86400", s);
	return 0;
}

static int take_sort(struct top *t, const char *s)
{
	size_t i;

	for (i = 0; i < sizeof(sort_names) / sizeof(*sort_names); i++) {
		if (!strcmp(s, sort_names[i])) {
			t->sort = i;
			return 0;
		}
	}
	return say("--sort wants name, value or rate", s);
}

static int take_operands(struct top *t, int argc, char **argv)
{
	struct buf why = { 0 };
	const char *map = NULL;

	if (argc > 2)
		return say("PATTERN and MAP are enough", argv[2]);
	if (argc == 2) {
		t->pattern = argv[0];
		map = argv[1];
	} else if (argc == 1) {
		if (strchr(argv[0], '/') || maps_is_module(argv[0]))
			map = argv[0];
		else
			t->pattern = argv[0];
	}
	t->path = map ? maps_path(map) : maps_only(&why);
	if (!t->path)
		fprintf(stderr, "stapwatch top: %s\n", why.s);
	free(why.s);
	return t->path ? 0 : -1;
}

static int read_options(struct top *t, int argc, char **argv)
{
	static const struct option options[] = {
		{ "sort", required_argument, NULL, 's' },
		{ NULL, 0, NULL, 0 },
	};
	int c, rc = 0;

	optind = 0;	/* the command line's own options were read before */
	opterr = 0;
	while (!rc && (c = getopt_long(argc, argv, ":n:d:", options,
				       NULL)) >= 0) {
		if (c == 'n')
			rc = take_count(t, optarg);
		else if (c == 'd')
			rc = take_delay(t, optarg);
		else if (c == 's')
			rc = take_sort(t, optarg);
		else
			rc = say(c == ':' ? "an option wants a value" :
					    "an option is not known",
				 argv[optind - 1]);
	}
	return rc ? rc : take_operands(t, argc - optind, argv + optind);
}

int cmd_top(int argc, char **argv)
{
	struct top t = { .delay = 1, .sort = SORT_NAME };
	int status = 1;

	/* how numbers and text are read and compared stays as it is */
	setlocale(LC_CTYPE, "");
	if (read_options(&t, argc, argv))
		goto out;
	t.sw = stapwatch_open(t.path);
	if (!t.sw) {
		fprintf(stderr, "stapwatch top: %s: %s\n", t.path,
			stapwatch_error());
		goto out;
	}
	status = run(&t);
	stapwatch_close(t.sw);
out:
	rows_free(t.rows, t.nr);
	free(t.cpus);
	free(t.out.s);
	free(t.path);
	return status;
}
