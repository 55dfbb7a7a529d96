/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When stapwatch record begins and ends: --activate and --for. */
#ifndef STAPWATCH_RECORD_WHEN_H
#define STAPWATCH_RECORD_WHEN_H

#include <stdint.h>
#include <time.h>

#include "base/buf.h"

struct record_when {
	char begins;		/* '+': after MS; '/': when the clock is a multiple
				 * of MS; '@': when it is MS; 0: at once */
	uint64_t ms;
	uint64_t lasts;		/* ms; 0: until something else ends it */
};

/**
 * record_when_begins - take --activate's value: +30s, /10s, @14:30, @14:30:15
 * @now: a time of day is the next one after that, in local time
 *
 * Return: 0, or -1
 */
int record_when_begins(struct record_when *w, const char *s, time_t now);

/** record_when_lasts - take --for's: 500ms, 10s, 5m, 1h; 0, or -1 */
int record_when_lasts(struct record_when *w, const char *s);

/**
 * record_when_script - what a script has for it
 *
 * '@' wants record_at=MS by stap -G.
 */
void record_when_script(const struct record_when *w, struct buf *out);

#endif
