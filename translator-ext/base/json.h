/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is written as JSON. */
#ifndef STAPWATCH_JSON_H
#define STAPWATCH_JSON_H

#include "base/buf.h"

/**
 * json_string - add a string, in its quotes
 *
 * UTF-8 stays UTF-8.  A control character (C0, DEL, C1) and a byte that is no
 * UTF-8 come out as \u00NN.
 */
void json_string(struct buf *out, const char *text);

#endif
