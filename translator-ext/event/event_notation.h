/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The notations of events, as event.c tries them and cmd/list.c lists them.
 */
#ifndef STAPWATCH_EVENT_NOTATION_H
#define STAPWATCH_EVENT_NOTATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/suggest.h"
#include "event/event.h"

/* What became of a text in one of the notations. */
enum event_found {
	EVENT_FOUND,		/* the event is filled in */
	EVENT_NOT_MINE,		/* not this notation; nothing is said */
	EVENT_WRONG,		/* this notation, with a mistake: why says it */
};

/*
 * Each of these fills in a struct event that is all zeros, but for its name,
 * or leaves it alone; event_free() is the caller's, whatever they return.
 */
enum event_found event_perf(const char *text, struct event *ev,
			    struct buf *why);
enum event_found event_loads(const char *text, struct event *ev,
			     struct buf *why);
enum event_found event_sysfs(const char *text, const char *pmu,
			     struct event *ev, struct buf *why);
enum event_found event_pfm(const char *text, const char *pmu,
			   struct event *ev, struct buf *why);

/* config, and config1 to config4 */
#define EVENT_MAX_SETTINGS 5

/* name,pmc[N]=value[,pmc[N]=value...] */
struct event_settings {
	char *name;		/* what stands before them */
	size_t nr;
	struct event_setting {
		uint64_t n;
		uint64_t value;
	} set[EVENT_MAX_SETTINGS];	/* in the order of their numbers */
};

/**
 * event_raw_split - take the register settings off an event's name
 * @s: if EVENT_FOUND is returned, @s->name is to be freed
 *
 * Return: EVENT_NOT_MINE if there are none
 */
enum event_found event_raw_split(const char *text, struct event_settings *s,
				 struct buf *why);

/**
 * event_raw_add - the event is known by its name, and takes the settings too
 * @ev: the event of that name
 */
enum event_found event_raw_add(const struct event_settings *s,
			       struct event *ev, struct buf *why);

/**
 * event_raw_alone - the settings are the event; it is only called by that name
 * @ev: as for the notations above
 */
enum event_found event_raw_alone(const struct event_settings *s,
				 struct event *ev, struct buf *why);

/**
 * event_quote - a user's text, in quotes, fit for a message
 *
 * What is no printable ASCII character comes as \xNN; a long text is cut.
 */
void event_quote(struct buf *out, const char *text, size_t len);

/**
 * event_number - the whole of a text is a number
 * @text: need not end in a NUL
 * @len: its length
 * @base: 10, or 0 for what C takes
 *
 * Return: whether it is one, and one of 64 bits
 */
bool event_number(const char *text, size_t len, int base, uint64_t *value);

/**
 * event_modifiers - perf's letters for where, and how precisely, to count
 * @mods: "u", "kpp", "u:k"; what follows the event and its ':'
 * @name: the event's, for the message
 * @attr: what they change
 * @why: what is wrong with them
 *
 * Return: 0 or -1
 */
int event_modifiers(const char *mods, const char *name, size_t len,
		    struct event_attr *attr, struct buf *why);

/**
 * event_perf_name - a name of perf's, without modifiers
 * @name: need not end in a NUL
 * @len: its length
 * @attr: gets type and config
 * @why: what is wrong if it is such a name, but means nothing
 */
enum event_found event_perf_name(const char *name, size_t len,
				 struct event_attr *attr, struct buf *why);

/**
 * event_perf_offer - the perf spellings, to choose from
 */
void event_perf_offer(struct suggest *s);

/**
 * event_derived_find - the named expression, or NULL
 */
const struct event_derived *event_derived_find(const char *name);

/**
 * event_derived_get - one by one, from 0; NULL after the last one
 */
const struct event_derived *event_derived_get(size_t i);

/**
 * event_sysfs_root - where the kernel describes its PMUs
 * @dir: instead of /sys/bus/event_source/devices; must stay valid
 */
void event_sysfs_root(const char *dir);

/**
 * event_sysfs_each - call for each event that the kernel names for a PMU
 * @call: its @name is "cpu/cache-misses/", its @terms what that stands for
 */
void event_sysfs_each(void (*call)(void *arg, const char *name,
				   const char *terms), void *arg);

/**
 * event_pfm_known - is there a PMU of this name?
 * @why: what is near, or why there is none at all
 *
 * Return: 0 or -1
 */
int event_pfm_known(const char *pmu, struct buf *why);

/**
 * event_pfm_offer - libpfm4's events, to choose from
 * @pmu: whose; NULL: of the PMUs of this machine
 * @whole: offer them with the PMU's name in front
 */
void event_pfm_offer(struct suggest *s, const char *pmu, bool whole);

/**
 * event_pfm_each - call for each event of libpfm4's, and each of its umasks
 * @pmu: whose; NULL: of the PMUs of this machine
 * @call: its @name is "skx::INST_RETIRED:ANY_P"; its @attr is NULL for an event
 *	that says nothing without a further umask, or on another machine
 */
void event_pfm_each(const char *pmu,
		    void (*call)(void *arg, const char *name, const char *text,
				 const struct event_attr *attr), void *arg);

/* Why a name may be unknown that elsewhere is one; "" if it is not that. */
extern const char event_pfm_missing[];

#endif
