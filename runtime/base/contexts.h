/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data that outlives the session: from before the first begin probe to after the
 * last end probe.
 *
 * begin probes run before the anchors are set (stap/anchor.h), and end probes after
 * they have gone.  So what those are to use hangs on SystemTap's contexts, which
 * are made before the first and freed after the last: in module init and module
 * exit, where one may sleep.
 *
 * A part's START and END are defined anew by the tapset function that wants it,
 * in its body, or by its header, where whoever has that wants the part.  The two
 * macros for SystemTap's calls are defined in such bodies only: a script's C
 * stands before SystemTap's definitions of the two, and those must not be
 * changed.
 */
#ifndef STAPWATCH_BASE_CONTEXTS_H
#define STAPWATCH_BASE_CONTEXTS_H

#include "base/alone.h"

#define SW_STORE_START() 0
#define SW_STORE_END() do { } while (0)
#define SW_CALLS_START() 0
#define SW_CALLS_END() do { } while (0)
#define SW_NOTIFY_START() 0
#define SW_NOTIFY_END() do { } while (0)
#define SW_CONTROL_START() 0
#define SW_CONTROL_END() do { } while (0)
#define SW_BLOCK_START() 0
#define SW_BLOCK_END() do { } while (0)
#define SW_PPA_START() 0
#define SW_PPA_END() do { } while (0)
#define SW_TIMELINE_START() 0
#define SW_TIMELINE_END() do { } while (0)
#define SW_SLOW_START() 0
#define SW_SLOW_END() do { } while (0)
#define SW_PROFILE_END() do { } while (0)
#define SW_WATCH_END() do { } while (0)
#define SW_SETS_END() do { } while (0)
#define SW_COMMAND_END() do { } while (0)

/* A stap that no longer calls these two would make modules without them: each
 * macro below, where it is expanded, defines the symbol that is asked for here. */
extern const char stapwatch_needs_a_stap_that_calls__stp_runtime_contexts_alloc[];
extern const char stapwatch_needs_a_stap_that_calls__stp_runtime_contexts_free[];
#define SW_ASK_FOR_CONTEXTS() do {					\
	static const char *const proof_[] __used = {			\
		stapwatch_needs_a_stap_that_calls__stp_runtime_contexts_alloc, \
		stapwatch_needs_a_stap_that_calls__stp_runtime_contexts_free, \
	};								\
} while (0)

/* Where a part cannot start SystemTap calls the other one of the two, so what
 * has not started must know how to end. */
#define SW_CONTEXTS_ALLOC(contexts_alloc) ({				\
	int rc_;							\
									\
	asm volatile(".set stapwatch_needs_a_stap_that_calls__stp_runtime_contexts_alloc, 0"); \
	rc_ = sw_alone_start();						\
	rc_ = rc_ ?: SW_STORE_START();					\
	rc_ = rc_ ?: SW_CALLS_START();					\
	rc_ = rc_ ?: SW_NOTIFY_START();					\
	rc_ = rc_ ?: SW_CONTROL_START();				\
	rc_ = rc_ ?: SW_BLOCK_START();					\
	rc_ = rc_ ?: SW_PPA_START();					\
	rc_ = rc_ ?: SW_TIMELINE_START();				\
	rc_ = rc_ ?: SW_SLOW_START();					\
	rc_ ?: contexts_alloc; })

#define SW_CONTEXTS_FREE(contexts_free) do {				\
	asm volatile(".set stapwatch_needs_a_stap_that_calls__stp_runtime_contexts_free, 0"); \
	sw_alone_stop();						\
	SW_CONTROL_END();						\
	SW_SLOW_END();							\
	SW_TIMELINE_END();						\
	SW_WATCH_END();							\
	SW_PROFILE_END();						\
	SW_SETS_END();							\
	contexts_free;							\
	SW_PPA_END();							\
	SW_BLOCK_END();							\
	SW_NOTIFY_END();						\
	SW_CALLS_END();							\
	SW_STORE_END();							\
	SW_COMMAND_END();						\
} while (0)

#endif
