/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the trace puts into the script's output, between what the script prints.
 *
 * SystemTap gathers output on each CPU, and what it gathers there can be sent from there
 * only.  The trace's work item may run anywhere, and go on elsewhere.  So it gathers
 * records itself, and has an interrupt on one CPU print all of them at once.
 *
 * Who may run what, against whom:
 *
 *   sw_output_put(), sw_output_flush()	sleepable, one at a time
 *   sw_output_start()		before them
 *
 * An NMI that came while SystemTap's output is written to could spoil it by
 * printing: so no handler is run then, see sw_is_printing.
 */
#ifndef STAPWATCH_TRACE_OUTPUT_H
#define STAPWATCH_TRACE_OUTPUT_H

#include "base/compat.h"
#include "base/cpus.h"
#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/relay.h>
#include <linux/smp.h>
#include <linux/string.h>

/* SystemTap prints in pieces of up to 8 KiB, ... */
#define SW_OUTPUT_PIECE 8192
/* ... so much of which may be on its way. */
#define SW_OUTPUT_ROOM (3 * SW_OUTPUT_PIECE)

static DEFINE_PER_CPU(bool, sw_is_printing);

static struct {
	struct rchan **chan;
	int *overwrite;
	struct cpumask cpus;	/* that SystemTap can print on */
	u32 size;
	bool printed;		/* the last piece */
	u8 piece[SW_OUTPUT_PIECE] __aligned(8);
} sw_output;

static bool sw_output_has_room(void)
{
	struct rchan *chan = *sw_output.chan;
	struct rchan_buf *buf = chan ? *this_cpu_ptr(chan->buf) : NULL;
	size_t taken, room;

	if (!buf)
		return false;
	if (*sw_output.overwrite)
		return true;
	/* relay counts by plain writes, that of what stapio has read on any CPU */
	taken = data_race(buf->subbufs_produced -
			  READ_ONCE(buf->subbufs_consumed));
	room = taken < chan->n_subbufs ? chan->n_subbufs - taken : 0;
	return room * chan->subbuf_size >= SW_OUTPUT_ROOM;
}

/* In hard interrupt, or with interrupts off. */
static void sw_output_print(void *unused)
{
	unsigned long flags;
	void *to = NULL;

	__this_cpu_write(sw_is_printing, true);
	barrier();
	if (sw_output_has_room() && _stp_print_trylock_irqsave(&flags)) {
		to = _stp_reserve_bytes(sw_output.size);
		if (to)
			memcpy(to, sw_output.piece, sw_output.size);
		_stp_print_unlock_irqrestore(&flags);
	}
	_stp_print_flush();
	barrier();
	__this_cpu_write(sw_is_printing, false);
	sw_output.printed = to;
}

/**
 * sw_output_flush - print what is gathered
 *
 * On a CPU that was online when the session began, for SystemTap prints on no other; and
 * always on the same one, as far as can be: stapio reads no other's output if it went
 * offline before stapio came to it.
 *
 * Return: false: there is no room.  It stays.
 */
static bool sw_output_flush(void)
{
	unsigned int cpu;

	if (!sw_output.size)
		return true;
	sw_output.printed = false;
	for_each_cpu(cpu, &sw_output.cpus)
		if (cpu_online(cpu))
			break;
	/* a CPU that went off meanwhile does not do it */
	if (cpu < nr_cpu_ids)
		smp_call_function_single(cpu, sw_output_print, NULL, 1);
	if (sw_output.printed)
		sw_output.size = 0;
	return sw_output.printed;
}

/**
 * sw_output_put - gather a record
 * Return: where it is; NULL: there is no room.
 */
static void *sw_output_put(const void *record, u32 size)
{
	void *to;

	if (sw_output.size + size > sizeof(sw_output.piece) &&
	    (size > sizeof(sw_output.piece) || !sw_output_flush()))
		return NULL;
	to = sw_output.piece + sw_output.size;
	memcpy(to, record, size);
	sw_output.size += size;
	return to;
}

static void sw_output_start(void)
{
	sw_cpus_online(&sw_output.cpus);
	sw_output.size = 0;
}

#endif
