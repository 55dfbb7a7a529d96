/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys of stapwatch top, at a terminal of its own. */
#ifndef STAPWATCH_TOP_KEYS_H
#define STAPWATCH_TOP_KEYS_H

#include <stdbool.h>

#include "cmd/top_rows.h"

struct top_keys {
	bool on;		/* there is somebody who can press one */
	bool stop;
	bool paused;
	bool help;
	enum top_sort sort;
	double delay;		/* seconds, between two rounds */
};

/** top_keys_begin - from here on keys come as they are pressed, if there are any */
void top_keys_begin(struct top_keys *k);

/** top_keys_end - the terminal is as it was */
void top_keys_end(struct top_keys *k);

/**
 * top_keys_wait - until the next round's time has come, or a key, or a signal
 *
 * What the key asks for stands in @k; while it is paused there is no end but that.
 */
void top_keys_wait(struct top_keys *k);

/** top_keys_line - what there is to say below the table; NULL: nothing */
const char *top_keys_line(const struct top_keys *k);

#endif
