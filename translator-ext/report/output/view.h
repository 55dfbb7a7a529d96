/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A profile as it is looked at: those of its cells that are wanted, and their
 * stacks as places.  What every kind of output begins with.
 */
#ifndef STAPWATCH_VIEW_H
#define STAPWATCH_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "report/input/profile.h"
#include "report/names/function.h"
#include "report/names/places.h"

#define VIEW_DEEPEST 1024	/* frames of a stack; what is deeper is cut */

struct view_filter {
	const char *symbol;	/* patterns of fnmatch(3), or NULL */
	const char *image;
	bool without_idle;	/* the idle loop is counted, and left out */
};

/* Who called, innermost first: places. */
struct view_callers {
	uint32_t number;	/* from 0; the same for the same places */
	uint32_t nr;
	const uint32_t *places;
};

/* How following frame pointers ended. */
enum view_end {
	VIEW_END_WHOLE,		/* as far as anybody knows */
	VIEW_END_NO_CODE,	/* at an address where the process has none */
	VIEW_END_KERNEL,	/* at one of the kernel's, which no process has */
};

struct view_stack {
	uint32_t callers;	/* their number */
	enum view_end end;
};

struct view_total {
	uint64_t samples;
	uint64_t events;
	uint64_t idle_samples;	/* besides, which are left out */
	uint64_t idle_events;
	uint64_t open_samples;	/* of waits that had not ended */
	uint64_t open_events;
};

struct view {
	struct profile *profile;
	struct places *places;
	struct view_filter filter;
	uint32_t *cells;	/* those that are wanted */
	size_t nr, size;
	struct view_total *totals;	/* by event, of these */
	size_t nr_totals;
	uint32_t lost;		/* marks, places: see view_callers() */
	uint32_t cut;
	uint32_t broken;
	struct intern stack_keys;
	struct view_stack *stacks;	/* by these */
	size_t size_stacks;
	struct intern callers;	/* places; many processes call alike */
	struct intern function_keys;
	struct function *functions;	/* that were asked for */
	size_t size_functions;
	struct disasm **disasms;	/* by traces */
};

/** view_new - of a profile, which it does not own */
struct view *view_new(struct profile *profile,
		      const struct places_from *from,
		      const struct view_filter *filter);
void view_free(struct view *v);

/** view_wants - whether such cells are wanted */
bool view_wants(struct view *v, const struct cell_key *key);

/** view_place - where a cell's samples were, a place's number */
uint32_t view_place(struct view *v, const struct cell_key *key);

/** view_frame - the same as the function that is inlined there, if that is wanted */
uint32_t view_frame(struct view *v, const struct cell_key *key);

/** view_frame_name - add a frame's name, in a line where ; parts frames: : for ; */
void view_frame_name(struct buf *out, const char *name);

/**
 * view_callers - the callers of a cell's place
 *
 * Each is the place of a call, not the one it returns to.  After a stack that
 * is not whole stands a mark that says so.  A user stack ends before the first
 * address that is no code of the process's: who follows frame pointers through
 * code that has none finds anything.
 */
struct view_callers view_callers(struct view *v, const struct cell_key *key);

/** view_broken - a trace's samples whose user stack ended so, of stacks asked for */
uint64_t view_broken(const struct view *v, uint32_t trace, enum view_end end);

/** view_disasm - for the instructions of an image; NULL: see disasm_new() */
struct disasm *view_disasm(const struct view *v, uint32_t image);

/** view_function - the function that a place is in, with its blocks and no code */
const struct function *view_function(struct view *v, const struct place *place);

/** view_share - events of all that the view has of that event, in percent */
double view_share(const struct view *v, uint32_t event, uint64_t events,
		  uint64_t samples);

#endif
