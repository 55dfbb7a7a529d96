/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that are inlined, in C and in C++: in each other, more than once, and
 * from within a block.  Nobody runs it.
 */
#define INLINED static inline __attribute__((always_inline))

#ifdef __cplusplus
namespace deep {
template<int times> struct within {
#endif

INLINED unsigned long innermost(unsigned long n)
{
	return n * 2654435761u ^ n >> 7;
}

INLINED unsigned long middle(unsigned long n, volatile unsigned long *to)
{
	unsigned long sum = innermost(n);

	if (sum & 4) {
		unsigned long more = innermost(sum + 3);

		*to = more;
		sum += more;
	}
	return sum;
}

#ifdef __cplusplus
};
}
#define middle deep::within<3>::middle
#define innermost deep::within<3>::innermost
extern "C"
#endif
unsigned long outermost(unsigned long n, volatile unsigned long *to)
{
	unsigned long sum = 0;

	while (n--) {
		sum += middle(n, to);
		*to = sum;
	}
	sum ^= innermost(sum);
	*to = 1;
	return sum;
}
