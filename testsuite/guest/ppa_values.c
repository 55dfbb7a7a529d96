/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of precise process accounting have of a thread and of a CPU, by the
 * names of the script's functions.
 *
 *	ppa_values work			do a little of everything, say so by a system
 *					call, and stop
 *	ppa_values look DIR TID CPU	print "NAME(TID) VALUE" of each value
 */
#define _GNU_SOURCE
#include <err.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd/ppa_files.h"

static const struct {
	const char *name;
	int value, less;	/* less: what it is not; -1: nothing */
	bool time;
} of_thread[] = {
	{ "user_us", PPA_SCHEDACCUM, PPA_SCACCUM, true },
	{ "total_us", PPA_SCHEDACCUM, -1, true },
	{ "system_us", PPA_SCACCUM, -1, true },
	{ "int_us", PPA_INTACCUM, -1, true },
	{ "softirq_us", PPA_SOFTACCUM, -1, true },
	{ "syscalls", PPA_SYSCALLCNT, -1, false },
	{ "ints", PPA_INTCNT, -1, false },
	{ "softirqs", PPA_SOFTCNT, -1, false },
	{ "rescheds", PPA_RSCHEDCNT, -1, false },
	{ "blocked", PPA_SCHEDOUTCNT, -1, false },
	{ "preempted", PPA_PRMPTPRICNT, -1, false },
	{ "expired", PPA_PRMPTCTXTCNT, -1, false },
	{ "latency_us", PPA_SCHLATACCUM, -1, true },
	{ "wakeups", PPA_SCHLATCNT, -1, false },
	{ "preempted_us", PPA_PREEMPTACCUM, -1, true },
	{ "switch_us", PPA_AVGCTXT, -1, true },
	{ "switches", PPA_CTXTCNT, -1, false },
}, of_cpu[] = {
	{ "user_us", PPA_USRMODE, -1, true },
	{ "system_us", PPA_SYSMODE, -1, true },
	{ "int_us", PPA_INTERRUPTS, -1, true },
	{ "softirq_us", PPA_TOTALSOFTIRQTIME, -1, true },
	{ "idle_us", PPA_IDLE, -1, true },
	{ "not_accounted_us", PPA_NOT_ACCOUNTED, -1, true },
	{ "elapsed_us", PPA_ELAPSED, -1, true },
	{ "syscalls", PPA_SYS_SYSCALLCNT, -1, false },
	{ "ints", PPA_INTERRUPTCNT, -1, false },
	{ "softirqs", PPA_SOFTIRQCNT, -1, false },
	{ "rescheds", PPA_SYS_RSCHEDCNT, -1, false },
	{ "blocked", PPA_SYS_SCHEDOUTCNT, -1, false },
	{ "preempted", PPA_SYS_PRMPTPRICNT, -1, false },
	{ "expired", PPA_SYS_PRMPTCTXTCNT, -1, false },
	{ "latency_us", PPA_SYS_SCHLATACCUM, -1, true },
	{ "wakeups", PPA_SYS_SCHLATCNT, -1, false },
	{ "preempted_us", PPA_SYS_PREEMPTACCUM, -1, true },
	{ "switch_us", PPA_SYS_AVGCTXT, -1, true },
	{ "switches", PPA_SYS_CTXTCNT, -1, false },
	{ "hi_tasklet_us", PPA_HIPRITSKLTTIME, -1, true },
	{ "hi_tasklets", PPA_HIPRITSKLTCNT, -1, false },
	{ "tasklet_us", PPA_REGPRITSKLTTIME, -1, true },
	{ "tasklets", PPA_REGPRITSKLTCNT, -1, false },
	{ "timer_us", PPA_TMRTSKLTTIME, -1, true },
	{ "timers", PPA_TMRTSKLTCNT, -1, false },
	{ "net_tx_us", PPA_NTWKTXTIME, -1, true },
	{ "net_txs", PPA_NTWKTXCNT, -1, false },
	{ "net_rx_us", PPA_NTWKRXTIME, -1, true },
	{ "net_rxs", PPA_NTWKRXCNT, -1, false },
};

#define NR(array) (sizeof(array) / sizeof(*(array)))

static uint64_t hz;

static void put(const char *of, const char *name, unsigned long whose,
		uint64_t value, bool time)
{
	if (time)
		value = (unsigned __int128)value * 1000000 / hz;
	printf("ppa_%s%s(%lu) %" PRIu64 "\n", of, name, whose, value);
}

static void put_thread(const struct ppa_thread *t)
{
	size_t i;

	for (i = 0; i < NR(of_thread); i++)
		put("", of_thread[i].name, t->tid, t->values[of_thread[i].value] -
		    (of_thread[i].less < 0 ? 0 : t->values[of_thread[i].less]),
		    of_thread[i].time);
	for (i = 0; i < PPA_NR_BUCKETS; i++)
		printf("ppa_latencies(%u,%zu) %" PRIu64 "\n", t->tid, i,
		       t->latency[i]);
}

static void look(const char *dir, unsigned long tid, unsigned long cpu)
{
	struct ppa_snapshot s = { 0 };
	struct buf why = { 0 };
	size_t i;

	if (!ppa_snapshot_read(dir, &s, &why))
		errx(1, "%s", why.s);
	hz = s.hz;
	for (i = 0; i < s.nr_threads; i++)
		if (s.threads[i].tid == tid && !(s.threads[i].flags & PPA_ENDED))
			put_thread(&s.threads[i]);
	for (i = 0; i < NR(of_cpu) && cpu < s.nr_cpus; i++)
		put("cpu_", of_cpu[i].name, cpu, s.cpus[cpu].v[of_cpu[i].value],
		    of_cpu[i].time);
}

static void on_signal(int sig)
{
	(void)sig;
}

static void work(void)
{
	struct timespec ms = { .tv_nsec = 1000000 };
	volatile unsigned long n = 0;
	unsigned int i;

	signal(SIGUSR1, on_signal);
	while (n < 20000000)
		n++;
	for (i = 0; i < 50; i++) {
		nanosleep(&ms, NULL);
		sched_yield();
		raise(SIGUSR1);
	}
	getppid();
	raise(SIGSTOP);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "work"))
		work();
	else if (argc == 5 && !strcmp(argv[1], "look"))
		look(argv[2], strtoul(argv[3], NULL, 10),
		     strtoul(argv[4], NULL, 10));
	else
		return 2;
	return 0;
}
