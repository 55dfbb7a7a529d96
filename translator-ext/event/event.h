/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events: from what a user calls one to what perf is to be told.
 *
 * Each file calls only those above it:
 *
 *	event_table	the portable names, from tapsets/events.tbl
 *	event_derived	ipc and the like, over names of the table
 *	event_notation	what the notations have in common
 *	event_perf	perf's names and r00c0
 *	event_loads	mem_loads:ldlat=N
 *	event_sysfs	PMU/TERMS/
 *	event_pfm	libpfm4's names
 *	event_raw	EVENT,pmc[N]=VALUE: the settings, without the event
 *	event_profile	EVENT:PERIOD[,OPTION...], without the event's meaning
 *	event		the order in which they are tried
 */
#ifndef STAPWATCH_EVENT_H
#define STAPWATCH_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields of struct perf_event_attr that choose what is counted. */
struct event_attr {
	uint32_t type;
	uint64_t config;
	uint64_t config1;
	uint64_t config2;
	uint64_t config3;
	uint64_t config4;
	bool exclude_user;
	bool exclude_kernel;
	bool exclude_hv;
	bool exclude_idle;
	bool exclude_host;
	bool exclude_guest;
	unsigned int precise_ip;	/* 0 to 3 */
	bool wants_nmi;			/* samples shall come by NMI */
	uint64_t sample_type;		/* what a sample of it must bring */
};

enum event_notation {
	EVENT_TABLE,		/* a name of the event table */
	EVENT_PFM,		/* libpfm4's: skx::MEM_LOAD_L3_HIT_RETIRED:XSNP_HIT:u */
	EVENT_PERF,		/* perf's: cpu/event=0x3c/, r00c0, cycles:u */
	EVENT_RAW,		/* name,pmc[N]=value */
	EVENT_DERIVED,		/* ipc: an expression over events */
};

/* A value that is SCALE * numerator / denominator. */
struct event_derived {
	const char *name;
	const char *numerator;		/* names of the event table */
	const char *denominator;
	unsigned int scale;
	const char *text;
};

struct event {
	enum event_notation notation;
	char *name;			/* as it was written */
	/* the event table's name for just this, in any notation; or NULL */
	const char *table_name;
	struct event_attr attr;		/* of all but derived ones */
	const struct event_derived *derived;
	char *text;			/* a line of description, or NULL */
};

/**
 * event_resolve - what does this name mean?
 *
 * An event that the table has a name for gets that table_name and just the
 * table's attr, however it was written; perf's modifiers may follow a table
 * name.  Settings after the name of an event that is known go to its config1
 * and those after it; with a name that is not known they are the event.
 *
 * @text: the event, in any notation, NUL-terminated
 * @pmu: libpfm4's name of the machine's PMU (`skx'); NULL: this machine
 * @ev: the result; event_free() frees it
 * @why: where to say, in one line and without a newline, why it means nothing
 *	and what names are near
 * @size: of @why
 *
 * Return: 0 or -1
 */
int event_resolve(const char *text, const char *pmu, struct event *ev,
		  char *why, size_t size);
void event_free(struct event *ev);

/* The parts of pmu_profile("event:period[,option...]") */
struct event_profile {
	char *event;		/* with raw settings; the options user and
				 * kernel become modifiers of it */
	uint64_t period;	/* with freq set the samples a second */
	bool freq;
	int precise;		/* precise_ip that is asked for, or -1 */
	uint64_t random;	/* the mask of what is added; 0: not given */
	uint64_t long_period;	/* up to the sample after one that was lost; 0: no other */
};

/**
 * event_is_wait - is it off_cpu, or meant so?
 *
 * Waits are no event that anything counts: they are sampled, with the shortest one's
 * nanoseconds for a period, and event_resolve() refuses them.
 */
bool event_is_wait(const char *text);

/**
 * event_profile_wait - may a wait be sampled like that?
 * Return: 0, or -1 with @why said
 */
int event_profile_wait(const struct event_profile *parts, char *why,
		       size_t size);

/** event_has_period - does it stand in "EVENT[:PERIOD][,OPTION...]"? */
bool event_has_period(const char *text);

/**
 * event_profile_split - take apart what stands in pmu_profile("...")
 * @text: the string
 * @parts: @parts->event is to be freed
 *
 * Return: 0, or -1 with @why said
 */
int event_profile_split(const char *text, struct event_profile *parts,
			char *why, size_t size);

#endif
