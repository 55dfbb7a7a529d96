/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files of precise process accounting (seed 002, ppa(5)).
 *
 *	/proc/systemtap/MODULE/ppa/ppa		the global control
 *				  /rawsysppa	every CPU
 *				  /rawthreads	every thread
 *				  /TID/ppa	a thread, as text
 *				  /TID/rawppa	... by CPU
 *				  /TID/ppactl	... its control
 *
 * Neither a fork nor an exit can wait for procfs.  A work item looks some times a
 * second whether threads came or went, and makes and takes away directories: a
 * thread that lives shorter has none.
 *
 * All of this is sleepable.  What a file says is looked up by the thread's number
 * when it is read, so it does not matter whose directory it once was.
 */
#ifndef STAPWATCH_PPA_PROC_H
#define STAPWATCH_PPA_PROC_H

#include "ppa.h"
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#define PPA_LOOK_MS 200

struct ppa_dir {
	struct proc_dir_entry *entry;
	unsigned int pass;
};

static struct {
	struct proc_dir_entry *dir;
	struct xarray dirs;		/* by thread number */
	unsigned int pass;
	int changes;			/* ppa.changes, at the last pass */
} ppa_files;

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

/* A thread's sums by array; to be freed; ERR_PTR() if it is gone. */
static u64 *ppa_file_sums(pid_t tid, struct ppa_rec **rec)
{
	u64 *sums = kvmalloc_array(ppa.arrays, PPA_NR_SUMS * sizeof(u64),
				   GFP_KERNEL);
	struct ppa_rec *r = ppa_find_tid(tid);
	bool ok;

	if (!sums)
		return ERR_PTR(-ENOMEM);
	if (!r) {
		kvfree(sums);
		return ERR_PTR(-ESRCH);
	}
	ppa_settle();
	preempt_disable();
	ok = ppa_read_thread(r, tid, sums, -1);
	preempt_enable();
	if (!ok) {
		kvfree(sums);
		return ERR_PTR(READ_ONCE(r->tid) == tid ? -EAGAIN : -ESRCH);
	}
	*rec = r;
	return sums;
}

/* TO has NR arrays of the values that rawppa has, each of SCALE CPUs. */
static void
ppa_to_file(const u64 *sums, u64 (*to)[PPA_NR_THREAD_VALUES], u32 nr, u32 scale)
{
	static const u8 from[PPA_NR_THREAD_VALUES] = {
		[PPA_SCHEDACCUM] = PPA_V_USER,
		[PPA_SCACCUM] = PPA_V_SYSTEM,
		[PPA_INTACCUM] = PPA_V_INT,
		[PPA_RSCHEDCNT] = PPA_V_RESCHEDS,
		[PPA_SCHEDOUTCNT] = PPA_V_BLOCKED,
		[PPA_PRMPTCTXTCNT] = PPA_V_SLICES,
		[PPA_PRMPTPRICNT] = PPA_V_PREEMPTED,
		[PPA_SCHLATACCUM] = PPA_V_LATENCY,
		[PPA_SYSCALLCNT] = PPA_V_SYSCALLS,
		[PPA_INTCNT] = PPA_V_INTS,
		[PPA_AVGCTXT] = PPA_V_SWITCH,
		[PPA_SOFTACCUM] = PPA_V_SOFT,
		[PPA_SOFTCNT] = PPA_V_SOFTS,
		[PPA_CTXTCNT] = PPA_V_SWITCHES,
		[PPA_SCHLATCNT] = PPA_V_WAKEUPS,
		[PPA_RUNQACCUM] = PPA_V_RUNQ,
	};
	unsigned int a, i, at;

	memset(to, 0, nr * sizeof(*to));
	for (a = 0; a < ppa.arrays; a++, sums += PPA_NR_SUMS) {
		at = min(a * ppa.grain / scale, nr - 1);
		for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
			to[at][i] += sums[from[i]];
		to[at][PPA_SCHEDACCUM] += sums[PPA_V_SYSTEM];
	}
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
	u64 v[1][PPA_NR_THREAD_VALUES];
	struct ppa_rec *r;
	u64 *sums = ppa_file_sums(ppa_file_tid(m), &r);

	if (IS_ERR(sums))
		return PTR_ERR(sums);
	ppa_to_file(sums, v, 1, nr_cpu_ids);
	kvfree(sums);
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
		.flags = ppa.flags,
	};

	return h;
}

static int ppa_raw_show(struct seq_file *m, void *unused)
{
	struct ppa_header h = ppa_file_header(PPA_FILE_THREAD);
	u64 (*v)[PPA_NR_THREAD_VALUES], runq = 0;
	struct ppa_rec *r;
	u64 *sums = ppa_file_sums(ppa_file_tid(m), &r);
	u32 at, i;

	if (IS_ERR(sums))
		return PTR_ERR(sums);
	h.tid = ppa_file_tid(m);
	h.scale = r->scale;
	h.flags = r->flags;
	h.nr_arrays = DIV_ROUND_UP(nr_cpu_ids, h.scale);
	h.nr_values = PPA_NR_THREAD_VALUES;
	h.stride = sizeof(*v);
	at = h.offset + h.nr_arrays * h.stride;
	h.signals_offset = at;
	h.nr_signals = SIGRTMAX + 1;
	at += sizeof(r->signals);
	h.runq_offset = at;
	at += sizeof(runq);
	h.nr_buckets = PPA_NR_BUCKETS;
	if (h.flags & PPA_LATENCY)
		h.latency_offset = at;
	v = kvmalloc_array(h.nr_arrays, sizeof(*v), GFP_KERNEL);
	if (v) {
		ppa_to_file(sums, v, h.nr_arrays, h.scale);
		for (i = 0; i < h.nr_arrays; i++)
			runq += v[i][PPA_RUNQACCUM];
		seq_write(m, &h, sizeof(h));
		seq_write(m, v, h.nr_arrays * sizeof(*v));
		seq_write(m, r->signals, sizeof(r->signals));
		seq_write(m, &runq, sizeof(runq));
		if (h.latency_offset)
			seq_write(m, r->latency, sizeof(r->latency));
		kvfree(v);
	}
	kvfree(sums);
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
		[PPA_UNTOLD] = PPA_V_UNTOLD,
		[PPA_SYS_RSCHEDCNT] = PPA_V_RESCHEDS,
		[PPA_SYS_SCHEDOUTCNT] = PPA_V_BLOCKED,
		[PPA_SYS_PRMPTCTXTCNT] = PPA_V_SLICES,
		[PPA_SYS_PRMPTPRICNT] = PPA_V_PREEMPTED,
		[PPA_SYS_SCHLATACCUM] = PPA_V_LATENCY,
		[PPA_SYS_SCHLATCNT] = PPA_V_WAKEUPS,
		[PPA_SYS_RUNQACCUM] = PPA_V_RUNQ,
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
		if (cpu_possible(cpu) && per_cpu(ppa_cpus.since, cpu)) {
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

static void *ppa_threads_start(struct seq_file *m, loff_t *pos)
{
	return *pos <= ppa.max ? pos : NULL;
}

static void *ppa_threads_next(struct seq_file *m, void *v, loff_t *pos)
{
	++*pos;
	return ppa_threads_start(m, pos);
}

static void ppa_threads_stop(struct seq_file *m, void *v)
{
}

/* The thread as the file has it; false: there is none any more. */
static bool ppa_thread_fill(struct ppa_rec *r, struct ppa_thread *t)
{
	struct task_struct *task;
	pid_t tid = READ_ONCE(r->tid);
	struct ppa_rec *found;
	u64 *sums;

	*t = (struct ppa_thread) { .tid = tid };
	rcu_read_lock();
	task = pid_task(find_pid_ns(tid, &init_pid_ns), PIDTYPE_PID);
	if (task && task == READ_ONCE(r->task)) {
		t->tgid = task->tgid;
		t->prio = task->prio;
		strscpy(t->comm, task->comm, sizeof(t->comm));
	}
	rcu_read_unlock();
	if (!t->tgid)
		return false;
	sums = ppa_file_sums(tid, &found);
	if (IS_ERR(sums))
		return false;
	t->flags = r->flags;
	t->cpu = READ_ONCE(r->cpu);
	ppa_to_file(sums, &t->values, 1, nr_cpu_ids);
	memcpy(t->latency, r->latency, sizeof(t->latency));
	kvfree(sums);
	return true;
}

static int ppa_threads_show(struct seq_file *m, void *v)
{
	loff_t at = *(loff_t *)v;
	struct ppa_thread t;

	if (!at) {
		struct ppa_header h = ppa_file_header(PPA_FILE_THREADS);

		h.stride = sizeof(t);
		h.nr_values = PPA_NR_THREAD_VALUES;
		h.nr_buckets = PPA_NR_BUCKETS;
		seq_write(m, &h, sizeof(h));
		return 0;
	}
	if (!READ_ONCE(ppa_rec_at(at - 1)->task) ||
	    !ppa_thread_fill(ppa_rec_at(at - 1), &t))
		return SEQ_SKIP;
	seq_write(m, &t, sizeof(t));
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
	struct ppa_rec *r;

	if (!ppa_file_tid(m)) {
		ppa_control_put(m, ppa.flags, ppa.scale);
		return 0;
	}
	r = ppa_find_tid(ppa_file_tid(m));
	if (!r)
		return -ESRCH;
	ppa_control_put(m, r->flags, r->scale);
	return 0;
}

static ssize_t ppa_control_write(struct file *file, const char __user *from,
				 size_t len, loff_t *pos)
{
	pid_t tid = (long)pde_data(file_inode(file));
	unsigned int flag[3], scale, n;
	struct ppa_rec *r = NULL;
	char text[64], end;
	int rc;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	text[len] = '\0';
	n = sscanf(text, "%u %u %u %u %c", &flag[0], &flag[1], &flag[2], &scale,
		   &end);
	if (n != 4 || flag[0] > 1 || flag[1] > 1 || flag[2] > 1)
		return -EINVAL;
	mutex_lock(&ppa.lock);
	if (tid)
		r = ppa_find_tid(tid);
	rc = tid && !r ? -ESRCH
		       : ppa_control(r, flag[0] * PPA_ON |
					flag[1] * PPA_LATENCY |
					flag[2] * PPA_EXPIRE, scale);
	mutex_unlock(&ppa.lock);
	return rc ?: len;
}

/* ---- the directory */

#define PPA_OPEN(name, show, size)					\
static int name(struct inode *inode, struct file *file)			\
{									\
	return single_open_size(file, show, pde_data(inode), size);	\
}

PPA_OPEN(ppa_text_open, ppa_text_show, 1024)
PPA_OPEN(ppa_raw_open, ppa_raw_show,
	 1024 + nr_cpu_ids * PPA_NR_THREAD_VALUES * sizeof(u64))
PPA_OPEN(ppa_system_open, ppa_system_show,
	 1024 + nr_cpu_ids * PPA_NR_SYSTEM_VALUES * sizeof(u64))
PPA_OPEN(ppa_control_open, ppa_control_show, 64)

static int ppa_threads_open(struct inode *inode, struct file *file)
{
	return seq_open(file, &ppa_threads_seq);
}

#define PPA_OPS(name, open, release)					\
static const struct proc_ops name = {					\
	.proc_open = open,						\
	.proc_read = seq_read,						\
	.proc_lseek = seq_lseek,					\
	.proc_release = release,					\
}

PPA_OPS(ppa_text_ops, ppa_text_open, single_release);
PPA_OPS(ppa_raw_ops, ppa_raw_open, single_release);
PPA_OPS(ppa_system_ops, ppa_system_open, single_release);
PPA_OPS(ppa_threads_ops, ppa_threads_open, seq_release);

static const struct proc_ops ppa_control_ops = {
	.proc_open = ppa_control_open,
	.proc_read = seq_read,
	.proc_write = ppa_control_write,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
};

/* Returns false where there is no memory: later perhaps there is. */
static bool ppa_dir_make(pid_t tid)
{
	struct ppa_dir *d = kzalloc(sizeof(*d), GFP_KERNEL);
	void *data = (void *)(long)tid;
	char name[16];

	if (!d)
		return false;
	snprintf(name, sizeof(name), "%d", tid);
	d->pass = ppa_files.pass;
	d->entry = proc_mkdir(name, ppa_files.dir);
	if (!d->entry ||
	    xa_is_err(xa_store(&ppa_files.dirs, tid, d, GFP_KERNEL))) {
		proc_remove(d->entry);
		kfree(d);
		return false;
	}
	proc_create_data("ppa", 0444, d->entry, &ppa_text_ops, data);
	proc_create_data("rawppa", 0444, d->entry, &ppa_raw_ops, data);
	proc_create_data("ppactl", 0644, d->entry, &ppa_control_ops, data);
	return true;
}

/*
 * Let there be a directory for each thread that was there at the last look, and for
 * no other: what lives shorter would cost more for its directory than for its
 * accounting.
 */
static void ppa_dirs_look(void)
{
	int changes = atomic_read(&ppa.changes), i;
	struct ppa_dir *d;
	struct ppa_rec *r;
	unsigned long tid;
	bool all = true;

	if (changes == ppa_files.changes)
		return;
	ppa_files.pass++;
	for (i = 0; i < ppa.max; i++) {
		r = ppa_rec_at(i);
		if (!READ_ONCE(r->task))
			continue;
		tid = READ_ONCE(r->tid);
		d = xa_load(&ppa_files.dirs, tid);
		if (d)
			d->pass = ppa_files.pass;
		else if (tid)
			all &= r->looked && ppa_dir_make(tid);
		r->looked = true;
	}
	xa_for_each(&ppa_files.dirs, tid, d) {
		if (d->pass == ppa_files.pass)
			continue;
		xa_erase(&ppa_files.dirs, tid);
		proc_remove(d->entry);
		kfree(d);
	}
	if (all)
		ppa_files.changes = changes;
}

static void ppa_look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(ppa_look, ppa_look_work);

static void ppa_look_work(struct work_struct *work)
{
	ppa_dirs_look();
	mutex_lock(&ppa.lock);
	/* on CPUs that have come */
	if (ppa.expiring)
		ppa_expire_start();
	mutex_unlock(&ppa.lock);
	schedule_delayed_work(&ppa_look, msecs_to_jiffies(PPA_LOOK_MS));
}

/* SystemTap's, whose definitions come behind a script's C. */
static int _stp_mkdir_proc_module(void);
static struct proc_dir_entry *_stp_procfs_module_dir;

static int ppa_files_start(void)
{
	xa_init(&ppa_files.dirs);
	ppa_files.changes = atomic_read(&ppa.changes) - 1;
	if (!_stp_mkdir_proc_module())
		ppa_files.dir = proc_mkdir("ppa", _stp_procfs_module_dir);
	if (!ppa_files.dir ||
	    !proc_create_data("ppa", 0644, ppa_files.dir, &ppa_control_ops,
			      NULL) ||
	    !proc_create_data("rawsysppa", 0444, ppa_files.dir, &ppa_system_ops,
			      NULL) ||
	    !proc_create_data("rawthreads", 0444, ppa_files.dir,
			      &ppa_threads_ops, NULL)) {
		_stp_error("stapwatch: cannot make ppa's files in /proc\n");
		return -ENOMEM;
	}
	ppa_dirs_look();
	ppa_dirs_look();
	schedule_delayed_work(&ppa_look, msecs_to_jiffies(PPA_LOOK_MS));
	return 0;
}

static void ppa_files_end(void)
{
	struct ppa_dir *d;
	unsigned long tid;

	if (!ppa_files.dir)
		return;
	cancel_delayed_work_sync(&ppa_look);
	/* waits for who is within a file's operations */
	proc_remove(ppa_files.dir);
	ppa_files.dir = NULL;
	xa_for_each(&ppa_files.dirs, tid, d)
		kfree(d);
	xa_destroy(&ppa_files.dirs);
}

#endif
