/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What `stapwatch stat' is asked for, and what came of it.
 *
 *	stat.c		the command line
 *	stat_events.c	what -e names
 *	stat_script.c	the script that counts it
 *	stat_session.c	what stap is given, and what the script says
 *	stat_estimate.c	what sets would have counted all the time
 *	stat_repeat.c	what several runs of a command have in common
 *	stat_print.c	tables and JSON
 */
#ifndef STAPWATCH_STAT_H
#define STAPWATCH_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "event/event.h"

enum stat_whom {
	STAT_COMMAND,		/* what is started, and all that it makes */
	STAT_PROCESS,		/* -p */
	STAT_THREAD,		/* -t */
	STAT_CGROUP,		/* -G */
	STAT_CPUS,		/* -a and -C */
};

struct stat_event {
	char *text;		/* as -e has it */
	struct event ev;
	size_t set;
	int native;		/* its number, for what has no name in the table */
};

/* When the next set runs, as pmu_switch_every() has it. */
struct stat_every {
	const char *text;	/* as --every has it, or NULL */
	struct stat_event event;	/* whose overflows are counted */
	const char *overflows;	/* ":N" or ":PERIOD:N", or NULL */
};

/* What two events of one set make. */
struct stat_rate {
	const struct event_derived *derived;
	size_t numerator, denominator;	/* events' numbers */
};

struct stat_request {
	enum stat_whom whom;
	char *command;		/* a shell's words */
	const char *program;	/* its first word, as it was given; NULL: a shell finds it */
	uint64_t id;		/* of a process or thread */
	const char *cgroup;
	const char *cpus;	/* a list, or NULL: all */
	struct stat_every every;
	uint64_t interval_ms;	/* 0: only at the end */
	uint64_t repeat;	/* how often the command is run; 0: once, and no -r */
	bool per_thread;
	bool estimate;
	bool json;
	bool verbose;
	const char *file;	/* what is counted goes there; NULL: to stdout */
	int out;		/* open for it */
	struct stat_event *events;
	size_t nr_events;
	size_t nr_sets;		/* 1: no sets, all is counted all the time */
	unsigned int natives;	/* how many events have such a number */
	struct stat_rate *rates;
	size_t nr_rates;
};

/* There is no count, or no such time. */
#define STAT_NO_COUNT INT64_MIN

struct stat_set {
	int64_t runs;
	int64_t active_ns;
};

/* What an event's count would be if its set had counted all the time. */
struct stat_estimate {
	bool known;
	bool bounded;		/* ERROR is known, too */
	double count;
	double error;		/* above and below: 19 times of 20 */
};

struct stat_thread {
	int64_t pid, tid;
	char *name;
	int64_t *counts;	/* of each event */
	struct stat_set *sets;
	int64_t ran_ns;		/* with any set or none */
};

/* What one number was in several runs of the command. */
struct stat_spread {
	size_t runs;		/* that had it */
	double mean;
	double squares;		/* sum of squared differences from the mean */
};

/* What the script says at a time. */
struct stat_block {
	int64_t ns;		/* since it began to count */
	int64_t span_ns;	/* that the counts are of: since that, or a block */
	/* how long CPUs had sets, all together; or how long ran who is counted */
	int64_t session_ns;
	/* how many CPUs did not say in time what they had counted up to then */
	int64_t late;
	int64_t *counts;	/* of each event */
	struct stat_set *sets;
	struct stat_estimate *estimates;	/* of each event; or NULL */
	/* with -r the counts are means, of so many runs */
	size_t runs;
	const struct stat_spread *spreads;	/* of each event, then of the time; or NULL */
	struct stat_thread *threads;
	size_t nr_threads;
	bool last;
};

/**
 * stat_events_parse - what -e says
 * @text: events with commas between them, sets with semicolons
 *
 * Return: 0, or -1 after a message
 */
int stat_events_parse(struct stat_request *req, const char *text);

/** stat_every_parse - what --every says; 0, or -1 after a message */
int stat_every_parse(struct stat_request *req);
void stat_events_free(struct stat_request *req);

/* Do sets go by the time of threads?  Whose?  Those that are counted; where CPUs are,
 * those of the command. */
static inline bool stat_every_is_of_threads(const struct stat_request *req)
{
	return req->every.text && !strncmp(req->every.text, "thread:", 7);
}

/** stat_script - the script that counts what is asked for */
void stat_script(const struct stat_request *req, struct buf *out);

/**
 * stat_session - run the script
 * @on_block: is called with what it says; not 0 ends it
 * @more: whether another run may follow: it had counts, and nobody has asked to end
 *
 * Return: the exit status
 */
int stat_session(const struct stat_request *req, const char *script,
		 int (*on_block)(const struct stat_request *req,
				 const struct stat_block *block),
		 bool *more);

/* How often the script tells of what estimates are made from, ms. */
#define STAT_ESTIMATE_MS 100

/**
 * stat_estimate - take in what was counted up to now
 *
 * Of the last block: make its estimates.  A set's runs are a sample of the whole
 * time: the count in relation to the active time, from one stretch of time to the
 * next, tells how well.
 *
 * Return: the estimates, to be freed; NULL before the last block
 */
struct stat_estimate *stat_estimate(const struct stat_request *req,
				    const struct stat_block *block);

/** stat_repeat_take - take in what a run of the command has counted */
void stat_repeat_take(const struct stat_request *req,
		      const struct stat_block *block);

/**
 * stat_repeat_block - the means of all runs, and how far runs are off them
 *
 * A set's runs and times are means, too.  What a run did not have is left out of
 * means of counts; there are none of times then.
 *
 * Return: false where no run has counted anything; @block is valid until
 * stat_repeat_free()
 */
bool stat_repeat_block(const struct stat_request *req,
		       struct stat_block *block);
void stat_repeat_free(void);

/** stat_deviation - of a run, as the standard deviation of a sample; NAN of one run */
double stat_deviation(const struct stat_spread *spread);

/** stat_print - a block, to where the request says; -1 after a message */
int stat_print(const struct stat_request *req, const struct stat_block *block);

#endif
