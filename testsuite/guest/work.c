/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Work whose counts are known.  Long because each kind is a few lines, and all share
 * the markers.
 *
 *	work faults M		between two markers: touch M fresh pages
 *	work addresses M	touch M fresh pages, and say "sample IP ADDRESS" of
 *				each fault
 *	work threads K M	K threads at once, the i-th touches M + i pages
 *	work children K M	K children, one after the other, M pages each
 *	work migrate M		touch M pages, move to each other CPU, M again
 *	work pipe M		block in read(), be moved, take M pages from it; the
 *				thread that writes is no work by its name
 *	work sleep MS		sleep once, within one system call
 *	work nest D		chain D epoll instances (the kernel recurses)
 *	work calls N		N markers
 *	work alone N		the same, before all threads without such priorities
 *	work spin N		N iterations of two instructions each, between
 *				two markers
 *	work spinners N...	one thread for each N, all at once
 *	work hog SECONDS	fault and compute until then
 *	work churn SECONDS	start and end threads and processes until then
 *	work tree P T N		P processes, each with T threads and another process
 *				that iterate N times and more, and nothing else; says
 *				"expect TID COUNT" of these, the instructions of their
 *				whole lives, and "faults PID COUNT" of the P, by wait4()
 *	work many K [1]		K threads, all there at once, at one marker; with 1, until
 *				standard input ends
 *	work pairs N M		N times "spin M", and a pause
 *	work waves N M		N times: M fresh pages from one marker to the next,
 *				and a pause
 *	work ondemand M		M fresh pages for each line of standard input
 *	work execthread M	a thread other than the first one calls exec(), and
 *				then "faults M"
 *	work switches N		sleep N times; then a marker, and "switches TID COUNT"
 *				of what /proc has
 *
 * A marker is the system call getppid().  What a thread should be charged with
 * between two markers is said on standard output: "expect TID COUNT".
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"

#define PAGE 4096UL

static void marker(void)
{
	syscall(SYS_getppid);
}

static void say(const char *what, long tid, unsigned long long count)
{
	char line[64];
	int n = snprintf(line, sizeof(line), "%s %ld %llu\n", what, tid, count);

	/* one write, since others print too */
	if (write(1, line, n) != n)
		_exit(1);
}

static void expect(unsigned long long count)
{
	say("expect", syscall(SYS_gettid), count);
}

static char *fresh(unsigned long pages)
{
	char *p;

	if (!pages)
		return NULL;
	p = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		err(1, "mmap");
	/* ENOSYS or EINVAL: this kernel has no huge pages */
	madvise(p, pages * PAGE, MADV_NOHUGEPAGE);
	return p;
}

/* A function of its own, for who probes it. */
static __attribute__((noinline, noclone)) void
touch(volatile char *p, unsigned long pages)
{
	unsigned long i;

	for (i = 0; i < pages; i++)
		p[i * PAGE] = 1;
}

static void faults(unsigned long m)
{
	char *p = fresh(m);

	marker();
	touch(p, m);
	marker();
	expect(m);
	if (p)
		munmap(p, m * PAGE);
}

/* One instruction, which has a name, stores to p. */
extern const char store_here[];
static __attribute__((noinline, noclone)) void store(char *p)
{
#if defined(__aarch64__)
	asm volatile("store_here: strb wzr, [%0]" : : "r" (p) : "memory");
#elif defined(__x86_64__)
	asm volatile("store_here: movb $0, (%0)" : : "r" (p) : "memory");
#else
#error "no store for this architecture"
#endif
}

static void addresses(unsigned long m)
{
	char *p = fresh(m);
	unsigned long i;

	for (i = 0; i < m; i++)
		store(p + i * PAGE + i % PAGE);
	for (i = 0; i < m; i++)
		printf("sample %#lx %#lx\n", (unsigned long)store_here,
		       (unsigned long)(p + i * PAGE + i % PAGE));
}

static pthread_barrier_t barrier;

static void *faults_thread(void *arg)
{
	/* the stack and libc are warm before the first marker */
	faults(1);
	pthread_barrier_wait(&barrier);
	faults((unsigned long)arg);
	return NULL;
}

static void run_threads(int k, void *(*run)(void *), void **arg)
{
	pthread_t thread[64];
	int i;

	if (k > 64)
		errx(1, "at most 64 threads");
	pthread_barrier_init(&barrier, NULL, k);
	for (i = 0; i < k; i++)
		if (pthread_create(&thread[i], NULL, run, arg[i]))
			errx(1, "pthread_create");
	for (i = 0; i < k; i++)
		pthread_join(thread[i], NULL);
}

static void threads(int k, unsigned long m)
{
	void *arg[64];
	int i;

	/* where touch() is probed, its first call takes faults of the probe's */
	touch(NULL, 0);
	for (i = 0; i < k && i < 64; i++)
		arg[i] = (void *)(m + i);
	run_threads(k, faults_thread, arg);
}

static void children(int k, unsigned long m)
{
	int i, status;

	for (i = 0; i < k; i++) {
		pid_t pid = fork();

		if (pid < 0)
			err(1, "fork");
		if (!pid) {
			faults(m);
			_exit(0);
		}
		if (waitpid(pid, &status, 0) < 0 || status)
			errx(1, "a child failed");
	}
}

static void move_to(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		err(1, "sched_setaffinity to CPU %d", cpu);
}

static void migrate(unsigned long m)
{
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	char *p = fresh(m * (cpus + 1));

	move_to(0, 0);
	marker();
	touch(p, m);
	for (i = 1; i <= cpus; i++) {
		move_to(0, i % cpus);
		touch(p + i * m * PAGE, m);
	}
	marker();
	expect(m * (cpus + 1));
}

/*
 * The reader blocks on CPU 0 and takes the data on CPU 1, in one read().  The
 * writer is a thread: after fork() the reader would fault on what they share.
 */
struct pipe_writer {
	pid_t reader;
	int fd;
	size_t size;
};

static void *pipe_write(void *arg)
{
	struct pipe_writer *w = arg;
	char *p = fresh(w->size / PAGE);

	/* what it reads is none of the reader's */
	prctl(PR_SET_NAME, "writer");
	memset(p, 1, w->size);
	await(w->reader, 'S');
	usleep(200000);
	move_to(w->reader, 1);
	usleep(100000);
	if (write(w->fd, p, w->size) != (ssize_t)w->size)
		err(1, "write");
	return NULL;
}

static void pipe_read(unsigned long m)
{
	struct pipe_writer w = { getpid(), -1, m * PAGE };
	pthread_t writer;
	char *p = fresh(m);
	int fd[2];

	if (pipe(fd) || fcntl(fd[1], F_SETPIPE_SZ, w.size) < 0)
		err(1, "pipe");
	w.fd = fd[1];
	move_to(0, 0);
	if (pthread_create(&writer, NULL, pipe_write, &w))
		errx(1, "pthread_create");
	marker();
	if (read(fd[0], p, w.size) != (ssize_t)w.size)
		err(1, "read");
	marker();
	expect(m);
	pthread_join(writer, NULL);
}

static void sleep_once(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	marker();
	if (nanosleep(&t, NULL))
		err(1, "nanosleep");
	marker();
}

/*
 * Instances 0 <- 1 <- ... <- depth: when one is added to the next, the kernel
 * walks all that is below it by recursion.
 */
static void nest(int depth)
{
	int fd = epoll_create1(0), i;

	for (i = 0; i < depth; i++) {
		struct epoll_event e = { .events = EPOLLIN };
		int outer = epoll_create1(0);

		if (outer < 0 || epoll_ctl(outer, EPOLL_CTL_ADD, fd, &e))
			err(1, "epoll_ctl");
		fd = outer;
	}
}

static void calls(long n)
{
	while (n--)
		marker();
}

static void alone(long n)
{
	struct sched_param p = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &p))
		err(1, "sched_setscheduler");
	calls(n);
}

/* From after the first system call's instruction to after the second's. */
static void spin_n(const unsigned long iterations)
{
#if defined(__aarch64__)
	register unsigned long n asm("x1") = iterations;
	register long nr asm("x8") = SYS_getppid;
	register long ret asm("x0");

	asm volatile(
		"	svc	#0\n"
		"	cbz	%[n], 2f\n"
		"1:	subs	%[n], %[n], #1\n"
		"	b.ne	1b\n"
		"2:	svc	#0\n"
		: [n] "+r" (n), "=r" (ret) : "r" (nr) : "cc", "memory");
	expect(2 * iterations + 2);
#elif defined(__x86_64__)
	unsigned long n = iterations;
	long ret;

	asm volatile(
		"	syscall\n"
		"	mov	%[nr], %%eax\n"
		"	test	%[n], %[n]\n"
		"	jz	2f\n"
		"1:	dec	%[n]\n"
		"	jnz	1b\n"
		"2:	syscall\n"
		: "=&a" (ret), [n] "+r" (n) : "0" ((long)SYS_getppid),
		  [nr] "i" (SYS_getppid) : "rcx", "r11", "cc", "memory");
	expect(2 * iterations + 4);
#else
#error "no loop for this architecture"
#endif
}

static void spin(unsigned long n)
{
	spin_n(0);
	spin_n(n);
}

static void *spin_thread(void *arg)
{
	spin_n(0);
	pthread_barrier_wait(&barrier);
	spin_n((unsigned long)arg);
	return NULL;
}

static time_t end_of(long seconds)
{
	return time(NULL) + seconds;
}

/* Load, but not so that nothing else gets on. */
static void yield_to_others(void)
{
	if (nice(10) == -1)
		err(1, "nice");
}

static void hog(long seconds)
{
	time_t end = end_of(seconds);

	yield_to_others();
	while (time(NULL) < end) {
		char *p = fresh(64);

		touch(p, 64);
		munmap(p, 64 * PAGE);
	}
}

static void *nothing(void *arg)
{
	marker();
	return arg;
}

static void churn(long seconds)
{
	time_t end = end_of(seconds);
	unsigned long n = 0;

	yield_to_others();
	while (time(NULL) < end) {
		pthread_t t;
		pid_t pid;

		if (!pthread_create(&t, NULL, nothing, NULL))
			pthread_join(t, NULL);
		pid = fork();
		if (!pid) {
			marker();
			_exit(0);
		}
		if (pid > 0)
			waitpid(pid, NULL, 0);
		n++;
	}
	printf("churned %lu\n", n);
}

/*
 * A thread or a process that iterates N times and ends: its first instruction is
 * that after the system call, its last one is its own.
 */
#define BORN_THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | \
		     CLONE_THREAD | CLONE_SYSVSEM | CLONE_CHILD_CLEARTID)
#define BORN_PROCESS (CLONE_VM | CLONE_CHILD_CLEARTID | SIGCHLD)

static __attribute__((noinline, noclone)) long
born(unsigned long flags, char *stack, volatile int *alive, unsigned long n)
{
#if defined(__aarch64__)
	register unsigned long x0 asm("x0") = flags;
	register char *x1 asm("x1") = stack;
	register long x2 asm("x2") = 0;
	register long x3 asm("x3") = 0;
	register volatile int *x4 asm("x4") = alive;
	register unsigned long x5 asm("x5") = n;
	register long nr asm("x8") = SYS_clone;

	asm volatile(
		"	svc	#0\n"
		"	cbnz	x0, 2f\n"
		"1:	subs	x5, x5, #1\n"
		"	b.ne	1b\n"
		"	mov	x8, %[exit]\n"
		"	svc	#0\n"
		"2:\n"
		: "+r" (x0), "+r" (x5), "+r" (nr)
		: "r" (x1), "r" (x2), "r" (x3), "r" (x4), [exit] "i" (SYS_exit)
		: "cc", "memory");
	return x0;
#elif defined(__x86_64__)
	register volatile int *ctid asm("r10") = alive;
	register long tls asm("r8") = 0;
	long ret;

	asm volatile(
		"	syscall\n"
		"	test	%%rax, %%rax\n"
		"	jnz	2f\n"
		"1:	dec	%[n]\n"
		"	jnz	1b\n"
		"	mov	%[exit], %%eax\n"
		"	xor	%%edi, %%edi\n"
		"	syscall\n"
		"2:\n"
		: "=&a" (ret), [n] "+r" (n)
		: "0" ((long)SYS_clone), "D" (flags), "S" (stack), "d" (0L),
		  "r" (ctid), "r" (tls), [exit] "i" (SYS_exit)
		: "rcx", "r11", "cc", "memory");
	return ret;
#else
#error "no clone() for this architecture"
#endif
}

/* What born() is charged with in its life. */
static unsigned long long born_count(unsigned long n)
{
#if defined(__aarch64__)
	return 2 * n + 3;
#else
	return 2 * n + 5;
#endif
}

static void tree_process(int threads, unsigned long n)
{
	static volatile int alive[65];
	long tid[65];
	int i;

	if (threads > 64)
		errx(1, "at most 64 threads");
	for (i = 0; i <= threads; i++) {
		char *stack = fresh(1);

		alive[i] = 1;
		tid[i] = born(i < threads ? BORN_THREAD : BORN_PROCESS,
			      stack + PAGE, &alive[i], n + i);
		if (tid[i] < 0)
			errx(1, "clone");
	}
	for (i = 0; i <= threads; i++) {
		while (alive[i])
			usleep(1000);
		say("expect", tid[i], born_count(n + i));
	}
	if (waitpid(tid[threads], NULL, 0) != tid[threads])
		err(1, "waitpid");
}

static void tree(int processes, int threads, unsigned long n)
{
	pid_t pid[64];
	int i;

	if (processes > 64)
		errx(1, "at most 64 processes");
	for (i = 0; i < processes; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			err(1, "fork");
		if (!pid[i]) {
			tree_process(threads, n + 100 * i);
			_exit(0);
		}
	}
	for (i = 0; i < processes; i++) {
		struct rusage ru;
		int status;

		if (wait4(pid[i], &status, 0, &ru) < 0 || status)
			errx(1, "a process failed");
		say("faults", pid[i], ru.ru_minflt + ru.ru_majflt);
	}
}

/* Whoever looked now and then would keep the CPUs, by the thousands, from who makes more. */
static pthread_mutex_t many_go = PTHREAD_MUTEX_INITIALIZER;

static void *many_wait(void *arg)
{
	pthread_mutex_lock(&many_go);
	pthread_mutex_unlock(&many_go);
	return arg;
}

static void many(int k, bool stays)
{
	pthread_t *thread = calloc(k, sizeof(*thread));
	pthread_attr_t attr;
	int i;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 16384);
	pthread_mutex_lock(&many_go);
	for (i = 0; i < k; i++)
		if (pthread_create(&thread[i], &attr, many_wait, NULL))
			errx(1, "pthread_create %d", i);
	marker();
	while (stays && getchar() != EOF)
		;
	pthread_mutex_unlock(&many_go);
	for (i = 0; i < k; i++)
		pthread_join(thread[i], NULL);
}

static void waves(unsigned long n, unsigned long m)
{
	while (n--) {
		char *p = fresh(m);

		marker();
		touch(p, m);
		munmap(p, m * PAGE);
		expect(m);
		/* whoever waits for some waves counts lines */
		fflush(stdout);
		usleep(50000);
	}
}

static void ondemand(unsigned long m)
{
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		char *p = fresh(m);

		touch(p, m);
		munmap(p, m * PAGE);
		if (write(1, "done\n", 5) != 5)
			err(1, "write");
	}
}

static void *exec_thread(void *arg)
{
	execl("/proc/self/exe", "work", "faults", arg, NULL);
	err(1, "exec");
}

static void execthread(char *m)
{
	pthread_t t;

	if (pthread_create(&t, NULL, exec_thread, m))
		errx(1, "pthread_create");
	pthread_join(t, NULL);
}

static unsigned long long switches_now(void)
{
	unsigned long long yes = 0, no = 0;
	char line[256];
	FILE *f = fopen("/proc/thread-self/status", "r");

	if (!f)
		err(1, "/proc");
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "voluntary_ctxt_switches: %llu", &yes);
		sscanf(line, "nonvoluntary_ctxt_switches: %llu", &no);
	}
	fclose(f);
	return yes + no;
}

/* Again, if it was preempted while it asked. */
static void switches(long n)
{
	unsigned long long before, after;

	while (n--)
		usleep(1000);
	do {
		before = switches_now();
		marker();
		after = switches_now();
	} while (before != after);
	say("switches", syscall(SYS_gettid), after);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned long a = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned long b = argc > 3 ? strtoul(argv[3], NULL, 0) : 0;
	void *arg[64];
	int i;

	if (!strcmp(what, "faults"))
		faults(a);
	else if (!strcmp(what, "addresses"))
		addresses(a);
	else if (!strcmp(what, "threads"))
		threads(a, b);
	else if (!strcmp(what, "children"))
		children(a, b);
	else if (!strcmp(what, "migrate"))
		migrate(a);
	else if (!strcmp(what, "pipe"))
		pipe_read(a);
	else if (!strcmp(what, "sleep"))
		sleep_once(a);
	else if (!strcmp(what, "nest"))
		nest(a);
	else if (!strcmp(what, "calls"))
		calls(a);
	else if (!strcmp(what, "alone"))
		alone(a);
	else if (!strcmp(what, "spin"))
		spin(a);
	else if (!strcmp(what, "spinners")) {
		for (i = 2; i < argc && i < 66; i++)
			arg[i - 2] = (void *)strtoul(argv[i], NULL, 0);
		run_threads(i - 2, spin_thread, arg);
	} else if (!strcmp(what, "hog"))
		hog(a);
	else if (!strcmp(what, "churn"))
		churn(a);
	else if (!strcmp(what, "tree"))
		tree(a, b, argc > 4 ? strtoul(argv[4], NULL, 0) : 1);
	else if (!strcmp(what, "many"))
		many(a, argc > 3);
	else if (!strcmp(what, "waves"))
		waves(a, b);
	else if (!strcmp(what, "pairs"))
		while (a--) {
			spin_n(b);
			usleep(20000);
		}
	else if (!strcmp(what, "ondemand"))
		ondemand(a);
	else if (!strcmp(what, "execthread"))
		execthread(argv[2]);
	else if (!strcmp(what, "switches"))
		switches(a);
	else
		errx(1, "unknown work '%s'", what);
	return 0;
}
