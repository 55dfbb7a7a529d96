/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outline of a script: which probes it has, their probe points, and what of
 * those is ours.  All else is left to stap, errors too.
 */
#ifndef STAPWATCH_PARSE_H
#define STAPWATCH_PARSE_H

#include "lex.h"

enum part_kind {
	PART_OTHER,		/* stap's own, or nobody's */
	PART_STARTWATCH,	/* [virtual.]startwatch("event") */
	PART_ELAPSED,		/* [virtual.]elapsed("event") */
	PART_PROFILE,		/* [nmi.]pmu_profile("event:period") */
	PART_TIME,		/* time_ms(N) */
};

/* A component of a probe point, or two that belong together. */
struct part {
	enum part_kind kind;
	bool prefixed;		/* virtual, nmi */
	size_t begin, end;	/* tokens, without the dots about it */
	size_t argument;	/* ours: the token in the parentheses */
};

struct point {
	size_t begin, end;	/* tokens, without ?, ! and if (...) */
	struct part *parts;
	size_t nr_parts;
	bool ours;		/* some part is not PART_OTHER */
	size_t in_group;	/* a part of ours within { }: its token, or 0 */
};

struct probe {
	size_t name, name_end;	/* of an alias; equal if it is none */
	struct point *points;
	size_t nr_points;
	size_t body, body_end;	/* tokens between the braces */
};

struct script {
	struct tokens t;
	struct probe *probes;
	size_t nr_probes;
};

void parse(const char *text, size_t len, struct script *s);
/* A text that is probe points and nothing else becomes one probe. */
void parse_points(const char *text, size_t len, struct script *s);
void script_free(struct script *s);

#endif
