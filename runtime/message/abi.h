/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the file of messages says: the one definition, for the probe module that
 * sends them and for who reads them.
 *
 * Each read() gives whole records, in the byte order of the machine.  A later version
 * may make a record longer, by fields at its end, and add kinds: a reader goes by
 * `size' and leaves out kinds that it does not know.  `lost' counts on: as of when the
 * record was read, not sent.
 */
#ifndef STAPWATCH_MESSAGE_ABI_H
#define STAPWATCH_MESSAGE_ABI_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdint.h>
#endif

#define SW_MESSAGE_MARK 0x5a4d5753u	/* in front of each record */
#define SW_MESSAGE_MAX_SIZE 4096	/* of a record, in any version */
#define SW_MESSAGE_SET 32
#define SW_MESSAGE_EVENT 64
#define SW_MESSAGE_OVERFLOWED 256

enum sw_message_kind {
	SW_MESSAGE_SENT = 1,	/* by stapwatch_notify() */
};

struct sw_message {
	uint32_t mark;
	uint16_t size;		/* of all of it; a multiple of eight */
	uint16_t kind;
	uint64_t lost;		/* messages, so far, of the whole session */
	uint64_t ns;		/* the kernel's monotonic clock */
	int64_t value;		/* what stapwatch_notify() was given */
	uint64_t ip;		/* where the probe hit; 0: at no place */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	uint32_t pad;
	/* ended by a 0 */
	char set[SW_MESSAGE_SET];	/* the active one on that CPU; "": none */
	char event[SW_MESSAGE_EVENT];	/* whose overflow it was; "": no one's */
	/* of an overflow: all events that have overflowed on that CPU since its last
	 * message of an overflow, each ended by a newline; "...\n": and more */
	char overflowed[SW_MESSAGE_OVERFLOWED];
};

#endif
