/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory of processes that read and write our files in /proc.
 *
 * The end of a session waits for who is within a file's operation.  A page of the
 * reader's memory may be one that another process delivers, when it likes to: of a file
 * in FUSE, or by userfaultfd.  So an operation never waits for such a page.  What it
 * copies is complete in the kernel's memory before; memory that is not there is
 * asked for only where nothing but the kernel and its disks provide it.  Else a reading
 * fails with EFAULT.
 *
 * Who may run what, against whom: all of this in a file's operations, sleepable,
 * without a lock.
 */
#ifndef STAPWATCH_BASE_READER_H
#define STAPWATCH_BASE_READER_H

#include "base/guess.h"
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/uio.h>
#include <linux/userfaultfd_k.h>

/* So much is read at once. */
#define SW_READER_BYTES 65536
/* For so long another thread of the process may change its memory, ms. */
#define SW_READER_MS 100
/* How often a page may go again before it is written to. */
#define SW_READER_TRIES 8

/* FUSE on a disk, which has its magic in linux/magic.h since 5.12 only. */
#define SW_READER_FUSE 0x65735546

/* Is its memory the kernel's own, or on a disk?  Its lock is held. */
static bool sw_reader_is_prompt(struct vm_area_struct *vma)
{
	const struct super_block *sb;

	if (userfaultfd_armed(vma))
		return false;
	if (vma_is_anonymous(vma))
		return true;
	if (!vma->vm_file || !S_ISREG(file_inode(vma->vm_file)->i_mode))
		return false;
	sb = file_inode(vma->vm_file)->i_sb;
	return sb->s_magic == TMPFS_MAGIC ||
	       (sb->s_bdev && sb->s_magic != SW_READER_FUSE);
}

/* Have the page of an address in memory. */
static bool sw_reader_fault(unsigned long addr, bool write)
{
	unsigned long wants = write ? VM_WRITE : VM_READ;
	struct mm_struct *mm = current->mm;
	struct vm_area_struct *vma;
	unsigned int ms;
	bool ok;

	addr = untagged_addr(addr);
	for (ms = 0; !mmap_read_trylock(mm); ms++) {
		if (ms == SW_READER_MS || fatal_signal_pending(current))
			return false;
		usleep_range(900, 1100);
	}
	vma = find_vma(mm, addr);
	ok = vma && vma->vm_start <= addr && (vma->vm_flags & wants) &&
	     sw_reader_is_prompt(vma) &&
	     !(handle_mm_fault(vma, addr, write ? FAULT_FLAG_WRITE : 0, NULL) &
	       VM_FAULT_ERROR);
	mmap_read_unlock(mm);
	return ok;
}

/* Within a page. */
static bool sw_reader_copy_page(void __user *to, const void *from, size_t n)
{
	unsigned int i;

	for (i = 0; i < SW_READER_TRIES; i++) {
		if (!copy_to_user_nofault(to, from, n))
			return true;
		if (!sw_reader_fault((unsigned long)to, true))
			return false;
	}
	return false;
}

/**
 * sw_reader_copy - put what is read into the reader's memory
 * Return: how much of it could be put there.
 */
static size_t __maybe_unused
sw_reader_copy(void __user *to, const void *from, size_t n)
{
	size_t done = 0, part;

	while (done < n) {
		part = min_t(size_t, n - done,
			     PAGE_SIZE - offset_in_page(to + done));
		if (!sw_reader_copy_page(to + done, from + done, part))
			break;
		done += part;
	}
	return done;
}

/**
 * sw_reader_put - the same of one number
 * Return: 0 or -EFAULT.
 */
static int __maybe_unused sw_reader_put(u64 __user *to, u64 value)
{
	int rc;

	pagefault_disable();
	rc = put_user(value, to);
	pagefault_enable();
	if (likely(!rc))
		return 0;
	return sw_reader_copy(to, &value, sizeof(value)) == sizeof(value) ?
	       0 : -EFAULT;
}

/**
 * sw_writer_copy - take what is written out of the writer's memory
 * @n: up to a page
 * Return: 0 or -EFAULT.
 */
static int __maybe_unused
sw_writer_copy(void *to, const void __user *from, size_t n)
{
	unsigned long addr = (unsigned long)from;
	unsigned int i;

	for (i = 0; i < SW_READER_TRIES; i++) {
		if (sw_guess_user(to, addr, n))
			return 0;
		if (!sw_reader_fault(addr, false) ||
		    !sw_reader_fault(addr + n - 1, false))
			return -EFAULT;
	}
	return -EFAULT;
}

/**
 * sw_seq_read - seq_read() for a file of ours
 */
static ssize_t __maybe_unused
sw_seq_read(struct file *file, char __user *buf, size_t size, loff_t *pos)
{
	struct kvec vec = { .iov_len = min_t(size_t, size, SW_READER_BYTES) };
	struct iov_iter to;
	struct kiocb kiocb;
	ssize_t n, done;

	if (!size)
		return 0;
	vec.iov_base = kvmalloc(vec.iov_len, GFP_KERNEL);
	if (!vec.iov_base)
		return -ENOMEM;
	iov_iter_kvec(&to, READ, &vec, 1, vec.iov_len);
	init_sync_kiocb(&kiocb, file);
	kiocb.ki_pos = *pos;
	n = seq_read_iter(&kiocb, &to);
	if (n > 0) {
		done = sw_reader_copy(buf, vec.iov_base, n);
		/* where it goes on earlier, the file is read again up to there */
		*pos += done;
		n = done ?: -EFAULT;
	}
	kvfree(vec.iov_base);
	return n;
}

#endif
