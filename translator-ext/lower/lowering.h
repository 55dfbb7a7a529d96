/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this folder share: a script on its way, and what each of
 * them does with it.  Nobody else includes this; lower.h is for others.
 *
 * Each calls only those that stand before it here:
 *
 *	lowering	errors, said where they stand
 *	edit		replacing in place, and lines of the tail
 *	explain		what --explain prints
 *	argument	what stands in a component's parentheses
 *	native		events that the event table lacks
 *	calls		elapsed where nothing returns
 *	aliases		how many readings a probe point has
 *	globals		what names are global
 *	readings	startwatch("EVENT"), elapsed("EVENT")
 *	record		handlers that are histogram() and nothing else
 *	sampling	pmu_profile("EVENT:PERIOD"), time_ms(N)
 *	sets		pmu_set("NAME", "EVENT,EVENT")
 *	points		a probe point becomes an alias
 *	handlers	$pmu[N], histogram(), $timestamp, $current, $thread
 *	driver		all of it, script by script
 *
 * Tokens are called by their numbers among those that the parser sees, but in
 * handlers.c by those in the text; BEGIN to END is without the token END.  A function
 * that fails has printed the error; its caller continues with the next probe point.
 */
#ifndef STAPWATCH_LOWERING_H
#define STAPWATCH_LOWERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "event/event.h"
#include "lower/lower.h"
#include "script/parse.h"

/*
 * How many readings a probe point has.  The first @min of them are the same
 * number of $pmu[N] in whatever way it is reached; @max is where the next may
 * begin.
 */
struct range {
	unsigned int min, max;
	bool mixed;		/* its own have different numbers, by the way */
	bool elapsed;		/* some reading is of calls */
};

/* How many readings an alias of the script's brings. */
struct counted {
	enum { NOT_COUNTED, COUNTING, COUNTED } state;
	struct range sum;
	bool recorded;		/* the probe is a recorded call: record.c */
};

/* An event that the table lacks.  One that is sampled may bring its period. */
struct native {
	struct event_attr attr;
	bool counted;
	int64_t period;		/* samples a second, if negative */
	uint64_t random;
	uint64_t long_period;
	const char *of_set;	/* a set has it, by that name; or NULL */
};

struct lowering {
	const char *name;
	const struct lower_options *opt;
	FILE *err;
	unsigned int errors;
	struct outline s;
	struct counted *counted;	/* for each probe */
	const char *user;	/* the text as it came */
	char *text;		/* the same, with what was replaced */
	struct buf tail;	/* what goes after it */
	struct buf explain;
	unsigned int tail_lines;
	struct lowered_alias *aliases;
	size_t nr_aliases;
	struct native *natives;
	unsigned int nr_natives;
	bool sampling;		/* the tail has __sw_sampling() */
	bool waits;		/* and __sw_off_cpu() */
	struct tokens thread_names;	/* of $thread->NAME, each once */
	struct lower_globals globals;	/* of this script alone, private ones too */
	char letter;		/* of the script in its aliases' names, or 0 */
};

static inline const char *tok_text(const struct lowering *l, size_t i)
{
	return l->s.t.tok[i].s;
}

static inline size_t tok_len(const struct lowering *l, size_t i)
{
	return l->s.t.tok[i].len;
}

static inline bool is(const struct lowering *l, size_t i, const char *s)
{
	return token_is(&l->s.t, i, s);
}

static inline bool begins_with(const struct lowering *l, const struct point *p,
			       const char *word)
{
	return p->nr_parts && is(l, p->parts[0].begin, word);
}

/* ---- lowering.c */

#define LOWER_MAX_ERRORS 20	/* that are shown */

/** lower_fail - count an error, and say it of token @i */
void __attribute__((format(printf, 3, 4)))
lower_fail(struct lowering *l, size_t i, const char *fmt, ...);

/** lower_fail_at - the same of a token as it stands in the text */
void __attribute__((format(printf, 3, 4)))
lower_fail_at(struct lowering *l, const struct token *t, const char *fmt, ...);

/* ---- edit.c */

/** edit_blank - blank out tokens of @t, but for comments and line ends */
void edit_blank(struct lowering *l, const struct tokens *t, size_t begin,
		size_t end);

/** edit_put - write over the text from @offset on, which has room for it */
void edit_put(struct lowering *l, size_t offset, const char *s);

/** edit_room - the bytes from token @i of @t on, on its line, up to token @end */
size_t edit_room(const struct lowering *l, const struct tokens *t, size_t i,
		 size_t end);

/** edit_copy - add tokens as they were written to @b, as one line without comments */
void edit_copy(const struct lowering *l, size_t begin, size_t end,
	       struct buf *b);

/** edit_tail_line - end the tail's line */
void edit_tail_line(struct lowering *l);

/* ---- explain.c */

/** explain_point - the probe point as the user wrote it */
void explain_point(struct lowering *l, const struct point *p);

/**
 * explain_became - what is probed for it
 * @stands_for: what the alias stands for
 * @parts: how many of the point's parts the alias takes in
 */
void explain_became(struct lowering *l, const struct point *p,
		    const char *stands_for, size_t parts);

/** explain_attr - what perf is told to count */
void explain_attr(struct lowering *l, const struct event_attr *a);

/* ---- argument.c */

/**
 * argument_value - what strings one after another say
 *
 * Return: to be freed; NULL if one of the tokens @begin to @end is no string, or there is
 * none
 */
char *argument_value(const struct lowering *l, size_t begin, size_t end);

/**
 * argument_string - the value of the string in a part's parentheses
 * @what: the component's name, for the message
 *
 * Strings one after another are one.  Return: to be freed; NULL after an error
 */
char *argument_string(struct lowering *l, const struct part *part,
		      const char *what);

/**
 * argument_event - the event that a string names
 * @i: the token to which an error belongs
 * @ev: event_free() frees it
 *
 * Return: false after an error, with nothing to free
 */
bool argument_event(struct lowering *l, size_t i, const char *text,
		    struct event *ev);

/* ---- native.c */

/**
 * native_number - the number by which the runtime will know an event
 * @i: the token to which an error belongs
 * @name: the event's, for messages of the runtime's
 *
 * The tail declares it to the runtime, once.  Return: -1 after an error
 */
int native_number(struct lowering *l, size_t i, const char *name,
		  const struct native *want);

/* ---- calls.c */

/** calls_dotted - the first part of startwatch.EVENT or elapsed.EVENT, or NULL */
const struct part *calls_dotted(const struct lowering *l,
				const struct point *p);

/** calls_elapsed - the first part of elapsed, with quotes or without, or NULL */
const struct part *calls_elapsed(const struct lowering *l,
				 const struct point *p);

/**
 * calls_check - say so if a probe's point has readings that nothing can have
 * @by_alias: an alias of the script's brings it an elapsed
 *
 * Not for a script with conditions that stap has to decide: they may take a point away,
 * or bring it its return.
 */
void calls_check(struct lowering *l, const struct point *p, bool by_alias);

/* ---- aliases.c */

/**
 * aliases_readings - how many readings a probe point has
 *
 * Its own, and those of the aliases of the script's that it uses, or may use: it
 * may have wildcards.
 */
struct range aliases_readings(const struct lowering *l, const struct point *p);

/* ---- globals.c */

/**
 * globals_collect - add what a script's tokens define
 * @of_others: it is another script: without what is private there
 */
void globals_collect(const struct tokens *t, bool of_others,
		     struct lower_globals *g);

/** globals_have - is a name that of a global variable, as this script sees it? */
bool globals_have(const struct lowering *l, const char *name);

/** globals_own_histogram - the same of a function histogram() */
bool globals_own_histogram(const struct lowering *l);

/* ---- readings.c */

/* One reading at the beginning of a handler: $pmu[N]. */
struct reading {
	const struct part *part;
	struct event ev;
	int native;		/* its number, where the table lacks it */
};

/**
 * reading_of - what a startwatch or elapsed component reads
 * @r: event_free(&r->ev) frees it
 *
 * Return: 0; -1 after an error, with nothing to free
 */
int reading_of(struct lowering *l, const struct part *part, struct reading *r);

/** readings_asked - whether the handler has histogram(), and no script one of its
 * own */
bool readings_asked(const struct lowering *l, const struct probe *probe);

/**
 * readings_put - the body of a point's alias: it takes the readings
 * @n: the number of the first, N of $pmu[N]
 *
 * Where a reading has no value the handler is skipped.  An event whose name is
 * an identifier is a variable too, if the handler of @probe asks for it.  For
 * histogram() the readings have their histograms' names.
 *
 * Return: 0; -1 after an error
 */
int readings_put(struct lowering *l, const struct probe *probe,
		 const struct point *p, unsigned int n, struct buf *b);

/* ---- record.c */

/**
 * record_lower - a probe that has nothing but histogram() becomes recorded calls
 * @number: the probe's, of the script
 *
 * Where that cannot be, --explain says why, and it is an ordinary probe.
 *
 * Return: whether it has become that; also after an error
 */
bool record_lower(struct lowering *l, size_t number);

/* ---- sampling.c */

/**
 * sampling_put - what the alias of a sampled point stands for
 *
 * Before our parts there may be `kernel', or the process to be sampled.
 *
 * Return: 0; -1 after an error
 */
int sampling_put(struct lowering *l, const struct point *p, struct buf *b);

/* ---- sets.c */

/** sets_asked - may the script have sets? */
bool sets_asked(const struct lowering *l);

/** sets_lower - the tail declares the events of sets that the event table lacks */
void sets_lower(struct lowering *l);

/* ---- points.c */

#define POINTS_WITHOUT_COUNTS "%s has no counts: counting begins after the begin probes and ends before the end probes; read them in another probe"

/** points_without_counts - begin or another word of probes without counts, or NULL */
const char *points_without_counts(const struct lowering *l,
				  const struct point *p);

/** points_check - can a point of ours be, as it is written? */
bool points_check(struct lowering *l, const struct point *p);

/** points_lower - a point of ours becomes an alias that the tail defines */
void points_lower(struct lowering *l, const struct probe *probe,
		  const struct point *p);

/* ---- handlers.c */

/**
 * handlers_lower - what is ours in the bodies of probes, functions and macros
 * @any_readings: the script has some; without, $pmu may be a target variable
 * @sure: a variable that a handler uses must be there
 */
void handlers_lower(struct lowering *l, bool any_readings, bool sure);

#endif
