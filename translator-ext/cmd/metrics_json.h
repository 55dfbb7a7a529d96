/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Histograms of maps as JSON, with all their buckets: a percentile is as exact as
 * libstapwatch has it, where the text has only a bound for each power of two.
 */
#ifndef STAPWATCH_METRICS_JSON_H
#define STAPWATCH_METRICS_JSON_H

#include "cmd/metrics_text.h"

/**
 * metrics_json - the histograms, in one object
 *
 * It contains no more than 4 MB of them, and says how many it leaves out.
 */
void metrics_json(struct buf *out, const struct metrics *m);

#endif
