/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report --follow: a trace that is still being written. */
#ifndef STAPWATCH_REPORT_FOLLOW_H
#define STAPWATCH_REPORT_FOLLOW_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct follow {
	const char *path;
	uint64_t size;		/* of the trace, in the last round */
	uint64_t ns;		/* when the last round began */
	sigset_t open;		/* signals that come while we wait */
	bool ended;		/* the last round has found all ends; the caller says so */
	bool grown;		/* there is more than in the last round */
	bool screen;		/* stdout is a terminal, which shows the newest report alone */
	bool again;		/* there was a report */
};

/** follow_begin - from now on Ctrl-C asks for the last report */
void follow_begin(struct follow *f, const char *path);

/**
 * follow_next - wait until there is more to report
 *
 * Until a second has passed and the trace has grown, or was asked to end, or has ended and
 * grows no more.
 *
 * Return: whether this report is the last one.
 */
bool follow_next(struct follow *f);

/** follow_head - what stands before a report */
const char *follow_head(struct follow *f);

#endif
