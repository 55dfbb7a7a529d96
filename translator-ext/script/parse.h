/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outline of a script: which probes it has, their probe points, and what of
 * those is ours.  All else is left to stap, errors too.
 */
#ifndef STAPWATCH_PARSE_H
#define STAPWATCH_PARSE_H

#include "script/condition.h"
#include "script/lex.h"

enum part_kind {
	PART_OTHER,		/* stap's own, or nobody's */
	PART_STARTWATCH,	/* [virtual.]startwatch("event") */
	PART_ELAPSED,		/* [virtual.]elapsed("event") */
	PART_PROFILE,		/* [nmi.]pmu_profile("event:period") */
	PART_TIME,		/* time_ms(N) */
	PART_RUNQSLOWER,	/* runqslower(US), after ppa. */
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

struct alias_name {
	size_t begin, end;	/* tokens */
};

struct probe {
	struct alias_name *names;	/* of an alias: a = b = ... */
	size_t nr_names;
	struct point *points;
	size_t nr_points;
	size_t body, body_end;	/* tokens between the braces; of an alias with
				 * an epilogue, to the end of that */
};

struct outline {
	struct tokens raw;	/* as they stand in the text */
	struct tokens t;	/* as the parser sees them; all numbers are of these */
	struct probe *probes;
	size_t nr_probes;
};

/**
 * parse - the outline of a script
 * @text: any bytes; must stay while @s is used
 * @args: the script's arguments
 * @facts: what conditions are decided by
 * @s: outline_free() frees it
 */
void parse(const char *text, size_t len, const struct script_args *args,
	   const struct script_facts *facts, struct outline *s);
/** parse_points - the same of what stands after the word `probe' */
void parse_points(const char *text, size_t len, const struct script_args *args,
		  const struct script_facts *facts, struct outline *s);
void outline_free(struct outline *s);

/** point_has - has the point a part of that kind? */
bool point_has(const struct point *p, enum part_kind kind);

/** point_readings - how many parts are startwatch or elapsed */
unsigned int point_readings(const struct point *p);

#endif
