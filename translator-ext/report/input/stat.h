/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Least, mean, greatest and standard deviation of values as they come, and of
 * two such together.
 */
#ifndef STAPWATCH_STAT_H
#define STAPWATCH_STAT_H

#include <math.h>
#include <stdint.h>

/* { 0 } has no value yet. */
struct stat_values {
	uint64_t nr;
	uint64_t min;
	uint64_t max;
	double mean;
	double squares;		/* of the distances from the mean */
};

static inline void stat_add(struct stat_values *s, uint64_t value)
{
	const double distance = value - s->mean;

	if (!s->nr || value < s->min)
		s->min = value;
	if (!s->nr || value > s->max)
		s->max = value;
	s->nr++;
	s->mean += distance / s->nr;
	s->squares += distance * (value - s->mean);
}

static inline void stat_merge(struct stat_values *s,
			      const struct stat_values *more)
{
	const double distance = more->mean - s->mean;
	const double nr = s->nr + more->nr;

	if (!more->nr)
		return;
	if (!s->nr) {
		*s = *more;
		return;
	}
	if (more->min < s->min)
		s->min = more->min;
	if (more->max > s->max)
		s->max = more->max;
	s->squares += more->squares +
		      distance * distance * s->nr * more->nr / nr;
	s->mean += distance * more->nr / nr;
	s->nr += more->nr;
}

/* Of all values, not of a sample of them. */
static inline double stat_deviation(const struct stat_values *s)
{
	return s->nr ? sqrt(s->squares / s->nr) : 0;
}

#endif
