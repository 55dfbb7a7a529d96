/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which moments of a trace are wanted: from --time, and between the marks of
 * --between.
 */
#ifndef STAPWATCH_SPAN_H
#define STAPWATCH_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/warnings.h"

/* { 0 }: all of them. */
struct span {
	uint64_t from;		/* ns since the first trace's beginning */
	uint64_t to;		/* the same; 0: its end */
	const char *begin;	/* patterns of fnmatch(3) for marks; NULL: not asked for */
	const char *end;
};

static inline bool span_is_all(const struct span *s)
{
	return !s->from && !s->to && !s->begin;
}

/* Nanoseconds since the trace began, at @zero; what a damaged one says may be before. */
static inline uint64_t span_since(uint64_t zero, uint64_t ns)
{
	return ns > zero ? ns - zero : 0;
}

/* Where the marks were; { 0 } knows none yet. */
struct spans {
	struct {
		uint64_t from, to;
	} *list;		/* one after the other, of the clock of all traces */
	size_t nr, size;
	uint64_t marks;		/* that there were */
	uint64_t open;		/* so many have begun and not ended */
};

/**
 * span_parse_time - FROM-TO, FROM- or -TO, in seconds
 * Return: 0; -1: it is none
 */
int span_parse_time(struct span *s, const char *text);

/**
 * span_parse_marks - BEGIN,END
 * @text: is cut at the comma, and kept
 *
 * Return: 0; -1: it is none
 */
int span_parse_marks(struct span *s, char *text);

/** spans_mark - a mark of that name at @ns; marks come in the order of time */
void spans_mark(struct spans *sp, const struct span *s, uint64_t ns,
		const char *name);
void spans_free(struct spans *sp);

/**
 * spans_want - is anything from @from to @to wanted?
 * @zero: when the trace began, of the same clock
 *
 * Where marks come as they are read, those up to @to must be there.
 */
bool spans_want(const struct spans *sp, const struct span *s, uint64_t zero,
		uint64_t from, uint64_t to);

/** spans_say - a warning if no mark begins what is wanted, and so nothing is left */
void spans_say(const struct spans *sp, const struct span *s, const char *name,
	       struct warnings *w);

#endif
