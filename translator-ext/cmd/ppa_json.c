/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval as JSON; ppa_json.h says what is wanted of it. */
#include "cmd/ppa_json.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/ppa_cgroup.h"
#include "cmd/ppa_competitors.h"
#include "cmd/ppa_why.h"

struct field {
	const char *name;
	int value;
	bool time;
};

static void put_fields(const struct ppa_interval *p, const struct field *f,
		       size_t nr, const uint64_t *v, const uint64_t *o,
		       struct json *j)
{
	size_t i;
	uint64_t d;

	for (i = 0; i < nr; i++) {
		d = v[f[i].value] - (o ? o[f[i].value] : 0);
		if (f[i].time)
			json_fixed(j, f[i].name, ppa_us(p, d), 3);
		else
			json_uint(j, f[i].name, d);
	}
}

static void put_name(struct json *j, const char *comm)
{
	char *name = ppa_name(comm);

	json_string(j, "comm", name);
	free(name);
}

void ppa_json_life(const struct ppa_interval *p, const uint64_t *parts,
		   uint64_t life, struct json *j)
{
	uint64_t ns[PPA_NR_PARTS];
	unsigned int i;

	ppa_parts_ns(parts, ns, PPA_NR_PARTS, p->now.hz);
	json_uint(j, "sum_ns", ppa_ns(life, p->now.hz));
	json_object(j, "parts");
	for (i = 0; i < PPA_NR_PARTS; i++)
		json_uint(j, ppa_part_name(i), ns[i]);
	json_end_object(j);
}

static void put_waits(const struct ppa_thread *t, struct json *j)
{
	unsigned int i;

	json_object(j, "waits");
	for (i = 0; i < PPA_NR_PARTS; i++)
		if (t->waits[i])
			json_uint(j, ppa_part_name(i), t->waits[i]);
	json_end_object(j);
}

static void put_cpu_life(const struct ppa_interval *p, const uint64_t *v,
			 const uint64_t *o, struct json *j)
{
	static const struct field parts[] = {
		{ "user", PPA_USRMODE, true },
		{ "system", PPA_SYSMODE, true },
		{ "interrupt", PPA_INTERRUPTS, true },
		{ "softirq", PPA_TOTALSOFTIRQTIME, true },
		{ "idle", PPA_IDLE, true },
		{ "not_accounted", PPA_NOT_ACCOUNTED, true },
	};
	const size_t nr = sizeof(parts) / sizeof(*parts);
	uint64_t ticks[sizeof(parts) / sizeof(*parts)];
	uint64_t ns[sizeof(parts) / sizeof(*parts)];
	size_t i;

	for (i = 0; i < nr; i++)
		ticks[i] = v[parts[i].value] - (o ? o[parts[i].value] : 0);
	ppa_parts_ns(ticks, ns, nr, p->now.hz);
	json_uint(j, "sum_ns",
		  ppa_ns(v[PPA_ELAPSED] - (o ? o[PPA_ELAPSED] : 0),
			 p->now.hz));
	json_object(j, "parts");
	for (i = 0; i < nr; i++)
		json_uint(j, parts[i].name, ns[i]);
	json_end_object(j);
}

static void put_processes(const struct ppa_interval *p, uint64_t pid,
			  struct json *j)
{
	size_t nr, withheld, i;
	struct ppa_process *all = ppa_processes(p, pid, &nr, &withheld);

	json_uint(j, "withheld", withheld);
	json_array(j, "processes");
	for (i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_uint(j, "pid", all[i].pid);
		put_name(j, all[i].comm);
		json_uint(j, "threads", all[i].threads);
		json_uint(j, "ended_threads", all[i].ended);
		ppa_json_life(p, all[i].parts, all[i].life, j);
		json_end_object(j);
	}
	json_end_array(j);
	free(all);
}

static void put_cgroups(const struct ppa_interval *p, struct json *j)
{
	size_t nr, withheld, i;
	struct ppa_cgroup *all = ppa_cgroups(p, &nr, &withheld);

	json_uint(j, "withheld", withheld);
	json_array(j, "cgroups");
	for (i = 0; i < nr; i++) {
		json_object(j, NULL);
		json_string(j, "cgroup", all[i].path);
		json_uint(j, "processes", all[i].processes);
		json_uint(j, "threads", all[i].threads);
		json_uint(j, "ended_threads", all[i].ended);
		ppa_json_life(p, all[i].parts, all[i].life, j);
		json_end_object(j);
	}
	json_end_array(j);
	ppa_cgroups_free(all, nr);
}

static void put_thread(const struct ppa_interval *p, const struct ppa_thread *t,
		       struct json *j)
{
	static const struct field thread[] = {
		{ "system_us", PPA_SCACCUM, true },
		{ "total_us", PPA_SCHEDACCUM, true },
		{ "int_us", PPA_INTACCUM, true },
		{ "softirq_us", PPA_SOFTACCUM, true },
		{ "syscalls", PPA_SYSCALLCNT, false },
		{ "ints", PPA_INTCNT, false },
		{ "rescheds", PPA_RSCHEDCNT, false },
		{ "blocked", PPA_SCHEDOUTCNT, false },
		{ "preempted", PPA_PRMPTPRICNT, false },
		{ "expired", PPA_PRMPTCTXTCNT, false },
		{ "latency_us", PPA_SCHLATACCUM, true },
		{ "wakeups", PPA_SCHLATCNT, false },
		{ "preempted_us", PPA_PREEMPTACCUM, true },
		{ "switch_us", PPA_AVGCTXT, true },
	};
	unsigned int i;

	json_object(j, NULL);
	json_uint(j, "tid", t->tid);
	json_uint(j, "pid", t->tgid);
	put_name(j, t->comm);
	json_bool(j, "ended", t->flags & PPA_ENDED);
	json_fixed(j, "user_us", ppa_us(p, t->values[PPA_SCHEDACCUM] -
					   t->values[PPA_SCACCUM]), 3);
	put_fields(p, thread, sizeof(thread) / sizeof(*thread), t->values,
		   NULL, j);
	json_array(j, "latencies");
	for (i = 0; i < PPA_NR_BUCKETS; i++)
		json_uint(j, NULL, t->latency[i]);
	json_end_array(j);
	ppa_json_life(p, t->parts, t->life, j);
	put_waits(t, j);
	if (p->now.has_competitors)
		ppa_competitors_json(p, t, j);
	json_end_object(j);
}

static void put_threads(const struct ppa_interval *p, struct json *j)
{
	size_t i;

	json_array(j, "threads");
	for (i = 0; i < p->nr_rows; i++)
		put_thread(p, &p->rows[i], j);
	json_end_array(j);
}

static void put_cpu(const struct ppa_interval *p, size_t at, struct json *j)
{
	static const struct field cpu[] = {
		{ "user_us", PPA_USRMODE, true },
		{ "system_us", PPA_SYSMODE, true },
		{ "int_us", PPA_INTERRUPTS, true },
		{ "softirq_us", PPA_TOTALSOFTIRQTIME, true },
		{ "idle_us", PPA_IDLE, true },
		{ "elapsed_us", PPA_ELAPSED, true },
		{ "syscalls", PPA_SYS_SYSCALLCNT, false },
		{ "ints", PPA_INTERRUPTCNT, false },
		{ "softirqs", PPA_SOFTIRQCNT, false },
		{ "blocked", PPA_SYS_SCHEDOUTCNT, false },
		{ "preempted", PPA_SYS_PRMPTPRICNT, false },
		{ "expired", PPA_SYS_PRMPTCTXTCNT, false },
		{ "latency_us", PPA_SYS_SCHLATACCUM, true },
		{ "wakeups", PPA_SYS_SCHLATCNT, false },
	};
	const uint64_t *was = at < p->before.nr_cpus ? p->before.cpus[at].v :
						       NULL;

	json_object(j, NULL);
	json_uint(j, "cpu", at);
	put_fields(p, cpu, sizeof(cpu) / sizeof(*cpu), p->now.cpus[at].v, was,
		   j);
	put_cpu_life(p, p->now.cpus[at].v, was, j);
	json_end_object(j);
}

static void put_others(const struct ppa_interval *p, struct json *j)
{
	json_object(j, "others");
	json_fixed(j, "user_us", ppa_us(p, p->others.user), 3);
	json_fixed(j, "system_us", ppa_us(p, p->others.system), 3);
	json_uint(j, "syscalls", p->others.syscalls);
	json_uint(j, "ended_threads", p->others.ended);
	json_uint(j, "lost", p->now.threads_lost);
	json_end_object(j);
}

void ppa_json(const struct ppa_interval *p, enum ppa_by by, uint64_t pid,
	      struct buf *out)
{
	size_t nr, i, *cpus = ppa_interval_cpus(p, &nr);
	struct json j = { .out = out };

	json_document(&j);
	json_fixed(&j, "seconds", p->seconds, 6);
	json_array(&j, "cpus");
	for (i = 0; i < nr; i++)
		put_cpu(p, cpus[i], &j);
	json_end_array(&j);
	free(cpus);
	put_others(p, &j);
	if (by == PPA_THREADS)
		put_threads(p, &j);
	else if (by == PPA_PROCESSES)
		put_processes(p, pid, &j);
	else if (by == PPA_CGROUPS)
		put_cgroups(p, &j);
	json_end_document(&j);
}
