/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls that are recorded: which ones, from when to when, and what is said of them.
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
 *   sw_calls_missed(), sw_calls_under_way()	any context
 *   sw_calls_print(), sw_calls_print_part()	where a handler may print; of each, one
 *				at a time
 */
#ifndef STAPWATCH_CALL_SESSION_H
#define STAPWATCH_CALL_SESSION_H

#include "base/contexts.h"
#include "base/session.h"
#include "call/hists.h"
#include "call/keys.h"
#include "call/record.h"
#include "call/state.h"
#include "count/cpu.h"
#include "count/pmu.h"
#include "store/abi.h"
#include "store/reading.h"
#include "store/session.h"
#include <linux/kprobes.h>
#include <linux/mm.h>

#define SW_MAX_CALLS 4096

/* ---- from module init to module exit */

static void sw_calls_free(void)
{
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
	sw_calls.key_places = roundup_pow_of_two(2 * keys);
	return 0;
}

/* ---- what begin probes declare */

/* A system call's entry, which has its registers for an argument. */
static bool sw_call_wraps(const char *name)
{
	return !strncmp(name, "__x64_sys_", 10) ||
	       !strncmp(name, "__ia32_sys_", 11) ||
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

/* ---- what is said */

#define SW_CALL_SUM(what) ({						\
	unsigned long n_ = 0;						\
	int cpu_;							\
									\
	for_each_possible_cpu(cpu_)					\
		n_ += READ_ONCE(per_cpu(sw_call_cpus, cpu_).what);	\
	n_; })

/* Calls that had no place, or came in the middle of another probe's handler. */
static unsigned long sw_call_missed(const struct sw_call *call)
{
	if (call->user.file)
		return atomic_long_read(&call->user.missed);
	return (unsigned long)READ_ONCE(call->rp.nmissed) +
	       READ_ONCE(call->rp.kp.nmissed);
}

/* Those of programs' functions alone, or of the kernel's. */
static unsigned long sw_calls_missed_of(bool programs)
{
	unsigned long n = 0;
	unsigned int i;

	for (i = 0; i < sw_calls.nr; i++)
		if (!!sw_calls.calls[i].user.file == programs)
			n += sw_call_missed(&sw_calls.calls[i]);
	return n;
}

/**
 * sw_calls_missed - how many calls of all functions were not seen
 * Context: any.
 */
static unsigned long sw_calls_missed(void)
{
	return sw_calls_missed_of(false) + sw_calls_missed_of(true);
}

/**
 * sw_calls_under_way - how many calls have begun and not returned
 * Context: any.
 */
static unsigned long sw_calls_under_way(void)
{
	return SW_CALL_SUM(began) - SW_CALL_SUM(ended);
}

static void
sw_call_print_words(unsigned int i, const u64 *n, u64 sum, u64 negative,
		    u64 max)
{
	unsigned int b;

	_stp_printf("hist %u %llu %llu", i, sum, negative);
	for (b = 0; b < PERFMAP_HIST_BUCKETS; b++)
		if (READ_ONCE(n[b]))
			_stp_printf(" %u:%llu", b, READ_ONCE(n[b]));
	_stp_printf(" max %llu\n", max);
}

static void
sw_call_print_cpu(const struct sw_call_hists *h, unsigned int i, int cpu)
{
	const u64 *n = (const u64 *)PCPU_CTR(h->at[i], cpu);

	sw_call_print_words(i, n, READ_ONCE(n[PERFMAP_HIST_SUM]),
			    READ_ONCE(n[PERFMAP_HIST_NEGATIVE]),
			    READ_ONCE(n[PERFMAP_HIST_MAX]));
}

static bool sw_call_print_all(const struct sw_call_hists *h, unsigned int i)
{
	const u32 number = h->numbers[i];
	struct sw_hist_sums *s = sw_hist_gather(number);

	if (!s)
		return false;
	sw_call_print_words(i, s->n, sw_ctr_read(number + PERFMAP_HIST_SUM),
			    sw_ctr_read(number + PERFMAP_HIST_NEGATIVE),
			    s->max);
	sw_hist_let_go(s);
	return true;
}

/* A process's name is anything; here it ends no line. */
static void sw_call_print_key(const struct sw_call_key *k)
{
	char comm[sizeof(k->comm) + 1] = "";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(k->comm); i++)
		((u64 *)comm)[i] = READ_ONCE(k->comm[i]);
	strreplace(comm, '\n', '?');
	_stp_printf("key %lld %s\n", sw_call_key_value(k), comm);
}

/* How many rows a function has at most: a CPU's each, or its own and its keys'. */
static unsigned int sw_call_rows(const struct sw_call *call, bool by_cpu)
{
	if (!call->hists.at[0])
		return 0;
	if (by_cpu)
		return nr_cpu_ids;
	return 1 + (call->keys ? sw_calls.key_places : 0);
}

/* The histograms of a row, or NULL: nobody has it.  Who has it keeps it. */
static const struct sw_call_hists *
sw_call_row(const struct sw_call *call, bool by_cpu, unsigned int row)
{
	const struct sw_call_key *k;

	if (by_cpu)
		return cpu_possible(row) ? &call->hists : NULL;
	if (!row)
		return &call->hists;
	k = &call->keys[row - 1];
	/* with cmpxchg_release() in sw_call_key_begin() */
	return smp_load_acquire(&k->state) == SW_CALL_KEY_READY ? &k->hists
								: NULL;
}

static void
sw_call_print_head(const struct sw_call *call, bool by_cpu, unsigned int row)
{
	if (by_cpu)
		_stp_printf("cpu %u %lu %s\n", row,
			    row == cpumask_first(cpu_possible_mask) ?
			    sw_call_missed(call) : 0, call->name);
	else if (!row)
		_stp_printf("function %lu %s\n", sw_call_missed(call),
			    call->name);
	else
		sw_call_print_key(&call->keys[row - 1]);
}

/*
 * How much a part is, which a handler gives out with interrupts off.  All is measured by
 * words of histograms: a line to print, and a place for a key that nobody has, take as
 * long as so many.
 */
#define SW_CALLS_PART (1UL << 17)
#define SW_CALLS_LINE 4096
#define SW_CALLS_PLACE 32

/* What is at AT goes out.  Return: how much that was; 0: the histogram was being read
 * already. */
static unsigned long
sw_calls_print_at(const struct sw_calls_at *at, bool by_cpu)
{
	const struct sw_call *call = &sw_calls.calls[at->call];
	const struct sw_call_hists *h = sw_call_row(call, by_cpu, at->row);

	if (!h)
		return SW_CALLS_PLACE;
	if (!at->hist)
		sw_call_print_head(call, by_cpu, at->row);
	if (!h->at[at->hist])
		return SW_CALLS_PLACE;
	if (by_cpu)
		sw_call_print_cpu(h, at->hist, at->row);
	else if (!sw_call_print_all(h, at->hist))
		return 0;
	return SW_CALLS_LINE +
	       PERFMAP_HIST_BUCKETS * (by_cpu ? 1UL : nr_cpu_ids);
}

/* To the next histogram, of the next row, of the next function. */
static void sw_calls_go_on(struct sw_calls_at *at, bool by_cpu)
{
	const struct sw_call *call = &sw_calls.calls[at->call];

	if (sw_call_row(call, by_cpu, at->row) &&
	    ++at->hist <= sw_calls.nr_asked)
		return;
	at->hist = 0;
	at->row++;
}

/* Return: 1: there is more; 0: that was all; -EAGAIN. */
static int
sw_calls_print_some(struct sw_calls_at *at, bool by_cpu, unsigned long max)
{
	unsigned long much = 0, n;

	while (at->call < sw_calls.nr) {
		if (at->row >= sw_call_rows(&sw_calls.calls[at->call],
					    by_cpu)) {
			at->row = 0;
			at->call++;
			continue;
		}
		if (much >= max)
			return 1;
		n = sw_calls_print_at(at, by_cpu);
		if (!n)
			return -EAGAIN;
		much += n;
		sw_calls_go_on(at, by_cpu);
	}
	return 0;
}

/**
 * sw_calls_print - all that was recorded, as text
 * @by_cpu: for each CPU that calls returned on, and not for all together
 *
 * For each function a line "function MISSED NAME", or for each CPU a line
 * "cpu CPU MISSED NAME" of which the first has what was missed; after it for the time
 * (0) and each event (from 1 on) a line "hist I SUM NEGATIVE BUCKET:COUNT ...".
 * Where calls are told apart, these are the calls without a key, and for each key
 * a line "key VALUE NAME" follows with its own; NAME is the process's.
 *
 * Context: end probes; it may take long.
 * Return: 0, or -EAGAIN where a histogram was being read already, on this CPU.
 */
static int sw_calls_print(bool by_cpu)
{
	struct sw_calls_at at = { 0 };

	return sw_calls_print_some(&at, by_cpu, ULONG_MAX);
}

/**
 * sw_calls_print_part - the next part of the same, as much as a handler has time for
 * Context: where a handler may print; one handler that never meets itself.
 * Return: 1: there is more; 0: that was the last part, and the next one is the first
 * again; -EAGAIN.
 */
static int sw_calls_print_part(bool by_cpu)
{
	int rc = sw_calls_print_some(&sw_calls.at, by_cpu, SW_CALLS_PART);

	if (rc <= 0)
		memset(&sw_calls.at, 0, sizeof(sw_calls.at));
	return rc;
}

static void sw_calls_report(void)
{
	const unsigned long missed = sw_calls_missed_of(false);
	const unsigned long programs = sw_calls_missed_of(true);
	const unsigned long under_way = sw_calls_under_way();

	if (missed)
		_stp_warn("stapwatch: %lu calls were not recorded: there was no place left for them, or they came within another probe's handler; -G call_instances=N makes more places (now %u for each function)\n",
			  missed, sw_calls.instances);
	if (programs)
		_stp_warn("stapwatch: %lu calls of programs' functions were not recorded: there was no place left for them, or their thread had 64 under way; -G call_instances=N makes more places (now %u for all functions together)\n",
			  programs, sw_calls.places);
	if (under_way)
		_stp_warn("stapwatch: %lu calls had not returned when the session ended, and are not recorded\n",
			  under_way);
}

/* ---- the session */

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
	rc = sw_call_hists_make(&call->hists, labels, &name);
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
	/* not register_kretprobe(), in whose place stap/interpose.h has another */
	rc = register_kretprobes(&rp, 1);
	if (rc && !call->optional)
		_stp_error("stapwatch: calls of %s cannot be recorded: %s (%d)\n",
			   call->name,
			   rc == -ENOENT ? "the kernel has no function of that name; one of a module is MODULE:FUNCTION" :
			   rc == -ENOMEM ? "no memory; try a smaller -G call_instances=N" :
			   "the kernel does not let it be probed", rc);
	if (!rc)
		sw_calls.on[sw_calls.nr_on++] = rp;
	return rc;
}

static void sw_calls_end(void)
{
	if (!sw_calls.nr_on && !sw_calls.users)
		return;
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
	if (sw_calls.left_out)
		_stp_warn("stapwatch: %u of %u functions cannot be probed, and are left out\n",
			  sw_calls.left_out, sw_calls.nr);
	return 0;
}

static const struct sw_session_part sw_calls_part = {
	sw_calls_begin, sw_calls_end
};

#endif
