/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the parts of the runtime that need no kernel take from one.
 *
 * In a module these names are the kernel's own.  In user space, where the same
 * code is unit-tested under sanitizers, they are the compiler's atomics.
 */
#ifndef STAPWATCH_BASE_COMPAT_H
#define STAPWATCH_BASE_COMPAT_H

#ifdef __KERNEL__

#include <linux/atomic.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/types.h>

#ifndef CONFIG_64BIT
#error "stapwatch: this is a kernel of 32 bits; its counts and maps are made for 64"
#endif

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;
typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;

#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __maybe_unused __attribute__((unused))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), v, __ATOMIC_RELAXED)
#define smp_store_release(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#define smp_load_acquire(p) __atomic_load_n(p, __ATOMIC_ACQUIRE)
#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) old_ = (old);					\
	__atomic_compare_exchange_n(p, &old_, new, false,		\
				    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);\
	old_; })

#define xchg(p, v) __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST)

#define atomic_read(a) READ_ONCE((a)->counter)
#define atomic_set(a, v) WRITE_ONCE((a)->counter, v)
#define atomic_inc(a) ((void)__atomic_add_fetch(&(a)->counter, 1,	\
						__ATOMIC_SEQ_CST))
#define atomic_dec(a) ((void)__atomic_sub_fetch(&(a)->counter, 1,	\
						__ATOMIC_SEQ_CST))
#define atomic_add_return(n, a) __atomic_add_fetch(&(a)->counter, n,	\
						   __ATOMIC_SEQ_CST)
#define atomic64_add_return atomic_add_return
#define atomic_add_unless(a, n, limit) ({				\
	int v_ = atomic_read(a);					\
	while (v_ != (limit) &&						\
	       !__atomic_compare_exchange_n(&(a)->counter, &v_,		\
			v_ + (n), false, __ATOMIC_SEQ_CST,		\
			__ATOMIC_RELAXED))				\
		;							\
	v_ != (limit); })

static inline u64 div64_u64_rem(u64 a, u64 b, u64 *rest)
{
	*rest = a % b;
	return a / b;
}

static inline u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static inline unsigned int ilog2(u64 v)
{
	return 63 - __builtin_clzll(v);
}

static inline unsigned long roundup_pow_of_two(unsigned long v)
{
	return v <= 1 ? 1 : 1UL << (ilog2(v - 1) + 1);
}

#endif

#endif
