/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The anchor: where the runtime sleeps.
 *
 * Probe handlers may not sleep and SystemTap gives a tapset no other place; but
 * its perf probes are created in module init and released in module exit, where
 * sleeping is allowed and errors reach the user.  So each event that a script
 * uses brings a perf probe whose sample period is a magic number with the
 * event's number in it: an anchor.  interpose.h stands between SystemTap and
 * perf, and hands them on to here.  The first anchor begins the session, every
 * anchor opens its event's counters, the last one to be released ends the
 * session.
 *
 * What SystemTap holds for an anchor is one dummy event, on the first CPU that
 * it asks for; for the others it gets none, as for a CPU that is offline.  The
 * counters are the session's own, for they come and go with CPUs.
 *
 * Who may run what, against whom: everything here is sleepable and under
 * sw_session_lock, but for sw_value() and SW_ELAPSED() (any context).
 *
 * Order in SystemTap's module init: begin probes, kprobes, anchors, timers; no
 * handler but begin probes runs before all are there.  In module exit: the
 * session stops being RUNNING, all handlers under way end, anchors go, kprobes
 * go, end probes run.  Only our own kretprobe entry handler (elapsed.h) does not
 * mind: hence sw_is_running().
 */
#ifndef STAPWATCH_STAP_ANCHOR_H
#define STAPWATCH_STAP_ANCHOR_H

#include "base/kernel.h"
#include "base/session.h"
#include "base/suspend.h"
#include "base/work.h"
#include "count/elapsed.h"
#include "count/event.h"
#include "count/events.h"
#include "count/gate.h"
#include "count/hotplug.h"
#include "count/loads.h"
#include "set/open.h"
#include "set/read.h"
#include "set/set.h"
#include "socket/events.h"
#include "stap/errors.h"
#include "stap/parts.h"
#include "watch/state.h"

/* In an anchor's period: the number is that of an event of the script's own; */
#define SW_ANCHOR_NATIVE 0x8000
/* that of what sockets count; */
#define SW_ANCHOR_SOCKET 0x7000
/* it is no event's, but brings the sets; */
#define SW_ANCHOR_SETS 0x7fff
/* it is none's: there shall be a session. */
#define SW_ANCHOR_NO_EVENT 0xffff

/* Slots that an event has instead of its own. */
#define SW_SLOT_UNUSED 0xff
#define SW_SLOT_MISSING 0xfe
/* The table's events, and then the script's own. */
#define SW_ALL_EVENTS (SW_NR_EVENTS + SW_MAX_NATIVES)
static u8 sw_slot_of[SW_ALL_EVENTS] = {
	[0 ... SW_ALL_EVENTS - 1] = SW_SLOT_UNUSED
};
/* The same for what end probes read, when the session has ended. */
static u8 sw_slot_was[SW_ALL_EVENTS] = {
	[0 ... SW_ALL_EVENTS - 1] = SW_SLOT_UNUSED
};

/* What a script makes of threads' counts */
#define SW_READS_THREADS 1
#define SW_WATCHES_THREADS 2
#define SW_READS_THE_DEAD 4
#define SW_STOPS_ALL 8

static const struct sw_event *sw_event_of(unsigned int id)
{
	return id < SW_NR_EVENTS ? &sw_events[id]
				 : &sw_natives[id - SW_NR_EVENTS];
}

static struct {
	const struct perf_event_attr *attr;	/* the newest anchor's */
	struct perf_event *handles[SW_MAX_SLOTS + SW_NR_SOCKET_EVENTS + 3];
	unsigned int anchors;
	unsigned int threads;	/* SW_READS_..., what is started of these */
	bool failed;		/* an event is missing */
	bool works;
} sw_session;

static void sw_session_end(void)
{
	int cpu;

	memcpy(sw_slot_was, sw_slot_of, sizeof(sw_slot_was));
	/* no reading begins after this, wherever it comes from */
	memset(sw_slot_of, SW_SLOT_UNUSED, sizeof(sw_slot_of));
	WRITE_ONCE(sw_state, NULL);
	/* and those under way, entry handlers of kretprobes too, have
	 * preemption off */
	synchronize_rcu();
	if (sw_session_part)
		sw_session_part->end();
	sw_gate_end();
	if (sw_parts.sets)
		sw_parts.sets->end();
	if (sw_session.threads & SW_WATCHES_THREADS)
		sw_parts.watch->stop();
	sw_report(sw_session.threads & SW_READS_THREADS);
	if (sw_session.threads & SW_WATCHES_THREADS)
		sw_report_watch(sw_session.threads & SW_READS_THE_DEAD);
	sw_hotplug_stop();
	/* which are told of CPUs that come */
	if (sw_parts.sockets)
		sw_parts.sockets->end();
	sw_suspend_leave(SW_SUSPEND_COUNTS);
	if (sw_session.threads & SW_READS_THREADS)
		sw_vthread_stop();
	sw_session.threads = 0;
	sw_pmu_close();
	sw_seen_end();
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&sw_cpus, cpu), 0, sizeof(struct sw_cpu));
	sw_session.attr = NULL;
}

/* Lets go of the lock.  The queue of works goes after that: who ends a queue waits for
 * its works, and they take the lock. */
static void sw_session_leave(void)
{
	bool over = !sw_session.anchors;

	mutex_unlock(&sw_session_lock);
	if (over)
		sw_works_stop(&sw_session.works);
}

/* What there is of threads' counts: all that THREADS asks for, or nothing. */
static int sw_session_threads(unsigned int probes, unsigned int threads)
{
	bool watches = threads & SW_WATCHES_THREADS;
	bool stops = threads & SW_STOPS_ALL;
	int rc;

	rc = sw_vthread_start(sw_config.threads, probes, sw_config.exclude_irq,
			      watches ? sw_parts.watch->on_switch :
			      stops ? SW_SWITCH_CALLBACK(sw_on_switch_or_parked)
				    : SW_SWITCH_CALLBACK(sw_on_switch), stops);
	if (rc) {
		_stp_error("stapwatch: cannot watch threads: %s (%d)\n",
			   rc == -ENOMEM ? "no memory for the thread table; try a smaller -G stapwatch_threads=N"
			   : "this kernel has no usable tracepoint sched_switch",
			   rc);
		return rc;
	}
	rc = !watches ? 0 :
	     sw_parts.watch->start(sw_thread_words ? SW_WORDS :
				   min_t(unsigned int, probes, SW_MAX_SLOTS),
				   sw_config.dead);
	if (rc)
		sw_vthread_stop();
	else
		sw_session.threads = threads;
	return rc;
}

/* PROBES is above SW_MAX_SLOTS where a script has sets, or so many probes. */
static int sw_session_begin(unsigned int probes, unsigned int threads)
{
	int rc = sw_works_start(&sw_session.works);

	if (rc)
		return rc;
	sw_gate_begin();
	if (!sw_seen_begin()) {
		_stp_error("stapwatch: no memory for each CPU's readings\n");
		return -ENOMEM;
	}
	if (sw_config.exclude_irq && IS_ENABLED(CONFIG_PREEMPT_RT)) {
		_stp_error("stapwatch: stapwatch_exclude_irq=1 does not work on a PREEMPT_RT kernel, where interrupts are threads; leave it out\n");
		return -EOPNOTSUPP;
	}
	if (sw_config.threads < 1 || sw_config.threads > 1 << 20) {
		_stp_error("stapwatch: stapwatch_threads=%d: it must be from 1 to %d\n",
			   sw_config.threads, 1 << 20);
		return -EINVAL;
	}
	if ((threads & SW_WATCHES_THREADS) &&
	    (sw_config.dead < 1 || sw_config.dead > SW_MAX_DEAD)) {
		_stp_error("stapwatch: stapwatch_dead=%d: it must be from 1 to %d\n",
			   sw_config.dead, SW_MAX_DEAD);
		return -EINVAL;
	}
	rc = threads & ~SW_STOPS_ALL ? sw_session_threads(probes, threads) : 0;
	if (rc)
		return rc;
	sw_suspend_follow(SW_SUSPEND_COUNTS);
	return sw_hotplug_start();
}

/*
 * Say why an event cannot be counted, which may be NAME'd as a set's, and whether the
 * script goes on: 0.
 */
static int sw_refuse(const struct sw_event *ev, const char *name, int rc)
{
	char *why = kmalloc(512, GFP_KERNEL);

	if (why)
		sw_why_missing(ev, rc, false, why, 512);
	if (sw_config.missing_ok) {
		_stp_warn("stapwatch: event %s is missing: %s\n", name,
			  why ?: "no memory to say why");
		rc = 0;
	} else {
		_stp_error("stapwatch: event %s cannot be counted: %s; or -G stapwatch_missing_ok=1 goes on without it\n",
			   name, why ?: "no memory to say why");
		sw_session.failed = true;
	}
	kfree(why);
	return rc;
}

/* The same of a set's event; SW_SET_EVENTS is that of overflow:... */
static int sw_refuse_of_set(unsigned int set, unsigned int i, int rc)
{
	struct sw_set *s = &sw_sets.of[set];
	const struct sw_event *ev = i < SW_SET_EVENTS ? s->event[i] :
						       sw_sets.rules.event;
	char name[SW_NATIVE_NAME + SW_SET_NAME + 32];

	if (s->warned[i])
		return 0;
	/* a script that runs is not stopped: it lacks the set */
	if (sw_sets.ran) {
		_stp_warn("stapwatch: set %s is not there: event %s cannot be counted (%d)\n",
			  s->name, ev->name, rc);
		return rc;
	}
	s->warned[i] = true;
	snprintf(name, sizeof(name), "%s%s set %s", ev->name,
		 i < SW_SET_EVENTS ? " of" : " of overflow:... beside", s->name);
	return sw_refuse(ev, name, rc);
}

/*
 * The sets that begin probes have declared.  As with an event, what is wrong is
 * said, and the session does not start.
 */
static void sw_anchor_sets(bool has_threads)
{
	const char *what = NULL;
	int rc;

	sw_set_refused = sw_refuse_of_set;
	rc = sw_sets_begin(has_threads, &what);
	if (!rc)
		return;
	sw_session.failed = true;
	if (what)
		_stp_error("stapwatch: sets do not work here: cannot %s (%d)\n",
			   what, rc);
}

/*
 * Count the event with number ID.  Where that fails the user is told why, and
 * the session must not start.  That is not said to SystemTap by an error,
 * which would end the module on the spot and name a probe point that the user
 * never wrote, but by the state of its session: each event that is missing
 * gets its line, and nothing else is printed.
 */
static void sw_anchor_event(unsigned int id)
{
	const struct sw_event *ev = sw_event_of(id);
	int rc = id < SW_NR_EVENTS ? 0 :
		 sw_loads_resolve(&sw_natives[id - SW_NR_EVENTS]);

	if (!rc)
		rc = sw_pmu_open(ev, id == SW_EV_tsc, 0, 0);
	if (rc >= 0) {
		sw_slot_of[id] = rc;
		return;
	}
	sw_slot_of[id] = SW_SLOT_MISSING;
	sw_refuse(ev, ev->name, rc);
}

/* Count on sockets; the same of what fails. */
static void sw_anchor_socket(unsigned int n)
{
	const char *name = sw_socket_events[n].name, *why;
	int rc = sw_parts.sockets ? sw_parts.sockets->open(n) : 0;

	if (!rc)
		return;
	if (rc == -ENOSPC)
		why = "its PMU has no counter left for it";
	else if (rc == -ENOMEM)
		why = "out of memory";
	else
		why = "this machine has no PMU that says so";
	if (sw_config.missing_ok) {
		_stp_warn("stapwatch: socket_%s() is missing: %s (%d): %s\n",
			  name, why, rc, sw_socket_events[n].where);
		return;
	}
	_stp_error("stapwatch: socket_%s() cannot be counted: %s (%d): %s; or -G stapwatch_missing_ok=1 goes on without it\n",
		   name, why, rc, sw_socket_events[n].where);
	sw_session.failed = true;
}

static struct perf_event *sw_anchor_handle(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		/* where it were on, each switch of sets would take it off and on again */
		.disabled = 1,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

static struct perf_event *
sw_anchor_begin(unsigned int id, int cpu, unsigned int probes,
		unsigned int threads)
{
	const bool sets = id == SW_ANCHOR_SETS;
	const bool none = id == SW_ANCHOR_NO_EVENT;
	const bool socket = id - SW_ANCHOR_SOCKET < SW_NR_SOCKET_EVENTS;
	struct perf_event *handle;
	int rc = 0;

	if (!none && (id & SW_ANCHOR_NATIVE))
		id += SW_NR_EVENTS - SW_ANCHOR_NATIVE;
	if (sw_session.anchors >= ARRAY_SIZE(sw_session.handles) ||
	    (!sets && !none && !socket &&
	     (id >= SW_ALL_EVENTS || !sw_event_of(id)->name)))
		return ERR_PTR(-EINVAL);
	if (!sw_session.anchors)
		rc = sw_session_begin(probes, threads);
	handle = rc ? ERR_PTR(rc) : sw_anchor_handle(cpu);
	if (IS_ERR(handle)) {
		if (!rc)
			_stp_error("stapwatch: perf has no event to begin with (%ld)\n",
				   PTR_ERR(handle));
		if (!sw_session.anchors)
			sw_session_end();
		return handle;
	}
	if (socket)
		sw_anchor_socket(id - SW_ANCHOR_SOCKET);
	else if (!sets && !none)
		sw_anchor_event(id);
	else if (sets && sw_parts.sets)
		sw_parts.sets->begin(sw_session.threads & SW_READS_THREADS);
	if (sw_parts.sets && !sw_session.failed)
		sw_parts.sets->fit();
	sw_session.handles[sw_session.anchors++] = handle;
	return handle;
}

/* From now on no counter more comes. */
static void sw_session_complete(void)
{
	if (sw_session.threads & SW_WATCHES_THREADS)
		sw_parts.watch->take();
	if (sw_parts.sets && !sw_session.failed)
		sw_parts.sets->ready();
	if (sw_session_part && !sw_session.failed &&
	    sw_session_part->begin(sw_slot_of))
		sw_session.failed = true;
	/* a script that begins stopped */
	if (READ_ONCE(sw_pmu.stopped))
		sw_gates_look_again();
}

/**
 * sw_anchor_open - begin to count the event of an anchor
 * @attr: the anchor's, which SystemTap gives once for each CPU
 * @probes: how many perf probes the module has
 * @anchors: how many of them are anchors
 * @threads: SW_READS_..., what the script makes of threads' counts
 *
 * Context: sleepable.
 * Return: what stands for the anchor; NULL for all CPUs but the first one; an
 * error, after a message, when the session cannot begin.
 */
static struct perf_event *
sw_anchor_open(const struct perf_event_attr *attr, int cpu,
	       unsigned int probes, unsigned int anchors, unsigned int threads)
{
	struct perf_event *e = NULL;

	mutex_lock(&sw_session_lock);
	if (sw_session.attr != attr) {
		sw_session.attr = attr;
		e = sw_anchor_begin(attr->sample_period & 0xffff, cpu, probes,
				    threads);
		if (sw_session.anchors == anchors)
			sw_session_complete();
	}
	sw_session_leave();
	return e;
}

/**
 * sw_anchor_close - one anchor less; the last one ends the session
 * @e: any perf event; if it is no anchor's, nothing is done
 *
 * Context: sleepable.
 */
static void sw_anchor_close(const struct perf_event *e)
{
	unsigned int i;

	/* who has the lock may wait for a thread that switches sets */
	if (sw_parts.sets && !sw_is_running())
		sw_parts.sets->let_go();
	mutex_lock(&sw_session_lock);
	for (i = 0; i < sw_session.anchors; i++)
		if (sw_session.handles[i] == e)
			break;
	if (i < sw_session.anchors) {
		sw_session.handles[i] =
			sw_session.handles[--sw_session.anchors];
		if (!sw_session.anchors)
			sw_session_end();
	}
	sw_session_leave();
}

/**
 * sw_value - a reading by an event's number
 * @read: sw_hit_cpu or sw_hit_thread
 * Return: the count, SW_NONE or SW_MISSING.
 */
static __always_inline s64
sw_value(unsigned int id, s64 (*read)(unsigned int slot))
{
	unsigned int slot = sw_slot_of[id];

	if (likely(slot < SW_MAX_SLOTS))
		return read(slot);
	return slot == SW_SLOT_MISSING ? SW_MISSING : SW_NONE;
}

/**
 * sw_other_value - a reading of others by an event's number, also in end probes
 * @read: one of watch/read.h
 * @whose: its number: of a process, a thread, or in the list
 * Return: the count, SW_NONE or SW_MISSING.
 */
static __always_inline s64
sw_other_value(unsigned int id, s64 (*read)(unsigned int slot, s64 whose),
	       s64 whose)
{
	unsigned int slot = sw_slot_of[id];

	if (slot == SW_SLOT_UNUSED)
		slot = sw_slot_was[id];
	if (likely(slot < SW_MAX_SLOTS))
		return read(slot, whose);
	return slot == SW_SLOT_MISSING ? SW_MISSING : SW_NONE;
}

/* What end probes could read goes, and what was withheld from them is said. */
static void sw_others_end(void)
{
	sw_report(false);
	if (sw_parts.watch)
		sw_parts.watch->end();
	if (sw_parts.sockets)
		sw_parts.sockets->gone();
}

/*
 * May this handler wait for other CPUs?  Not where interrupts are off: the code that it is
 * in may hold what another CPU waits for, which has its interrupts off, too.  A timer's
 * own interrupt came where they were on.
 */
#define SW_MAY_WAIT()							\
	(!irqs_disabled() || CONTEXT->probe_type == stp_probe_type_hrtimer)

/*
 * For the handlers of kernel.elapsed.* and kernel.virtual.elapsed.*: a macro,
 * since `CONTEXT` is only known in the tapset's functions.
 */
#define SW_ELAPSED(id, of_thread) SW_ELAPSED_OF(sw_slot_of[id], of_thread)

/* ... and for what asks for the event of a set. */
#define SW_ELAPSED_OF(slot, of_thread) ({				\
	unsigned int slot_ = slot;					\
	s64 v_ = slot_ == SW_SLOT_MISSING ? SW_MISSING : SW_NONE;	\
									\
	if (CONTEXT->probe_type != stp_probe_type_kretprobe)		\
		CONTEXT->last_error = "stapwatch: elapsed counts from a call to its return; end the probe point in .function(\"...\").return"; \
	else if (slot_ < SW_MAX_SLOTS)					\
		v_ = sw_elapsed(CONTEXT->ips.krp.pi, slot_, of_thread);	\
	v_; })

#endif
