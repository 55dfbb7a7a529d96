/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stap says of a lowered script, said of the user's own.
 *
 * Pure text in, text out, line by line: names of files, places, the source line
 * that stap shows under a message, and the caret below that.
 */
#ifndef STAPWATCH_DIAG_H
#define STAPWATCH_DIAG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "lower/lower.h"

/* A script that stap has under another name, or with another text. */
struct diag_file {
	const char *stap_name;	/* what stap calls it */
	const char *name;	/* what the user calls it */
	/* XXXXXX's place in stap_name, or 0: stap may have the module of an
	 * earlier run in its cache
	 */
	size_t random;
	const char *text;	/* the user's */
	size_t len;
	const struct lowered *lowered;
};

struct diag;

/**
 * diag_new - a filter
 * @files: must outlive it
 * @names_only: for what is no message: only names of files are the user's
 */
struct diag *diag_new(const struct diag_file *files, size_t nr,
		      bool names_only);
void diag_free(struct diag *d);

/** diag_explain_pmu - a script has $pmu[N]: if stap knows no such variable, say whose it is */
void diag_explain_pmu(struct diag *d);

/** diag_name_output - what begins our line where stap could not write the script's output */
void diag_name_output(struct diag *d, const char *output);

/** diag_feed - some bytes of stap's; adds to @out what is whole by now */
void diag_feed(struct diag *d, const char *bytes, size_t len, struct buf *out);

/** diag_ended - the status of a COMMAND of which stap has said that it failed; or 0 */
int diag_ended(const struct diag *d);

/** diag_unwritten - has stap said that it could not write the script's output? */
bool diag_unwritten(const struct diag *d);

/** diag_pending - is a line held back that has no end yet? */
bool diag_pending(const struct diag *d);

/** diag_flush - adds the line that has no end yet, a prompt perhaps */
void diag_flush(struct diag *d, struct buf *out);

#endif
