/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes that wait, each for one cause and under its name.
 *
 *	waits TIMES MS DISK	for each cause a process w-CAUSE, one after the other,
 *				that waits TIMES times, MS milliseconds at least; the
 *				disk takes as long as it takes, and "-" is a kernel
 *				without disks, rings, limits of memory and /proc/way
 *	waits TIMES MS DISK measured	and what both say of it that measures.h has;
 *				one that its cgroup lets run for a part of the time, too
 *
 * A time may be over before its waiter is off the CPU, on a machine that stands
 * still for that long: such a wait is none.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "await.h"
#include "measures.h"

#define PAGE 4096

static int times, ms;
static const char *disk;

static void nap(void)
{
	struct timespec ts = { 0, ms * 1000000L };

	nanosleep(&ts, NULL);
}

/* A process that does for us what the others wait for. */
static pid_t helper(void (*run)(int), int arg)
{
	pid_t child = fork();

	if (child)
		return child;
	prctl(PR_SET_NAME, "helper");
	run(arg);
	_exit(0);
}

/* A machine that stood still for a while does not make it late.  It goes to sleep while
 * nobody else runs: how long that takes is measured. */
static void nap_while_it_sleeps(void)
{
	usleep(10000);
	await(getppid(), 'S');
	nap();
}

static void write_late(int fd)
{
	int i;

	for (i = 0; i < times; i++) {
		nap_while_it_sleeps();
		if (write(fd, "", 1) != 1)
			_exit(1);
	}
}

static void read_all(int fds[2])
{
	pid_t child = helper(write_late, fds[1]);
	char c;
	int i;

	for (i = 0; i < times; i++)
		if (read(fds[0], &c, 1) != 1)
			_exit(1);
	/* it is gone already, or about to be: no wait that counts */
	while (kill(child, 0) == 0 && waitpid(child, NULL, WNOHANG) == 0)
		;
}

/* How often this process went off its CPU by itself. */
static long blocked(void)
{
	struct rusage r;

	getrusage(RUSAGE_SELF, &r);
	return r.ru_nvcsw;
}

/* So many waits that were some. */
static void wait_often(void (*wait_once)(void))
{
	int waited = 0;

	while (waited < times) {
		long before = blocked();

		wait_once();
		waited += blocked() > before;
	}
}

static void futex_once(void)
{
	static int word;
	struct timespec ts = { 0, ms * 1000000L };

	syscall(SYS_futex, &word, FUTEX_WAIT, 0, &ts, NULL, 0);
}

static void wait_futex(void)
{
	wait_often(futex_once);
}

static void wait_sleep(void)
{
	wait_often(nap);
}

static void poll_once(void)
{
	poll(NULL, 0, ms);
}

static void wait_poll(void)
{
	wait_often(poll_once);
}

static void wait_pipe(void)
{
	int fds[2];

	if (pipe(fds))
		_exit(1);
	read_all(fds);
}

static void wait_socket(void)
{
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		_exit(1);
	read_all(fds);
}

static void nap_once(int unused)
{
	(void)unused;
	nap_while_it_sleeps();
}

static void wait_child(void)
{
	int i;

	for (i = 0; i < times; i++)
		waitpid(helper(nap_once, 0), NULL, 0);
}

static void go_on(int pid)
{
	int i;

	for (i = 0; i < times; i++) {
		await(pid, 'T');
		nap();
		kill(pid, SIGCONT);
	}
}

static void wait_stopped(void)
{
	int i;

	helper(go_on, getpid());
	for (i = 0; i < times; i++)
		raise(SIGSTOP);
}

static void hold_lock(int go)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600), i;

	for (i = 0; i < times; i++) {
		flock(fd, LOCK_EX);
		if (write(go, "", 1) != 1)
			_exit(1);
		nap_while_it_sleeps();
		flock(fd, LOCK_UN);
		/* the other has it once, and then asks for the next */
		if (read(go, &(char){ 0 }, 1) != 1)
			_exit(1);
	}
}

static void wait_lock(void)
{
	int fd = open("locked", O_RDWR | O_CREAT, 0600), i, fds[2];
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		_exit(1);
	helper(hold_lock, fds[1]);
	for (i = 0; i < times; i++) {
		while (recv(fds[0], &c, 1, MSG_DONTWAIT) != 1)
			;
		flock(fd, LOCK_EX);
		flock(fd, LOCK_UN);
		if (write(fds[0], "", 1) != 1)
			_exit(1);
	}
}

static int disk_fd;
static void *disk_page;

static void disk_once(void)
{
	if (read(disk_fd, disk_page, PAGE) != PAGE)
		_exit(1);
}

static void wait_disk(void)
{
	disk_fd = open(disk, O_RDONLY | O_DIRECT);
	if (disk_fd < 0 || posix_memalign(&disk_page, PAGE, PAGE))
		_exit(1);
	wait_often(disk_once);
}

/* Of the disk, which nobody has touched yet. */
static volatile char *next_page;

static void page_once(void)
{
	(void)*next_page;
	next_page += PAGE;
}

static void wait_page(void)
{
	int fd = open(disk, O_RDONLY);
	off_t size = lseek(fd, 0, SEEK_END);
	void *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED || madvise(map, size, MADV_RANDOM))
		_exit(1);
	next_page = map;
	wait_often(page_once);
}

/* ---- a ring of io_uring's, which waits for a pipe's end */

static struct {
	int fd;
	unsigned int *tail, *mask, *array, *came, *had;
	struct io_uring_sqe *sqes;
} ring;

static void *ring_map(size_t bytes, off_t what)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE, ring.fd, what);

	if (map == MAP_FAILED)
		_exit(1);
	return map;
}

static void ring_begin(void)
{
	struct io_uring_params p = { 0 };
	char *sq, *cq;

	ring.fd = syscall(SYS_io_uring_setup, 4, &p);
	if (ring.fd < 0)
		_exit(1);
	sq = ring_map(p.sq_off.array + p.sq_entries * sizeof(int),
		      IORING_OFF_SQ_RING);
	cq = ring_map(p.cq_off.cqes +
		      p.cq_entries * sizeof(struct io_uring_cqe),
		      IORING_OFF_CQ_RING);
	ring.sqes = ring_map(p.sq_entries * sizeof(*ring.sqes), IORING_OFF_SQES);
	ring.tail = (unsigned int *)(sq + p.sq_off.tail);
	ring.mask = (unsigned int *)(sq + p.sq_off.ring_mask);
	ring.array = (unsigned int *)(sq + p.sq_off.array);
	ring.came = (unsigned int *)(cq + p.cq_off.tail);
	ring.had = (unsigned int *)(cq + p.cq_off.head);
}

/* A byte of FD. */
static void ring_read(int fd, char *c)
{
	const unsigned int at = *ring.tail & *ring.mask;

	ring.sqes[at] = (struct io_uring_sqe) {
		.opcode = IORING_OP_RECV, .fd = fd,
		.addr = (unsigned long)c, .len = 1,
	};
	ring.array[at] = at;
	__atomic_store_n(ring.tail, *ring.tail + 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS,
		    NULL, 0) != 1)
		_exit(1);
	__atomic_store_n(ring.had, __atomic_load_n(ring.came, __ATOMIC_ACQUIRE),
			 __ATOMIC_RELEASE);
}

static void wait_ring(void)
{
	pid_t child;
	int fds[2], i;
	char c;

	ring_begin();
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds))
		_exit(1);
	child = helper(write_late, fds[1]);
	for (i = 0; i < times; i++)
		ring_read(fds[0], &c);
	while (kill(child, 0) == 0 && waitpid(child, NULL, WNOHANG) == 0)
		;
}

/* ---- killed while it computes, with a file whose last close takes a while */

static void compute_with_file(int said)
{
	int fd = open("/proc/way", O_RDWR);

	prctl(PR_SET_NAME, "w-exit");
	if (write(fd, "c", 1) != 1 || write(said, "", 1) != 1)
		_exit(1);
	for (;;)
		;
}

static void wait_exit(void)
{
	pid_t child;
	int fds[2], i;
	char c;

	prctl(PR_SET_NAME, "kills");
	for (i = 0; i < times; i++) {
		if (pipe(fds))
			_exit(1);
		child = helper(compute_with_file, fds[1]);
		close(fds[1]);
		if (read(fds[0], &c, 1) != 1)
			_exit(1);
		close(fds[0]);
		nap();
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
}

/* ---- in a cgroup that has more memory than it may have, and no swap */

static void reclaim_once(void)
{
	static char *next, *end;

	if (next == end) {
		next = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (next == MAP_FAILED)
			_exit(1);
		end = next + (1 << 20);
	}
	*next = 1;
	next += PAGE;
}

#define OWN_CPU 1

static void stay_on_cpu(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(OWN_CPU, &one);
	if (sched_setaffinity(0, sizeof(one), &one))
		_exit(1);
}

/* Pressure is a mean of the CPUs': of a thread that goes from one to another within two
 * seconds there is less. */
static void wait_reclaim(void)
{
	int fd = open("cg/high/cgroup.procs", O_WRONLY);

	stay_on_cpu();
	if (write(fd, "0", 1) != 1)
		_exit(1);
	wait_often(reclaim_once);
}

/* ---- in a cgroup that may run for a part of the time */

/* For how long threads ran on that CPU, up to the last switch; nanoseconds. */
static uint64_t cpu_ran(void)
{
	unsigned long long ran = 0;
	char line[512], cpu[8];
	FILE *f = fopen("/proc/schedstat", "re");

	snprintf(cpu, sizeof(cpu), "cpu%d ", OWN_CPU);
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, cpu, strlen(cpu)))
			sscanf(line, "%*s %*u %*u %*u %*u %*u %*u %llu", &ran);
	fclose(f);
	return ran;
}

/* For how long others have run there, since it was all but that. */
static uint64_t others_ran(uint64_t but)
{
	unsigned long long own = 0;
	FILE *f;

	/* this thread's run is over */
	usleep(1000);
	f = fopen("/proc/thread-self/schedstat", "re");
	if (!f || fscanf(f, "%llu", &own) != 1)
		_exit(1);
	fclose(f);
	return cpu_ran() - own - but;
}

static void wait_limit(void)
{
	static const char stat[] = "cg/max/cpu.stat";
	int fd = open("cg/max/cgroup.procs", O_WRONLY);
	uint64_t had;
	long i;

	stay_on_cpu();
	had = others_ran(0);
	if (write(fd, "0", 1) != 1)
		_exit(1);
	while (measures_in(stat, "", "nr_throttled", 1) < times)
		for (i = 0; i < 1000000; i++)
			asm volatile("");
	close(fd);
	fd = open("cg/cgroup.procs", O_WRONLY);
	if (write(fd, "0", 1) != 1)
		_exit(1);
	printf("limited %.0f pressure %.0f others %.0f\n",
	       measures_in(stat, "", "throttled_usec", 1e3),
	       measures_in("cg/max/cpu.pressure", "full", "total=", 1e3),
	       (double)others_ran(had));
}

static const struct {
	const char *name;
	void (*run)(void);
} causes[] = {
	{ "w-futex", wait_futex },
	{ "w-sleep", wait_sleep },
	{ "w-poll", wait_poll },
	{ "w-pipe", wait_pipe },
	{ "w-socket", wait_socket },
	{ "w-child", wait_child },
	{ "w-stopped", wait_stopped },
	{ "w-lock", wait_lock },
	{ "w-exit", wait_exit },
	{ "w-ring", wait_ring },
	{ "w-reclaim", wait_reclaim },
	{ "w-disk", wait_disk },
	{ "w-page", wait_page },
	{ "w-limit", wait_limit },
};

/* Whether it is left, on a kernel without a disk, or where nothing is measured. */
static bool is_left(const char *name, bool measured)
{
	if (*disk == '-' && strstr("w-exit w-ring w-reclaim w-disk w-page", name))
		return true;
	/* none is there to be measured; the kernel does not count that */
	if (measured)
		return strstr("w-exit w-stopped", name);
	return !strcmp(name, "w-limit");
}

static int wait_for_all(void)
{
	unsigned int i;
	int status, failed = 0;

	for (i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		pid_t child;

		if (is_left(causes[i].name, false))
			continue;
		child = fork();
		if (!child) {
			prctl(PR_SET_NAME, causes[i].name);
			causes[i].run();
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (status) {
			printf("%s failed\n", causes[i].name);
			failed = 1;
		}
	}
	return failed;
}

static void measure(const char *name, void (*run)(void))
{
	const uint64_t served = measures_served();
	const bool reclaims = !strcmp(name, "w-reclaim");
	pid_t child = fork();
	int status;

	if (!child) {
		prctl(PR_SET_NAME, name);
		run();
		raise(SIGSTOP);
	}
	waitpid(child, &status, WUNTRACED);
	if (!WIFSTOPPED(status)) {
		printf("%s failed\n", name);
		return;
	}
	await(child, 'T');
	measures_say(name, child, reclaims ? "cg/high/memory.pressure" : NULL,
		     served);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	unsigned int i;

	if (argc != 4 && argc != 5)
		return 2;
	times = atoi(argv[1]);
	ms = atoi(argv[2]);
	disk = argv[3];
	if (argc == 4)
		return wait_for_all();
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; i < sizeof(causes) / sizeof(*causes); i++)
		if (!is_left(causes[i].name, true))
			measure(causes[i].name, causes[i].run);
	return 0;
}
