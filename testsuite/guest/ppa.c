/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Threads whose accounting is known, and readers of its files.
 *
 *	ppa calls N		N system calls
 *	ppa yield N		yield N times to nobody
 *	ppa exec N		the same, after a thread has called exec()
 *	ppa preempt N		be preempted N times by a thread of higher priority,
 *				which blocks as often
 *	ppa slices N		use up N slices, in turn with another thread
 *	ppa fair N		the same without real-time priorities
 *	ppa signals N		get N signals of each of three numbers
 *	ppa light N		read the clock N times, for which the kernel is not called
 *	ppa vcpu N		enter a virtual CPU N times; with the module of vcpu/
 *	ppa spin MS		run in user mode
 *	ppa late N MS		be woken N times by a thread that then keeps the CPU
 *				for MS
 *	ppa cpus		each CPU: what its states sum to, and how long it was
 *	ppa spans MS		the same of the time between two looks, MS apart
 *	ppa stat CPU MS		a CPU's states for MS beside /proc/stat's
 *	ppa times CPU MS	the own times for MS, half of it in system calls,
 *				beside those of /proc/PID/stat
 *	ppa control VALUES	write to the own ppactl
 *	ppa off N		N system calls with the own accounting off
 *	ppa arrays CPU N	N system calls on CPU 0 and twice as many on that one: of
 *				the array of each
 *
 *	ppa expire MS REPEAT	ITIMER_VIRTUAL, ITIMER_PROF: user and user and system
 *				time from each signal to the next
 *	ppa orphan MS REPEAT	the same, of a thread whose process's first one has
 *				exited
 *	ppa native MS REPEAT	the same with the own flag 2 off
 *	ppa crowd N MS REPEAT	the same with N threads in the process
 *	ppa ring MS REPEAT	the same with a thread of io_uring's in the process
 *	ppa limit		SIGXCPU after a second
 *	ppa execs N		N processes: timers expire while threads come and go, and
 *				programs follow one another
 *	ppa late_off N		N wake-ups with flag 1 off, and N with it on
 *	ppa faults N		touch N pages for the first time
 *	ppa traps N		N signals that an instruction brings
 *
 * What was counted, and the same as this program or the kernel has it otherwise,
 * goes to standard output: "NAME COUNTED EXPECTED".
 *
 * Long because a guest gets one program for all that ppa's tests ask of threads.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "ppa/abi.h"

static char *dir(void)
{
	glob_t g;

	if (glob("/proc/systemtap/*/ppa", 0, NULL, &g))
		errx(1, "no session");
	return g.gl_pathv[0];
}

static int open_below(const char *name, int flags)
{
	char path[256];
	int fd, i;

	snprintf(path, sizeof(path), "%s/%s", dir(), name);
	/* a thread's directory comes a little later than the thread */
	for (i = 0; i < 100; i++) {
		fd = open(path, flags);
		if (fd >= 0)
			return fd;
		usleep(50000);
	}
	err(1, "%s", path);
}

static int open_own(const char *name, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "%ld/%s", syscall(SYS_gettid), name);
	return open_below(path, flags);
}

struct sample {
	union {
		struct ppa_header h;
		char bytes[65536];
	};
	uint64_t sum[PPA_NR_THREAD_VALUES];
	struct rusage usage;
};

static void take(int fd, struct sample *s)
{
	unsigned int a, i;
	uint64_t *v;

	getrusage(RUSAGE_THREAD, &s->usage);
	if (pread(fd, s->bytes, sizeof(s->bytes), 0) < (ssize_t)sizeof(s->h))
		err(1, "read");
	memset(s->sum, 0, sizeof(s->sum));
	for (a = 0; a < s->h.nr_arrays; a++) {
		v = (uint64_t *)(s->bytes + s->h.offset + a * s->h.stride);
		for (i = 0; i < PPA_NR_THREAD_VALUES; i++)
			s->sum[i] += v[i];
	}
}

static uint64_t us(const struct sample *s, uint64_t ticks)
{
	return ticks * 1e6 / s->h.tick_hz;
}

static void say(const char *name, uint64_t counted, uint64_t expected)
{
	char line[128];
	int n = snprintf(line, sizeof(line), "%s %llu %llu\n", name,
			 (unsigned long long)counted,
			 (unsigned long long)expected);

	if (write(1, line, n) != n)
		_exit(1);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		err(1, "sched_setaffinity");
}

static void priority(int policy, int prio)
{
	struct sched_param p = { .sched_priority = prio };

	if (sched_setscheduler(0, policy, &p))
		err(1, "sched_setscheduler");
}

static uint64_t clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static void nap(long us)
{
	struct timespec t = { 0, us * 1000 };

	nanosleep(&t, NULL);
}

/* The thread's accounts between two looks, NAMED. */
struct look {
	int fd;
	struct sample *a, *b;
};

static struct look look_begin(void)
{
	struct look l = { .fd = open_own("rawppa", O_RDONLY) };

	l.a = malloc(sizeof(*l.a));
	l.b = malloc(sizeof(*l.b));
	memset(l.a, 1, sizeof(*l.a));
	memset(l.b, 1, sizeof(*l.b));
	take(l.fd, l.a);
	return l;
}

static void look_end(struct look *l)
{
	take(l->fd, l->b);
}

static uint64_t of(const struct look *l, int value)
{
	return l->b->sum[value] - l->a->sum[value];
}

#define NVCSW(l) ((l)->b->usage.ru_nvcsw - (l)->a->usage.ru_nvcsw)
#define NIVCSW(l) ((l)->b->usage.ru_nivcsw - (l)->a->usage.ru_nivcsw)

static void calls(long n)
{
	struct look l = look_begin();
	long i;

	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	look_end(&l);
	/* and the two of the look itself */
	say("calls", of(&l, PPA_SYSCALLCNT), n + 2);
}

/* What the clock is read from, where that needs the kernel; else NULL. */
static const char *heavy_clock(void)
{
	static const char *const light[] = {
		"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
		"arch_sys_counter"
	};
	static char name[64];
	unsigned int i;
	FILE *f = fopen("/sys/devices/system/clocksource/clocksource0/"
			"current_clocksource", "re");

	if (!f || fscanf(f, "%63s", name) != 1)
		errx(1, "the clock has no source");
	fclose(f);
	for (i = 0; i < sizeof(light) / sizeof(*light); i++)
		if (!strcmp(name, light[i]))
			return NULL;
	return name;
}

static void light(long n)
{
	const char *heavy = heavy_clock();
	struct look l;
	uint64_t cpu;
	long i;

	if (heavy) {
		printf("heavy %s\n", heavy);
		return;
	}
	l = look_begin();
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	for (i = 0; i < n; i++)
		clock_ns(CLOCK_MONOTONIC);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	look_end(&l);
	/* those of the look, and of the other clock */
	say("light", of(&l, PPA_SYSCALLCNT), 4);
	say("light_us", us(l.b, of(&l, PPA_SCHEDACCUM) - of(&l, PPA_SCACCUM)),
	    cpu / 1000);
}

static void say_array(const struct look *l, unsigned int a, uint64_t expected)
{
	const struct ppa_header *h = &l->b->h;
	size_t at = h->offset + a * h->stride + PPA_SYSCALLCNT * sizeof(uint64_t);
	uint64_t before, after;

	if (a >= h->nr_arrays)
		errx(1, "there are %u arrays", h->nr_arrays);
	memcpy(&before, l->a->bytes + at, sizeof(before));
	memcpy(&after, l->b->bytes + at, sizeof(after));
	say("array", after - before, expected);
}

/* As it is shown: by default all CPUs are one array. */
static void arrays(int cpu, long n)
{
	int fd = open_own("ppactl", O_WRONLY);
	struct look l;
	long i;

	if (dprintf(fd, "1 1 0 3") < 0)
		err(1, "ppactl");
	close(fd);
	pin(0);
	l = look_begin();
	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	pin(cpu);
	for (i = 0; i < 2 * n; i++)
		syscall(SYS_getppid);
	look_end(&l);
	/* and the call that went to the CPU, and the two of the look */
	say_array(&l, 0, n + 1);
	say_array(&l, cpu / l.b->h.scale, 2 * n + 2);
}

static void *exec_thread(void *n)
{
	execl("/proc/self/exe", "ppa", "calls", n, NULL);
	err(1, "exec");
}

static void exec(char *n)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exec_thread, n))
		errx(1, "pthread_create");
	pthread_join(t, NULL);
}

static void yield(long n)
{
	struct look l;
	long i;

	pin(1);
	priority(SCHED_FIFO, 1);
	l = look_begin();
	for (i = 0; i < n; i++)
		sched_yield();
	look_end(&l);
	say("rescheds", of(&l, PPA_RSCHEDCNT), n);
}

/* In one system call, at whose begin and end nothing is to be done. */
static void vcpu(const char *n)
{
	int fd = open("/proc/vcpu", O_WRONLY | O_CLOEXEC);
	struct look l;

	pin(1);
	priority(SCHED_FIFO, 1);
	l = look_begin();
	if (write(fd, n, strlen(n)) < 0)
		err(1, "/proc/vcpu");
	look_end(&l);
	say("vcpu", of(&l, PPA_RSCHEDCNT), 0);
}

static int pipes[2];
static volatile pid_t pest_tid;

/* Of higher priority: whoever writes is preempted at once, and this one blocks
 * again before it goes on. */
static void *pest(void *arg)
{
	long n = (long)arg, i;
	struct look l;
	char c;

	pin(1);
	priority(SCHED_FIFO, 10);
	l = look_begin();
	pest_tid = syscall(SYS_gettid);
	for (i = 0; i < n; i++)
		if (read(pipes[0], &c, 1) != 1)
			err(1, "read");
	look_end(&l);
	say("blocked", of(&l, PPA_SCHEDOUTCNT), n);
	say("nvcsw", of(&l, PPA_SCHEDOUTCNT), NVCSW(&l));
	say("wakeups", of(&l, PPA_SCHLATCNT), n);
	return NULL;
}

static void preempt(long n)
{
	pthread_t t;
	struct look l;
	long i;

	pin(1);
	priority(SCHED_FIFO, 1);
	if (pipe(pipes) || pthread_create(&t, NULL, pest, (void *)n))
		errx(1, "pthread_create");
	/* it blocks for the first time */
	while (!pest_tid)
		usleep(1000);
	await(pest_tid, 'S');
	l = look_begin();
	for (i = 0; i < n; i++)
		if (write(pipes[1], "x", 1) != 1)
			err(1, "write");
	look_end(&l);
	pthread_join(t, NULL);
	say("preempted", of(&l, PPA_PRMPTPRICNT), n);
	say("expired", of(&l, PPA_PRMPTCTXTCNT), 0);
	say("nivcsw", of(&l, PPA_PRMPTPRICNT), NIVCSW(&l));
}

static pthread_barrier_t barrier;
static int spinning;
static int policy;
static uint64_t were_preempted;
#define USED_UP_ON 1

/* The kernel's counts and ours, with no switch between the two. */
static void take_unswitched(int fd, struct sample *s)
{
	struct rusage r;

	do {
		take(fd, s);
		getrusage(RUSAGE_THREAD, &r);
	} while (r.ru_nivcsw != s->usage.ru_nivcsw);
}

static void *use_up(void *arg)
{
	long n = (long)arg, had = 0;
	struct rusage r;
	struct look l;

	pin(USED_UP_ON);
	/* above what the kernel has of such threads */
	if (policy == SCHED_RR)
		priority(SCHED_RR, 98);
	l = look_begin();
	pthread_barrier_wait(&barrier);
	look_begin();
	take_unswitched(l.fd, l.a);
	/* up to the last one the other must be there too */
	do {
		getrusage(RUSAGE_THREAD, &r);
		if (r.ru_nivcsw - l.a->usage.ru_nivcsw >= n && !had) {
			had = 1;
			__sync_fetch_and_sub(&spinning, 1);
		}
	} while (__sync_fetch_and_add(&spinning, 0));
	take_unswitched(l.fd, l.b);
	if (policy == SCHED_RR) {
		say("expired", of(&l, PPA_PRMPTCTXTCNT), NIVCSW(&l));
		say("preempted", of(&l, PPA_PRMPTPRICNT), 0);
	} else {
		say("involuntary", of(&l, PPA_PRMPTCTXTCNT) +
				   of(&l, PPA_PRMPTPRICNT), NIVCSW(&l));
		say("mostly", of(&l, PPA_PRMPTCTXTCNT), NIVCSW(&l));
		__sync_fetch_and_add(&were_preempted, of(&l, PPA_PRMPTPRICNT));
	}
	say("slices", NIVCSW(&l), n);
	return NULL;
}

static uint64_t within(uint64_t n, uint64_t least, uint64_t most)
{
	return n < least ? least : n > most ? most : n;
}

/* How many threads were woken, and have run, on the CPU of those two. */
static uint64_t wakeups_there(void)
{
	int fd = open_below("rawsysppa", O_RDONLY);
	struct sample s;

	if (pread(fd, s.bytes, sizeof(s.bytes), 0) <= 0)
		err(1, "rawsysppa");
	close(fd);
	return ((uint64_t *)(s.bytes + s.h.offset + USED_UP_ON * s.h.stride))
		[PPA_SYS_SCHLATCNT];
}

static void slices(long n, int how)
{
	uint64_t woken = wakeups_there();
	pthread_t t[2];
	int i;

	policy = how;
	spinning = 2;
	pthread_barrier_init(&barrier, NULL, 2);
	for (i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, use_up, (void *)n))
			errx(1, "pthread_create");
	for (i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	/* without such priorities, preempted for one that was woken */
	if (how != SCHED_RR)
		say("woken_for", were_preempted,
		    within(were_preempted, 0, wakeups_there() - woken));
}

static void on_signal(int sig)
{
}

static void signals(long n)
{
	const int sigs[] = { SIGUSR1, SIGRTMIN, 64 };
	struct look l;
	unsigned int i;
	uint32_t *a, *b;
	long k;

	for (i = 0; i < 3; i++)
		signal(sigs[i], on_signal);
	signal(SIGUSR2, SIG_IGN);
	l = look_begin();
	for (k = 0; k < n; k++) {
		for (i = 0; i < 3; i++)
			raise(sigs[i]);
		raise(SIGUSR2);
	}
	look_end(&l);
	a = (uint32_t *)(l.a->bytes + l.a->h.signals_offset);
	b = (uint32_t *)(l.b->bytes + l.b->h.signals_offset);
	for (i = 1; i < l.b->h.nr_signals; i++)
		if (b[i] != a[i])
			say("signal", b[i] - a[i], n);
	say("numbers", l.b->h.nr_signals, 65);
	say("ignored", b[SIGUSR2], 0);
}

/* What the kernel's own schedstat says of the thread, in microseconds. */
static void schedstat(int fd, uint64_t *ran, uint64_t *waited)
{
	unsigned long long a, b;
	char text[64] = "";

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 ||
	    sscanf(text, "%llu %llu", &a, &b) != 2)
		err(1, "schedstat");
	*ran = a / 1000;
	*waited = b / 1000;
}

static void spin(long ms)
{
	uint64_t end, ran[2], waited[2], cpu, all;
	int fd = open("/proc/thread-self/schedstat", O_RDONLY);
	struct look l = look_begin();

	schedstat(fd, &ran[0], &waited[0]);
	schedstat(fd, &ran[0], &waited[0]);
	take(l.fd, l.a);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	end = cpu + ms * 1000000ULL;
	/* no system call with the vDSO; this clock has one */
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end) {
		volatile long i;

		for (i = 0; i < 1000000; i++)
			;
	}
	take(l.fd, l.b);
	schedstat(fd, &ran[1], &waited[1]);
	all = of(&l, PPA_SCHEDACCUM) + of(&l, PPA_INTACCUM) +
	      of(&l, PPA_SOFTACCUM);
	say("ran_us", us(l.b, all), ran[1] - ran[0]);
	say("user_us", us(l.b, of(&l, PPA_SCHEDACCUM) - of(&l, PPA_SCACCUM)),
	    us(l.b, of(&l, PPA_SCHEDACCUM)));
	say("waited_us", us(l.b, of(&l, PPA_SCHLATACCUM) +
				 of(&l, PPA_PREEMPTACCUM)),
			    waited[1] - waited[0]);
}

static long late_ms, late_n;

/* Wakes the other, and keeps the CPU. */
static void *hog(void *arg)
{
	uint64_t end;
	long i;

	pin(1);
	priority(SCHED_FIFO, 20);
	for (i = 0; i < late_n; i++) {
		nap(20000);
		if (write(pipes[1], "x", 1) != 1)
			err(1, "write");
		end = clock_ns(CLOCK_MONOTONIC) + late_ms * 1000000ULL;
		while (clock_ns(CLOCK_MONOTONIC) < end)
			;
	}
	return NULL;
}

static void late(long n, long ms)
{
	uint64_t *a, *b;
	pthread_t t;
	struct look l;
	char c;
	long i;

	late_n = n;
	late_ms = ms;
	pin(1);
	priority(SCHED_FIFO, 10);
	l = look_begin();
	if (pipe(pipes) || pthread_create(&t, NULL, hog, NULL))
		errx(1, "pthread_create");
	for (i = 0; i < n; i++)
		if (read(pipes[0], &c, 1) != 1)
			err(1, "read");
	look_end(&l);
	pthread_join(t, NULL);
	a = (uint64_t *)(l.a->bytes + l.a->h.latency_offset);
	b = (uint64_t *)(l.b->bytes + l.b->h.latency_offset);
	for (i = 0; i < l.b->h.nr_buckets; i++)
		if (b[i] != a[i])
			printf("bucket %ld %llu\n", i,
			       (unsigned long long)(b[i] - a[i]));
	fflush(stdout);
	say("latency_ms", us(l.b, of(&l, PPA_SCHLATACCUM)) / 1000, n * ms);
}

static uint64_t cpu_sum(const uint64_t *v)
{
	return v[PPA_USRMODE] + v[PPA_SYSMODE] + v[PPA_INTERRUPTS] +
	       v[PPA_TOTALSOFTIRQTIME] + v[PPA_IDLE] + v[PPA_NOT_ACCOUNTED];
}

static void cpus(long ms)
{
	int fd = open_below("rawsysppa", O_RDONLY);
	struct sample *s = calloc(2, sizeof(*s));
	const uint64_t *v, *w;
	uint64_t before[2], after[2], hz, us;
	unsigned int i, try;
	char name[32];

	for (i = 0; i < 2; i++) {
		if (i)
			usleep(ms * 1000);
		/* at a time that is known to a millisecond, where there is one
		 * in which nobody else has a turn */
		for (try = 0; try < 1000; try++) {
			before[i] = clock_ns(CLOCK_MONOTONIC);
			if (pread(fd, s[i].bytes, sizeof(s[i].bytes), 0) <= 0)
				err(1, "rawsysppa");
			after[i] = clock_ns(CLOCK_MONOTONIC);
			if (after[i] - before[i] < 1000000)
				break;
		}
	}
	hz = s[0].h.tick_hz;
	for (i = 0; i < s[0].h.nr_arrays; i++) {
		v = (uint64_t *)(s[1].bytes + s[1].h.offset +
				 i * s[1].h.stride);
		w = (uint64_t *)(s[0].bytes + s[0].h.offset +
				 i * s[0].h.stride);
		snprintf(name, sizeof(name), "cpu%u", i);
		say(name, cpu_sum(v), v[PPA_ELAPSED]);
		if (!ms)
			continue;
		snprintf(name, sizeof(name), "span%u", i);
		us = (cpu_sum(v) - cpu_sum(w)) * 1e6 / hz;
		say(name, us, within(us, (before[1] - after[0]) / 1000,
				     (after[1] - before[0]) / 1000));
		snprintf(name, sizeof(name), "busy%u", i);
		say(name, (v[PPA_USRMODE] - w[PPA_USRMODE] + v[PPA_SYSMODE] -
			   w[PPA_SYSMODE]) * 1e6 / hz, 0);
	}
}

/* Microseconds of one of what /proc/stat counts. */
static uint64_t of_stat(unsigned long long n)
{
	return n * 1000000 / sysconf(_SC_CLK_TCK);
}

/* A CPU's user and nice, system and irq and softirq, idle and iowait. */
static void read_stat(int cpu, uint64_t *us)
{
	unsigned long long v[7];
	char line[256], name[16];
	FILE *f = fopen("/proc/stat", "r");
	size_t len;

	if (!f)
		err(1, "/proc/stat");
	len = snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len))
			break;
	fclose(f);
	if (sscanf(line + len, "%llu %llu %llu %llu %llu %llu %llu", &v[0],
		   &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]) != 7)
		errx(1, "/proc/stat has no CPU %d", cpu);
	us[0] = of_stat(v[0] + v[1]);
	us[1] = of_stat(v[2] + v[5] + v[6]);
	us[2] = of_stat(v[3] + v[4]);
}

/* The same of ours; interrupts' and softirqs' time; how often the kernel was
 * entered by a system call or interrupt. */
static void
read_cpu(int fd, int cpu, uint64_t *us, uint64_t *irq_us, uint64_t *entries)
{
	struct sample s;
	const uint64_t *v;

	if (pread(fd, s.bytes, sizeof(s.bytes), 0) <= 0)
		err(1, "rawsysppa");
	v = (uint64_t *)(s.bytes + s.h.offset + cpu * s.h.stride);
	us[0] = v[PPA_USRMODE] * 1e6 / s.h.tick_hz;
	*irq_us = (v[PPA_INTERRUPTS] + v[PPA_TOTALSOFTIRQTIME]) * 1e6 /
		  s.h.tick_hz;
	us[1] = v[PPA_SYSMODE] * 1e6 / s.h.tick_hz + *irq_us;
	us[2] = v[PPA_IDLE] * 1e6 / s.h.tick_hz;
	*entries = v[PPA_SYS_SYSCALLCNT] + v[PPA_INTERRUPTCNT];
}

static uint64_t sum_of(const uint64_t *us)
{
	return us[0] + us[1] + us[2];
}

/* Ours and the kernel's of one moment: the other CPU may have had its turn, or
 * somebody else this one, between the two. */
static void read_both(int fd, int cpu, uint64_t *ours, uint64_t *theirs,
		      uint64_t *irq_us, uint64_t *entries)
{
	uint64_t after[3], irq_after, entries_after;
	int tries;

	for (tries = 0; tries < 100; tries++) {
		read_cpu(fd, cpu, ours, irq_us, entries);
		read_stat(cpu, theirs);
		read_cpu(fd, cpu, after, &irq_after, &entries_after);
		if (sum_of(after) - sum_of(ours) < 2000)
			return;
	}
	errx(1, "CPU %d: no two readings within 2 ms", cpu);
}

static void stat(int cpu, long ms)
{
	static const char *const names[] = { "user", "system", "idle" };
	int fd = open_below("rawsysppa", O_RDONLY), i;
	uint64_t ours[2][3], theirs[2][3], irq[2], entries[2];

	for (i = 0; i < 2; i++) {
		if (i)
			usleep(ms * 1000);
		read_both(fd, cpu, ours[i], theirs[i], &irq[i], &entries[i]);
	}
	for (i = 0; i < 3; i++)
		say(names[i], ours[1][i] - ours[0][i],
		    theirs[1][i] - theirs[0][i]);
	say("irq", irq[1] - irq[0], 0);
	say("entries", entries[1] - entries[0], 0);
}

/* utime and stime, in microseconds. */
static void read_times(uint64_t *us)
{
	unsigned long long v[2];
	char text[1024] = "", *rest;
	int fd = open("/proc/self/stat", O_RDONLY);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		err(1, "/proc/self/stat");
	close(fd);
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u"
			    " %*u %*u %llu %llu", &v[0], &v[1]) != 2)
		errx(1, "/proc/self/stat: %s", text);
	us[0] = of_stat(v[0]);
	us[1] = of_stat(v[1]);
}

static void times(int cpu, long ms)
{
	static char buf[256 << 10];
	int zero = open("/dev/zero", O_RDONLY);
	uint64_t end, us_[2][2];
	volatile int i;
	struct look l;

	pin(cpu);
	memset(buf, 1, sizeof(buf));
	l = look_begin();
	read_times(us_[0]);
	end = clock_ns(CLOCK_MONOTONIC) + ms * 500000ULL;
	while (clock_ns(CLOCK_MONOTONIC) < end)
		for (i = 0; i < 100000; i++)
			;
	end += ms * 500000ULL;
	while (clock_ns(CLOCK_MONOTONIC) < end)
		if (read(zero, buf, sizeof(buf)) < 0)
			err(1, "/dev/zero");
	look_end(&l);
	read_times(us_[1]);
	say("user", us(l.b, of(&l, PPA_SCHEDACCUM) - of(&l, PPA_SCACCUM)),
	    us_[1][0] - us_[0][0]);
	say("system", us(l.b, of(&l, PPA_SCACCUM) + of(&l, PPA_INTACCUM) +
				   of(&l, PPA_SOFTACCUM)),
	    us_[1][1] - us_[0][1]);
	say("entries", of(&l, PPA_SYSCALLCNT) + of(&l, PPA_INTCNT), 0);
}

static volatile int signals_got;
static struct sample at_signal[64];
static int expire_fd;

static void on_expiry(int sig)
{
	if (signals_got < 64)
		take(expire_fd, &at_signal[signals_got]);
	signals_got++;
}

/* Some of it in system calls, in bursts that no tick fits in. */
static void mixed_work(void)
{
	volatile int i;

	for (i = 0; i < 300; i++)
		syscall(SYS_getppid);
	for (i = 0; i < 20000; i++)
		;
}

static void expire(const char *kind, int which, long ms, long repeat)
{
	struct itimerval it = {
		{ 0, ms * 1000 }, { 0, ms * 1000 }
	};
	char name[32];
	uint64_t a, b;
	long i;

	expire_fd = open_own("rawppa", O_RDONLY);
	memset(at_signal, 1, sizeof(at_signal));
	take(expire_fd, &at_signal[0]);
	signals_got = 1;
	signal(which == ITIMER_PROF ? SIGPROF : SIGVTALRM, on_expiry);
	if (setitimer(which, &it, NULL))
		err(1, "setitimer");
	while (signals_got <= repeat)
		mixed_work();
	memset(&it, 0, sizeof(it));
	setitimer(which, &it, NULL);
	for (i = 2; i <= repeat; i++) {
		a = at_signal[i - 1].sum[PPA_SCHEDACCUM];
		b = at_signal[i].sum[PPA_SCHEDACCUM];
		if (which == ITIMER_VIRTUAL) {
			a -= at_signal[i - 1].sum[PPA_SCACCUM];
			b -= at_signal[i].sum[PPA_SCACCUM];
		}
		snprintf(name, sizeof(name), "%s%s", kind,
			 which == ITIMER_PROF ? "prof_us" : "virtual_us");
		say(name, us(&at_signal[0], b - a), ms * 1000);
	}
}

static void limit(void)
{
	struct rlimit r = { 1, 10 };
	struct sample *now = calloc(1, sizeof(*now));

	expire_fd = open_own("rawppa", O_RDONLY);
	signal(SIGXCPU, on_expiry);
	setrlimit(RLIMIT_CPU, &r);
	while (!signals_got)
		mixed_work();
	say("limit_us", us(&at_signal[0], at_signal[0].sum[PPA_SCHEDACCUM]),
	    1000000);
}

static void control(const char *values)
{
	int fd = open_own("ppactl", O_RDWR);
	char text[64];
	ssize_t n;

	if (write(fd, values, strlen(values)) < 0)
		printf("control %s: %s\n", values, strerror(errno));
	n = pread(fd, text, sizeof(text) - 1, 0);
	text[n < 0 ? 0 : n] = '\0';
	printf("control is %s", text);
	fflush(stdout);
}

static void off(long n)
{
	struct look l = look_begin();
	long i;

	control("0 0 0 1");
	take(l.fd, l.a);
	for (i = 0; i < n; i++)
		syscall(SYS_getppid);
	look_end(&l);
	say("calls", of(&l, PPA_SYSCALLCNT), 0);
	say("ran", of(&l, PPA_SCHEDACCUM), 0);
	control("1 1 0 1");
	calls(n);
}

static char **orphan_args;

static void *orphan_thread(void *unused)
{
	long ms = atol(orphan_args[2]), repeat = atol(orphan_args[3]);

	/* the first thread is gone by then */
	usleep(100000);
	expire("", ITIMER_VIRTUAL, ms, repeat);
	expire("", ITIMER_PROF, ms, repeat);
	exit(0);
}

static void orphan(char **argv)
{
	pthread_t thread;

	orphan_args = argv;
	pthread_create(&thread, NULL, orphan_thread, NULL);
	pthread_exit(NULL);
}

static void expire_both(const char *kind, long ms, long repeat)
{
	expire(kind, ITIMER_VIRTUAL, ms, repeat);
	expire(kind, ITIMER_PROF, ms, repeat);
}

/* The other thread of this process. */
static pid_t other_thread(void)
{
	pid_t tid = 0;
	size_t i;
	glob_t g;

	while (!tid) {
		if (glob("/proc/self/task/*", 0, NULL, &g))
			errx(1, "no threads");
		for (i = 0; i < g.gl_pathc; i++)
			if (atoi(strrchr(g.gl_pathv[i], '/') + 1) != getpid())
				tid = atoi(strrchr(g.gl_pathv[i], '/') + 1);
		globfree(&g);
	}
	return tid;
}

/* The ring's looks for work for a millisecond, and then sleeps. */
static void ring(long ms, long repeat)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 1
	};

	if (syscall(SYS_io_uring_setup, 4, &p) < 0) {
		printf("ring: %s\n", strerrorname_np(errno));
		return;
	}
	await(other_thread(), 'S');
	expire_both("ring_", ms, repeat);
}

static void *wait_for_good(void *arg)
{
	for (;;)
		pause();
	return arg;
}

/* The kernel looks after a process of many. */
static void crowd(long n, long ms, long repeat)
{
	char kind[32];
	pthread_t t;
	long i;

	/* one is here */
	for (i = 1; i < n; i++)
		if (pthread_create(&t, NULL, wait_for_good, NULL))
			errx(1, "pthread_create");
	/* they have gone to sleep, and have their records */
	usleep(500000);
	snprintf(kind, sizeof(kind), "of%ld_", n);
	expire_both(kind, ms, repeat);
}

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	alarms++;
}

static void let_alarms(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGPROF);
	sigprocmask(how, &set, NULL);
}

static void *work_a_while(void *unused)
{
	mixed_work();
	return NULL;
}

static void *exec_next(void *n)
{
	execl("/proc/self/exe", "ppa", "next", n, NULL);
	err(1, "exec");
}

/* Threads come and go until there were some alarms; then, while the timer goes on, one
 * that is not the first makes another program of it all, N times. */
static void next(long n)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	pthread_t t;
	char rest[24];

	signal(SIGPROF, on_alarm);
	let_alarms(SIG_UNBLOCK);
	if (setitimer(ITIMER_PROF, &often, NULL))
		err(1, "setitimer");
	while (alarms < 3) {
		if (pthread_create(&t, NULL, work_a_while, NULL))
			errx(1, "pthread_create");
		mixed_work();
		pthread_join(t, NULL);
	}
	if (!n)
		exit(0);
	/* a program has no handler when it begins */
	let_alarms(SIG_BLOCK);
	snprintf(rest, sizeof(rest), "%ld", n - 1);
	if (pthread_create(&t, NULL, exec_next, rest))
		errx(1, "pthread_create");
	pthread_join(t, NULL);
}

/* It has its parent's handlers, until it is another program. */
static int sharing(void *unused)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	let_alarms(SIG_BLOCK);
	if (setitimer(ITIMER_PROF, &often, NULL))
		_exit(1);
	mixed_work();
	execl("/proc/self/exe", "ppa", "next", "2", NULL);
	_exit(1);
}

static void execs(long n)
{
	static char stack[65536] __attribute__((aligned(16)));
	long i, well = 0;
	int status;
	pid_t pid;

	for (i = 0; i < n; i++) {
		pid = clone(sharing, stack + sizeof(stack), CLONE_VM |
			    CLONE_SIGHAND | CLONE_VFORK | SIGCHLD, NULL);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			err(1, "clone");
		well += !status;
	}
	say("execs", well, n);
}

/* How many wake-ups have been sorted by how late they came. */
static uint64_t sorted(const struct sample *s, size_t at)
{
	const uint64_t *v = (const uint64_t *)(s->bytes + at);
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < s->h.nr_buckets; i++)
		sum += v[i];
	return sum;
}

/* N naps that block; one that is over before it has blocked is none. */
static void naps(long n)
{
	struct rusage r;
	long all;

	getrusage(RUSAGE_THREAD, &r);
	all = r.ru_nvcsw + n;
	do {
		nap(1000);
		getrusage(RUSAGE_THREAD, &r);
	} while (r.ru_nvcsw < all);
}

static void late_off(long n)
{
	struct look l = look_begin();
	uint64_t before, off;
	size_t at;

	control("1 0 0 1");
	take(l.fd, l.a);
	naps(n);
	look_end(&l);
	say("off_offset", l.b->h.latency_offset, 0);
	say("off_wakeups", of(&l, PPA_SCHLATCNT), n);
	control("1 1 0 1");
	take(l.fd, l.a);
	at = l.a->h.latency_offset;
	say("on_offset", at != 0, 1);
	before = sorted(l.a, at);
	off = l.a->sum[PPA_SCHLATCNT];
	naps(n);
	look_end(&l);
	say("on_wakeups", of(&l, PPA_SCHLATCNT), n);
	say("on_sorted", sorted(l.b, at) - before, n);
	/* but for those that were not sorted */
	say("never_sorted", off - before, n);
}

/* Time that is neither a system call's nor the kernel's for anybody else. */
static void say_user(const char *name, struct look *l)
{
	look_end(l);
	say(name, us(l->b, of(l, PPA_SCHEDACCUM) - of(l, PPA_SCACCUM)),
	    us(l->b, of(l, PPA_SCHEDACCUM)));
}

static void faults(long n)
{
	const long size = sysconf(_SC_PAGESIZE);
	volatile char *m = mmap(NULL, n * size, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct look l;
	long i;

	if (m == MAP_FAILED || madvise((void *)m, n * size, MADV_NOHUGEPAGE))
		err(1, "mmap");
	l = look_begin();
	for (i = 0; i < n; i++)
		m[i * size] = 1;
	say_user("faults_us", &l);
	say("faults", l.b->usage.ru_minflt - l.a->usage.ru_minflt, n);
}

#ifdef __x86_64__
static void traps(long n)
{
	struct look l;
	long i;

	signal(SIGTRAP, on_signal);
	l = look_begin();
	for (i = 0; i < n; i++)
		asm volatile("int3");
	say_user("traps_us", &l);
	/* each goes back by one */
	say("traps", of(&l, PPA_SYSCALLCNT), n + 2);
}
#else
static void traps(long n)
{
	errx(1, "traps: for x86_64 only");
}
#endif

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	if (!strcmp(what, "calls"))
		calls(n);
	else if (!strcmp(what, "exec"))
		exec(argv[2]);
	else if (!strcmp(what, "yield"))
		yield(n);
	else if (!strcmp(what, "preempt"))
		preempt(n);
	else if (!strcmp(what, "slices"))
		slices(n, SCHED_RR);
	else if (!strcmp(what, "fair"))
		slices(n, SCHED_OTHER);
	else if (!strcmp(what, "signals"))
		signals(n);
	else if (!strcmp(what, "light"))
		light(n);
	else if (!strcmp(what, "vcpu") && argc > 2)
		vcpu(argv[2]);
	else if (!strcmp(what, "spin"))
		spin(n);
	else if (!strcmp(what, "late"))
		late(n, argc > 3 ? atol(argv[3]) : 0);
	else if (!strcmp(what, "cpus"))
		cpus(0);
	else if (!strcmp(what, "spans"))
		cpus(n);
	else if (!strcmp(what, "stat"))
		stat(n, argc > 3 ? atol(argv[3]) : 0);
	else if (!strcmp(what, "times"))
		times(n, argc > 3 ? atol(argv[3]) : 0);
	else if (!strcmp(what, "control"))
		control(argv[2]);
	else if (!strcmp(what, "expire")) {
		expire_both("", n, argc > 3 ? atol(argv[3]) : 0);
	} else if (!strcmp(what, "native") && argc > 3) {
		control("1 1 0 1");
		expire_both("off_", n, atol(argv[3]));
	} else if (!strcmp(what, "crowd") && argc > 4)
		crowd(n, atol(argv[3]), atol(argv[4]));
	else if (!strcmp(what, "ring") && argc > 3)
		ring(n, atol(argv[3]));
	else if (!strcmp(what, "execs"))
		execs(n);
	else if (!strcmp(what, "next"))
		next(n);
	else if (!strcmp(what, "late_off"))
		late_off(n);
	else if (!strcmp(what, "faults"))
		faults(n);
	else if (!strcmp(what, "traps"))
		traps(n);
	else if (!strcmp(what, "orphan") && argc > 3)
		orphan(argv);
	else if (!strcmp(what, "limit"))
		limit();
	else if (!strcmp(what, "off"))
		off(n);
	else if (!strcmp(what, "arrays"))
		arrays(n, argc > 3 ? atol(argv[3]) : 0);
	else
		errx(1, "unknown '%s'", what);
	return 0;
}
