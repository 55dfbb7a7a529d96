/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The anchor: where the runtime sleeps.
 *
 * Probe handlers may not sleep and SystemTap gives a tapset no other place; but
 * its perf probes are created in module init and released in module exit, where
 * sleeping is allowed and errors reach the user.  So each event that a script
 * uses brings a perf probe whose sample period is a magic number with the
 * event's number in it: an anchor.  The macros below stand between SystemTap
 * and perf.  The first anchor begins the session, every anchor opens its
 * event's counters, the last one to be released ends the session.
 *
 * What SystemTap holds for an anchor is one dummy event, on the first CPU that
 * it asks for; for the others it gets none, as for a CPU that is offline.  The
 * counters are the session's own, for they come and go with CPUs.
 *
 * Every other event that SystemTap creates is one that the script samples; it
 * gets sample.h's handler before SystemTap's.
 *
 * Who may run what, against whom: everything here is sleepable and under
 * sw_session.lock, but for sw_value() (any context).  Order in SystemTap's module init: begin probes, kprobes,
 * anchors, timers; no handler but begin probes runs before all are there.  In
 * module exit: the session stops being RUNNING, all handlers under way end,
 * anchors go, kprobes go, end probes run.  Only our own kretprobe entry handler
 * (elapsed.h) does not mind: hence sw_is_running().
 */
#ifndef STAPWATCH_ANCHOR_H
#define STAPWATCH_ANCHOR_H

#include "elapsed.h"
#include "profile.h"
#include <linux/cpuhotplug.h>
#include <linux/mutex.h>

#define SW_ANCHOR_MAGIC 0x57ULL
/* In an anchor's period: the number is that of an event of the script's own. */
#define SW_ANCHOR_NATIVE 0x8000
/* A perf event's types: its config is that number, and what that event is, and
 * how often it is sampled, comes in place of what SystemTap says; */
#define SW_SAMPLING_NATIVE 0x57000000
/* or its config is the number of an event of the table. */
#define SW_SAMPLING_TABLE 0x57000001

/* what `-G` set; see the tapset */
static struct {
	bool missing_ok;
	bool exclude_irq;
	int threads;
} sw_config = { .threads = 4096 };

#define SW_SLOT_UNUSED 0xff
#define SW_SLOT_MISSING 0xfe
/* The table's events, and then the script's own. */
#define SW_ALL_EVENTS (SW_NR_EVENTS + SW_MAX_NATIVES)
static u8 sw_slot_of[SW_ALL_EVENTS] = {
	[0 ... SW_ALL_EVENTS - 1] = SW_SLOT_UNUSED
};

static const struct sw_event *sw_event_of(unsigned int id)
{
	return id < SW_NR_EVENTS ? &sw_events[id]
				 : &sw_natives[id - SW_NR_EVENTS];
}

static struct {
	struct mutex lock;
	const struct perf_event_attr *attr;	/* the newest anchor's */
	struct perf_event *handles[SW_MAX_SLOTS + 1];
	unsigned int anchors;
	bool has_threads;
	bool failed;		/* an event is missing */
	int hotplug;		/* cpuhp state; 0: none */
} sw_session = { .lock = __MUTEX_INITIALIZER(sw_session.lock) };

static void sw_fill_work(struct work_struct *work)
{
	unsigned int slot;
	int rc;

	mutex_lock(&sw_session.lock);
	rc = sw_pmu_fill(true, &slot);
	if (rc)
		_stp_warn("stapwatch: event %s cannot be counted on a CPU that came online (%d)\n",
			  sw_pmu.event[slot]->name, rc);
	mutex_unlock(&sw_session.lock);
}
static DECLARE_WORK(sw_fill, sw_fill_work);

/*
 * A CPU comes online.  No user thread runs there yet, so hardware counters are
 * opened here; but the lock's other holders may be waiting for this very CPU,
 * and so would perf for a software event.  The work does what this leaves.
 */
static int sw_cpu_online(unsigned int cpu)
{
	unsigned int slot;

	if (mutex_trylock(&sw_session.lock)) {
		sw_pmu_fill(false, &slot);
		mutex_unlock(&sw_session.lock);
	}
	schedule_work(&sw_fill);
	return 0;
}

/* A name for what a value was withheld for, with how often, where it was. */
#define SW_REPORT(why, text) do {					\
	unsigned long n_ = 0;						\
	int cpu_;							\
	for_each_possible_cpu(cpu_) {					\
		n_ += per_cpu(sw_cpus, cpu_).why;			\
		per_cpu(sw_cpus, cpu_).why = 0;				\
	}								\
	if (n_)								\
		_stp_warn("stapwatch: %lu value%s withheld: %s\n",	\
			  n_, n_ == 1 ? "" : "s", text);		\
} while (0)

static void sw_report(void)
{
	SW_REPORT(nested, "asked for within another reading on that CPU (NMI)");
	SW_REPORT(stopped, "the counter was off the PMU");
	SW_REPORT(moved, "the call returned on another CPU; kernel.virtual.elapsed follows the thread");
	SW_REPORT(early, "the call began before the session or while its counter was off the PMU");
	SW_REPORT(holed, "the thread ran while its counter was off the PMU");
	SW_REPORT(leaving, "asked for between two threads");
	SW_REPORT(undefined, "a rate of nothing to nothing");
	SW_REPORT(full, "the thread table is full; -G stapwatch_threads=N makes it larger");
	if (sw_session.has_threads && atomic_read(&sw_threads.refused))
		_stp_warn("stapwatch: a thread could not be watched %d times; the table holds %d\n",
			  atomic_read(&sw_threads.refused), sw_threads.max);
}

static void sw_session_end(void)
{
	int cpu;

	/* no reading begins after this, wherever it comes from */
	memset(sw_slot_of, SW_SLOT_UNUSED, sizeof(sw_slot_of));
	WRITE_ONCE(sw_state, NULL);
	/* and those under way, entry handlers of kretprobes too, have
	 * preemption off */
	synchronize_rcu();
	sw_report();
	if (sw_session.hotplug > 0) {
		/* the work takes the lock */
		mutex_unlock(&sw_session.lock);
		cpuhp_remove_state_nocalls(sw_session.hotplug);
		cancel_work_sync(&sw_fill);
		mutex_lock(&sw_session.lock);
	}
	sw_session.hotplug = 0;
	if (sw_session.has_threads)
		sw_vthread_stop();
	sw_session.has_threads = false;
	sw_pmu_close();
	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&sw_cpus, cpu), 0, sizeof(struct sw_cpu));
	sw_session.attr = NULL;
}

static int sw_session_begin(unsigned int slots, bool has_threads)
{
	int rc;

	if (sw_config.exclude_irq && IS_ENABLED(CONFIG_PREEMPT_RT)) {
		_stp_error("stapwatch: stapwatch_exclude_irq=1 does not work on a PREEMPT_RT kernel, where interrupts are threads; leave it out\n");
		return -EOPNOTSUPP;
	}
	if (sw_config.threads < 1 || sw_config.threads > 1 << 20) {
		_stp_error("stapwatch: stapwatch_threads=%d: it must be from 1 to %d\n",
			   sw_config.threads, 1 << 20);
		return -EINVAL;
	}
	if (has_threads) {
		rc = sw_vthread_start(sw_config.threads, slots,
				      sw_config.exclude_irq);
		if (rc) {
			_stp_error("stapwatch: cannot watch threads: %s (%d)\n",
				   rc == -ENOMEM ? "no memory for the thread table; try a smaller -G stapwatch_threads=N"
				   : "this kernel has no usable tracepoint sched_switch",
				   rc);
			return rc;
		}
		sw_session.has_threads = true;
	}
	rc = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "stapwatch:online",
				       sw_cpu_online, NULL);
	if (rc < 0) {
		_stp_error("stapwatch: cannot follow CPUs going on and off (%d)\n",
			   rc);
		return rc;
	}
	sw_session.hotplug = rc;
	return 0;
}

static bool sw_can_count(const struct sw_event *ev)
{
	struct perf_event *e = sw_pmu_counter(ev, raw_smp_processor_id());

	if (IS_ERR(e))
		return false;
	perf_event_release_kernel(e);
	return true;
}

/* Why an event cannot be counted, or sampled, and what can, as one line's end. */
static void
sw_why_missing(const struct sw_event *ev, int rc, bool sampling, char *buf,
	       size_t size)
{
	static const struct sw_event cycles = {
		.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES
	};
	const char *why;
	unsigned int i, n = 0, len;
	bool pmu = sw_can_count(&cycles);

	if (rc == -ENOSPC)
		why = "the PMU has no counter left for it beside this script's other events and other users (the NMI watchdog?)";
	else if (rc == -E2BIG)
		why = "the script has too many different events";
	else if (rc == -ENOMEM)
		why = "out of memory";
	else if (rc == -EINVAL && (ev->flags >> SW_PRECISE_SHIFT))
		why = "this PMU does not take it as it stands; is precise= too high?";
	else if (rc == -EOPNOTSUPP && sampling &&
		 (sw_profile.uses & SW_BRANCHES))
		why = "this machine's PMU does not record branches (x86 LBR, arm64 BRBE), or not for it; leave out sample_branches() and sample_branch_...()";
	else if (ev->type == PERF_TYPE_SOFTWARE)
		why = "this kernel does not count it";
	else if (pmu)
		why = "this machine's PMU does not count it";
	else
		why = "this machine has no PMU that Linux can use (a virtual machine without one?)";
	len = scnprintf(buf, size, "%s (%d); what works here:", why, rc);
	for (i = 0; i < SW_NR_EVENTS && n < 8; i++) {
		const struct sw_event *o = &sw_events[i];

		/* filtered ones only say the same again */
		if (o == ev || o->flags || (sampling && i == SW_EV_tsc) ||
		    !sw_can_count(o))
			continue;
		len += scnprintf(buf + len, size - len, " %s", o->name);
		n++;
	}
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
	char *why;
	int rc;

	rc = sw_pmu_open(ev, id == SW_EV_tsc);
	if (rc >= 0) {
		sw_slot_of[id] = rc;
		return;
	}

	why = kmalloc(512, GFP_KERNEL);
	if (why)
		sw_why_missing(ev, rc, false, why, 512);
	sw_slot_of[id] = SW_SLOT_MISSING;
	if (sw_config.missing_ok) {
		_stp_warn("stapwatch: event %s is missing: %s\n", ev->name,
			  why ?: "no memory to say why");
	} else {
		_stp_error("stapwatch: event %s cannot be counted: %s; or -G stapwatch_missing_ok=1 goes on without it\n",
			   ev->name, why ?: "no memory to say why");
		sw_session.failed = true;
	}
	kfree(why);
}

static struct perf_event *sw_anchor_handle(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
	};

	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

static struct perf_event *
sw_anchor_begin(unsigned int id, int cpu, unsigned int probes, bool has_threads)
{
	struct perf_event *handle;
	int rc = 0;

	if (id & SW_ANCHOR_NATIVE)
		id += SW_NR_EVENTS - SW_ANCHOR_NATIVE;
	if (id >= SW_ALL_EVENTS || sw_session.anchors > SW_MAX_SLOTS ||
	    !sw_event_of(id)->name)
		return ERR_PTR(-EINVAL);
	if (!sw_session.anchors)
		rc = sw_session_begin(min_t(unsigned int, probes, SW_MAX_SLOTS),
				      has_threads);
	handle = rc ? ERR_PTR(rc) : sw_anchor_handle(cpu);
	if (IS_ERR(handle)) {
		if (!sw_session.anchors)
			sw_session_end();
		return handle;
	}
	sw_anchor_event(id);
	sw_session.handles[sw_session.anchors++] = handle;
	return handle;
}

/* What a perf probe that is no anchor samples. */
static const struct sw_event *sw_sampled(const struct perf_event_attr *attr)
{
	static const struct sw_event other = { .name = "of that perf probe" };
	unsigned int i;

	if (attr->type == SW_SAMPLING_NATIVE)
		return attr->config < SW_MAX_NATIVES &&
		       sw_natives[attr->config].name ?
		       &sw_natives[attr->config] : NULL;
	if (attr->type == SW_SAMPLING_TABLE)
		return attr->config < SW_NR_EVENTS ?
		       &sw_events[attr->config] : NULL;
	for (i = 0; i < SW_NR_EVENTS; i++)
		if (sw_events[i].type == attr->type && !sw_events[i].flags &&
		    sw_events[i].config == attr->config && i != SW_EV_tsc)
			return &sw_events[i];
	return &other;
}

/* Nothing else is said of it but SystemTap's error, which names no event. */
static void sw_sampling_failed(const struct sw_event *ev, int rc)
{
	char *why = kmalloc(512, GFP_KERNEL);

	if (why)
		sw_why_missing(ev, rc, true, why, 512);
	_stp_error("stapwatch: event %s cannot be sampled: %s\n", ev->name,
		   why ?: "no memory to say why");
	kfree(why);
}

/*
 * A perf probe that samples.  Between perf and SystemTap's handler stands
 * sample.h's; and the type may be a number that stands for an event of the
 * table or of the script's own.
 */
static struct perf_event *
sw_sampling_create(const struct perf_event_attr *given, int cpu,
		   struct task_struct *task, perf_overflow_handler_t handler,
		   unsigned int uses)
{
	const struct sw_event *ev = sw_sampled(given);
	struct perf_event_attr attr = *given;
	struct sw_sampler *s;
	struct perf_event *e;
	int rc;

	if (!ev)
		return ERR_PTR(-EINVAL);
	if (attr.type == SW_SAMPLING_NATIVE) {
		attr.sample_type = ev->sample_type;
		attr.freq = ev->period < 0;
		attr.sample_period = abs(ev->period);
	}
	if (attr.type == SW_SAMPLING_NATIVE || attr.type == SW_SAMPLING_TABLE)
		sw_pmu_describe(ev, &attr);
	rc = sw_profile.begun ? 0 : sw_profile_begin(uses);
	if (rc)
		return ERR_PTR(rc);
	s = sw_sampler_of(given);
	if (!s && sw_profile.nr == SW_MAX_SAMPLERS) {
		_stp_error("stapwatch: a script can have at most %d probes that sample\n",
			   SW_MAX_SAMPLERS);
		return ERR_PTR(-E2BIG);
	}
	if (!s)
		s = sw_sampler_new(given, &attr, ev->name, ev->random,
				   handler);
	sw_sampler_describe(&attr);
	e = sw_sampler_create(s, &attr, cpu, task,
			      given->type == SW_SAMPLING_TABLE &&
			      attr.type != PERF_TYPE_SOFTWARE);
	/* the CPU has just gone offline; SystemTap has none of such */
	if (PTR_ERR_OR_ZERO(e) == -ENODEV && !task &&
	    (attr.type == PERF_TYPE_SOFTWARE || !cpu_online(cpu)))
		return NULL;
	if (IS_ERR(e))
		sw_sampling_failed(ev, PTR_ERR(e));
	return e;
}

/**
 * sw_anchor_create - what SystemTap calls as perf_event_create_kernel_counter()
 * @probes: how many perf probes the module has
 * @has_threads: does the script read threads' counts?
 * @uses: what the script does with samples
 */
static struct perf_event *
sw_anchor_create(struct perf_event_attr *attr, int cpu, struct task_struct *task,
		 perf_overflow_handler_t handler, void *context,
		 unsigned int probes, bool has_threads, unsigned int uses)
{
	struct perf_event *e = NULL;

	if ((attr->sample_period >> 56) != SW_ANCHOR_MAGIC) {
		/* a counter("name") has no handler */
		if (handler && !context) {
			mutex_lock(&sw_profile.lock);
			e = sw_sampling_create(attr, cpu, task, handler, uses);
			mutex_unlock(&sw_profile.lock);
			return e;
		}
		return perf_event_create_kernel_counter(attr, cpu, task,
							handler, context);
	}
	mutex_lock(&sw_session.lock);
	if (sw_session.attr != attr) {
		sw_session.attr = attr;
		e = sw_anchor_begin(attr->sample_period & 0xffff, cpu, probes,
				    has_threads);
	}
	mutex_unlock(&sw_session.lock);
	return e;
}

/**
 * sw_anchor_release - what SystemTap calls as perf_event_release_kernel()
 */
static int sw_anchor_release(struct perf_event *e)
{
	unsigned int i;

	mutex_lock(&sw_session.lock);
	for (i = 0; i < sw_session.anchors; i++)
		if (sw_session.handles[i] == e)
			break;
	if (i < sw_session.anchors) {
		sw_session.handles[i] =
			sw_session.handles[--sw_session.anchors];
		if (!sw_session.anchors)
			sw_session_end();
	}
	mutex_unlock(&sw_session.lock);
	/* end probes ask for the images */
	if (e->overflow_handler == sw_overflow && !sw_is_running())
		sw_trace_catch_up();
	return perf_event_release_kernel(e);
}

/**
 * sw_value - a reading by an event's number
 * @read: sw_read_cpu or sw_read_thread
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

/*
 * For the handlers of kernel.elapsed.* and kernel.virtual.elapsed.*: a macro,
 * since `CONTEXT` is only known in the tapset's functions.
 */
#define SW_ELAPSED(id, of_thread) ({					\
	unsigned int slot_ = sw_slot_of[id];				\
	s64 v_ = slot_ == SW_SLOT_MISSING ? SW_MISSING : SW_NONE;	\
									\
	if (CONTEXT->probe_type != stp_probe_type_kretprobe)		\
		CONTEXT->last_error = "stapwatch: elapsed counts from a call to its return; end the probe point in .function(\"...\").return"; \
	else if (slot_ < SW_MAX_SLOTS)					\
		v_ = sw_elapsed(CONTEXT->ips.krp.pi, slot_, of_thread);	\
	v_; })

/*
 * A stap that no longer calls these two would make modules that count nothing.
 * Each macro, where it is expanded, defines the symbol that an anchor's handler
 * asks for here, so that the build then fails with its name.
 */
extern const char stapwatch_needs_a_stap_that_calls_perf_event_create_kernel_counter[];
extern const char stapwatch_needs_a_stap_that_calls_perf_event_release_kernel[];
#define SW_ASK_FOR_PROOF() do {						\
	static const char *const proof_[] __used = {			\
		stapwatch_needs_a_stap_that_calls_perf_event_create_kernel_counter, \
		stapwatch_needs_a_stap_that_calls_perf_event_release_kernel, \
	};								\
} while (0)

#define SW_PROVE(function)						\
	asm volatile(".set stapwatch_needs_a_stap_that_calls_" #function ", 0")

/*
 * The functions that read threads' counts, and those that read elapsed counts,
 * define these anew when a script uses them.  SystemTap writes the functions
 * that a script uses before it includes the files that the macros change.
 */
#define SW_HAS_THREADS 0
#define SW_HAS_ELAPSED_CPU 0
#define SW_HAS_ELAPSED_THREAD 0
#define SW_HAS_KSTACKS 0
#define SW_HAS_USTACKS 0
#define SW_HAS_TRACE 0
#define SW_HAS_BRANCHES 0
#define SW_HAS_LATENCY 0
#define SW_HAS_IMAGES 0
#define SW_HAS_UNWOUND 0
#define SW_USES_OF_SAMPLES						\
	(SW_HAS_KSTACKS * SW_KSTACKS | SW_HAS_USTACKS * SW_USTACKS |	\
	 SW_HAS_TRACE * SW_TRACES | SW_HAS_BRANCHES * SW_BRANCHES |	\
	 SW_HAS_LATENCY * SW_LATENCIES | SW_HAS_IMAGES * SW_IMAGES |	\
	 SW_HAS_UNWOUND * SW_UNWOUND)

#define perf_event_create_kernel_counter(attr, cpu, task, handler, data) ({ \
	struct perf_event *e_;						\
									\
	SW_PROVE(perf_event_create_kernel_counter);			\
	sw_profile.busy_offset = offsetof(struct context, busy);	\
	sw_trace.chan = &_stp_relay_data.rchan;				\
	sw_trace.overwrite = &_stp_relay_data.overwrite_flag;		\
	e_ = sw_anchor_create(attr, cpu, task, handler, data,		\
			      ARRAY_SIZE(stap_perf_probes),		\
			      SW_HAS_THREADS, SW_USES_OF_SAMPLES);	\
	sw_state_running = STAP_SESSION_RUNNING;			\
	smp_store_release(&sw_state, session_state());			\
	if (sw_session.failed)						\
		atomic_set(session_state(), STAP_SESSION_ERROR);	\
	e_; })

#define perf_event_release_kernel(event) ({				\
	SW_PROVE(perf_event_release_kernel);				\
	sw_anchor_release(event); })

#define register_kretprobe(rp)						\
	sw_register_kretprobe(rp, SW_HAS_ELAPSED_CPU * SW_USES_CPU |	\
			      SW_HAS_ELAPSED_THREAD * SW_USES_THREAD)

#endif
