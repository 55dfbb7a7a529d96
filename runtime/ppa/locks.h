/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Locks: how often and how long threads waited for each, where, and who held it.
 *
 * A row is of one lock, the stack that wanted it, and its holder.  It also tells who
 * woke those that waited, as far as there is room: of a futex, whose holder only its
 * program knows, that is who let it go.  What a thread is
 * blocked is charged to the row by the same reading of the counter as to the thread's
 * parts `lock' and `futex': all rows sum to those of all threads, to the tick, but for
 * waits that are not over.  Beside that stands for how long CPUs were spinning.
 *
 * Who may run what, against whom:
 *
 *   ppa_on_lock_begin(), _end()	any context, NMI included
 *   ppa_lock_out(), _in()	a switch
 *   ppa_locks_alloc(), _free(), ppa_spins_forget()	sleepable, when nobody looks
 */
#ifndef STAPWATCH_PPA_LOCKS_H
#define STAPWATCH_PPA_LOCKS_H

#include "base/clock.h"
#include "base/guess.h"
#include "base/kernel.h"
#include "base/nmi.h"
#include "base/sched_text.h"
#include "ppa/cause.h"
#include "ppa/lock_rows.h"
#include <linux/futex.h>
#include <linux/kallsyms.h>
#include <linux/kdev_t.h>
#include <linux/mutex.h>
#include <linux/pid_namespace.h>
#include <linux/preempt.h>
#include <linux/rwsem.h>
#include <linux/stacktrace.h>
#include <linux/vmalloc.h>

/* Frames that are looked through for where a lock's own end. */
#define PPA_LOCK_DEPTH (SW_BEFORE_SCHED + 8 + PPA_LOCK_FRAMES)

/* Who spins on a CPU does so until it has the lock; what comes in between may, too. */
struct ppa_spin {
	const void *lock;
	u32 row;
	u64 since;
};

struct ppa_spins {
	struct ppa_spin in[4];	/* threads, softirqs, interrupts, NMIs */
};

static DEFINE_PER_CPU(struct ppa_spins, ppa_spins);

/* ---- whose it is, and where */

static bool ppa_text_is_lock(unsigned long ip)
{
	return sw_text_has(&sw_sched_text, ip) ||
	       sw_text_has(&ppa_locks.text, ip);
}

/* Where the kernel waits for a lock: who wanted it, and whom that was for.  What checks
 * locks may stand between those that are. */
static void ppa_lock_stack(struct ppa_lock_key *key)
{
	unsigned long ip[PPA_LOCK_DEPTH];
	unsigned int nr, i, from = 0;

	nr = stack_trace_save(ip, ARRAY_SIZE(ip), 0);
	for (i = 0; i + 1 < nr; i++)
		if (ppa_text_is_lock(ip[i]))
			from = i + 1;
		else if (i == SW_BEFORE_SCHED ||
			 (from && !sw_text_has(&ppa_locks.text, ip[i + 1])))
			break;
	for (i = from; i < nr && key->nr < PPA_LOCK_FRAMES; i++)
		key->ip[key->nr++] = ip[i];
}

/* Bits of an owner that are none of its address. */
#define PPA_OWNER_BITS 7UL
#define PPA_OWNERS_READ 1UL

/* Who has LOCK, which is of that kind if its user keeps to the rules.  The holder
 * cannot end before the grace period that this is within. */
static u32 ppa_lock_holder(const void *lock, u32 kind)
{
	pid_t pid = 0;
#ifndef CONFIG_PREEMPT_RT
	const struct rw_semaphore *sem = lock;
	const struct mutex *mutex = lock;
	const bool is_mutex = kind == PPA_LOCK_MUTEX;
	const struct task_struct *holder;
	unsigned long owner;

	if (!is_mutex && kind != PPA_LOCK_READ && kind != PPA_LOCK_WRITE)
		return 0;
	if (!sw_guess_kernel(&owner, is_mutex ? &mutex->owner : &sem->owner,
			    sizeof(owner)) ||
	    (!is_mutex && owner & PPA_OWNERS_READ))
		return 0;
	holder = (const struct task_struct *)(owner & ~PPA_OWNER_BITS);
	if (!holder || !sw_guess_kernel(&pid, &holder->pid, sizeof(pid)))
		return 0;
#endif
	return pid;
}

/* What locks of current's have no name for the kernel. */
static u32 ppa_lock_what(const void *lock)
{
	if (current->mm && lock == &current->mm->mmap_lock)
		return PPA_LOCK_IS_MMAP;
	if (current->sighand && lock == &current->sighand->siglock)
		return PPA_LOCK_IS_SIGNAL;
	return PPA_LOCK_IS_OTHER;
}

/* From <trace/events/lock.h>, which not every kernel has. */
#define PPA_LOCK_FLAG_READ 2
#define PPA_LOCK_FLAG_WRITE 4
#define PPA_LOCK_FLAG_RT 8
#define PPA_LOCK_FLAG_PERCPU 16
#define PPA_LOCK_FLAG_MUTEX 32

static u32 ppa_lock_kind(unsigned int flags)
{
	const bool write = flags & PPA_LOCK_FLAG_WRITE;

	if (flags & PPA_LOCK_FLAG_RT)
		return PPA_LOCK_RT;
	if (flags & PPA_LOCK_FLAG_PERCPU)
		return write ? PPA_LOCK_PERCPU_WRITE : PPA_LOCK_PERCPU_READ;
	if (flags & PPA_LOCK_FLAG_MUTEX)
		return PPA_LOCK_MUTEX;
	/* what is none of these; bcachefs calls its own locks so, too */
	if (!flags)
		return PPA_LOCK_SEMAPHORE;
	if (flags == PPA_LOCK_SPINS)
		return PPA_LOCK_SPIN;
	if (flags & PPA_LOCK_SPINS)
		return write ? PPA_LOCK_RWLOCK_WRITE : PPA_LOCK_RWLOCK_READ;
	return write ? PPA_LOCK_WRITE : PPA_LOCK_READ;
}

static u32
ppa_lock_of_kernel(const void *lock, unsigned int kind, unsigned int holder)
{
	struct ppa_lock_key key = {
		.lock = (unsigned long)lock,
		.kind = kind,
		.what = ppa_lock_what(lock),
		.holder = holder,
	};

	if (key.what != PPA_LOCK_IS_OTHER)
		key.space = current->tgid;
	ppa_lock_stack(&key);
	return ppa_lock_row(&key);
}

/* ---- the kernel's */

static struct ppa_spin *ppa_spin_here(void)
{
	struct ppa_spins *spins = this_cpu_ptr(&ppa_spins);

	return &spins->in[sw_in_nmi() ? 3 : in_hardirq() ? 2 :
			  in_serving_softirq() ? 1 : 0];
}

static void ppa_spin_over(struct ppa_spin *s)
{
	u64 now = sw_tsc();

	ppa_lock_add(s->row, PPA_LOCK_SPUN, now > s->since ? now - s->since : 0);
	WRITE_ONCE(s->lock, NULL);
}

/* Whatever it was spun for; an interrupt's own is another. */
static void ppa_spin_ends(struct ppa_spin *s, const void *lock)
{
	if (s->lock == lock)
		ppa_spin_over(s);
}

/* What spins when nobody is told of its end any more is forgotten. */
static void ppa_spins_forget(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&ppa_spins, cpu), 0,
		       sizeof(struct ppa_spins));
}

static void ppa_spin_begins(struct ppa_spin *s, const void *lock, u32 row)
{
	WRITE_ONCE(s->row, row);
	s->since = sw_tsc();
	WRITE_ONCE(s->lock, lock);
}

static void ppa_block_begins(const void *lock, u32 row)
{
	struct ppa_rec *r = in_task() ? ppa_find(current) : NULL;

	if (!r)
		return;
	WRITE_ONCE(r->lock_row, row);
	WRITE_ONCE(r->lock, lock);
}

/* A mutex is spun for first, and told of anew when its thread blocks.  A kernel that
 * checks mutexes tells of each, of those that nobody holds too. */
static void ppa_on_lock_begin(void *data, void *lock, unsigned int flags)
{
	const bool spins = flags & PPA_LOCK_SPINS;
	const u32 kind = ppa_lock_kind(flags);
	struct ppa_spin *s;
	u32 row, holder;

	preempt_disable_notrace();
	s = ppa_spin_here();
	/* what spins already, and begins to, was left by a thread of no record */
	if (spins)
		WRITE_ONCE(s->lock, NULL);
	ppa_spin_ends(s, lock);
	holder = ppa_lock_holder(lock, kind);
	if (!spins || holder || kind != PPA_LOCK_MUTEX) {
		row = ppa_lock_of_kernel(lock, kind, holder);
		if (spins)
			ppa_spin_begins(s, lock, row);
		else
			ppa_block_begins(lock, row);
	}
	preempt_enable_notrace();
}

static void ppa_on_lock_end(void *data, void *lock, int ret)
{
	preempt_disable_notrace();
	ppa_spin_ends(ppa_spin_here(), lock);
	preempt_enable_notrace();
	ppa_on_contention_end(data, lock, ret);
}

/* ---- those of programs: looked at when their thread blocks */

#if defined(CONFIG_X86_64) || defined(CONFIG_ARM64)
#define PPA_HAS_USER_FRAMES
#endif

/* The stack grows down: a frame is above the one before, and not far. */
#define PPA_FRAME_FAR (1UL << 20)

/* By frame pointers, as far as they lead, without waiting for a page. */
static void
ppa_lock_user_frames(struct ppa_lock_key *key, struct pt_regs *regs)
{
#ifdef PPA_HAS_USER_FRAMES
	unsigned long frame[2], below = user_stack_pointer(regs);
	unsigned long at = in_compat_syscall() ? 0 : frame_pointer(regs);

	while (key->nr < PPA_LOCK_FRAMES && at % sizeof(at) == 0 &&
	       at - below < PPA_FRAME_FAR &&
	       sw_guess_user(frame, at, sizeof(frame)) && frame[1]) {
		key->ip[key->nr++] = frame[1];
		below = at + sizeof(frame);
		at = frame[0];
	}
#endif
}

static void
ppa_lock_user_stack(struct ppa_lock_key *key, struct pt_regs *regs)
{
	key->ip[key->nr++] = instruction_pointer(regs);
	ppa_lock_user_frames(key, regs);
}

/* Since 5.14. */
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

/* Does the C library say of this word that it is a robust lock's, which it wants? */
static bool ppa_futex_is_robust(unsigned long word)
{
	unsigned long at = sw_robust_list(current);
	struct robust_list_head head;

	/* bit 0 says that it passes priorities on */
	return at && sw_guess_user(&head, at, sizeof(head)) &&
	       ((unsigned long)head.list_op_pending & ~1UL) +
	       head.futex_offset == word;
}

/* A thread by the number that current's process knows it by; 0 where there is none,
 * or where it is another process's and OURS is wanted.  A thread that ends loses its number,
 * and with it the namespace of numbers, before its last switch. */
static u32 ppa_lock_tid(u32 tid, bool ours)
{
	const struct task_struct *task;
	struct pid_namespace *ns;
	u32 nr = 0;

	rcu_read_lock();
	ns = task_active_pid_ns(current);
	task = ns ? pid_task(find_pid_ns(tid, ns), PIDTYPE_PID) : NULL;
	if (task && (!ours || task->tgid == current->tgid))
		nr = task->pid;
	rcu_read_unlock();
	return nr;
}

/*
 * Who holds a futex, where it is known that its word says so: of one that passes
 * priorities on, and of a robust one.  Others have what their library likes.  What looks
 * as those do, a number with the bit that says that there are waiters, is taken for a
 * holder where it is a thread of the same process: a count of readers may look so, too.
 * What one waits on until it changes is the third argument.
 */
static u32 ppa_futex_holder(const unsigned long *args)
{
	const unsigned int op = args[1] & FUTEX_CMD_MASK;
	const bool passes_on = op == FUTEX_LOCK_PI || op == FUTEX_LOCK_PI2;
	u32 word = args[2];

	if (passes_on) {
		if (!sw_guess_user(&word, args[0], sizeof(word)))
			return 0;
	} else if ((op != FUTEX_WAIT && op != FUTEX_WAIT_BITSET) ||
		   !(word & FUTEX_WAITERS)) {
		return 0;
	}
	return ppa_lock_tid(word & FUTEX_TID_MASK,
			    !passes_on && !ppa_futex_is_robust(args[0]));
}

#ifdef __NR_futex_waitv
/* Where the first of an array is, whose length is the second argument. */
static void
ppa_lock_of_futexes(struct ppa_lock_key *key, const unsigned long *args)
{
	const unsigned long at = args[0] + offsetof(struct futex_waitv, uaddr);

	if ((u32)args[1] > 1)
		key->kind = PPA_LOCK_FUTEXES;
	if (!sw_guess_user(&key->lock, at, sizeof(key->lock)))
		key->lock = 0;
}
#endif

static void ppa_lock_of_futex(struct ppa_lock_key *key, unsigned long nr,
			      const unsigned long *args)
{
	key->kind = PPA_LOCK_FUTEX;
	key->lock = args[0];
#ifdef __NR_futex
	if (nr == __NR_futex)
		key->holder = ppa_futex_holder(args);
#endif
#ifdef __NR_futex_waitv
	if (nr == __NR_futex_waitv)
		ppa_lock_of_futexes(key, args);
#endif
}

/* The file that FD is of; as ppa_cause_of_file() looks at it. */
static void ppa_lock_of_file(struct ppa_lock_key *key, unsigned long fd)
{
	const struct inode *inode = ppa_inode_of(fd);

	key->kind = PPA_LOCK_FILE;
	if (!inode)
		return;
	key->lock = inode->i_ino;
	key->space = new_encode_dev(inode->i_sb->s_dev);
}

static u32 ppa_lock_of_call(struct task_struct *task, u8 part)
{
	struct pt_regs *regs = task_pt_regs(task);
	struct ppa_lock_key key = { .space = task->tgid };
	unsigned long args[6];

	syscall_get_arguments(task, regs, args);
	if (part == PPA_PART_LOCK) {
		key.what = task->tgid;
		ppa_lock_of_file(&key, args[0]);
	} else {
		ppa_lock_of_futex(&key, syscall_get_nr(task, regs), args);
	}
	ppa_lock_user_stack(&key, regs);
	return ppa_lock_row(&key);
}

/* ---- a switch */

static u64 ppa_lock_sum(const struct ppa_rec *r)
{
	return r->parts[PPA_PART_LOCK] + r->parts[PPA_PART_FUTEX];
}

/* Current, whose record this is, goes; for a lock perhaps.  A mutex is spun for until
 * another thread wants the CPU. */
static noinline void ppa_lock_out(struct ppa_rec *out, struct task_struct *task)
{
	struct ppa_spin *s = this_cpu_ptr(&ppa_spins)->in;

	if (s->lock)
		ppa_spin_over(s);
	if (out->part == PPA_PART_LOCK && out->lock)
		WRITE_ONCE(out->waits_for, 1 + out->lock_row);
	else if (out->part == PPA_PART_LOCK || out->part == PPA_PART_FUTEX)
		WRITE_ONCE(out->waits_for,
			   1 + ppa_lock_of_call(task, out->part));
	out->waited = ppa_lock_sum(out);
}

/* And is back from it: its life has the time that it was blocked. */
static noinline void ppa_lock_in(struct ppa_rec *in)
{
	ppa_lock_add(in->waits_for - 1, PPA_LOCK_WAITS,
		     ppa_lock_sum(in) - in->waited);
	ppa_lock_woken(&ppa_locks.rows[in->waits_for - 1],
		       READ_ONCE(in->waker), 1);
	WRITE_ONCE(in->waits_for, 0);
}

/* ---- from the first to the last */

/* Waits that found no room, those of processes with their share too. */
static long ppa_locks_lost(void)
{
	const struct ppa_lock_row *row;
	long n = 0;
	u32 at;

	for (at = 0; at < ppa_locks.nr; at++) {
		row = &ppa_locks.rows[at];
		/* with smp_store_release() in ppa_lock_claim(); the first has no key */
		if (at && (!(smp_load_acquire(&row->state) & PPA_LOCK_FILLED) ||
			   row->key.kind != PPA_LOCK_LOST))
			continue;
		n += atomic64_read(&row->counts[PPA_LOCK_WAITS]) +
		     atomic64_read(&row->counts[PPA_LOCK_SPUN]);
	}
	/* in those rows, too */
	return n - atomic64_read(&ppa_locks.given_back);
}

static void ppa_locks_free(void)
{
	vfree(ppa_locks.rows);
	memset(&ppa_locks, 0, sizeof(ppa_locks));
}

/* Return: 0, or -ENOMEM. */
static int ppa_locks_alloc(unsigned int max)
{
	const u32 places = roundup_pow_of_two(max), half = places / 2;

	BUILD_BUG_ON(sizeof(struct ppa_lock_key) % sizeof(u64));
	ppa_locks.rows = vzalloc((1 + places) * sizeof(*ppa_locks.rows));
	if (!ppa_locks.rows)
		return -ENOMEM;
	ppa_locks.nr = 1 + places;
	/* the first is in neither of them */
	ppa_locks.kernels = (struct ppa_lock_half) {
		.first = 1, .places = places - half
	};
	ppa_locks.programs = (struct ppa_lock_half) {
		.first = 1 + places - half, .places = half
	};
	ppa_locks.text.from = kallsyms_lookup_name("__lock_text_start");
	ppa_locks.text.to = kallsyms_lookup_name("__lock_text_end");
	ppa_locks.may_see = (void *)kallsyms_lookup_name("kallsyms_show_value");
	sw_sched_texts();
	ppa_spins_forget();
	return 0;
}

#endif
