/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of stapwatch top, at a terminal of its own. */
#ifndef STAPWATCH_TOP_KEYS_H
#define STAPWATCH_TOP_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/top_rows.h"

struct top_keys {
	bool on;		/* keys can be read */
	bool stop;
	bool paused;
	bool help;
	enum top_sort sort;
	double delay;		/* seconds, between two rounds */
	size_t first;		/* row at the top of the screen */
	size_t last;		/* the highest of those, as the screen was drawn last */
	size_t page;		/* rows on that screen */
	bool typing;		/* keys go into @typed */
	char typed[200];	/* a pattern of names */
	bool filtered;		/* @typed is a new pattern; the reader resets it */
	char below[256];	/* see top_keys_below() */
};

/** top_keys_begin - from here on keys come as they are pressed, if there are any */
void top_keys_begin(struct top_keys *k);

/** top_keys_end - the terminal is as it was */
void top_keys_end(struct top_keys *k);

/**
 * top_keys_wait - until so many seconds are over, or a key, or a signal
 *
 * What the key asks for stands in @k; while it is paused there is no end but that.
 */
void top_keys_wait(struct top_keys *k, double seconds);

/** top_keys_below - the text below the table, in items three spaces apart; or NULL */
const char *top_keys_below(struct top_keys *k);

#endif
