/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a thread that blocks waits for: by how it stops, by what it is doing in the
 * kernel, and by what it called the kernel for.
 *
 * All of it looks at current only, and runs
 *
 *   ppa_fault_text_find()	sleepable, before the first is asked for
 *   ppa_cause()		in the scheduler, the run queue locked
 *   ppa_on_contention_*()	processes and interrupts, preemption on or off
 *
 * A thread that is on its way out of a system call, into a signal's handler or to its end
 * is in user mode, as far as a CPU's state says.  It waits for a page only where its
 * stack says so.
 *
 * A file is looked at without a reference.  Whoever waits in a call for it has one;
 * the number may stand for another file by now, whose memory stays as long as
 * interrupts are off, which is a grace period of RCU's.
 */
#ifndef STAPWATCH_PPA_CAUSE_H
#define STAPWATCH_PPA_CAUSE_H

#include "base/sched_text.h"
#include "ppa/state.h"
#include "ppa/threads.h"
#include <asm/syscall.h>
#include <linux/backing-dev.h>
#include <linux/compat.h>
#include <linux/fdtable.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/nospec.h>
#include <linux/stacktrace.h>
#include <linux/stat.h>
#include <linux/syscalls.h>
#include <linux/unistd.h>

/* The calls whose first argument says what they wait for. */
#define PPA_BY_FILE PPA_NR_PARTS

#define PPA_CALL(name, part) [__NR_##name] = (part) + 1

/* By number; what stands for a part is greater by one. */
static const u8 ppa_calls[] = {
	PPA_CALL(read, PPA_BY_FILE),
	PPA_CALL(readv, PPA_BY_FILE),
	PPA_CALL(pread64, PPA_BY_FILE),
	PPA_CALL(preadv, PPA_BY_FILE),
	PPA_CALL(preadv2, PPA_BY_FILE),
	PPA_CALL(write, PPA_BY_FILE),
	PPA_CALL(writev, PPA_BY_FILE),
	PPA_CALL(pwrite64, PPA_BY_FILE),
	PPA_CALL(pwritev, PPA_BY_FILE),
	PPA_CALL(pwritev2, PPA_BY_FILE),
	PPA_CALL(splice, PPA_BY_FILE),
	PPA_CALL(vmsplice, PPA_BY_FILE),
	PPA_CALL(tee, PPA_BY_FILE),
	PPA_CALL(sendfile, PPA_BY_FILE),
	PPA_CALL(copy_file_range, PPA_BY_FILE),
	PPA_CALL(ioctl, PPA_BY_FILE),
	PPA_CALL(close, PPA_BY_FILE),
	PPA_CALL(fsync, PPA_PART_DISK),
	PPA_CALL(fdatasync, PPA_PART_DISK),
	PPA_CALL(sync, PPA_PART_DISK),
	PPA_CALL(syncfs, PPA_PART_DISK),
	PPA_CALL(sync_file_range, PPA_PART_DISK),
	PPA_CALL(msync, PPA_PART_DISK),
	PPA_CALL(fallocate, PPA_PART_DISK),
	PPA_CALL(io_getevents, PPA_PART_DISK),
	PPA_CALL(flock, PPA_PART_LOCK),
	PPA_CALL(fcntl, PPA_PART_LOCK),
	PPA_CALL(futex, PPA_PART_FUTEX),
#ifdef __NR_futex_waitv
	PPA_CALL(futex_waitv, PPA_PART_FUTEX),
#endif
#ifdef __NR_futex_wait
	PPA_CALL(futex_wait, PPA_PART_FUTEX),
#endif
	PPA_CALL(msgrcv, PPA_PART_PIPE),
	PPA_CALL(msgsnd, PPA_PART_PIPE),
	PPA_CALL(semtimedop, PPA_PART_PIPE),
	PPA_CALL(semop, PPA_PART_PIPE),
	PPA_CALL(mq_timedsend, PPA_PART_PIPE),
	PPA_CALL(mq_timedreceive, PPA_PART_PIPE),
	PPA_CALL(accept, PPA_PART_SOCKET),
	PPA_CALL(accept4, PPA_PART_SOCKET),
	PPA_CALL(connect, PPA_PART_SOCKET),
	PPA_CALL(sendto, PPA_PART_SOCKET),
	PPA_CALL(sendmsg, PPA_PART_SOCKET),
	PPA_CALL(sendmmsg, PPA_PART_SOCKET),
	PPA_CALL(recvfrom, PPA_PART_SOCKET),
	PPA_CALL(recvmsg, PPA_PART_SOCKET),
	PPA_CALL(recvmmsg, PPA_PART_SOCKET),
	PPA_CALL(shutdown, PPA_PART_SOCKET),
#ifdef __NR_poll
	PPA_CALL(poll, PPA_PART_POLL),
	PPA_CALL(select, PPA_PART_POLL),
	PPA_CALL(epoll_wait, PPA_PART_POLL),
#endif
	PPA_CALL(ppoll, PPA_PART_POLL),
	PPA_CALL(pselect6, PPA_PART_POLL),
	PPA_CALL(epoll_pwait, PPA_PART_POLL),
#ifdef __NR_epoll_pwait2
	PPA_CALL(epoll_pwait2, PPA_PART_POLL),
#endif
	PPA_CALL(io_uring_enter, PPA_PART_POLL),
	PPA_CALL(nanosleep, PPA_PART_SLEEP),
	PPA_CALL(clock_nanosleep, PPA_PART_SLEEP),
#ifdef __NR_pause
	PPA_CALL(pause, PPA_PART_SLEEP),
#endif
	PPA_CALL(rt_sigsuspend, PPA_PART_SLEEP),
	PPA_CALL(rt_sigtimedwait, PPA_PART_SLEEP),
	PPA_CALL(restart_syscall, PPA_PART_SLEEP),
	PPA_CALL(wait4, PPA_PART_CHILD),
	PPA_CALL(waitid, PPA_PART_CHILD),
#ifdef __NR_vfork
	PPA_CALL(vfork, PPA_PART_CHILD),
#endif
	PPA_CALL(clone, PPA_PART_CHILD),
#ifdef __NR_clone3
	PPA_CALL(clone3, PPA_PART_CHILD),
#endif
};

/* That of current's file FD, or NULL. */
static struct inode *ppa_inode_of(unsigned long fd)
{
	struct files_struct *files = current->files;
	struct fdtable *fdt;
	struct file *file;

	if (!files)
		return NULL;
	fdt = rcu_dereference_raw(files->fdt);
	if (fd >= fdt->max_fds)
		return NULL;
	fd = array_index_nospec(fd, fdt->max_fds);
	file = rcu_dereference_raw(fdt->fd[fd]);
	return file ? READ_ONCE(file->f_inode) : NULL;
}

/* Is a file system's data anywhere but in memory?  Nothing is written back of /proc, of a
 * cgroup's files and their like, nor of one that lies upon others, which may have a disk. */
static bool ppa_has_disk(const struct super_block *sb)
{
	return READ_ONCE(sb->s_bdi) != &noop_backing_dev_info ||
	       sb->s_stack_depth;
}

/* What a file of current's is. */
static u8 ppa_cause_of_file(unsigned long fd)
{
	struct inode *inode = ppa_inode_of(fd);

	if (!inode)
		return PPA_PART_KERNEL;
#ifdef S_ANON_INODE
	if (READ_ONCE(inode->i_flags) & S_ANON_INODE)
		return PPA_PART_POLL;
#endif
	switch (READ_ONCE(inode->i_mode) & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
		return ppa_has_disk(inode->i_sb) ? PPA_PART_DISK
						 : PPA_PART_KERNEL;
	case S_IFBLK:
		return PPA_PART_DISK;
	case S_IFIFO:
		return PPA_PART_PIPE;
	case S_IFSOCK:
		return PPA_PART_SOCKET;
	case S_IFCHR:
		return PPA_PART_DEVICE;
	default:
		/* eventfd, timerfd, inotify and their like */
		return PPA_PART_POLL;
	}
}

/* A ring says that it waits for a disk whatever it waits for. */
static u8 ppa_cause_of_call(struct task_struct *task)
{
	unsigned long args[6];
	struct pt_regs *regs = task_pt_regs(task);
	unsigned long nr = syscall_get_nr(task, regs);
	u8 call = 0;

	if (nr < ARRAY_SIZE(ppa_calls) && !in_compat_syscall())
		call = ppa_calls[array_index_nospec(nr, ARRAY_SIZE(ppa_calls))];
	if (task->in_iowait && nr != __NR_io_uring_enter)
		return PPA_PART_DISK;
	if (!call)
		return PPA_PART_KERNEL;
	if (call != PPA_BY_FILE + 1)
		return call - 1;
	syscall_get_arguments(task, regs, args);
	return ppa_cause_of_file(args[0]);
}

/* Frames that are looked through for a fault's: it is far out. */
#define PPA_FAULT_DEPTH 64

/* Where the kernel looks for a page that was touched, and waits for it. */
static struct sw_text ppa_fault_text;

static void ppa_fault_text_find(void)
{
	ppa_fault_text.from = (unsigned long)handle_mm_fault;
	ppa_fault_text.to = ppa_fault_text.from +
			    sw_function_size(ppa_fault_text.from);
}

/* Of current, in the scheduler: is it in there? */
static noinline bool ppa_is_in_fault(void)
{
	unsigned long ip[PPA_FAULT_DEPTH];
	unsigned int nr, i;

	nr = stack_trace_save(ip, ARRAY_SIZE(ip), 0);
	for (i = 0; i < nr; i++)
		if (sw_text_has(&ppa_fault_text, ip[i]))
			return true;
	return false;
}

static u8 ppa_cause_in_user(struct task_struct *task)
{
	if (ppa_is_in_fault())
		return PPA_PART_PAGE;
	return task->in_iowait ? PPA_PART_DISK : PPA_PART_KERNEL;
}

/* Who is held up for its cgroup has too much waits for memory, too; who waits for a
 * page that it needs again does both. */
static bool ppa_is_in_reclaim(const struct task_struct *task)
{
#ifdef CONFIG_PSI
	if (task->in_memstall && !task->in_iowait)
		return true;
#endif
	return task->flags & PF_MEMALLOC;
}

/* Threads of the kernel's, those that it makes for a process's ring too. */
#ifdef PF_USER_WORKER
#define PPA_WORKER (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define PPA_WORKER (PF_KTHREAD | PF_IO_WORKER)
#endif

#ifdef TASK_FROZEN
#define PPA_STOPPED (__TASK_STOPPED | __TASK_TRACED | TASK_FROZEN)
#else
#define PPA_STOPPED (__TASK_STOPPED | __TASK_TRACED)
#endif

/*
 * ppa_cause - what current waits for
 * @r: its record
 * @mode: of current, PPA_V_USER or PPA_V_SYSTEM: whether it called the kernel
 * @state: as the scheduler has it
 */
static u8 ppa_cause(const struct ppa_rec *r, struct task_struct *task,
		    unsigned int mode, unsigned int state)
{
	if (unlikely(state & PPA_STOPPED))
		return PPA_PART_STOPPED;
	if (r->lock)
		return PPA_PART_LOCK;
	if (task->flags & PPA_WORKER)
		return task->in_iowait ? PPA_PART_DISK : PPA_PART_WORK;
	if (unlikely(ppa_is_in_reclaim(task)))
		return PPA_PART_RECLAIM;
	if (mode == PPA_V_USER)
		return ppa_cause_in_user(task);
	return ppa_cause_of_call(task);
}

/* From <trace/events/lock.h>, which not every kernel has. */
#define PPA_LOCK_SPINS 1

/* Who spins for a lock does not block; a mutex is told of anew when it does. */
static void ppa_on_contention_begin(void *data, void *lock, unsigned int flags)
{
	struct ppa_rec *r;

	if ((flags & PPA_LOCK_SPINS) || !in_task())
		return;
	r = ppa_find(current);
	if (r)
		WRITE_ONCE(r->lock, lock);
}

/* Another lock may be told of in between, that an interrupt spins for. */
static void ppa_on_contention_end(void *data, void *lock, int ret)
{
	struct ppa_rec *r = ppa_find(current);

	if (r && READ_ONCE(r->lock) == lock)
		WRITE_ONCE(r->lock, NULL);
}

#endif
