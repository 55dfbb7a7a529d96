/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * For LD_PRELOAD: a parent dies before its child says that it wants to die with it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <unistd.h>

int prctl(int option, ...)
{
	int (*next)(int, ...) = dlsym(RTLD_NEXT, "prctl");
	const pid_t parent = getppid();
	unsigned long arg;
	va_list ap;

	va_start(ap, option);
	arg = va_arg(ap, unsigned long);
	va_end(ap);
	if (option == PR_SET_PDEATHSIG) {
		kill(parent, SIGKILL);
		while (getppid() == parent)
			sched_yield();
	}
	return next(option, arg, 0UL, 0UL, 0UL);
}
