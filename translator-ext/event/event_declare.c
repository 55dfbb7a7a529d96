/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events that the event table lacks, declared to the runtime; event_declare.h. */
#include "event/event_declare.h"

#include <inttypes.h>

/* The runtime's SW_ANCHOR_MAGIC and SW_ANCHOR_NATIVE. */
#define ANCHOR 0x5700000000008000ULL

enum {
	FLAG_EXCLUDE_USER = 1,
	FLAG_EXCLUDE_KERNEL = 2,
	FLAG_EXCLUDE_HV = 4,
	FLAG_EXCLUDE_IDLE = 8,
	FLAG_EXCLUDE_HOST = 16,
	FLAG_EXCLUDE_GUEST = 32,
	FLAG_PRECISE_SHIFT = 6,		/* two bits */
	FLAG_WANTS_NMI = 256,
};

/* As the runtime's struct sw_event has them. */
static unsigned int attr_flags(const struct event_attr *a)
{
	return a->exclude_user * FLAG_EXCLUDE_USER |
	       a->exclude_kernel * FLAG_EXCLUDE_KERNEL |
	       a->exclude_hv * FLAG_EXCLUDE_HV |
	       a->exclude_idle * FLAG_EXCLUDE_IDLE |
	       a->exclude_host * FLAG_EXCLUDE_HOST |
	       a->exclude_guest * FLAG_EXCLUDE_GUEST |
	       a->precise_ip << FLAG_PRECISE_SHIFT |
	       a->wants_nmi * FLAG_WANTS_NMI;
}

bool event_same_attr(const struct event_attr *a, const struct event_attr *b)
{
	return a->type == b->type && a->config == b->config &&
	       a->config1 == b->config1 && a->config2 == b->config2 &&
	       a->config3 == b->config3 && a->config4 == b->config4 &&
	       a->exclude_user == b->exclude_user &&
	       a->exclude_kernel == b->exclude_kernel &&
	       a->exclude_hv == b->exclude_hv &&
	       a->exclude_idle == b->exclude_idle &&
	       a->exclude_host == b->exclude_host &&
	       a->exclude_guest == b->exclude_guest &&
	       a->precise_ip == b->precise_ip &&
	       a->wants_nmi == b->wants_nmi &&
	       a->sample_type == b->sample_type;
}

void event_declare(struct buf *out, unsigned int number, const char *name,
		   const struct event_attr *attr, int64_t period,
		   uint64_t random, uint64_t long_period)
{
	/* after the runtime's own begin probe, before all others */
	buf_printf(out, "probe begin(-9223372036854775806) { __sw_native_event(%u, ",
		   number);
	buf_stap_string(out, name);
	buf_printf(out, ", %" PRIu32 ", %" PRId64 ", %" PRId64 ", %" PRId64
		   ", %u, %" PRId64 ", %" PRId64 ")", attr->type,
		   (int64_t)attr->config, (int64_t)attr->config1,
		   (int64_t)attr->config2, attr_flags(attr),
		   (int64_t)attr->sample_type, period);
	if (attr->config3 || attr->config4)
		buf_printf(out, "; __sw_native_more(%u, %" PRId64 ", %" PRId64
			   ")", number, (int64_t)attr->config3,
			   (int64_t)attr->config4);
	if (random)
		buf_printf(out, "; __sw_native_random(%u, %" PRIu64 ")",
			   number, random);
	if (long_period)
		buf_printf(out, "; __sw_native_long(%u, %" PRIu64 ")", number,
			   long_period);
	buf_puts(out, " }");
}

void event_anchor(struct buf *out, unsigned int number)
{
	buf_printf(out, "probe perf.type(1).config(9).sample(0x%llx) { __sw_anchor() }",
		   ANCHOR | number);
}
