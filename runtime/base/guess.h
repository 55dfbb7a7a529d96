/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is at a guessed address: one from a tracepoint's argument, a lock's word, or a
 * program's memory.  It may be no address at all.  Nothing else reads through one.
 *
 *   sw_guess_kernel()	any context, NMI included
 *   sw_guess_user()	any but NMI, which may come while the memory is changed for
 *			another program's
 */
#ifndef STAPWATCH_BASE_GUESS_H
#define STAPWATCH_BASE_GUESS_H

#include <linux/types.h>
#include <linux/uaccess.h>

/**
 * sw_guess_kernel - copy BYTES from a guessed address in the kernel
 * Return: false where there is nothing to be read.
 */
static inline bool sw_guess_kernel(void *to, const void *from, size_t bytes)
{
	return !copy_from_kernel_nofault(to, from, bytes);
}

/**
 * sw_guess_user - the same of current's program, without waiting for a page
 */
static inline bool sw_guess_user(void *to, unsigned long from, size_t bytes)
{
	return !copy_from_user_nofault(to, (const void __user *)from, bytes);
}

#endif
