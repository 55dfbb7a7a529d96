/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stapwatch metrics says on stderr, once: who scrapes comes again and again,
 * and what was said of the scrape before need not be said of this one.
 */
#ifndef STAPWATCH_METRICS_LOG_H
#define STAPWATCH_METRICS_LOG_H

/* { 0 } has said nothing. */
struct metrics_log {
	void *before, *now;	/* trees of lines */
};

/** metrics_log_begin - a scrape begins; the one before has ended */
void metrics_log_begin(struct metrics_log *log);

/** metrics_log_say - a line, unless the scrape before said it too */
void metrics_log_say(struct metrics_log *log, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

void metrics_log_free(struct metrics_log *log);

#endif
