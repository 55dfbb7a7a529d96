/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What precise accounting says of the last second, for the page of metrics.
 *
 * Who asks gets the interval between the last two looks at the files, which are a
 * second apart or more: all who ask within it get the same.
 */
#ifndef STAPWATCH_METRICS_PPA_H
#define STAPWATCH_METRICS_PPA_H

#include "cmd/ppa_interval.h"

struct metrics_ppa {
	struct ppa_interval in;
	bool begun;		/* in.now has a look */
	int64_t looked;		/* ms, when that was */
	struct buf json;	/* of the interval; empty before there is one */
};

/**
 * metrics_ppa - one JSON object, with `interval', which is null where there is none
 * @maps: @nr names of modules or paths of maps, beside which accounting is looked
 *	for; that of any module, if @nr is 0
 */
void metrics_ppa(struct metrics_ppa *p, char *const *maps, int nr,
		 struct buf *out);
void metrics_ppa_free(struct metrics_ppa *p);

#endif
