/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that are recorded: which ones, and from when to when.
 *
 * Begin probes declare functions and events.  The functions' kretprobes are
 * registered when all counters are there, and go before those do.  The table itself
 * is there from before the first begin probe to after the last end probe.
 *
 * Who may run what, against whom:
 *
 *   sw_calls_start(), sw_calls_free()	module init before the begin probes,
 *				module exit after the end probes: sleepable, alone
 *   sw_call_declare(), sw_call_count()	begin probes, before the session
 *   sw_calls_begin(), sw_calls_end()	sleepable, under sw_session_lock
 */
#ifndef STAPWATCH_CALL_SESSION_H
#define STAPWATCH_CALL_SESSION_H

#include "base/contexts.h"
#include "base/session.h"
#include "base/traceable.h"
#include "call/again.h"
#include "call/hists.h"
#include "call/keys.h"
#include "call/print.h"
#include "call/record.h"
#include "call/state.h"
#include "call/sweep.h"
#include "count/cpu.h"
#include "count/pmu.h"
#include "store/map.h"
#include "store/session.h"
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rcupdate.h>

#define SW_MAX_CALLS 4096

/* ---- from module init to module exit */

static void sw_calls_free(void)
{
	sw_calls_leave();
	sw_call_keys_free();
	kvfree(sw_calls.calls);
	kvfree(sw_calls.on);
	memset(&sw_calls, 0, sizeof(sw_calls));
}

static int sw_calls_start(s64 max, s64 instances, s64 keys)
{
	if (max < 1 || max > SW_MAX_CALLS) {
		_stp_error("stapwatch: call_max=%lld: it must be from 1 to %d\n",
			   max, SW_MAX_CALLS);
		return -EINVAL;
	}
	if (instances < 0 || instances > 1 << 20) {
		_stp_error("stapwatch: call_instances=%lld: it must be from 1 to %d, or 0, which is as many as fit the machine\n",
			   instances, 1 << 20);
		return -EINVAL;
	}
	if (keys < 1 || keys > SW_CALL_MAX_KEYS) {
		_stp_error("stapwatch: call_keys=%lld: it must be from 1 to %d\n",
			   keys, SW_CALL_MAX_KEYS);
		return -EINVAL;
	}
	sw_calls.calls = kvcalloc(max, sizeof(*sw_calls.calls), GFP_KERNEL);
	sw_calls.on = kvcalloc(max, sizeof(*sw_calls.on), GFP_KERNEL);
	if (!sw_calls.calls || !sw_calls.on) {
		_stp_error("stapwatch: no memory for %lld functions; try a smaller -G call_max=N\n",
			   max);
		sw_calls_free();
		return -ENOMEM;
	}
	sw_calls.max = max;
	sw_calls.given = instances;
	sw_calls.max_keys = keys;
	return sw_calls_follow();
}

/* ---- what begin probes declare */

/* A system call's entry, which has its registers for an argument. */
static bool sw_call_wraps(const char *name)
{
	return !strncmp(name, "__x64_sys_", 10) ||
	       !strncmp(name, "__ia32_sys_", 11) ||
	       !strncmp(name, "__ia32_compat_sys_", 18) ||
	       !strncmp(name, "__arm64_sys_", 12);
}

/* A function that has not been declared before; LEN characters of NAME. */
static const char *
sw_call_add(const char *name, size_t len, bool optional)
{
	struct sw_call *call;
	unsigned int i;

	if (len >= SW_CALL_NAME)
		return "stapwatch: call_histogram(): a function's name is longer than 79 characters";
	for (i = 0; i < sw_calls.nr; i++)
		if (!strncmp(sw_calls.calls[i].name, name, len) &&
		    !sw_calls.calls[i].name[len])
			return NULL;
	if (sw_calls.nr == sw_calls.max)
		return "stapwatch: call_histogram(): there are too many functions; -G call_max=N allows more";
	call = &sw_calls.calls[sw_calls.nr++];
	memcpy(call->name, name, len);
	call->optional = optional;
	call->wraps = sw_call_wraps(call->name);
	return NULL;
}

static const struct sw_session_part sw_calls_part;

/**
 * sw_call_declare - functions whose calls are to be recorded
 * @list: names with commas between them; after a name, ? says that the function
 *	is left out where it cannot be probed
 * Context: begin probes, before the session.
 * Return: NULL, or what is wrong.
 */
static const char *sw_call_declare(const char *list)
{
	const char *why = NULL;
	size_t len;

	if (sw_is_asked)
		return "stapwatch: call_histogram() is for begin probes";
	while (*list && !why) {
		len = strcspn(list, ",?");
		if (len)
			why = sw_call_add(list, len, list[len] == '?');
		list += len;
		list += strspn(list, ",?");
	}
	/* an empty list asks for nothing */
	if (sw_calls.nr)
		sw_session_part = &sw_calls_part;
	return why;
}

/* The same of a list as stap -G lets it pass: a dash is between names, a dot before
 * one says that it may be left out, and two dots within it stand for its colon. */
static const char *sw_call_declare_plain(const char *list)
{
	char name[SW_CALL_NAME + 2];
	const char *why = NULL;
	size_t len;

	while (*list && !why) {
		const bool optional = *list == '.';
		char *colon;

		list += optional;
		len = min(strcspn(list, "-"), sizeof(name) - 2);
		memcpy(name, list, len);
		name[len] = '\0';
		colon = strstr(name, "..");
		if (colon) {
			*colon = ':';
			memmove(colon + 1, colon + 2, strlen(colon + 1));
		}
		strcat(name, optional ? "?" : "");
		why = sw_call_declare(name);
		list += strcspn(list, "-");
		list += strspn(list, "-");
	}
	return why;
}

/**
 * sw_call_count - an event that recorded calls count, for the thread
 * @id: the event's number
 * Context: begin probes, before the session.
 * Return: NULL, or what is wrong.
 */
static const char *sw_call_count(unsigned int id)
{
	unsigned int i;

	if (sw_is_asked)
		return "stapwatch: call_count_EVENT() is for begin probes";
	for (i = 0; i < sw_calls.nr_asked; i++)
		if (sw_calls.asked[i] == id)
			return NULL;
	if (sw_calls.nr_asked == SW_CALL_EVENTS)
		return "stapwatch: recorded calls can count 16 events at most";
	sw_calls.asked[sw_calls.nr_asked++] = id;
	return NULL;
}

static const char *sw_call_by(enum sw_call_by by)
{
	if (sw_is_asked)
		return "stapwatch: call_by_process() and call_by_argument() are for begin probes";
	if (sw_calls.by)
		return "stapwatch: calls are recorded by one key only: the process, or one argument";
	sw_calls.by = by;
	return NULL;
}

/**
 * sw_call_by_argument - tell calls apart by what they are called with
 * @nth: which argument, from 1 on
 * @bits: of its type, 32 or 64
 * Context: begin probes, before the session.
 * Return: NULL, or what is wrong.
 */
static const char *sw_call_by_argument(s64 nth, s64 bits)
{
	if (nth < 1 || nth > 6)
		return "stapwatch: call_by_argument(): an argument's number is from 1 to 6";
	if (bits != 32 && bits != 64)
		return "stapwatch: call_by_argument(): an argument has 32 or 64 bits";
	sw_calls.argument = nth - 1;
	sw_calls.argument_is_int = bits == 32;
	return sw_call_by(SW_CALL_BY_ARGUMENT);
}

/* ---- the session */

static void sw_calls_report(void)
{
	const unsigned long missed = sw_calls_missed_of(false);
	const unsigned long programs = sw_calls_missed_of(true);
	const unsigned long under_way = sw_calls_under_way();
	const unsigned long nested = sw_calls_nested();

	if (missed)
		_stp_warn("stapwatch: %lu calls were not recorded: there was no place left for them; -G call_instances=N makes more places (now %u for each function)\n",
			  missed, sw_calls.instances);
	if (nested)
		_stp_warn("stapwatch: %lu calls, of any thread, came while a probe was handled on their CPU, and are not recorded\n",
			  nested);
	if (programs)
		_stp_warn("stapwatch: %lu calls of programs' functions were not recorded: there was no place left for them, or their thread had 64 under way; -G call_instances=N makes more places (now %u for all functions together)\n",
			  programs, sw_calls.places);
	if (under_way)
		_stp_warn("stapwatch: %lu calls had not returned when the session ended, and are not recorded\n",
			  under_way);
}

/*
 * Places for calls that are under way at once: there can be one on each CPU, and
 * any number that sleep.  Each function of the kernel has its own; programs' functions
 * share theirs (user.h), and take none from the kernel's.
 */
static void sw_call_size(void)
{
	const unsigned int cpus = num_possible_cpus();
	unsigned int i, n = 0;

	for (i = 0; i < sw_calls.nr; i++)
		n += !sw_calls.calls[i].user.file;
	sw_calls.instances = sw_calls.given ?:
			     clamp((1U << 16) / max(n, 1U), 2 * cpus,
				   1024 + 2 * cpus);
}

/* Those that are there from the begin on. */
static int sw_call_begin(struct sw_call *call)
{
	char labels[SW_CALL_NAME + 16];
	struct sw_call_name name;
	int rc;

	snprintf(labels, sizeof(labels), "function=\"%s\"", call->name);
	rc = sw_call_hists_make(&call->hists, 0, labels, &name);
	if (rc == -EINVAL)
		_stp_error("stapwatch: calls of %s cannot be recorded: with the event's its name has more than %d characters\n",
			   call->name, SW_CTR_NAME - 1);
	else if (rc)
		_stp_error("stapwatch: the map has no room for the histogram %s; -G stathist_max=N makes more (now %u)\n",
			   name.s, sw_store.hists);
	return rc;
}

/*
 * Events that this machine lacks have no histogram.  Where interrupts are nobody's,
 * the thread's tsc is counted as the others are.
 */
static void sw_call_slots(const u8 *slot_of)
{
	unsigned int i;

	for (i = 0; i < sw_calls.nr_asked; i++) {
		const struct sw_call_event e = {
			slot_of[sw_calls.asked[i]], 1 + i
		};

		if (e.slot >= SW_MAX_SLOTS)
			continue;
		if (sw_slot_is_tsc(e.slot) && !sw_config.exclude_irq)
			sw_calls.tsc = e;
		else
			sw_calls.events[sw_calls.nr_events++] = e;
	}
}

/* LEN characters of NAME are a module's, which is loaded. */
static bool sw_call_has_module(const char *name, size_t len)
{
	struct list_head *all = (void *)kallsyms_lookup_name("modules");
	bool found = false;
	struct module *mod;

	if (!all)
		return true;
	rcu_read_lock();
	list_for_each_entry_rcu(mod, all, list)
		found = found || (mod->state != MODULE_STATE_UNFORMED &&
				  !strncmp(mod->name, name, len) &&
				  !mod->name[len]);
	rcu_read_unlock();
	return found;
}

static const char *sw_call_why_not(const struct sw_call *call, int rc)
{
	const char *colon = strchr(call->name, ':');

	if (rc == -EACCES)
		return "the kernel lets nobody trace that function, as its own handling of returns may run there";
	if (rc == -ENOMEM)
		return "no memory; try a smaller -G call_instances=N";
	if (rc != -ENOENT)
		return "the kernel does not let it be probed";
	if (!colon)
		return "the kernel has no function of that name; one of a module is MODULE:FUNCTION";
	if (!sw_call_has_module(call->name, colon - call->name))
		return "that module is not loaded";
	return "that module has no function of that name";
}

static int sw_call_register(struct sw_call *call)
{
	struct kretprobe *rp = &call->rp;
	int rc;

	if (call->user.file)
		return sw_calls.users->add(call);
	rp->kp.symbol_name = call->name;
	rp->handler = sw_call_return;
	rp->entry_handler = sw_call_entry;
	rp->maxactive = sw_calls.instances;
	rp->data_size = sizeof(struct sw_call_start) +
			sw_calls.nr_events * sizeof(u64);
	rc = sw_return_probe(rp);
	if (rc && !call->optional)
		_stp_error("stapwatch: calls of %s cannot be recorded: %s (%d)\n",
			   call->name, sw_call_why_not(call, rc), rc);
	if (!rc)
		sw_calls.on[sw_calls.nr_on++] = rp;
	return rc;
}

static void sw_calls_end(void)
{
	sw_call_sweep_end();
	if (!sw_calls.nr_on && !sw_calls.users && !sw_calls.again)
		return;
	/* before those end that it would register */
	sw_calls_again(false);
	if (sw_calls.users)
		sw_calls.users->end();
	/* The session has ended, and who was within a handler then has left it:
	 * no handler looks for its kretprobe any more. */
	if (sw_calls.nr_on)
		unregister_kretprobes(sw_calls.on, sw_calls.nr_on);
	sw_calls.nr_on = 0;
	sw_calls_report();
}

static int sw_calls_begin(const u8 *slot_of)
{
	unsigned int i;
	int rc = 0;

	sw_call_size();
	sw_call_slots(slot_of);
	if (sw_calls.users)
		rc = sw_calls.users->begin();
	for (i = 0; i < sw_calls.nr && !rc; i++) {
		struct sw_call *call = &sw_calls.calls[i];

		/* no handler runs before all is there */
		rc = sw_call_register(call);
		if (!rc) {
			rc = sw_call_begin(call) ?: sw_call_keys_make(call);
		} else if (call->optional) {
			sw_calls.left_out++;
			rc = 0;
		}
	}
	if (rc)
		return rc;
	/* what came before that was nobody's */
	for (i = 0; i < sw_calls.nr; i++)
		sw_calls.calls[i].nested_before =
			READ_ONCE(sw_calls.calls[i].rp.kp.nmissed);
	if (sw_calls.nr_on)
		sw_calls_again(true);
	sw_call_sweep_begin();
	if (sw_calls.left_out)
		_stp_warn("stapwatch: %u of %u functions cannot be probed, and are left out\n",
			  sw_calls.left_out, sw_calls.nr);
	return 0;
}

static const struct sw_session_part sw_calls_part = {
	sw_calls_begin, sw_calls_end
};

#endif
