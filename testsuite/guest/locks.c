/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that waits for locks of every kind, each a known number of times.
 *
 *	locks TIMES MS		MS milliseconds at least for each that blocks
 *	locks many NR		wait for NR futexes, each once, and tell how often that
 *				blocked
 *	locks one SIGTERM	wait for one until that comes, and tell the same
 *	locks rows DIR		tell how many rows of its rawlocks are programs'
 *	locks waits DIR		tell how many waits its rawlocks has, its rawthreads, and
 *				its rawlocks again
 *
 * Its first thread, the holder, has them; the second one, the waiter, wants them.  It
 * prints what the test must know: the numbers of both, where the futexes are, and
 * which file is locked; and then stays, for its functions to be asked for.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "ppa/abi.h"

static int times, ms, held, locked, locked_too;
static _Atomic pid_t waiter;
static pid_t holder;
static _Atomic int turn;		/* the one of both that goes on */
static _Atomic unsigned int passed_on, robust, readers, listed, alone;
static _Atomic unsigned int several[2];

enum { HOLDER, WAITER };

/* Without a wait that the kernel would see. */
static void give_turn(int to)
{
	turn = to;
}

static void wait_turn(int mine)
{
	while (turn != mine)
		;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void nap(void)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&ts, NULL);
}

/* At a place of its own: write() would wait for the lock of the file's. */
static void tell(char c)
{
	if (pwrite(held, &c, 1, 0) != 1)
		die("/proc/held");
}

static void await_held(char c)
{
	char now = 0;

	while (now != c)
		if (pread(held, &now, 1, 0) != 1)
			die("/proc/held");
}

static void *hold(void *what)
{
	prctl(PR_SET_NAME, "k-holder");
	tell(*(char *)what);
	return NULL;
}

/* One of the kernel's is held by a thread of its own, as it is within a call. */
static void hold_kernel(char c, bool blocks)
{
	pthread_t thread;
	int i;

	for (i = 0; i < times; i++) {
		if (pthread_create(&thread, NULL, hold, &c))
			die("pthread_create");
		await_held(c);
		give_turn(WAITER);
		if (blocks) {
			await(waiter, 'D');
			nap();
			tell('g');
		}
		wait_turn(HOLDER);
		pthread_join(thread, NULL);
	}
}

static void want_kernel(char c)
{
	int i;

	for (i = 0; i < times; i++) {
		wait_turn(WAITER);
		tell(c);
		give_turn(HOLDER);
	}
}

static long futex(_Atomic unsigned int *word, int op, unsigned int value)
{
	return syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

/* Until one of NR words, at most 2, is changed and woken. */
static void wait_any(_Atomic unsigned int *words, unsigned int nr)
{
	struct futex_waitv waiters[2];
	unsigned int i;

	for (i = 0; i < nr; i++)
		waiters[i] = (struct futex_waitv) {
			.val = words[i], .uaddr = (unsigned long)&words[i],
			.flags = FUTEX_32,
		};
	if (syscall(SYS_futex_waitv, waiters, nr, 0, NULL, 0) < 0)
		die("futex_waitv");
}

/* The first process, or one reader: as the library has it whose lock it is. */
#define ONE 1

static void let_wait(_Atomic unsigned int *word)
{
	*word = ONE | FUTEX_WAITERS;
	give_turn(WAITER);
	await(waiter, 'S');
	nap();
	*word = 0;
	futex(word, FUTEX_WAKE, 1);
	wait_turn(HOLDER);
}

static void hold_futexes(void)
{
	int i;

	for (i = 0; i < times; i++) {
		passed_on = holder;
		give_turn(WAITER);
		await(waiter, 'S');
		nap();
		if (futex(&passed_on, FUTEX_UNLOCK_PI, 0))
			die("FUTEX_UNLOCK_PI");
		wait_turn(HOLDER);

		robust = holder | FUTEX_WAITERS;
		give_turn(WAITER);
		await(waiter, 'S');
		nap();
		robust = 0;
		futex(&robust, FUTEX_WAKE, 1);
		wait_turn(HOLDER);

		let_wait(&readers);
		let_wait(&listed);
		let_wait(&alone);
		/* the first of them has no part in it */
		let_wait(&several[1]);

		flock(locked, LOCK_EX);
		give_turn(WAITER);
		await(waiter, 'S');
		nap();
		flock(locked, LOCK_UN);
		wait_turn(HOLDER);
	}
}

static void want_futexes(void)
{
	static struct robust_list_head list = { .list.next = &list.list };
	int i;

	if (syscall(SYS_set_robust_list, &list, sizeof(list)))
		die("set_robust_list");
	for (i = 0; i < times; i++) {
		wait_turn(WAITER);
		if (futex(&passed_on, FUTEX_LOCK_PI, 0) ||
		    futex(&passed_on, FUTEX_UNLOCK_PI, 0))
			passed_on = 0;
		give_turn(HOLDER);

		wait_turn(WAITER);
		futex(&robust, FUTEX_WAIT, holder | FUTEX_WAITERS);
		give_turn(HOLDER);

		wait_turn(WAITER);
		futex(&readers, FUTEX_WAIT, ONE | FUTEX_WAITERS);
		give_turn(HOLDER);

		/* as a C library says it of a robust lock that it is about to want */
		wait_turn(WAITER);
		list.list_op_pending = (struct robust_list *)&listed;
		futex(&listed, FUTEX_WAIT, ONE | FUTEX_WAITERS);
		list.list_op_pending = NULL;
		give_turn(HOLDER);

		wait_turn(WAITER);
		wait_any(&alone, 1);
		give_turn(HOLDER);

		wait_turn(WAITER);
		wait_any(several, 2);
		give_turn(HOLDER);

		wait_turn(WAITER);
		flock(locked_too, LOCK_EX);
		flock(locked_too, LOCK_UN);
		give_turn(HOLDER);
	}
}

static void *want(void *unused)
{
	(void)unused;
	prctl(PR_SET_NAME, "waiter");
	waiter = gettid();
	want_kernel('M');
	want_kernel('R');
	want_kernel('S');
	want_kernel('L');
	want_futexes();
	return NULL;
}

/* How often this process went off its CPU by itself. */
static long blocked(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw;
}

/* A time may be over before its waiter is off the CPU: the next one is longer. */
static int want_many(int nr)
{
	_Atomic unsigned int *words = calloc(nr, sizeof(*words));
	struct timespec soon = { 0, 100000 };
	const long first = blocked();
	long before = first, now;
	int i = 0;

	if (!words)
		die("calloc");
	while (i < nr) {
		syscall(SYS_futex, &words[i], FUTEX_WAIT, 0, &soon, NULL, 0);
		now = blocked();
		if (now > before && ++i)
			soon.tv_nsec = 100000;
		else if (soon.tv_nsec < 100000000)
			soon.tv_nsec *= 2;
		before = now;
	}
	printf("many %d blocked %ld\n", getpid(), before - first);
	return 0;
}

static void on_signal(int sig)
{
	(void)sig;
}

static int want_one(void)
{
	const struct sigaction act = { .sa_handler = on_signal };
	const long first = blocked();
	unsigned int word = 0;

	sigaction(SIGTERM, &act, NULL);
	syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
	printf("one %d blocked %ld\n", getpid(), blocked() - first);
	return 0;
}

/* Each record of one of ppa's files; what it is asked for adds up. */
static unsigned long long each_record(const char *dir, const char *name,
				      unsigned long long (*ask)(const void *))
{
	static char record[4096];
	unsigned long long n = 0;
	struct ppa_header h;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f || fread(&h, sizeof(h), 1, f) != 1 || h.stride > sizeof(record))
		die(path);
	while (fread(record, h.stride, 1, f) == 1)
		n += ask(record);
	fclose(f);
	return n;
}

static unsigned long long is_programs(const void *record)
{
	const struct ppa_lock *l = record;

	return l->kind == PPA_LOCK_FUTEX || l->kind == PPA_LOCK_FUTEXES ||
	       l->kind == PPA_LOCK_FILE ||
	       (l->kind == PPA_LOCK_LOST && l->space);
}

static unsigned long long waits_of_lock(const void *record)
{
	const struct ppa_lock *l = record;

	return l->values[PPA_LOCK_WAITS];
}

static unsigned long long waits_of_thread(const void *record)
{
	const struct ppa_thread *t = record;

	return t->waits[PPA_PART_LOCK] + t->waits[PPA_PART_FUTEX];
}

/* When each CPU has run us, none is between a thread's count and a row's. */
static void settle(void)
{
	cpu_set_t all, one;
	int cpu;

	sched_getaffinity(0, sizeof(all), &all);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		sched_setaffinity(0, sizeof(one), &one);
	}
}

static void tell_waits(const char *dir)
{
	const unsigned long long had = each_record(dir, "rawlocks", waits_of_lock);
	const unsigned long long is = each_record(dir, "rawthreads",
						  waits_of_thread);

	settle();
	printf("waits %llu %llu %llu\n", had, is,
	       each_record(dir, "rawlocks", waits_of_lock));
}

int main(int argc, char **argv)
{
	pthread_t thread;
	struct stat st;

	if (argc != 3)
		return 2;
	if (!strcmp(argv[1], "many"))
		return want_many(atoi(argv[2]));
	if (!strcmp(argv[1], "one"))
		return want_one();
	if (!strcmp(argv[1], "rows")) {
		printf("%llu\n", each_record(argv[2], "rawlocks", is_programs));
		return 0;
	}
	if (!strcmp(argv[1], "waits")) {
		tell_waits(argv[2]);
		return 0;
	}
	times = atoi(argv[1]);
	ms = atoi(argv[2]);
	held = open("/proc/held", O_RDWR);
	locked = open("locked", O_RDWR | O_CREAT, 0600);
	locked_too = open("locked", O_RDWR);
	if (held < 0 || locked < 0 || locked_too < 0 || fstat(locked, &st))
		die("open");
	holder = getpid();
	if (pthread_create(&thread, NULL, want, NULL))
		die("pthread_create");
	while (!waiter)
		;
	hold_kernel('m', true);
	hold_kernel('w', true);
	hold_kernel('s', true);
	hold_kernel('l', false);
	tell('f');
	hold_futexes();
	pthread_join(thread, NULL);
	printf("holder %d waiter %d passed_on %p robust %p readers %p listed %p alone %p several %p inode %lu device %u:%u\n",
	       holder, waiter, (void *)&passed_on, (void *)&robust,
	       (void *)&readers, (void *)&listed, (void *)&alone, (void *)several,
	       (unsigned long)st.st_ino, major(st.st_dev), minor(st.st_dev));
	fflush(stdout);
	pause();
	return 0;
}
