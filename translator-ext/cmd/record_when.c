/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When a recording begins and ends; record_when.h says what is wanted of it. */
#include "cmd/record_when.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is so long from now goes by a clock that nobody sets; a time of the day, and what
 * machines agree on, by the clock that is set.
 */
#define NOW_MS "stapwatch_ns() / 1000000"

#define LONGEST_MS (1000ull * 86400 * 365)

/* 500ms, 10s, 5m, 1h */
static int read_span(const char *s, uint64_t *ms)
{
	static const struct {
		const char *name;
		uint64_t ms;
	} units[] = {
		{ "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
	};
	unsigned long long n;
	char *end;
	size_t i;

	if (*s < '0' || *s > '9')
		return -1;
	errno = 0;
	n = strtoull(s, &end, 10);
	for (i = 0; i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].name))
			continue;
		if (errno || !n || n > LONGEST_MS / units[i].ms)
			return -1;
		*ms = n * units[i].ms;
		return 0;
	}
	return -1;
}

/* 14:30, 14:30:15 */
static int read_time_of_day(const char *s, time_t now, uint64_t *ms)
{
	unsigned int h, m, sec = 0;
	int len = 0;
	struct tm tm;
	time_t at;

	if (strspn(s, "0123456789:") != strlen(s) ||
	    (sscanf(s, "%2u:%2u:%2u%n", &h, &m, &sec, &len) != 3 &&
	     (sec = 0, sscanf(s, "%2u:%2u%n", &h, &m, &len) != 2)) ||
	    s[len] || h > 23 || m > 59 || sec > 59)
		return -1;
	localtime_r(&now, &tm);
	tm.tm_hour = h;
	tm.tm_min = m;
	tm.tm_sec = sec;
	tm.tm_isdst = -1;
	at = mktime(&tm);
	if (at <= now) {
		tm.tm_mday++;
		tm.tm_isdst = -1;
		at = mktime(&tm);
	}
	*ms = (uint64_t)at * 1000;
	return 0;
}

int record_when_begins(struct record_when *w, const char *s, time_t now)
{
	w->begins = *s;
	if (*s == '+' || *s == '/')
		return read_span(s + 1, &w->ms);
	return *s == '@' ? read_time_of_day(s + 1, now, &w->ms) : -1;
}

int record_when_lasts(struct record_when *w, const char *s)
{
	return read_span(s, &w->lasts);
}

/* When it has begun: so long from now. */
static void put_end(const struct record_when *w, const char *indent,
		    struct buf *out)
{
	if (w->lasts)
		buf_printf(out, "%srecord_end = " NOW_MS " + %" PRIu64 "\n",
			   indent, w->lasts);
}

void record_when_script(const struct record_when *w, struct buf *out)
{
	if (!w->begins && !w->lasts)
		return;
	buf_puts(out, "global record_at = 0");
	buf_puts(out, w->lasts ? ", record_end = 0\n" : "\n");
	buf_puts(out, "probe begin {\n");
	if (w->begins)
		buf_puts(out, "\tprofile_off()\n");
	if (w->begins == '/')
		buf_printf(out, "\trecord_at = (gettimeofday_ms() / %" PRIu64 " + 1) * %" PRIu64 "\n",
			   w->ms, w->ms);
	else if (w->begins == '+')
		buf_printf(out, "\trecord_at = " NOW_MS " + %" PRIu64 "\n",
			   w->ms);
	else if (!w->begins)
		put_end(w, "\t", out);
	buf_puts(out, "}\nprobe timer.ms(10) {\n");
	if (w->begins) {
		buf_printf(out, "\tif (record_at && %s >= record_at) {\n"
			   "\t\trecord_at = 0\n\t\tprofile_on()\n",
			   w->begins == '+' ? NOW_MS : "gettimeofday_ms()");
		put_end(w, "\t\t", out);
		buf_puts(out, "\t}\n");
	}
	if (w->lasts)
		buf_puts(out, "\tif (record_end && " NOW_MS " >= record_end) exit()\n");
	buf_puts(out, "}\n");
}
