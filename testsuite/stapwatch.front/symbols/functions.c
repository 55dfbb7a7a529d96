/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Many functions, so that an address a page off is in another one: each looked at
 * in every way that a program can be linked.  Nobody runs it.
 */
#define OWN __attribute__((noinline, noclone, used))
#define INLINED static inline __attribute__((always_inline))

volatile unsigned long sink;

INLINED unsigned long innermost(unsigned long n)
{
	return n * 2654435761u ^ n >> 7;
}

INLINED unsigned long middle(unsigned long n)
{
	unsigned long sum = innermost(n);

	if (sum & 4)
		sum += innermost(sum + 3);
	sink = sum;
	return sum;
}

OWN static unsigned long first(unsigned long n)
{
	unsigned long sum = 0;

	while (n--) {
		sum += middle(n);
		sink ^= sum;
	}
	return sum;
}

OWN static unsigned long second(unsigned long n)
{
	if (n > 7)
		sink = n;
	else
		sink -= n;
	return innermost(n);
}

/* What each of them has is too much for one line of code. */
#define ONE(name, constant)						\
	OWN static unsigned long name(unsigned long n)			\
	{								\
		sink = n / (constant);					\
		sink += n % ((constant) + 2);				\
		return sink * (constant);				\
	}
#define TEN(name, c)							\
	ONE(name##0, c##1) ONE(name##1, c##3) ONE(name##2, c##7)	\
	ONE(name##3, c##13) ONE(name##4, c##17) ONE(name##5, c##23)	\
	ONE(name##6, c##27) ONE(name##7, c##33) ONE(name##8, c##37)	\
	ONE(name##9, c##43)

TEN(a, 1)
TEN(b, 2)
TEN(c, 3)
TEN(d, 4)
TEN(e, 5)
TEN(f, 6)
TEN(g, 7)
TEN(h, 8)
TEN(i, 9)
TEN(j, 10)
TEN(k, 11)
TEN(l, 12)
TEN(m, 13)
TEN(n, 14)
TEN(o, 15)
TEN(p, 16)

unsigned long last(unsigned long n)
{
	return first(n) + second(n);
}

int main(int argc, char **argv)
{
	(void)argv;
	return last(argc) & 1;
}
