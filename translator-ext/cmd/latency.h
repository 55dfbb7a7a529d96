/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `stapwatch latency' is asked for, and what came of it.
 *
 *	latency.c		the command line
 *	latency_functions.c	the functions that are recorded
 *	latency_names.c		which functions a word stands for
 *	latency_source.c	those of a source file, by debug information
 *	latency_user.c		those of a program, by its symbols
 *	latency_hidden.c	which symbols are there for old programs
 *	latency_returns.c	programs that a probe on a return ends
 *	latency_exits.c		where functions of these return
 *	latency_parts.c		what compilers have cut off functions
 *	latency_events.c	what -e names
 *	latency_script.c	the script that records their calls
 *	latency_session.c	what stap is given, and what the script says
 *	latency_print.c		the table, the histogram and JSON
 *	latency_heat.c		the picture of calls over time
 */
#ifndef STAPWATCH_LATENCY_H
#define STAPWATCH_LATENCY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "event/event.h"
#include "store/abi.h"

struct latency_event {
	char *text;		/* as -e has it */
	struct event ev;
	int native;		/* its number, for what has no name in the table */
};

struct latency_function_name {
	char *name;
	char *asked;		/* what it was asked for by, if not its name */
	bool optional;		/* of a pattern: left out if it cannot be probed */
	char *file;		/* a program, in which it is; NULL: the kernel */
	uint64_t offset;	/* where in that file */
	char *exits;		/* where it returns, from there; NULL: a probe on its return */
	const char *word;	/* what stands for it on the command line */
	bool several;		/* the kernel has others of its name */
};

/* What calls are told apart by. */
enum latency_by {
	LATENCY_BY_NONE,
	LATENCY_BY_CPU,
	LATENCY_BY_PROCESS,
	LATENCY_BY_ARGUMENT,
};

/* What two events make. */
struct latency_rate {
	const struct event_derived *derived;
	size_t numerator, denominator;	/* events' numbers */
};

struct latency_request {
	struct latency_function_name *functions;
	size_t nr_functions;
	struct latency_event *events;
	size_t nr_events;
	struct latency_rate *rates;
	size_t nr_rates;
	char *command;		/* a shell's words */
	const char *program;	/* its first word, as it was given; NULL: a shell finds it */
	const char *svg;	/* where the picture goes; NULL: none is wanted */
	uint64_t pid, tid;	/* 0: none is given */
	const char *cgroup;
	bool all;		/* calls of all, while the command runs */
	bool force;		/* also of programs that it may end */
	const char *file;	/* the table goes there; NULL: to stdout */
	FILE *out;		/* open for it */
	uint64_t over_us;
	uint64_t interval_ms;	/* 0: only at the end */
	uint64_t count;		/* of intervals; 0: no end */
	enum latency_by by;
	unsigned int argument;	/* which, from 1 on */
	bool argument_is_int;
	bool json;
	bool verbose;
};

/* A histogram, as the map has it. */
struct latency_hist {
	uint64_t n[PERFMAP_HIST_COUNTERS];
	uint64_t count;		/* of its values */
};

/* The time, the thread's time, and each event, of a function. */
#define LATENCY_TIME 0
#define LATENCY_ON_CPU 1
#define LATENCY_EVENT(i) (2 + (i))

struct latency_function {
	char *name;
	int64_t cpu;		/* -1: all */
	bool has_key;		/* a process's number, or an argument's value */
	int64_t key;
	uint64_t started;	/* tells processes of one number apart */
	char *comm;		/* the process's name; NULL: it has no key */
	uint64_t missed;	/* there was no place */
	uint64_t nested;	/* a probe was being handled; calls of anybody */
	struct latency_hist *hists;
};

/* What the script says at a time. */
struct latency_block {
	int64_t ns;		/* since it began to record */
	int64_t under_way;	/* calls that have not returned */
	double tick_ns;		/* what a tick of the clock is */
	struct latency_function *functions;
	size_t nr_functions;
	bool last;
};

/** latency_nr_hists - how many histograms a function has */
size_t latency_nr_hists(const struct latency_request *req);

/* How many processes, or values of an argument, of a function are told apart. */
#define LATENCY_KEYS 64

/* Histograms that there can be, of all functions and their rows together. */
#define LATENCY_HISTS 4000

static inline bool latency_has_keys(const struct latency_request *req)
{
	return req->by == LATENCY_BY_PROCESS || req->by == LATENCY_BY_ARGUMENT;
}

/* As the runtime has it. */
#define LATENCY_MAX_NAME 79

/* Of a part of a function that the compiler has put elsewhere: NAME.cold or NAME.cold.7. */
#define LATENCY_PART ".cold"

/** latency_is_part - is it a part's name? */
bool latency_is_part(const char *name);

/* What is of the kernel's functions, and of most programs'. */
#define LATENCY_NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
/* What makes a pattern of a name. */
#define LATENCY_WILD "*?["

/**
 * latency_names_add - functions that one word of the command line stands for
 *
 * Return: 0, or -1 after a message
 */
int latency_names_add(struct latency_request *req, const char *word);

/** latency_functions_fail - say of a word what is wrong with it; -1 */
int latency_functions_fail(const char *word, const char *why);

/** latency_functions_full - latency_functions_put() had no room for all of it; -1 */
int latency_functions_full(const char *word);

/** latency_function_free - what a function has */
void latency_function_free(struct latency_function_name *f);

/** latency_functions_has - whether a function of that name is there already */
bool latency_functions_has(const struct latency_request *req, const char *name);

/**
 * latency_functions_put - a function more; NULL if there are too many
 *
 * @word: what stands for it on the command line
 * The rest is for the caller to fill in.
 */
struct latency_function_name *
latency_functions_put(struct latency_request *req, const char *word,
		      const char *name);

/**
 * latency_functions_tell_apart - leave out names that the kernel has several times
 *
 * Calls are recorded by a function's name.  Of several functions the kernel would take
 * any, and the calls of the others would be missing without a word.
 *
 * Return: 0, or -1 after a message: none is left, or one was named without a pattern
 */
int latency_functions_tell_apart(struct latency_request *req);

/**
 * latency_symbols - each function that the kernel says it has
 * @on_symbol: @module is empty for the kernel's own
 *
 * Return: 0, or -1 after a message
 */
int latency_symbols(void (*on_symbol)(void *data, const char *module,
				      const char *name), void *data);

/**
 * latency_source_add - functions by the file that they are written in
 * @word: [MODULE:]FUNCTION@FILE
 *
 * Return: 0, or -1 after a message
 */
int latency_source_add(struct latency_request *req, const char *word);

/**
 * latency_user_add - functions of a program or a library
 * @word: PATH:FUNCTION
 *
 * Return: 0, or -1 after a message
 */
int latency_user_add(struct latency_request *req, const char *word);

/**
 * latency_events_parse - what -e says
 * @text: events with commas between them
 *
 * Return: 0, or -1 after a message
 */
int latency_events_parse(struct latency_request *req, const char *text);
void latency_events_free(struct latency_request *req);

/* Functions' names come by as many -G as that, a power of two: then the script is
 * the same for most questions. */
#define LATENCY_LIST 480	/* what is in one; stap's strings have 511 */
#define LATENCY_LISTS 64

/** latency_lists - the names of the kernel's functions, LATENCY_LIST characters at
 * most in each; how many lists */
size_t latency_lists(const struct latency_request *req, struct buf *lists);

/** latency_script - the script that records what is asked for */
void latency_script(const struct latency_request *req, size_t nr_lists,
		    struct buf *out);

/**
 * latency_session - run the script
 * @lists: of latency_lists()
 * @on_block: is called with what it says; below 0: it failed, above 0: it has enough
 *
 * Return: the exit status
 */
int latency_session(const struct latency_request *req, const char *script,
		    struct buf *lists, size_t nr_lists,
		    int (*on_block)(const struct latency_request *req,
				    struct latency_block *block));

/** latency_print - a block, on stdout; -1 after a message */
int latency_print(const struct latency_request *req,
		  const struct latency_block *block);

/* How many calls took how long in some intervals: latency_heat.c. */
struct latency_column;

struct latency_heat {
	struct latency_column *columns;
	uint32_t nr_columns;
	uint32_t per;		/* intervals in a column; 0: there is none yet */
	uint32_t in_last;	/* of them in the last column */
};

/** latency_heat_add - what came in an interval goes to a column */
void latency_heat_add(struct latency_heat *h, const struct latency_block *b);

/** latency_heat_write - all columns, into the file that was asked for; -1 after a
 * message */
int latency_heat_write(const struct latency_heat *h,
		       const struct latency_request *req);
void latency_heat_free(struct latency_heat *h);

#endif
