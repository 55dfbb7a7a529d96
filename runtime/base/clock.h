/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timestamps.
 *
 *   sw_tsc()		any context, NMI included; no lock, no loop
 *   sw_clock_ns()	the same (a latched copy of the timekeeper: it does not
 *			wait for an update that it interrupted)
 *   sw_tsc_is_global(), sw_tsc_hz(), sw_tsc_to_ns(), sw_ns_to_ticks()	any context
 */
#ifndef STAPWATCH_BASE_CLOCK_H
#define STAPWATCH_BASE_CLOCK_H

#include "base/compat.h"
#include <linux/math64.h>
#include <linux/ktime.h>
#include <linux/timekeeping.h>
#include <linux/timex.h>
#ifdef CONFIG_X86
#include <asm/tsc.h>
#endif
#ifdef CONFIG_ARM64
#include <asm/arch_timer.h>
#endif

/* For how long the machine has slept; changed by base/suspend.h while any context
 * may read it. */
static u64 sw_tsc_slept;

/**
 * sw_tsc - the processor's time-stamp or system counter, without what it has slept
 *
 * Not read ahead of what stands before it, so that a reading on one CPU that
 * happens after a reading on another is not the smaller one.
 */
static __always_inline u64 sw_tsc(void)
{
#if defined(CONFIG_X86)
	return rdtsc_ordered() - READ_ONCE(sw_tsc_slept);
#elif defined(CONFIG_ARM64)
	return __arch_counter_get_cntvct() - READ_ONCE(sw_tsc_slept);
#else
	return get_cycles() - READ_ONCE(sw_tsc_slept);
#endif
}

/**
 * sw_tsc_is_global - may readings of two CPUs be subtracted?
 */
static inline bool sw_tsc_is_global(void)
{
#ifdef CONFIG_X86_TSC
	return !check_tsc_unstable();
#else
	return true;
#endif
}

/**
 * sw_tsc_hz - ticks of sw_tsc() a second
 *
 * Return: 0 where the kernel does not know.
 */
static inline u64 sw_tsc_hz(void)
{
#if defined(CONFIG_X86)
	return tsc_khz * 1000ULL;
#elif defined(CONFIG_ARM64)
	return arch_timer_get_cntfrq();
#else
	return 0;
#endif
}

/**
 * sw_tsc_to_ns - ticks of sw_tsc() in nanoseconds
 *
 * Return: 0 where the kernel does not know the counter's frequency.
 */
static inline u64 sw_tsc_to_ns(u64 ticks)
{
	u64 hz = sw_tsc_hz();

	return hz ? mul_u64_u64_div_u64(ticks, NSEC_PER_SEC, hz) : 0;
}

/**
 * sw_ns_to_ticks - nanoseconds in ticks of a counter
 * @hz: its ticks a second, less than 18 GHz
 *
 * For times that users give: what does not fit into 63 bits is S64_MAX, where a division
 * of 128 bits would trap.
 */
static inline u64 sw_ns_to_ticks(u64 ns, u64 hz)
{
	u64 seconds, rest;

	seconds = div64_u64_rem(ns, NSEC_PER_SEC, &rest);
	if (hz && seconds > (u64)S64_MAX / hz - 1)
		return S64_MAX;
	return seconds * hz + div64_u64(rest * hz, NSEC_PER_SEC);
}

/**
 * sw_clock_ns - nanoseconds since boot, the same on every CPU
 */
static inline u64 sw_clock_ns(void)
{
	return ktime_get_mono_fast_ns();
}

#endif
