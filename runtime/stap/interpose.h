/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands between SystemTap and perf.
 *
 * The macros at the end take the place of functions that SystemTap's code, which
 * comes after all of this, calls in module init and module exit.  A perf probe
 * that is an anchor is handed to anchor.h.  Every other one that has a handler is
 * one that the script samples: it gets sw_overflow() before SystemTap's handler.
 *
 * Who may run what, against whom: all of it is sleepable.
 */
#ifndef STAPWATCH_STAP_INTERPOSE_H
#define STAPWATCH_STAP_INTERPOSE_H

#include "base/cpus.h"
#include "base/session.h"
#include "control/file.h"
#include "count/chosen.h"
#include "count/elapsed.h"
#include "count/event.h"
#include "count/hit.h"
#include "count/loads.h"
#include "count/perf.h"
#include "count/pmu.h"
#include "message/session.h"
#include "sample/hotplug.h"
#include "sample/carry.h"
#include "sample/in_sets.h"
#include "sample/of_threads.h"
#include "sample/off_cpu.h"
#include "sample/sampler.h"
#include "set/open.h"
#include "socket/session.h"
#include "stap/anchor.h"
#include "stap/errors.h"
#include "stap/parts.h"
#include "stap/set_of.h"
#include "trace/mark.h"
#include "watch/block.h"
#include "watch/fold.h"
#include "watch/session.h"

#define SW_ANCHOR_MAGIC 0x57ULL

/* A perf event's types: its config is that number, and what that event is, and
 * how often it is sampled, comes in place of what SystemTap says; */
#define SW_SAMPLING_NATIVE 0x57000000
/* or its config is the number of an event of the table. */
#define SW_SAMPLING_TABLE 0x57000001
/* or it is no event of perf's: waits, of so many nanoseconds at least. */
#define SW_SAMPLING_OFF_CPU 0x57000003

/* What a perf probe that is no anchor samples. */
static const struct sw_event *sw_sampled(const struct perf_event_attr *attr)
{
	static const struct sw_event other = { .name = "of that perf probe" };
	static const struct sw_event waits = { .name = "off_cpu" };
	unsigned int i;

	if (attr->type == SW_SAMPLING_NATIVE)
		return attr->config < SW_MAX_NATIVES &&
		       sw_natives[attr->config].name ?
		       &sw_natives[attr->config] : NULL;
	if (attr->type == SW_SAMPLING_TABLE)
		return attr->config < SW_NR_EVENTS ?
		       &sw_events[attr->config] : NULL;
	if (attr->type == SW_SAMPLING_OFF_CPU)
		return &waits;
	for (i = 0; i < SW_NR_EVENTS; i++)
		if (sw_events[i].type == attr->type && !sw_events[i].flags &&
		    sw_events[i].config == attr->config && i != SW_EV_tsc)
			return &sw_events[i];
	return &other;
}

/* Is there a CPU that has that event? */
static bool sw_some_cpu_samples(const struct perf_event_attr *given)
{
	struct perf_event_attr attr = *given;
	struct perf_event *e;
	int cpu;

	attr.disabled = 1;
	sw_for_each_online_cpu(cpu) {
		e = perf_event_create_kernel_counter(&attr, cpu, NULL,
						     sw_overflow, NULL);
		if (IS_ERR(e))
			continue;
		perf_event_release_kernel(e);
		return true;
	}
	return false;
}

/* A probe of waits, of which SystemTap holds one event for all CPUs. */
static struct perf_event *
sw_waits_create(const struct perf_event_attr *given,
		const struct sw_event *ev, int cpu, struct task_struct *task,
		perf_overflow_handler_t handler)
{
	struct sw_sampler *s = sw_sampler_of(given);

	if (s)
		return NULL;
	if (task || given->freq || !sw_parts.waits) {
		_stp_error("stapwatch: off_cpu is sampled by pmu_profile.off_cpu.sample(NS) alone; see 'man tapset::stapwatch'\n");
		return ERR_PTR(-EINVAL);
	}
	s = sw_sampler_new(given, given, ev, handler);
	s->is_wait = true;
	return sw_parts.waits->create(s, cpu);
}

/* A sampler of the threads that the script has named, of which SystemTap holds one event
 * for all CPUs, too. */
static struct perf_event *
sw_of_threads_create(struct sw_sampler *s, const struct perf_event_attr *attr,
		     const struct sw_event *ev, bool try_precise)
{
	struct perf_event *e;

	if (s->in_set) {
		_stp_error("stapwatch: profile_in_set() is of CPUs; leave out profile_thread() and profile_process()\n");
		return ERR_PTR(-EINVAL);
	}
	if (sw_has_chosen_cpus) {
		_stp_error("stapwatch: profile_thread() and profile_process() sample threads on whatever CPU; leave out stapwatch_cpus\n");
		return ERR_PTR(-EINVAL);
	}
	e = sw_of_threads_open(s, attr, try_precise);
	if (IS_ERR(e))
		sw_sampling_failed(ev, PTR_ERR(e));
	return e;
}

/*
 * A perf probe that samples.  Between perf and SystemTap's handler stands
 * sw_overflow(); and the type may be a number that stands for an event of the
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
	bool try_precise;
	int rc;

	if (!ev)
		return ERR_PTR(-EINVAL);
	if (attr.type == SW_SAMPLING_NATIVE) {
		rc = sw_loads_resolve(&sw_natives[attr.config]);
		if (rc) {
			sw_sampling_failed(ev, rc);
			return ERR_PTR(rc);
		}
		attr.sample_type = ev->sample_type;
		attr.freq = ev->period < 0;
		attr.sample_period = abs(ev->period);
	}
	if (attr.type == SW_SAMPLING_NATIVE || attr.type == SW_SAMPLING_TABLE) {
		rc = sw_pmu_describe(ev, &attr);
		if (rc) {
			sw_sampling_failed(ev, rc);
			return ERR_PTR(rc);
		}
	}
	rc = sw_profile.begun ? 0 : sw_profile_begin(uses);
	if (rc)
		return ERR_PTR(rc);
	s = sw_sampler_of(given);
	if (!s && sw_profile.nr == SW_MAX_SAMPLERS) {
		_stp_error("stapwatch: a script can have at most %d probes that sample\n",
			   SW_MAX_SAMPLERS);
		return ERR_PTR(-E2BIG);
	}
	if (given->type == SW_SAMPLING_OFF_CPU)
		return sw_waits_create(given, ev, cpu, task, handler);
	/* or none at all */
	if (s && !task && (sw_of_threads.asked || (s->in_set && s->attr.size)))
		return NULL;
	if (!s) {
		s = sw_sampler_new(given, &attr, ev, handler);
		s->in_set = sw_sampler_set_of(ev->name);
		if (s->in_set)
			s->in_set->sampled = true;
	}
	if (!task && s->in_set)
		attr.disabled = 1;
	sw_sampler_describe(&attr);
	try_precise = (given->type == SW_SAMPLING_TABLE &&
		       attr.type != PERF_TYPE_SOFTWARE) ||
		      ((ev->flags & SW_IS_LOADS) && !attr.precise_ip);
	if (!task && sw_of_threads.asked)
		return sw_of_threads_create(s, &attr, ev, try_precise);
	e = sw_sampler_create(s, &attr, cpu, task, try_precise);
	/* the CPU has just gone offline; SystemTap has none of such */
	if (PTR_ERR_OR_ZERO(e) == -ENODEV && !task &&
	    (attr.type == PERF_TYPE_SOFTWARE || !cpu_online(cpu)))
		return NULL;
	/* nor of one that has no such event */
	if (PTR_ERR_OR_ZERO(e) == -ENOENT && !task &&
	    sw_some_cpu_samples(&attr))
		return NULL;
	if (IS_ERR(e))
		sw_sampling_failed(ev, PTR_ERR(e));
	else if (!task)
		s->attr = attr;
	if (IS_ERR(e) || task || !s->in_set)
		return e;
	/* it can be; see sw_in_sets_open() */
	perf_event_release_kernel(e);
	return NULL;
}

static bool sw_is_sampler(const struct perf_event *e)
{
	return !IS_ERR_OR_NULL(e) && e->overflow_handler == sw_overflow;
}

/* The session ends; or a script's own event goes, and it does not. */
static void sw_samples_last(void)
{
	if (!sw_parts.waits)
		return;
	mutex_lock(&sw_profile.lock);
	sw_parts.waits->last();
	mutex_unlock(&sw_profile.lock);
}

/* Is it of a probe of a process's, which may come and go while all others stay? */
static bool sw_is_of_process(const struct perf_event *e)
{
	unsigned int i;

	for (i = 0; i < sw_of_threads.nr; i++)
		if (sw_of_threads.events[i] == e)
			return false;
	return e->attach_state & PERF_ATTACH_TASK;
}

static void sw_samples_release(struct perf_event *e)
{
	bool last, over;

	if (!sw_is_sampler(e))
		return;
	/* where module init fails, SystemTap says so later */
	over = sw_is_over() || (!sw_is_running() && !sw_is_of_process(e));
	if (over)
		sw_samplers_leave();
	mutex_lock(&sw_profile.lock);
	if (over)
		sw_of_threads_close();
	if (sw_parts.waits)
		sw_parts.waits->release(e);
	last = !--sw_profile.open;
	mutex_unlock(&sw_profile.lock);
	/* end probes ask for the images */
	if (last && !sw_is_running())
		sw_trace_catch_up();
}

static struct perf_event *
sw_samples_create(const struct perf_event_attr *given, int cpu,
		  struct task_struct *task, perf_overflow_handler_t handler,
		  unsigned int uses)
{
	struct perf_event *e;
	int rc = uses & (SW_TRACES | SW_IMAGES) ? sw_images_follow() : 0;

	if (rc)
		return ERR_PTR(rc);
	mutex_lock(&sw_profile.lock);
	e = sw_sampling_create(given, cpu, task, handler, uses);
	if (sw_is_sampler(e))
		sw_profile.open++;
	rc = sw_is_sampler(e) && !task ?
	     sw_sampler_follow(e->overflow_handler_context, e, cpu) : 0;
	mutex_unlock(&sw_profile.lock);
	if (rc) {
		sw_samples_release(e);
		perf_event_release_kernel(e);
	}
	return rc ? ERR_PTR(rc) : e;
}

/* After all has ended, also where a session has failed. */
static void sw_samples_let_go(void)
{
	/* where SystemTap had no event to release */
	sw_samplers_leave();
	sw_profile_end();
	sw_of_threads_forget();
	sw_in_sets_end();
	sw_carries_end();
}

static const struct sw_samples_part sw_samples_part = {
	.create = sw_samples_create,
	.last = sw_samples_last,
	.release = sw_samples_release,
	.end = sw_samples_let_go,
};

static const struct sw_waits_part sw_waits_part = {
	.create = sw_off_cpu_create,
	.run = sw_off_cpu_run,
	.last = sw_off_cpu_last,
	.release = sw_off_cpu_release,
};

static void sw_sets_and_samplers_run(void)
{
	sw_in_sets_open();
	sw_sets_run();
}

static const struct sw_sets_part sw_sets_part = {
	.begin = sw_anchor_sets,
	.fit = sw_sets_try,
	.ready = sw_sets_ready,
	.run = sw_sets_and_samplers_run,
	.let_go = sw_sets_let_go,
	.end = sw_sets_end,
};

static const struct sw_sockets_part sw_sockets_part = {
	.open = sw_socket_open,
	.end = sw_socket_end,
	.gone = sw_socket_gone,
};

static const struct sw_watch_part sw_watch_part = {
	.on_switch = SW_SWITCH_CALLBACK(sw_watch_on_switch),
	.start = sw_watch_start,
	.take = sw_watch_take,
	.stop = sw_watch_stop,
	.end = sw_watch_end,
};

/**
 * sw_perf_create - what SystemTap calls as perf_event_create_kernel_counter()
 * @probes: how many perf probes the module has, and events that its sets may have
 * @anchors: how many of them are anchors
 * @threads: SW_READS_..., what the script makes of threads' counts
 * @uses: what the script does with samples
 */
static struct perf_event *
sw_perf_create(struct perf_event_attr *attr, int cpu, struct task_struct *task,
	       perf_overflow_handler_t handler, void *context,
	       unsigned int probes, unsigned int anchors, unsigned int threads,
	       unsigned int uses)
{
	if ((attr->sample_period >> 56) == SW_ANCHOR_MAGIC)
		return sw_anchor_open(attr, cpu, probes, anchors, threads);
	/* a counter("name") has no handler; and as SystemTap has none of a CPU
	 * that is offline */
	if (handler && !context && !task && !sw_cpu_is_chosen(cpu))
		return NULL;
	if (handler && !context && sw_parts.samples)
		return sw_parts.samples->create(attr, cpu, task, handler, uses);
	return perf_event_create_kernel_counter(attr, cpu, task, handler,
						context);
}

/**
 * sw_perf_release - what SystemTap calls as perf_event_release_kernel()
 */
static int sw_perf_release(struct perf_event *e)
{
	/* which threads are watched is known until then */
	if (sw_parts.samples)
		sw_parts.samples->last();
	sw_anchor_close(e);
	if (sw_parts.samples)
		sw_parts.samples->release(e);
	return perf_event_release_kernel(e);
}

static void sw_samples_end(void)
{
	if (sw_parts.samples)
		sw_parts.samples->end();
}

/*
 * A stap that no longer calls these two would make modules that count nothing;
 * without the third sets would not begin, and without the fourth a handler would get
 * readings of an earlier one.  Each macro, where it is expanded, defines
 * the symbol that an anchor's handler asks for here, so that the build then fails with
 * its name.
 */
extern const char stapwatch_needs_a_stap_that_calls_perf_event_create_kernel_counter[];
extern const char stapwatch_needs_a_stap_that_calls_perf_event_release_kernel[];
extern const char stapwatch_needs_a_stap_that_calls_atomic_cmpxchg[];
extern const char stapwatch_needs_a_stap_that_calls__stp_runtime_entryfn_get_context[];
#define SW_ASK_FOR_PROOF() do {						\
	static const char *const proof_[] __used = {			\
		stapwatch_needs_a_stap_that_calls_perf_event_create_kernel_counter, \
		stapwatch_needs_a_stap_that_calls_perf_event_release_kernel, \
	};								\
} while (0)
#define SW_ASK_FOR_PROOF_OF_SETS() do {					\
	static const char *const proof_ __used =			\
		stapwatch_needs_a_stap_that_calls_atomic_cmpxchg;	\
} while (0)

#define SW_ASK_FOR_PROOF_OF_HITS() do {					\
	static const char *const proof_ __used =			\
		stapwatch_needs_a_stap_that_calls__stp_runtime_entryfn_get_context; \
} while (0)

/* Before a function reads other CPUs' sets. */
#define SW_SETS_SEE() do {						\
	SW_ASK_FOR_PROOF_OF_HITS();					\
	sw_sets_see(SW_MAY_WAIT());					\
} while (0)

#define SW_PROVE(function)						\
	asm volatile(".set stapwatch_needs_a_stap_that_calls_" #function ", 0")

/*
 * How many perf probes the module has, which SystemTap's C tells only after the
 * place where it registers kretprobes: a symbol that is the number.  Weak, for who
 * has none.
 */
extern const char stapwatch_perf_probes[] __weak;
static const char *sw_nr_perf_probes = stapwatch_perf_probes;

#define SW_TELL_PERF_PROBES()						\
	asm volatile(".weak stapwatch_perf_probes\n"			\
		     ".set stapwatch_perf_probes, %c0"			\
		     : : "i" (ARRAY_SIZE(stap_perf_probes)))

static unsigned int __maybe_unused sw_perf_probes(void)
{
	/* from where it stands: an address so low is out of an instruction's
	 * reach */
	return (unsigned long)READ_ONCE(sw_nr_perf_probes);
}

/*
 * The functions that read threads' counts, and those that read elapsed counts,
 * define these anew when a script uses them.  SystemTap writes the functions
 * that a script uses before it includes the files that the macros change.
 */
#define SW_HAS_THREADS 0
#define SW_HAS_WATCH 0
#define SW_HAS_STOP 0
#define SW_HAS_DEAD 0
#define SW_HAS_SETS 0
#define SW_HAS_SOCKETS 0
#define SW_HAS_HITS 0
#define SW_HAS_ELAPSED_CPU 0
#define SW_HAS_ELAPSED_THREAD 0
#define SW_HAS_SAMPLES 0
#define SW_HAS_OFF_CPU 0
#define SW_HAS_KSTACKS 0
#define SW_HAS_USTACKS 0
#define SW_HAS_TRACE 0
#define SW_HAS_BRANCHES 0
#define SW_HAS_LATENCY 0
#define SW_HAS_IMAGES 0
#define SW_HAS_UNWOUND 0
#define SW_HAS_WAKERS 0
#define SW_HAS_OPEN_WAITS 0
#define SW_USES_OF_SAMPLES						\
	(SW_HAS_KSTACKS * SW_KSTACKS | SW_HAS_USTACKS * SW_USTACKS |	\
	 SW_HAS_TRACE * SW_TRACES | SW_HAS_BRANCHES * SW_BRANCHES |	\
	 SW_HAS_LATENCY * SW_LATENCIES | SW_HAS_IMAGES * SW_IMAGES |	\
	 SW_HAS_UNWOUND * SW_UNWOUND | SW_HAS_WAKERS * SW_WAKERS |	\
	 SW_HAS_OPEN_WAITS * SW_OPEN_WAITS)

#define SW_USES_OF_THREADS						\
	(SW_HAS_THREADS * SW_READS_THREADS |				\
	 SW_HAS_WATCH * (SW_READS_THREADS | SW_WATCHES_THREADS) |	\
	 SW_HAS_STOP * SW_STOPS_ALL |					\
	 SW_HAS_DEAD * SW_READS_THE_DEAD)

/* Constants decide, so that what is not pointed to is not compiled. */
#define SW_POINT_TO_PARTS() do {					\
	sw_parts.sets = SW_HAS_SETS ? &sw_sets_part : NULL;		\
	sw_parts.sockets = SW_HAS_SOCKETS ? &sw_sockets_part : NULL;	\
	sw_parts.watch = SW_USES_OF_THREADS & SW_WATCHES_THREADS ?	\
			 &sw_watch_part : NULL;				\
	sw_parts.samples = SW_HAS_SAMPLES || SW_USES_OF_SAMPLES ?	\
			   &sw_samples_part : NULL;			\
	sw_parts.waits = SW_HAS_OFF_CPU ? &sw_waits_part : NULL;	\
} while (0)

/* Begin probes may have declared what no anchor came for. */
#undef SW_WATCH_END
#define SW_WATCH_END() do { SW_POINT_TO_PARTS(); sw_others_end(); } while (0)
#undef SW_PROFILE_END
#define SW_PROFILE_END() sw_samples_end()

/* How many of SystemTap's perf probes are anchors. */
#define SW_COUNT_ANCHORS(probes) ({					\
	unsigned int anchors_ = 0, probe_;				\
									\
	for (probe_ = 0; probe_ < ARRAY_SIZE(probes); probe_++)		\
		anchors_ += (probes)[probe_].attr.sample_period >> 56 == \
			    SW_ANCHOR_MAGIC;				\
	anchors_; })

#define perf_event_create_kernel_counter(attr, cpu, task, handler, data) ({ \
	struct perf_event *e_;						\
									\
	SW_PROVE(perf_event_create_kernel_counter);			\
	SW_TELL_PERF_PROBES();						\
	/* the first of all: no sample or work reads these yet */	\
	if (!sw_is_asked) {						\
		sw_is_asked = true;					\
		SW_POINT_TO_PARTS();					\
		sw_context.busy = offsetof(struct context, busy);	\
		sw_context.probe_type = offsetof(struct context, probe_type); \
		sw_context.hrtimer = stp_probe_type_hrtimer;		\
		sw_output.chan = &_stp_relay_data.rchan;			\
		sw_output.overwrite = &_stp_relay_data.overwrite_flag;	\
		sw_state_running = STAP_SESSION_RUNNING;		\
	}								\
	e_ = sw_perf_create(attr, cpu, task, handler, data,		\
			    ARRAY_SIZE(stap_perf_probes) +		\
			    SW_HAS_SETS * SW_MAX_SLOTS,			\
			    SW_COUNT_ANCHORS(stap_perf_probes),		\
			    SW_USES_OF_THREADS, SW_USES_OF_SAMPLES);	\
	/* with sw_is_running(), which finds sw_state_running then, too */ \
	smp_store_release(&sw_state, session_state());			\
	if (sw_session.failed)						\
		atomic_set(session_state(), STAP_SESSION_ERROR);	\
	e_; })

#define perf_event_release_kernel(event) ({				\
	SW_PROVE(perf_event_release_kernel);				\
	sw_perf_release(event); })

/* What it is where the macro below has its name. */
static inline int sw_atomic_cmpxchg(atomic_t *v, int old, int new)
{
	return atomic_cmpxchg(v, old, new);
}

/*
 * By this SystemTap lets handlers run, as the last step of its module init.  No other
 * has that state, by its name, as the new value.
 */
#undef atomic_cmpxchg
#define atomic_cmpxchg(v, old, new) ({					\
	atomic_t *v_ = (v);						\
	int old_ = (old), was_;						\
									\
	if (!__builtin_strcmp(#new, "STAP_SESSION_RUNNING")) {		\
		SW_PROVE(atomic_cmpxchg);				\
		if (sw_parts.sets && atomic_read(v_) == old_)		\
			sw_parts.sets->run();				\
	}								\
	was_ = sw_atomic_cmpxchg(v_, old_, new);			\
	if (!__builtin_strcmp(#new, "STAP_SESSION_RUNNING") &&		\
	    sw_parts.waits && was_ == old_)				\
		sw_parts.waits->run();					\
	was_; })

/* How each handler begins; __sw_configure() has SystemTap's call made by this. */
#define SW_HIT(get_context) ({						\
	struct context *hit_ = get_context;				\
									\
	SW_PROVE(_stp_runtime_entryfn_get_context);			\
	if (SW_HAS_HITS && hit_)					\
		sw_hit_begins();					\
	if (SW_HAS_SETS && hit_)					\
		this_cpu_write(sw_cpus.sets_seen, false);		\
	hit_; })

#define register_kretprobe(rp)						\
	sw_register_kretprobe(rp, SW_HAS_ELAPSED_CPU * SW_USES_CPU |	\
			      SW_HAS_ELAPSED_THREAD * SW_USES_THREAD,	\
			      sw_perf_probes() + SW_HAS_SETS * SW_MAX_SLOTS)

#endif
