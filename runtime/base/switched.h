/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The end of a switch, where no tracepoint tells of it.
 *
 * All of this is sleepable.
 */
#ifndef STAPWATCH_BASE_SWITCHED_H
#define STAPWATCH_BASE_SWITCHED_H

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/string.h>

/* Return: 0, or an error, with nothing in P. */
static int sw_kprobe_on(struct kprobe *p, const char *symbol,
			kprobe_pre_handler_t at)
{
	int rc;

	*p = (struct kprobe) { .symbol_name = symbol, .pre_handler = at };
	rc = register_kprobe(p);
	if (rc)
		memset(p, 0, sizeof(*p));
	return rc;
}

/* It may be called where nothing is on. */
static void sw_kprobe_off(struct kprobe *p)
{
	if (p->addr)
		unregister_kprobe(p);
	memset(p, 0, sizeof(*p));
}

/* The function may be a copy that the compiler has made, with a name of its own. */
static int sw_switched_on(struct kprobe *p, kprobe_pre_handler_t at)
{
	static const char *const symbols[] = {
		"finish_task_switch", "finish_task_switch.isra.0",
	};
	unsigned int i;
	int rc = -ENOENT;

	for (i = 0; i < ARRAY_SIZE(symbols) && rc; i++)
		rc = sw_kprobe_on(p, symbols[i], at);
	return rc;
}

#endif
