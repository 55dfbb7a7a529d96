/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counters and histograms of maps, gathered into families.
 */
#ifndef STAPWATCH_METRICS_COLLECT_H
#define STAPWATCH_METRICS_COLLECT_H

#include "cmd/metrics_log.h"
#include "cmd/metrics_text.h"

/**
 * metrics_collect - the text of what maps have now
 * @maps: @nr names of maps; all that there are, if @nr is 0
 *
 * They are opened anew each time, as a module may go and come again.  What can
 * be read is in @out even if not all can, and stapwatch_map_up of each is 1 or 0.
 * @log gets a line for each that cannot, and for each name that is skipped.
 *
 * Return: how many there are; -1 if one could not be read
 */
int metrics_collect(struct buf *out, enum metrics_format format,
		    char *const *maps, int nr, struct metrics_log *log);

#endif
