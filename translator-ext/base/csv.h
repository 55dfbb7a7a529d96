/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in CSV, for spreadsheets. */
#ifndef STAPWATCH_CSV_H
#define STAPWATCH_CSV_H

#include "base/buf.h"

/**
 * csv_text - add a text, in quotes
 *
 * Names are others' to choose: control characters come out as \xNN, and what a
 * spreadsheet would take for a formula has an apostrophe before it.  A hyphen alone is
 * how a column says that there is nothing.
 */
void csv_text(struct buf *out, const char *text);

#endif
