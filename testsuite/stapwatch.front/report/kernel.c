/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trace takes for a kernel, with -DVMLINUX, or for a module of it, which
 * has its code in more than one section.  Nobody runs it.
 */
volatile unsigned long kernel_sink;

#ifdef VMLINUX
void _stext(void)
{
}
#endif

static inline __attribute__((always_inline)) void mix(unsigned long n)
{
	if (n & 1)
		kernel_sink ^= n;
	else
		kernel_sink -= n;
}

__attribute__((noinline)) void kernel_work(unsigned long n)
{
	while (n--)
		mix(n);
}

__attribute__((noinline, section(".exit.text"))) void kernel_end(unsigned long n)
{
	mix(n);
	kernel_sink++;
}

void kernel_start(unsigned long n)
{
	kernel_work(n);
	kernel_end(n);
}
