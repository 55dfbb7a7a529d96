/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where in the kernel a thread waits: what of its stack is the scheduler's own.
 *
 *   sw_sched_frames()		any context
 *   sw_sched_texts()		sleepable, before the first asks
 */
#ifndef STAPWATCH_BASE_SCHED_TEXT_H
#define STAPWATCH_BASE_SCHED_TEXT_H

#include "base/compat.h"
#include <linux/kallsyms.h>
#include <linux/kernel.h>
#include <linux/string.h>

/* Frames that may stand before the scheduler's: of who looks at it. */
#define SW_BEFORE_SCHED 8

/* A function's text, or a section's. */
struct sw_text {
	unsigned long from;
	unsigned long to;
};

static struct sw_text sw_sched_text, sw_schedule_text;

/* A return address is after the call. */
static bool sw_text_has(const struct sw_text *t, u64 ip)
{
	return ip - 1 >= t->from && ip - 1 < t->to;
}

/*
 * Of the kernel's stack of a thread that waits: how many of its frames tell nothing.
 * Those are the scheduler's but for the outermost, as mutex_lock() or
 * schedule_timeout(), and that one too if it is schedule() itself.
 */
static unsigned int sw_sched_frames(const u64 *ip, unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr && i < SW_BEFORE_SCHED; i++)
		if (sw_text_has(&sw_sched_text, ip[i]))
			break;
	if (i == nr || i == SW_BEFORE_SCHED)
		return 0;
	for (; i < nr && sw_text_has(&sw_sched_text, ip[i]); i++)
		;
	if (i == nr || !sw_text_has(&sw_schedule_text, ip[i - 1]))
		i--;
	return i;
}

/* "schedule+0x0/0x1a0" */
static unsigned long sw_function_size(unsigned long function)
{
	char text[KSYM_SYMBOL_LEN];
	const char *size;

	scnprintf(text, sizeof(text), "%pS", (void *)function);
	size = strrchr(text, '/');
	return size ? simple_strtoul(size + 1, NULL, 16) : 0;
}

/* Where they are not known, stacks begin with what looks at them. */
static void sw_sched_texts(void)
{
	unsigned long schedule = kallsyms_lookup_name("schedule");

	sw_sched_text.from = kallsyms_lookup_name("__sched_text_start");
	sw_sched_text.to = kallsyms_lookup_name("__sched_text_end");
	sw_schedule_text.from = schedule;
	sw_schedule_text.to = schedule + sw_function_size(schedule);
}

#endif
