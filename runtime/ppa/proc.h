/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of precise process accounting (PPA; see ppa(5)).
 *
 *	/proc/systemtap/MODULE/ppa/ppa		the global control
 *				  /rawsysppa	every CPU
 *				  /rawthreads	every thread
 *				  /TID/ppa	a thread, as text
 *				  /TID/rawppa	... by CPU
 *				  /TID/ppactl	... its control
 *
 * All of this is sleepable.  What a file says is looked up by the thread's number
 * when it is read, so it does not matter whose directory it once was.
 */
#ifndef STAPWATCH_PPA_PROC_H
#define STAPWATCH_PPA_PROC_H

#include "base/access.h"
#include "base/kernel.h"
#include "base/reader.h"
#include "ppa/control.h"
#include "ppa/life.h"
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

static struct sw_access ppa_access;

static void ppa_us_3(struct seq_file *m, u64 ticks, u64 n)
{
	u64 ns = n ? div64_u64(mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, ppa.hz),
			       n) : 0;

	seq_printf(m, "%llu.%03llu", ns / 1000, ns % 1000);
}

static pid_t ppa_file_tid(struct seq_file *m)
{
	return (long)m->private;
}

/* What was read of a thread; to be freed. */
struct ppa_reading {
	struct ppa_aside aside;
	u64 sums[];		/* by array */
};

static struct ppa_reading *ppa_reading_new(void)
{
	struct ppa_reading *got;

	return kvmalloc(struct_size(got, sums, ppa.arrays * PPA_NR_SUMS),
			GFP_KERNEL);
}

/* Return: ERR_PTR() of -ESRCH if it is gone, of -EAGAIN if there is no value now. */
static struct ppa_reading *ppa_file_read(pid_t tid)
{
	struct ppa_reading *got = ppa_reading_new();
	struct ppa_rec *r;
	int err;

	if (!got)
		return ERR_PTR(-ENOMEM);
	r = ppa_find_tid(tid);
	if (!r) {
		kvfree(got);
		return ERR_PTR(-ESRCH);
	}
	ppa_settle();
	preempt_disable();
	err = ppa_read_thread(r, tid, got->sums, -1, &got->aside);
	preempt_enable();
	if (err) {
		kvfree(got);
		return ERR_PTR(err);
	}
	return got;
}

/* TO gets what the sums of one array are in the files, beside what is there. */
static void ppa_values_of(const u64 *sums, u64 *to)
{
	static const u8 from[PPA_NR_THREAD_VALUES] = {
		[PPA_SCHEDACCUM] = PPA_V_USER,
		[PPA_SCACCUM] = PPA_V_SYSTEM,
		[PPA_INTACCUM] = PPA_V_INT,
		[PPA_RSCHEDCNT] = PPA_V_RESCHEDS,
		[PPA_SCHEDOUTCNT] = PPA_V_BLOCKED,
		[PPA_PRMPTCTXTCNT] = PPA_V_EXPIRED,
		[PPA_PRMPTPRICNT] = PPA_V_PREEMPTED,
		[PPA_SCHLATACCUM] = PPA_V_LATENCY,
		[PPA_SYSCALLCNT] = PPA_V_SYSCALLS,
		[PPA_INTCNT] = PPA_V_INTS,
		[PPA_AVGCTXT] = PPA_V_SWITCH,
		[PPA_SOFTACCUM] = PPA_V_SOFT,
		[PPA_SOFTCNT] = PPA_V_SOFTS,
		[PPA_CTXTCNT] = PPA_V_SWITCHES,
		[PPA_SCHLATCNT] = PPA_V_WAKEUPS,
		[PPA_PREEMPTACCUM] = PPA_V_PREEMPTED_TIME,
	};
	unsigned int i;

	for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
		to[i] += sums[from[i]];
	to[PPA_SCHEDACCUM] += sums[PPA_V_SYSTEM];
}

/* TO has NR arrays of the values that rawppa has, each of SCALE CPUs. */
static void
ppa_to_file(const u64 *sums, u64 (*to)[PPA_NR_THREAD_VALUES], u32 nr, u32 scale)
{
	unsigned int a;

	memset(to, 0, nr * sizeof(*to));
	for (a = 0; a < ppa.arrays; a++, sums += PPA_NR_SUMS)
		ppa_values_of(sums, to[min(a * ppa.grain / scale, nr - 1)]);
}

static u64 ppa_all_idle(void)
{
	u64 idle = 0;
	s64 v;
	int cpu;

	for_each_possible_cpu(cpu) {
		v = ppa_cpu_value(cpu, PPA_V_IDLE);
		if (v > 0)
			idle += v;
	}
	return idle;
}

static int ppa_text_show(struct seq_file *m, void *unused)
{
	struct ppa_reading *got = ppa_file_read(ppa_file_tid(m));
	u64 v[1][PPA_NR_THREAD_VALUES];

	if (IS_ERR(got))
		return PTR_ERR(got);
	ppa_to_file(got->sums, v, 1, nr_cpu_ids);
	kvfree(got);
	seq_printf(m, "All results in micro seconds ([v2.0]) %llu cycles/usec %u CPUs active\n",
		   DIV_ROUND_CLOSEST_ULL(ppa.hz, USEC_PER_SEC),
		   num_online_cpus());
	seq_printf(m, "Usr Sys Int Total\n%llu %llu %llu %llu\n",
		   ppa_us(v[0][PPA_SCHEDACCUM] - v[0][PPA_SCACCUM]),
		   ppa_us(v[0][PPA_SCACCUM]),
		   ppa_us(v[0][PPA_INTACCUM] + v[0][PPA_SOFTACCUM]),
		   ppa_us(v[0][PPA_SCHEDACCUM]));
	seq_printf(m, "Rescheds Scho Prmpt-Pri Prmpt-Exp Avg-Latency\n%llu %llu %llu %llu ",
		   v[0][PPA_RSCHEDCNT], v[0][PPA_SCHEDOUTCNT],
		   v[0][PPA_PRMPTPRICNT], v[0][PPA_PRMPTCTXTCNT]);
	ppa_us_3(m, v[0][PPA_SCHLATACCUM], v[0][PPA_SCHLATCNT]);
	seq_printf(m, "\nSys-Idle Avg-Ctxt-Dur\n%llu ", ppa_us(ppa_all_idle()));
	ppa_us_3(m, v[0][PPA_AVGCTXT], v[0][PPA_CTXTCNT]);
	seq_putc(m, '\n');
	return 0;
}

static struct ppa_header ppa_file_header(enum ppa_file file)
{
	struct ppa_header h = {
		.magic = PPA_MAGIC,
		.version = PPA_VERSION,
		.size = sizeof(h),
		.file = file,
		.nr_cpus = nr_cpu_ids,
		.tick_hz = ppa.hz,
		.now = sw_tsc(),
		.offset = sizeof(h),
		.flags = READ_ONCE(ppa.flags),
	};

	return h;
}

static int ppa_raw_show(struct seq_file *m, void *unused)
{
	struct ppa_header h = ppa_file_header(PPA_FILE_THREAD);
	u64 (*v)[PPA_NR_THREAD_VALUES], preempted = 0;
	struct ppa_reading *got = ppa_file_read(ppa_file_tid(m));
	const struct ppa_aside *aside = &got->aside;
	u32 at, i;

	if (IS_ERR(got))
		return PTR_ERR(got);
	h.tid = ppa_file_tid(m);
	h.scale = aside->scale;
	h.flags = aside->flags;
	h.nr_arrays = DIV_ROUND_UP(nr_cpu_ids, h.scale);
	h.nr_values = PPA_NR_THREAD_VALUES;
	h.stride = sizeof(*v);
	at = h.offset + h.nr_arrays * h.stride;
	h.signals_offset = at;
	h.nr_signals = SIGRTMAX + 1;
	at += sizeof(aside->signals);
	h.preempted_offset = at;
	at += sizeof(preempted);
	h.nr_buckets = PPA_NR_BUCKETS;
	if (h.flags & PPA_LATENCY)
		h.latency_offset = at;
	v = kvmalloc_array(h.nr_arrays, sizeof(*v), GFP_KERNEL);
	if (v) {
		ppa_to_file(got->sums, v, h.nr_arrays, h.scale);
		for (i = 0; i < h.nr_arrays; i++)
			preempted += v[i][PPA_PREEMPTACCUM];
		seq_write(m, &h, sizeof(h));
		seq_write(m, v, h.nr_arrays * sizeof(*v));
		seq_write(m, aside->signals, sizeof(aside->signals));
		seq_write(m, &preempted, sizeof(preempted));
		if (h.latency_offset)
			seq_write(m, aside->latency, sizeof(aside->latency));
		kvfree(v);
	}
	kvfree(got);
	return v ? 0 : -ENOMEM;
}

static void ppa_cpu_to_file(const struct ppa_view *view, u64 *to)
{
	static const u8 from[PPA_NR_SYSTEM_VALUES] = {
		[PPA_USRMODE] = PPA_V_USER,
		[PPA_SYSMODE] = PPA_V_SYSTEM,
		[PPA_INTERRUPTS] = PPA_V_INT,
		[PPA_IDLE] = PPA_V_IDLE,
		[PPA_SYS_SYSCALLCNT] = PPA_V_SYSCALLS,
		[PPA_INTERRUPTCNT] = PPA_V_INTS,
		[PPA_TOTALSOFTIRQTIME] = PPA_V_SOFT,
		[PPA_SOFTIRQCNT] = PPA_V_SOFTS,
		[PPA_HIPRITSKLTTIME] = PPA_V_KIND + HI_SOFTIRQ,
		[PPA_HIPRITSKLTCNT] = PPA_V_TASKLETS,
		[PPA_REGPRITSKLTTIME] = PPA_V_KIND + TASKLET_SOFTIRQ,
		[PPA_REGPRITSKLTCNT] = PPA_V_TASKLETS + 1,
		[PPA_TMRTSKLTTIME] = PPA_V_KIND + TIMER_SOFTIRQ,
		[PPA_TMRTSKLTCNT] = PPA_V_KINDS + TIMER_SOFTIRQ,
		[PPA_NTWKTXTIME] = PPA_V_KIND + NET_TX_SOFTIRQ,
		[PPA_NTWKTXCNT] = PPA_V_KINDS + NET_TX_SOFTIRQ,
		[PPA_NTWKRXTIME] = PPA_V_KIND + NET_RX_SOFTIRQ,
		[PPA_NTWKRXCNT] = PPA_V_KINDS + NET_RX_SOFTIRQ,
		[PPA_NOT_ACCOUNTED] = PPA_V_NOT_ACCOUNTED,
		[PPA_SYS_RSCHEDCNT] = PPA_V_RESCHEDS,
		[PPA_SYS_SCHEDOUTCNT] = PPA_V_BLOCKED,
		[PPA_SYS_PRMPTCTXTCNT] = PPA_V_EXPIRED,
		[PPA_SYS_PRMPTPRICNT] = PPA_V_PREEMPTED,
		[PPA_SYS_SCHLATACCUM] = PPA_V_LATENCY,
		[PPA_SYS_SCHLATCNT] = PPA_V_WAKEUPS,
		[PPA_SYS_PREEMPTACCUM] = PPA_V_PREEMPTED_TIME,
		[PPA_SYS_AVGCTXT] = PPA_V_SWITCH,
		[PPA_SYS_CTXTCNT] = PPA_V_SWITCHES,
	};
	unsigned int i;

	for (i = 0; i < PPA_NR_SYSTEM_VALUES; i++)
		to[i] = view->v[from[i]];
	to[PPA_ELAPSED] = view->elapsed - view->v[PPA_V_OFFLINE];
}

static int ppa_system_show(struct seq_file *m, void *unused)
{
	struct ppa_header h = ppa_file_header(PPA_FILE_SYSTEM);
	struct ppa_view *view = kmalloc(sizeof(*view), GFP_KERNEL);
	u64 v[PPA_NR_SYSTEM_VALUES];
	unsigned int cpu;
	bool ok;

	if (!view)
		return -ENOMEM;
	h.nr_arrays = nr_cpu_ids;
	h.stride = sizeof(v);
	h.nr_values = PPA_NR_SYSTEM_VALUES;
	seq_write(m, &h, sizeof(h));
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		memset(v, 0, sizeof(v));
		if (cpu_possible(cpu) &&
		    READ_ONCE(per_cpu(ppa_cpus.since, cpu))) {
			preempt_disable();
			ok = ppa_read_cpu(cpu, view, -1);
			preempt_enable();
			if (!ok) {
				kfree(view);
				return -EAGAIN;
			}
			ppa_cpu_to_file(view, v);
		}
		seq_write(m, v, sizeof(v));
	}
	kfree(view);
	return 0;
}

/* ---- every thread */

/*
 * The header, those that nobody has a record of, processes' first threads, and then
 * the others: who ends meanwhile is never in two of them, and says if it is in none.
 */
enum { PPA_AT_HEADER, PPA_AT_FORGOTTEN, PPA_AT_FIRST };

static void *ppa_threads_start(struct seq_file *m, loff_t *pos)
{
	return *pos < PPA_AT_FIRST + 2LL * ppa.max ? pos : NULL;
}

static void *ppa_threads_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ppa_threads_start(m, pos);
}

static void ppa_threads_stop(struct seq_file *m, void *v)
{
}

static void ppa_thread_put(struct ppa_thread *t, const struct ppa_reading *got)
{
	t->flags |= got->aside.flags;
	t->cpu = got->aside.cpu;
	ppa_to_file(got->sums, &t->values, 1, nr_cpu_ids);
	memcpy(t->latency, got->aside.latency, sizeof(t->latency));
	t->life = got->aside.life;
	memcpy(t->parts, got->aside.parts, sizeof(t->parts));
	ppa_life_sums(got->sums, t->parts);
	memcpy(t->waits, got->aside.waits, sizeof(t->waits));
	memcpy(t->longest, got->aside.longest, sizeof(t->longest));
}

/* What ended of a process while R, its first thread, is there. */
static void ppa_gone_put(const struct ppa_rec *r, struct ppa_thread *t)
{
	unsigned long irq;

	raw_spin_lock_irqsave(&ppa.records, irq);
	if (READ_ONCE(r->tid) == t->tid && r->started == t->born) {
		t->gone = r->gone_life;
		t->gone_nr = r->gone_nr;
		memcpy(t->gone_parts, r->gone_parts, sizeof(t->gone_parts));
	}
	raw_spin_unlock_irqrestore(&ppa.records, irq);
}

/* A thread that has ended; false: there is none. */
static bool ppa_ended_fill(const struct ppa_rec *r, struct ppa_thread *t)
{
	struct ppa_reading *got = ppa_reading_new();
	bool ok;

	*t = (struct ppa_thread) { };
	ok = got && ppa_read_ended(r, got->sums, &got->aside, t);
	if (ok) {
		ppa_thread_put(t, got);
		t->flags |= PPA_ENDED;
		t->cpu = -1;
		ppa_gone_put(r, t);
	}
	kvfree(got);
	return ok;
}

/* The thread as the file has it; false: there is none any more. */
static bool ppa_thread_fill(struct ppa_rec *r, struct ppa_thread *t)
{
	struct task_struct *task;
	pid_t tid = READ_ONCE(r->tid);
	struct ppa_reading *got;

	*t = (struct ppa_thread) { .tid = tid };
	rcu_read_lock();
	task = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	if (task && task == READ_ONCE(r->task)) {
		t->tgid = task->tgid;
		t->prio = task->prio;
		t->born = task->start_time;
		t->cgroup = ppa_cgroup(task);
		strscpy(t->comm, task->comm, sizeof(t->comm));
	}
	rcu_read_unlock();
	if (!t->tgid)
		return false;
	got = ppa_file_read(tid);
	if (IS_ERR(got)) {
		if (PTR_ERR(got) == -EAGAIN)
			atomic_long_inc(&ppa.unread);
		return false;
	}
	ppa_thread_put(t, got);
	ppa_gone_put(r, t);
	kvfree(got);
	return true;
}

/* The sum of those whose records are others' by now. */
static void ppa_forgotten_fill(struct ppa_thread *t)
{
	const struct ppa_forgotten *f = &ppa.forgotten;
	unsigned long irq;

	*t = (struct ppa_thread) {
		.flags = PPA_ENDED | PPA_SUM, .cpu = -1, .comm = "[ended]",
	};
	raw_spin_lock_irqsave(&ppa.records, irq);
	t->gone_nr = f->nr;
	t->life = f->life;
	t->gone = f->gone_life;
	memcpy(t->parts, f->parts, sizeof(t->parts));
	memcpy(t->waits, f->waits, sizeof(t->waits));
	memcpy(t->longest, f->longest, sizeof(t->longest));
	memcpy(t->gone_parts, f->gone_parts, sizeof(t->gone_parts));
	memcpy(t->latency, f->latency, sizeof(t->latency));
	ppa_values_of(f->sums, t->values);
	raw_spin_unlock_irqrestore(&ppa.records, irq);
}

static int ppa_threads_show(struct seq_file *m, void *v)
{
	loff_t at = *(loff_t *)v;
	struct ppa_thread *t = m->private;	/* too large for a stack */
	struct ppa_rec *r;

	if (at == PPA_AT_HEADER) {
		struct ppa_header h = ppa_file_header(PPA_FILE_THREADS);

		h.stride = sizeof(*t);
		h.nr_values = PPA_NR_THREAD_VALUES;
		h.nr_buckets = PPA_NR_BUCKETS;
		h.parts_offset = offsetof(struct ppa_thread, life);
		h.nr_parts = PPA_NR_PARTS;
		h.lost = atomic_read(&ppa.table.refused);
		seq_write(m, &h, sizeof(h));
		return 0;
	}
	if (at == PPA_AT_FORGOTTEN) {
		ppa_forgotten_fill(t);
		seq_write(m, t, sizeof(*t));
		return 0;
	}
	at -= PPA_AT_FIRST;
	r = ppa_rec_at(at < ppa.max ? at : at - ppa.max);
	if ((READ_ONCE(r->tid) == READ_ONCE(r->tgid)) != (at < ppa.max))
		return SEQ_SKIP;
	if (READ_ONCE(r->task) ? !ppa_thread_fill(r, t)
			       : !READ_ONCE(r->ended) || !ppa_ended_fill(r, t))
		return SEQ_SKIP;
	seq_write(m, t, sizeof(*t));
	return 0;
}

static const struct seq_operations ppa_threads_seq = {
	.start = ppa_threads_start,
	.next = ppa_threads_next,
	.stop = ppa_threads_stop,
	.show = ppa_threads_show,
};

/* ---- control */

static void ppa_control_put(struct seq_file *m, u8 flags, u32 scale)
{
	seq_printf(m, "%d %d %d %u\n", !!(flags & PPA_ON),
		   !!(flags & PPA_LATENCY), !!(flags & PPA_EXPIRE), scale);
}

static int ppa_control_show(struct seq_file *m, void *unused)
{
	struct ppa_reading *got;

	if (!ppa_file_tid(m)) {
		ppa_control_put(m, READ_ONCE(ppa.flags), READ_ONCE(ppa.scale));
		return 0;
	}
	got = ppa_file_read(ppa_file_tid(m));
	if (IS_ERR(got))
		return PTR_ERR(got);
	ppa_control_put(m, got->aside.flags, got->aside.scale);
	kvfree(got);
	return 0;
}

static ssize_t ppa_control_write(struct file *file, const char __user *from,
				 size_t len, loff_t *pos)
{
	pid_t tid = (long)sw_pde_data(file_inode(file));
	unsigned int flag[3], scale, n;
	char text[64], end;
	int rc;

	if (len >= sizeof(text))
		return -EINVAL;
	if (sw_writer_copy(text, from, len))
		return -EFAULT;
	text[len] = '\0';
	n = sscanf(text, "%u %u %u %u %c", &flag[0], &flag[1], &flag[2], &scale,
		   &end);
	if (n != 4 || flag[0] > 1 || flag[1] > 1 || flag[2] > 1)
		return -EINVAL;
	mutex_lock(&ppa.lock);
	rc = ppa_control(tid, flag[0] * PPA_ON | flag[1] * PPA_LATENCY |
			      flag[2] * PPA_EXPIRE, scale);
	mutex_unlock(&ppa.lock);
	return rc ?: len;
}

/* ---- opening them */

#define PPA_OPEN(name, show, size)					\
static int name(struct inode *inode, struct file *file)			\
{									\
	return sw_may_open(&ppa_access, file) ?:			\
	       single_open_size(file, show, sw_pde_data(inode), size);	\
}

PPA_OPEN(ppa_text_open, ppa_text_show, 1024)
PPA_OPEN(ppa_raw_open, ppa_raw_show,
	 1024 + nr_cpu_ids * PPA_NR_THREAD_VALUES * sizeof(u64))
PPA_OPEN(ppa_system_open, ppa_system_show,
	 1024 + nr_cpu_ids * PPA_NR_SYSTEM_VALUES * sizeof(u64))
PPA_OPEN(ppa_control_open, ppa_control_show, 64)

static int ppa_threads_open(struct inode *inode, struct file *file)
{
	return sw_may_open(&ppa_access, file) ?:
	       seq_open_private(file, &ppa_threads_seq,
				sizeof(struct ppa_thread));
}

#define PPA_OPS(name, open, release)					\
static const struct proc_ops name = {					\
	.proc_open = open,						\
	.proc_read = sw_seq_read,						\
	.proc_lseek = seq_lseek,					\
	.proc_release = release,					\
}

PPA_OPS(ppa_text_ops, ppa_text_open, single_release);
PPA_OPS(ppa_raw_ops, ppa_raw_open, single_release);
PPA_OPS(ppa_system_ops, ppa_system_open, single_release);
PPA_OPS(ppa_threads_ops, ppa_threads_open, seq_release_private);

static const struct proc_ops ppa_control_ops = {
	.proc_open = ppa_control_open,
	.proc_read = sw_seq_read,
	.proc_write = ppa_control_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

#endif
