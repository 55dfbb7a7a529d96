/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An interval as JSON; ppa_json.h says what is wanted of it. */
#include "cmd/ppa_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
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
		       struct buf *out)
{
	size_t i;
	uint64_t d;

	for (i = 0; i < nr; i++) {
		d = v[f[i].value] - (o ? o[f[i].value] : 0);
		if (f[i].time)
			buf_printf(out, ",\"%s\":%.3f", f[i].name,
				   ppa_us(p, d));
		else
			buf_printf(out, ",\"%s\":%" PRIu64, f[i].name, d);
	}
}

static void put_name(struct buf *out, const char *comm)
{
	char *name = ppa_name(comm);

	json_quote(out, name);
	free(name);
}

void ppa_json_life(const struct ppa_interval *p, const uint64_t *parts,
		   uint64_t life, struct buf *out)
{
	uint64_t ns[PPA_NR_PARTS];
	unsigned int i;

	ppa_parts_ns(parts, ns, PPA_NR_PARTS, p->now.hz);
	buf_printf(out, ",\"sum_ns\":%" PRIu64 ",\"parts\":{",
		   ppa_ns(life, p->now.hz));
	for (i = 0; i < PPA_NR_PARTS; i++)
		buf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "",
			   ppa_part_name(i), ns[i]);
	buf_puts(out, "}");
}

static void put_waits(const struct ppa_thread *t, struct buf *out)
{
	const char *comma = "";
	unsigned int i;

	buf_puts(out, ",\"waits\":{");
	for (i = 0; i < PPA_NR_PARTS; i++) {
		if (!t->waits[i])
			continue;
		buf_printf(out, "%s\"%s\":%" PRIu64, comma, ppa_part_name(i),
			   t->waits[i]);
		comma = ",";
	}
	buf_puts(out, "}");
}

static void put_cpu_life(const struct ppa_interval *p, const uint64_t *v,
			 const uint64_t *o, struct buf *out)
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
	buf_printf(out, ",\"sum_ns\":%" PRIu64 ",\"parts\":{",
		   ppa_ns(v[PPA_ELAPSED] - (o ? o[PPA_ELAPSED] : 0),
			  p->now.hz));
	for (i = 0; i < nr; i++)
		buf_printf(out, "%s\"%s\":%" PRIu64, i ? "," : "",
			   parts[i].name, ns[i]);
	buf_puts(out, "}");
}

static void put_processes(const struct ppa_interval *p, uint64_t pid,
			  struct buf *out)
{
	size_t nr, withheld, i;
	struct ppa_process *all = ppa_processes(p, pid, &nr, &withheld);

	buf_printf(out, ",\"withheld\":%zu,\"processes\":[", withheld);
	for (i = 0; i < nr; i++) {
		buf_printf(out, "%s{\"pid\":%u,\"name\":", i ? "," : "",
			   all[i].pid);
		put_name(out, all[i].comm);
		buf_printf(out, ",\"threads\":%zu,\"ended\":%" PRIu64,
			   all[i].threads, all[i].ended);
		ppa_json_life(p, all[i].parts, all[i].life, out);
		buf_puts(out, "}");
	}
	buf_puts(out, "]");
	free(all);
}

static void put_cgroups(const struct ppa_interval *p, struct buf *out)
{
	size_t nr, withheld, i;
	struct ppa_cgroup *all = ppa_cgroups(p, &nr, &withheld);

	buf_printf(out, ",\"withheld\":%zu,\"cgroups\":[", withheld);
	for (i = 0; i < nr; i++) {
		buf_printf(out, "%s{\"cgroup\":", i ? "," : "");
		json_quote(out, all[i].path);
		buf_printf(out, ",\"processes\":%zu,\"threads\":%zu,\"ended\":%" PRIu64,
			   all[i].processes, all[i].threads, all[i].ended);
		ppa_json_life(p, all[i].parts, all[i].life, out);
		buf_puts(out, "}");
	}
	buf_puts(out, "]");
	ppa_cgroups_free(all, nr);
}

static void put_threads(const struct ppa_interval *p, struct buf *out)
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
	size_t i, k;

	buf_puts(out, ",\"threads\":[");
	for (i = 0; i < p->nr_rows; i++) {
		const struct ppa_thread *t = &p->rows[i];

		buf_printf(out, "%s{\"tid\":%u,\"pid\":%u,\"name\":",
			   i ? "," : "", t->tid, t->tgid);
		put_name(out, t->comm);
		buf_printf(out, ",\"ended\":%s",
			   t->flags & PPA_ENDED ? "true" : "false");
		buf_printf(out, ",\"user_us\":%.3f",
			   ppa_us(p, t->values[PPA_SCHEDACCUM] -
				 t->values[PPA_SCACCUM]));
		put_fields(p, thread, sizeof(thread) / sizeof(*thread),
			   t->values, NULL, out);
		buf_puts(out, ",\"latencies\":[");
		for (k = 0; k < PPA_NR_BUCKETS; k++)
			buf_printf(out, "%s%" PRIu64, k ? "," : "",
				   (uint64_t)t->latency[k]);
		buf_puts(out, "]");
		ppa_json_life(p, t->parts, t->life, out);
		put_waits(t, out);
		if (p->now.has_competitors)
			ppa_competitors_json(p, t, out);
		buf_puts(out, "}");
	}
	buf_puts(out, "]");
}

void ppa_json(const struct ppa_interval *p, enum ppa_by by, uint64_t pid,
	      struct buf *out)
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
	size_t nr, i, *cpus = ppa_interval_cpus(p, &nr);

	buf_printf(out, "{\"seconds\":%.6f,\"cpus\":[", p->seconds);
	for (i = 0; i < nr; i++) {
		const size_t at = cpus[i];
		const uint64_t *was = at < p->before.nr_cpus ?
				      p->before.cpus[at].v : NULL;

		buf_printf(out, "%s{\"cpu\":%zu", i ? "," : "", at);
		put_fields(p, cpu, sizeof(cpu) / sizeof(*cpu),
			   p->now.cpus[at].v, was, out);
		put_cpu_life(p, p->now.cpus[at].v, was, out);
		buf_puts(out, "}");
	}
	free(cpus);
	buf_printf(out, "],\"others\":{\"user_us\":%.3f,\"system_us\":%.3f,\"syscalls\":%" PRIu64 ",\"ended\":%zu,\"lost\":%" PRIu64 "}",
		   ppa_us(p, p->others.user), ppa_us(p, p->others.system),
		   p->others.syscalls, p->others.ended, p->now.threads_lost);
	if (by == PPA_THREADS)
		put_threads(p, out);
	else if (by == PPA_PROCESSES)
		put_processes(p, pid, out);
	else if (by == PPA_CGROUPS)
		put_cgroups(p, out);
	buf_puts(out, "}\n");
}
