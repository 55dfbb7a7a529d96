/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as it is looked at: those of its cells that are wanted, and their
 * stacks as places.  What every kind of output begins with.
 */
#ifndef STAPWATCH_VIEW_H
#define STAPWATCH_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "places.h"
#include "profile.h"

/* Patterns of fnmatch(3), or NULL. */
struct view_filter {
	const char *symbol;
	const char *image;
};

struct view_total {
	uint64_t samples;
	uint64_t events;
};

struct view {
	struct profile *profile;
	struct places *places;
	struct view_filter filter;
	uint32_t *cells;	/* those that are wanted */
	size_t nr, size;
	struct view_total *totals;	/* by event, of these */
	size_t nr_totals;
	uint32_t lost;		/* marks, places: see view_stack() */
	uint32_t cut;
	uint32_t *frames;	/* of the stack asked for last */
	size_t size_frames;
};

/** view_new - of a profile, which it does not own */
struct view *view_new(struct profile *profile, const char *kallsyms,
		      const struct view_filter *filter);
void view_free(struct view *v);

/** view_place - where a cell's samples were, a place's number */
uint32_t view_place(struct view *v, const struct cell_key *key);

/**
 * view_stack - the places of a cell's stack, innermost first
 * @nr: gets how many; one at least
 *
 * Of a caller it is the place of the call, not the one it returns to.  Behind a
 * stack that is not whole stands a mark that says so.
 *
 * Return: valid until the next call
 */
const uint32_t *view_stack(struct view *v, const struct cell_key *key,
			   size_t *nr);

/** view_share - events of all that the view has of that event, in percent */
double view_share(const struct view *v, uint32_t event, uint64_t events,
		  uint64_t samples);

#endif
