/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Precise accounting beside what the kernel counts itself, and its files while the
 * threads that they tell of come and go.
 *
 *	ppa-oracle interrupts MS	each CPU's interrupts and softirqs for MS and
 *				until some of each kind that we look for have come,
 *				beside /proc/interrupts and /proc/softirqs
 *	ppa-oracle soft N	the same of N tasklets of each kind and as many packets
 *				that are freed, with the module of soft/
 *	ppa-oracle recycled ROUNDS	read threads' files while the threads exit
 *				and others take their records
 *	ppa-oracle ended		a thread's last values, after its end
 *	ppa-oracle ring			a thread that io_uring makes
 *	ppa-oracle evade MS		run whenever no tick comes, beside /proc/stat
 *	ppa-oracle split MS		be in a system call whenever a tick comes, beside
 *				/proc/PID/stat
 *	ppa-oracle bounds		all threads and CPUs: no time is half a day, and what
 *				sums to another does
 *	ppa-oracle back MS		read all threads for MS, and longer until some
 *				have run: nothing of one is less than it was
 *	ppa-oracle preempted TIMES	a thread that is preempted on its way to sleep, and
 *				woken then, with the module of way/
 *	ppa-oracle settings TIMES	change everyone's while processes follow one
 *				another, and look that all threads have it
 *	ppa-oracle led			a process of three threads, whose last one calls
 *				exec()
 *
 * Long because a guest gets one program for all that the kernel is asked, too.
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
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ppa/abi.h"

#define MAX_CPUS 64
#define TICK_NS 4000000	/* of the lab's kernels, at 250 Hz */

static char *dir(void)
{
	glob_t g;

	if (glob("/proc/systemtap/*/ppa", 0, NULL, &g))
		errx(1, "no session");
	return g.gl_pathv[0];
}

static int open_file(long tid, const char *name)
{
	char path[256];
	int fd, i;

	if (tid)
		snprintf(path, sizeof(path), "%s/%ld/%s", dir(), tid, name);
	else
		snprintf(path, sizeof(path), "%s/%s", dir(), name);
	/* a thread's directory comes a little later than the thread */
	for (i = 0; i < 100; i++) {
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0)
			return fd;
		usleep(50000);
	}
	return -1;
}

/* ---- interrupts */

/* Of tasklets /proc/softirqs says how often some have run, and ppa how many. */
enum { INTS, SOFTS, TIMERS, TX, RX, NR_ALIKE, HI = NR_ALIKE, REGULAR, NR_COUNTS };

static const char *const count_name[] = {
	"interrupts", "softirqs", "timers", "net_tx", "net_rx", "hi_tasklets",
	"tasklets"
};

struct counts {
	uint64_t n[MAX_CPUS][NR_COUNTS];
};

static union {
	struct ppa_header h;
	char bytes[1 << 20];
} file;

static void ppa_counts(int fd, struct counts *c)
{
	static const int from[] = {
		[INTS] = PPA_INTERRUPTCNT, [SOFTS] = PPA_SOFTIRQCNT,
		[TIMERS] = PPA_TMRTSKLTCNT, [TX] = PPA_NTWKTXCNT,
		[RX] = PPA_NTWKRXCNT, [HI] = PPA_HIPRITSKLTCNT,
		[REGULAR] = PPA_REGPRITSKLTCNT
	};
	unsigned int cpu, i;
	uint64_t *v;

	if (pread(fd, file.bytes, sizeof(file), 0) < (ssize_t)sizeof(file.h))
		err(1, "rawsysppa");
	for (cpu = 0; cpu < file.h.nr_arrays && cpu < MAX_CPUS; cpu++) {
		v = (uint64_t *)(file.bytes + file.h.offset +
				 cpu * file.h.stride);
		for (i = 0; i < NR_COUNTS; i++)
			c->n[cpu][i] = v[from[i]];
	}
}

/* A line's numbers, one for each CPU that is online. */
static void add_line(struct counts *c, unsigned int which, char *at)
{
	unsigned int cpu;
	uint64_t n;
	char *end;

	for (cpu = 0; cpu < MAX_CPUS; cpu++, at = end) {
		n = strtoull(at, &end, 10);
		if (end == at)
			return;
		c->n[cpu][which] += n;
	}
}

/* Of those that are told of: NMIs, what is spurious and what only counts errors
 * are no interrupts with a handler. */
static bool is_told_of(const char *name)
{
	static const char *const not_told[] = {
		"NMI", "SPU", "PMI", "MCE", "MCP", "ERR", "MIS", "RTR", "DFR",
		"Err"
	};
	unsigned int i;

	for (i = 0; i < sizeof(not_told) / sizeof(*not_told); i++)
		if (!strcmp(name, not_told[i]))
			return false;
	return true;
}

static void kernel_lines(struct counts *c, const char *path, bool soft)
{
	char line[8192], *name, *colon;
	FILE *f = fopen(path, "re");

	if (!f)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = '\0';
		for (name = line; *name == ' '; name++)
			;
		if (!soft && is_told_of(name))
			add_line(c, INTS, colon + 1);
		if (!soft)
			continue;
		add_line(c, SOFTS, colon + 1);
		if (!strcmp(name, "TIMER"))
			add_line(c, TIMERS, colon + 1);
		else if (!strcmp(name, "NET_TX"))
			add_line(c, TX, colon + 1);
		else if (!strcmp(name, "NET_RX"))
			add_line(c, RX, colon + 1);
		else if (!strcmp(name, "HI"))
			add_line(c, HI, colon + 1);
		else if (!strcmp(name, "TASKLET"))
			add_line(c, REGULAR, colon + 1);
	}
	fclose(f);
}

static void kernel_counts(struct counts *c)
{
	memset(c, 0, sizeof(*c));
	kernel_lines(c, "/proc/interrupts", false);
	kernel_lines(c, "/proc/softirqs", true);
}

static void run_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		err(1, "sched_setaffinity to CPU %d", cpu);
}

/* When each CPU has run us, none is between the kernel's counting of an interrupt
 * and ours. */
static void settle(void)
{
	cpu_set_t all;
	int cpu;

	if (sched_getaffinity(0, sizeof(all), &all))
		err(1, "sched_getaffinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &all))
			run_on(cpu);
	if (sched_setaffinity(0, sizeof(all), &all))
		err(1, "sched_setaffinity");
}

/* Has some CPU had each kind?  Who is to send packets may only be about to. */
static bool all_came(const struct counts *from, const struct counts *to)
{
	bool came[NR_ALIKE] = { [TX] = true };
	int cpu, i;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		for (i = 0; i < NR_ALIKE; i++)
			came[i] |= to->n[cpu][i] > from->n[cpu][i];
	for (i = 0; i < NR_ALIKE; i++)
		if (!came[i])
			return false;
	return true;
}

/* Both are read twice, each time around the other: what ppa has counted between its
 * readings is at least what the kernel has between its inner ones, and at most
 * what it has between its outer ones. */
static struct counts kernel_had[4], ppa_had[2];

static int compare_begin(void)
{
	int fd = open_file(0, "rawsysppa");

	if (fd < 0)
		err(1, "rawsysppa");
	kernel_counts(&kernel_had[0]);
	settle();
	ppa_counts(fd, &ppa_had[0]);
	settle();
	kernel_counts(&kernel_had[1]);
	return fd;
}

static uint64_t counted(int cpu, int which)
{
	return ppa_had[1].n[cpu][which] - ppa_had[0].n[cpu][which];
}

static void compare_one(int cpu, int which)
{
	uint64_t got = counted(cpu, which);
	uint64_t least = kernel_had[2].n[cpu][which] -
			 kernel_had[1].n[cpu][which];
	uint64_t most = kernel_had[3].n[cpu][which] -
			kernel_had[0].n[cpu][which];

	printf("cpu %d %s %s", cpu, count_name[which],
	       least <= got && got <= most ? "right" : "wrong");
	if (least > got || got > most)
		printf(" %llu, not %llu to %llu", (unsigned long long)got,
		       (unsigned long long)least, (unsigned long long)most);
	printf("%s\n", got ? "" : " none");
}

/* What the kernel had last is read already, the third time. */
static void compare_end(int fd, int nr)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu, i;

	settle();
	ppa_counts(fd, &ppa_had[1]);
	settle();
	kernel_counts(&kernel_had[3]);
	for (cpu = 0; cpu < cpus && cpu < MAX_CPUS; cpu++)
		for (i = 0; i < nr; i++)
			compare_one(cpu, i);
}

static void interrupts(long ms)
{
	int fd = compare_begin(), tries = 60;

	do {
		usleep(ms * 1000);
		kernel_counts(&kernel_had[2]);
	} while (!all_came(&kernel_had[1], &kernel_had[2]) && --tries);
	compare_end(fd, NR_ALIKE);
}

/* Of one tasklet, or packet, after another: each has a softirq of its own. */
static void soft(const char *n)
{
	static const int kinds[] = { TX, HI, REGULAR };
	int module = open("/proc/soft", O_WRONLY | O_CLOEXEC), fd;
	cpu_set_t all;
	unsigned int i;

	fd = compare_begin();
	if (sched_getaffinity(0, sizeof(all), &all))
		err(1, "sched_getaffinity");
	run_on(1);
	if (write(module, n, strlen(n)) < 0)
		err(1, "/proc/soft");
	if (sched_setaffinity(0, sizeof(all), &all))
		err(1, "sched_setaffinity");
	kernel_counts(&kernel_had[2]);
	compare_end(fd, NR_COUNTS);
	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		printf("soft %s %s\n", count_name[kinds[i]],
		       counted(1, kinds[i]) >= strtoull(n, NULL, 10) ? "all"
								   : "some");
}

/* ---- records that are used again */

#define SHORT_SIGNALS 7

static volatile pid_t short_tid;
static volatile int short_signals;
static volatile bool short_may_go;

static void on_signal(int sig)
{
	short_signals++;
}

/* Nobody else gets these signals. */
static void *short_lived(void *unused)
{
	short_tid = syscall(SYS_gettid);
	while (short_signals < SHORT_SIGNALS) {
		usleep(1000);
		pthread_kill(pthread_self(), SIGUSR1);
	}
	while (!short_may_go)
		usleep(1000);
	return NULL;
}

/* What a reading says is this thread's, or there is none; when its directory has gone
 * /proc itself says EIO of what is still open.  It had LEAST signals, and has them still. */
static bool reading_is_right(ssize_t n, long tid, uint32_t *least)
{
	const struct ppa_header *h = &file.h;
	uint32_t had = *least;

	if (n < 0)
		return errno == ESRCH || errno == EAGAIN || errno == EIO;
	if (n < (ssize_t)sizeof(*h) || h->tid != tid || !h->scale ||
	    h->scale > h->nr_cpus || h->nr_arrays !=
	    (h->nr_cpus + h->scale - 1) / h->scale)
		return false;
	memcpy(least, file.bytes + h->signals_offset + SIGUSR1 * sizeof(*least),
	       sizeof(*least));
	return had <= *least && *least <= SHORT_SIGNALS;
}

static void recycled(long rounds)
{
	unsigned long right = 0, wrong = 0, alive;
	uint32_t least;
	pthread_t thread;
	pid_t churn;
	ssize_t n;
	int fd, i;

	signal(SIGUSR1, on_signal);
	churn = fork();
	while (!churn) {
		if (!fork())
			_exit(0);
		wait(NULL);
	}
	while (rounds--) {
		short_tid = 0;
		short_signals = 0;
		short_may_go = false;
		pthread_create(&thread, NULL, short_lived, NULL);
		while (!short_tid)
			usleep(1000);
		fd = open_file(short_tid, "rawppa");
		if (fd < 0)
			errx(1, "thread %d has no directory", short_tid);
		least = 0;
		for (alive = 0, i = 0; i < 300; i++) {
			if (i == 20) {
				while (short_signals < SHORT_SIGNALS)
					usleep(1000);
				least = SHORT_SIGNALS;
				short_may_go = true;
			}
			n = pread(fd, file.bytes, sizeof(file), 0);
			alive += n > 0;
			if (reading_is_right(n, short_tid, &least))
				right++;
			else
				wrong++;
		}
		pthread_join(thread, NULL);
		close(fd);
		if (!alive)
			wrong++;
	}
	kill(churn, SIGKILL);
	printf("recycled wrong %lu of %s\n", wrong, right ? "some" : "none");
}

/* ---- what is told of a thread that has ended */

static void *known_calls(void *unused)
{
	int i;

	short_tid = syscall(SYS_gettid);
	for (i = 0; i < 777; i++)
		syscall(SYS_getppid);
	return NULL;
}

/* All of rawthreads; returns how long it is. */
static ssize_t read_threads(void)
{
	int fd = open_file(0, "rawthreads");
	ssize_t n, size = 0;

	while ((n = read(fd, file.bytes + size, sizeof(file) - size)) > 0)
		size += n;
	close(fd);
	return size;
}

/* How many records of it as one that has ended, and the calls of the last; 100
 * more for one that lacks something. */
static int find_ended(uint64_t *calls)
{
	const ssize_t size = read_threads();
	const struct ppa_thread *t;
	int nr = 0;
	ssize_t n;

	for (n = file.h.offset; n + (ssize_t)sizeof(*t) <= size;
	     n += file.h.stride) {
		t = (const struct ppa_thread *)(file.bytes + n);
		if (t->tid != (uint32_t)short_tid || !(t->flags & PPA_ENDED))
			continue;
		nr++;
		*calls = t->values[PPA_SYSCALLCNT];
		if (!t->born || strcmp(t->comm, "ppa-oracle"))
			nr += 100;
	}
	return nr;
}

static void ended(void)
{
	uint64_t calls = 0;
	pthread_t thread;
	int nr, tries;

	pthread_create(&thread, NULL, known_calls, NULL);
	pthread_join(thread, NULL);
	/* it is away when it has had its last switch */
	for (tries = 0; !(nr = find_ended(&calls)) && tries < 100; tries++)
		usleep(100000);
	printf("ended %d calls %d\n", nr, calls >= 777 && calls < 800);
}

/* ---- a thread that no fork() tells of */

/* The ring's, which has its name from when it first runs on. */
static long ring_thread(void)
{
	char comm[64];
	long tid = 0;
	size_t i;
	glob_t g;
	FILE *f;

	if (glob("/proc/self/task/*/comm", 0, NULL, &g))
		errx(1, "no threads");
	for (i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "re");
		if (f && fgets(comm, sizeof(comm), f) &&
		    !strncmp(comm, "iou-sqp", 7))
			sscanf(g.gl_pathv[i], "/proc/self/task/%ld/", &tid);
		if (f)
			fclose(f);
	}
	globfree(&g);
	return tid;
}

/* Has the thread run for 20 ms? */
static bool ring_has_run(int raw)
{
	uint64_t *v, sum = 0;
	unsigned int i;

	if (pread(raw, file.bytes, sizeof(file), 0) < (ssize_t)sizeof(file.h))
		err(1, "rawppa");
	for (i = 0; i < file.h.nr_arrays; i++) {
		v = (uint64_t *)(file.bytes + file.h.offset +
				 i * file.h.stride);
		sum += v[PPA_SCHEDACCUM];
	}
	return sum > file.h.tick_hz / 50;
}

static void ring(void)
{
	struct io_uring_params p = {
		.flags = IORING_SETUP_SQPOLL, .sq_thread_idle = 60000
	};
	long fd = syscall(SYS_io_uring_setup, 4, &p), tid;
	int raw, tries;
	bool ran;

	if (fd < 0) {
		printf("ring: %s\n", strerrorname_np(errno));
		return;
	}
	for (tries = 0; !(tid = ring_thread()) && tries < 100; tries++)
		usleep(100000);
	raw = tid ? open_file(tid, "rawppa") : -1;
	if (raw < 0) {
		printf("ring: thread %s, no file\n", tid ? "found" : "lost");
		return;
	}
	/* from its wake-up on it looks for work, on a CPU that others want, too */
	syscall(SYS_io_uring_enter, fd, 0, 0, IORING_ENTER_SQ_WAKEUP, NULL, 0);
	for (tries = 0; !(ran = ring_has_run(raw)) && tries < 100; tries++)
		usleep(200000);
	printf("ring: %s\n", ran ? "counted" : "no time");
}

/* ---- what ticks do not see */

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* A CPU's time in milliseconds that was not idle, by /proc/stat. */
static long stat_busy_ms(int cpu)
{
	unsigned long long v[8] = { 0 };
	char line[256], name[16];
	FILE *f = fopen("/proc/stat", "re");

	snprintf(name, sizeof(name), "cpu%d ", cpu);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line + strlen(name),
			       "%llu %llu %llu %llu %llu %llu %llu", &v[0],
			       &v[1], &v[2], &v[3], &v[4], &v[5], &v[6]);
	if (f)
		fclose(f);
	return (v[0] + v[1] + v[2] + v[5] + v[6]) * 1000 /
	       sysconf(_SC_CLK_TCK);
}

static uint64_t ppa_busy_ms(int fd, int cpu)
{
	uint64_t *v;

	if (pread(fd, file.bytes, sizeof(file), 0) < (ssize_t)sizeof(file.h))
		err(1, "rawsysppa");
	v = (uint64_t *)(file.bytes + file.h.offset + cpu * file.h.stride);
	return (v[PPA_USRMODE] + v[PPA_SYSMODE]) * 1000. / file.h.tick_hz;
}

/* Ticks are where the clock is a multiple of theirs: at work from a tenth of a tick
 * after one to a fifth before the next, asleep where it comes. */
static void evade(long ms)
{
	int fd = open_file(0, "rawsysppa"), cpu = 1;
	uint64_t from = now_ns(), until = from + ms * 1000000ULL, tick, worked = 0;
	struct timespec wake;
	long busy;
	uint64_t got;

	if (fd < 0)
		err(1, "evade");
	run_on(cpu);
	busy = stat_busy_ms(cpu);
	got = ppa_busy_ms(fd, cpu);
	while ((tick = now_ns()) < until) {
		tick += TICK_NS - tick % TICK_NS;
		wake.tv_sec = (tick + TICK_NS / 10) / 1000000000;
		wake.tv_nsec = (tick + TICK_NS / 10) % 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, NULL);
		from = now_ns();
		while (now_ns() % TICK_NS < TICK_NS / 10 * 8 &&
		       now_ns() - from < TICK_NS)
			;
		worked += now_ns() - from;
	}
	printf("worked_ms %llu stat_ms %ld ppa_ms %llu\n",
	       (unsigned long long)worked / 1000000,
	       stat_busy_ms(cpu) - busy,
	       (unsigned long long)(ppa_busy_ms(fd, cpu) - got));
}

/* User and system time so far of this thread, in milliseconds, as /proc/PID/stat has it
 * and as ppa does. */
static void split_times(int raw, uint64_t *theirs, uint64_t *ours)
{
	const uint64_t *v = (const uint64_t *)(file.bytes + sizeof(file.h));
	unsigned long long user, system;
	char text[1024] = "", *rest;
	int fd = open("/proc/thread-self/stat", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		err(1, "/proc/thread-self/stat");
	close(fd);
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u"
			    " %*u %*u %llu %llu", &user, &system) != 2)
		errx(1, "/proc/thread-self/stat: %s", text);
	theirs[0] = user * 1000 / sysconf(_SC_CLK_TCK);
	theirs[1] = system * 1000 / sysconf(_SC_CLK_TCK);
	/* all CPUs are one array */
	if (pread(raw, file.bytes, sizeof(file), 0) < (ssize_t)sizeof(file.h) ||
	    file.h.nr_arrays != 1 || file.h.offset != sizeof(file.h))
		err(1, "rawppa");
	ours[0] = (v[PPA_SCHEDACCUM] - v[PPA_SCACCUM]) * 1000. / file.h.tick_hz;
	ours[1] = v[PPA_SCACCUM] * 1000. / file.h.tick_hz;
}

static void compute(void)
{
	volatile int i;

	for (i = 0; i < 1000; i++)
		;
}

/* In user mode for four fifths of each tick, and in system calls, one of which the next
 * tick comes in. */
static void split(long ms)
{
	static char buf[256 << 10];
	int raw = open_file(syscall(SYS_gettid), "rawppa");
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	uint64_t theirs[2][2], ours[2][2], until, from, tick, worked[2] = { 0 };

	run_on(1);
	memset(buf, 1, sizeof(buf));
	split_times(raw, theirs[0], ours[0]);
	until = now_ns() + ms * 1000000ULL;
	while ((from = now_ns()) < until) {
		tick = from / TICK_NS * TICK_NS;
		while (now_ns() < tick + TICK_NS / 5 * 4)
			compute();
		worked[0] += now_ns() - from;
		from = now_ns();
		while (now_ns() < tick + TICK_NS)
			if (read(zero, buf, sizeof(buf)) < 0)
				err(1, "/dev/zero");
		worked[1] += now_ns() - from;
	}
	split_times(raw, theirs[1], ours[1]);
	printf("split worked_ms %llu %llu stat_ms %llu %llu ppa_ms %llu %llu\n",
	       (unsigned long long)worked[0] / 1000000,
	       (unsigned long long)worked[1] / 1000000,
	       (unsigned long long)(theirs[1][0] - theirs[0][0]),
	       (unsigned long long)(theirs[1][1] - theirs[0][1]),
	       (unsigned long long)(ours[1][0] - ours[0][0]),
	       (unsigned long long)(ours[1][1] - ours[0][1]));
}

/* ---- what no time can be */

static bool has_too_long(const uint64_t *times, unsigned int nr)
{
	while (nr--)
		if (*times++ / file.h.tick_hz > 43200)
			return true;
	return false;
}

static bool thread_is_wrong(const struct ppa_thread *t)
{
	const uint64_t *v = t->values, times[] = {
		v[PPA_SCHEDACCUM], v[PPA_SCACCUM], v[PPA_INTACCUM],
		v[PPA_SCHLATACCUM], v[PPA_AVGCTXT], v[PPA_SOFTACCUM],
		v[PPA_PREEMPTACCUM], t->life
	};
	uint64_t sum = 0;
	unsigned int i;

	for (i = 0; i < PPA_NR_PARTS; i++)
		sum += t->parts[i];
	/* of who ended and has no record there may be less than nothing for now */
	return sum != t->life || has_too_long(times, sizeof(times) / 8) ||
	       has_too_long(t->parts, PPA_NR_PARTS) ||
	       has_too_long(t->longest, PPA_NR_PARTS) ||
	       (!(t->flags & PPA_SUM) &&
		(has_too_long(&t->gone, 1) ||
		 has_too_long(t->gone_parts, PPA_NR_PARTS)));
}

static bool cpu_is_wrong(const uint64_t *v)
{
	const uint64_t times[] = {
		v[PPA_USRMODE], v[PPA_SYSMODE], v[PPA_INTERRUPTS],
		v[PPA_TOTALSOFTIRQTIME], v[PPA_IDLE], v[PPA_NOT_ACCOUNTED],
		v[PPA_ELAPSED], v[PPA_SYS_SCHLATACCUM], v[PPA_SYS_PREEMPTACCUM],
		v[PPA_SYS_AVGCTXT]
	};

	return times[0] + times[1] + times[2] + times[3] + times[4] + times[5] !=
	       times[6] || has_too_long(times, sizeof(times) / 8);
}

static void bounds(void)
{
	int fd = open_file(0, "rawsysppa"), nr = 0, wrong = 0;
	const struct ppa_thread *t;
	ssize_t n, size;
	unsigned int i;

	if (pread(fd, file.bytes, sizeof(file), 0) < (ssize_t)sizeof(file.h))
		err(1, "rawsysppa");
	for (i = 0; i < file.h.nr_arrays; i++)
		wrong += cpu_is_wrong((uint64_t *)(file.bytes + file.h.offset +
						   i * file.h.stride));
	printf("bounds of CPUs %s, wrong %d\n", i ? "some" : "none", wrong);
	wrong = 0;
	size = read_threads();
	for (n = file.h.offset; n + (ssize_t)sizeof(*t) <= size;
	     n += file.h.stride) {
		t = (const struct ppa_thread *)(file.bytes + n);
		nr++;
		if (!thread_is_wrong(t))
			continue;
		wrong++;
		printf("thread %u %s is wrong\n", t->tid, t->comm);
	}
	printf("bounds of threads %s, wrong %d\n", nr ? "some" : "none", wrong);
}

/* ---- what was there is there */

/* Each thread of rawthreads, after AT; NULL: that was the last. */
static const struct ppa_thread *next_thread(const struct ppa_thread *at,
					    ssize_t size)
{
	const char *t = at ? (const char *)at + file.h.stride
			   : file.bytes + file.h.offset;

	return t + sizeof(*at) <= file.bytes + size ? (const void *)t : NULL;
}

/* What T has that is less than what it had; NULL: nothing. */
static const char *went_back(const struct ppa_thread *had,
			     const struct ppa_thread *t)
{
	static const char *const names[] = PPA_PART_NAMES;
	unsigned int i;

	for (i = 0; i < PPA_NR_PARTS; i++)
		if (t->parts[i] < had->parts[i] || t->waits[i] < had->waits[i])
			return names[i];
	return t->life < had->life ? "life" : NULL;
}

/* Of one that is there, by its number and birth. */
static bool find_thread(const struct ppa_thread *all, unsigned int nr,
			const struct ppa_thread *t, struct ppa_thread *found)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (all[i].tid == t->tid && all[i].born == t->born) {
			*found = all[i];
			return true;
		}
	return false;
}

static void back(long ms)
{
	static struct ppa_thread was[512];
	struct ppa_thread had;
	const uint64_t until = now_ns() + ms * 1000000ULL;
	unsigned int nr = 0, looked = 0, ran = 0, wrong = 0;
	const struct ppa_thread *t;
	const char *what;
	ssize_t size;

	while (now_ns() < until || ran < 100) {
		unsigned int i = 0;

		size = read_threads();
		for (t = NULL; (t = next_thread(t, size));) {
			if (t->flags & (PPA_SUM | PPA_ENDED))
				continue;
			if (!find_thread(was, nr, t, &had))
				continue;
			looked++;
			ran += t->parts[PPA_PART_WOKEN] > had.parts[PPA_PART_WOKEN];
			what = went_back(&had, t);
			if (!what)
				continue;
			wrong++;
			printf("thread %u %s: %s goes back\n", t->tid, t->comm, what);
		}
		for (t = NULL; (t = next_thread(t, size)) && i < 512;)
			if (!(t->flags & (PPA_SUM | PPA_ENDED)))
				was[i++] = *t;
		nr = i;
	}
	printf("back of %s, wrong %u\n", looked ? "some" : "none", wrong);
}

/* The living thread TID, or a process's first. */
static bool get_thread(pid_t tid, struct ppa_thread *to)
{
	const ssize_t size = read_threads();
	const struct ppa_thread *t;

	for (t = NULL; (t = next_thread(t, size));)
		if (t->tid == (uint32_t)tid && !(t->flags & PPA_ENDED)) {
			*to = *t;
			return true;
		}
	return false;
}

/* ---- everyone's setting */

#define CHAINS 4

/* Processes, of which each makes the next one and ends. */
static void chain(pid_t group)
{
	setpgid(0, group);
	for (;;)
		if (fork() > 0)
			_exit(0);
}

static void set_everyone(const char *text)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/ppa", dir());
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		err(1, "%s", path);
	close(fd);
}

static unsigned int have_other(unsigned int on)
{
	const ssize_t size = read_threads();
	const struct ppa_thread *t;
	unsigned int nr = 0;

	for (t = NULL; (t = next_thread(t, size));)
		nr += !(t->flags & (PPA_SUM | PPA_ENDED)) &&
		      (t->flags & PPA_ON) != on;
	return nr;
}

static void settings(long times)
{
	unsigned int wrong = 0, i;
	pid_t first = 0, child;

	signal(SIGCHLD, SIG_IGN);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (i = 0; i < CHAINS; i++) {
		child = fork();
		if (!child)
			chain(first);
		first = first ?: child;
		setpgid(child, first);
	}
	for (i = 0; i < times; i++) {
		set_everyone(i % 2 ? "1 0 0 1" : "0 0 0 1");
		wrong += have_other(i % 2 ? PPA_ON : 0);
	}
	set_everyone("1 0 0 1");
	kill(-first, SIGKILL);
	printf("settings %ld wrong %u\n", times, wrong);
}

/* ---- a thread that is preempted on its way to sleep */

static int way;
static volatile pid_t way_tid;
static volatile bool way_over, way_may_end;

static void tell_way(char c)
{
	if (pwrite(way, &c, 1, 0) != 1)
		err(1, "/proc/way");
}

static void await_way(char c)
{
	char now = 0;

	while (now != c)
		if (pread(way, &now, 1, 0) != 1)
			err(1, "/proc/way");
}

static void *on_its_way(void *unused)
{
	way_tid = syscall(SYS_gettid);
	tell_way('w');
	way_over = true;
	while (!way_may_end)
		;
	return NULL;
}

static void spin_ms(long ms)
{
	const uint64_t until = now_ns() + ms * 1000000ULL;

	while (now_ns() < until)
		;
}

/* One of a higher priority takes its CPU, wakes it, and looks. */
static const char *preempt_and_wake(struct ppa_thread *at)
{
	const char *what = NULL;
	pthread_attr_t attr;
	pthread_t thread;
	cpu_set_t one;
	int i;

	CPU_ZERO(&one);
	CPU_SET(1, &one);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(one), &one);
	way_tid = 0;
	way_over = way_may_end = false;
	run_on(0);
	if (pthread_create(&thread, &attr, on_its_way, NULL))
		errx(1, "pthread_create");
	await_way('w');
	run_on(1);
	for (i = 0; i < 4; i++) {
		if (!get_thread(way_tid, &at[i]))
			errx(1, "thread %d has no record", way_tid);
		if (!i)
			tell_way('W');
		if (i < 2)
			spin_ms(5);
		if (i == 2) {
			tell_way('g');
			run_on(0);
			while (!way_over)
				;
		}
		if (i && !what)
			what = went_back(&at[i - 1], &at[i]);
	}
	way_may_end = true;
	pthread_join(thread, NULL);
	return what;
}

static void preempted(long times)
{
	const struct sched_param first = { .sched_priority = 10 }, none = { 0 };
	unsigned int ready = 0, wakeups = 0;
	struct ppa_thread at[4];
	const char *back = NULL, *what;

	way = open("/proc/way", O_RDWR | O_CLOEXEC);
	if (way < 0)
		err(1, "/proc/way");
	while (times--) {
		/* a child has its parent's */
		if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first))
			err(1, "sched_setscheduler");
		what = preempt_and_wake(at);
		back = back ?: what;
		ready += at[2].parts[PPA_PART_PREEMPTED] -
			 at[1].parts[PPA_PART_PREEMPTED] >=
			 file.h.tick_hz * 49 / 10000;
		wakeups += at[3].values[PPA_SCHLATCNT] -
			   at[0].values[PPA_SCHLATCNT];
	}
	sched_setscheduler(0, SCHED_OTHER, &none);
	printf("preempted ready %u wakeups %u back %s\n", ready, wakeups,
	       back ?: "none");
}

/* ---- a process, when another thread than its first one calls exec() */

#define LED_SAID 99	/* a file of the program that it calls, too */

static int led_go[2], led_said[2];

static void say(int fd)
{
	if (write(fd, "", 1) != 1)
		err(1, "write");
}

static void hear(int fd)
{
	char c;

	if (read(fd, &c, 1) != 1)
		err(1, "read");
}

static void *lives_shortly(void *unused)
{
	usleep(300000);
	return NULL;
}

static void *calls_exec(void *unused)
{
	hear(led_go[0]);
	execl("/proc/self/exe", "ppa-oracle", "leads", NULL);
	err(1, "exec");
}

static void led_child(void)
{
	pthread_t thread;

	dup2(led_said[1], LED_SAID);
	prctl(PR_SET_NAME, "before");
	if (pthread_create(&thread, NULL, lives_shortly, NULL) ||
	    pthread_join(thread, NULL) ||
	    pthread_create(&thread, NULL, calls_exec, NULL))
		errx(1, "pthread_create");
	say(LED_SAID);
	for (;;)
		pause();
}

static void leads(void)
{
	say(LED_SAID);
	for (;;)
		pause();
}

static void led(void)
{
	struct ppa_thread before = { 0 }, t = { 0 };
	uint64_t sum = 0;
	unsigned int i;
	pid_t pid;

	if (pipe(led_go) || pipe(led_said))
		err(1, "pipe");
	pid = fork();
	if (!pid)
		led_child();
	hear(led_said[0]);
	/* a thread is gone after its last switch */
	while (!get_thread(pid, &before) || before.gone_nr < 1)
		usleep(10000);
	say(led_go[1]);
	hear(led_said[0]);
	/* the first thread has its own last switch, and its memory goes */
	for (i = 0; i < 100; i++) {
		if (get_thread(pid, &t) && t.gone_nr >= 2)
			break;
		usleep(100000);
	}
	for (i = 0; i < PPA_NR_PARTS; i++)
		sum += t.gone_parts[i];
	printf("led %llu gone, %s than there was, parts %s\n",
	       (unsigned long long)t.gone_nr,
	       t.gone >= before.gone + before.life ? "no less" : "less",
	       sum == t.gone ? "sum" : "do not");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long n = argc > 2 ? atol(argv[2]) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(what, "interrupts"))
		interrupts(n);
	else if (!strcmp(what, "soft") && argc > 2)
		soft(argv[2]);
	else if (!strcmp(what, "recycled"))
		recycled(n);
	else if (!strcmp(what, "ended"))
		ended();
	else if (!strcmp(what, "ring"))
		ring();
	else if (!strcmp(what, "evade"))
		evade(n);
	else if (!strcmp(what, "split"))
		split(n);
	else if (!strcmp(what, "bounds"))
		bounds();
	else if (!strcmp(what, "back"))
		back(n);
	else if (!strcmp(what, "preempted"))
		preempted(n);
	else if (!strcmp(what, "settings"))
		settings(n);
	else if (!strcmp(what, "led"))
		led();
	else if (!strcmp(what, "leads"))
		leads();
	else
		errx(2, "what?");
	return 0;
}
