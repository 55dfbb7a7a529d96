/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowd WHAT N: N of something, of which a table has no end.  All are gone when it ends.
 *
 *   threads	one after the other, each with a name of its own, that sleep once
 *   programs	one after the other, each executed under a name of its own, that fail
 *		to execute another one
 *   files	each written, read and removed
 *   peers	TCP connections from an address each to one of ours, over which a byte
 *		comes and goes
 *   ports	UDP sockets, each of which gets a packet
 *   mutexes	of one program, each taken and held for a moment, while another thread
 *		waits for it
 *   code	processes, one after the other, each with code at an address of its
 *		own that runs for a millisecond
 *   calls	getppid(), and a sleep after each
 *   faults	page faults, each of code at an address of its own
 *   blocks	reads of a sector from /dev/slow0, one after the other
 *   retransmits	TCP connections to one that drops all, which is asked again each
 *		time that a second has passed, and then two
 *   units	processes, one after the other, each of which asks the simulated PMU
 *		for 1000 units, loads of 300 cycles
 *   hungry	processes, one after the other in the cgroup cg/small, each of which
 *		touches more memory than that has and is killed
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

static void nap(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static void *named(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "crowd-%ld", (long)arg);
	prctl(PR_SET_NAME, name);
	nap(50000);
	return NULL;
}

static void threads(long n)
{
	pthread_t thread;
	long i;

	for (i = 0; i < n; i++) {
		must(!pthread_create(&thread, NULL, named, (void *)i), "pthread_create");
		pthread_join(thread, NULL);
	}
}

static char self[4096];

static void programs(long n)
{
	char name[32];
	pid_t pid;
	long i;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "/tmp/crowd-%ld", i);
		must(!symlink(self, name), name);
		must(!posix_spawn(&pid, name, NULL, NULL,
				  (char *[]) { name, "child", "0", NULL }, environ) &&
		     waitpid(pid, NULL, 0) == pid, name);
		unlink(name);
	}
}

/* What each of them does. */
static void child(void)
{
	execl("/nowhere/at/all", "at all", "an argument", NULL);
}

static void files(long n)
{
	char name[32], byte = 'x';
	long i;
	int fd;

	for (i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "crowd-file-%ld", i);
		fd = open(name, O_CREAT | O_RDWR, 0600);
		must(fd >= 0, name);
		must(write(fd, &byte, 1) == 1 && pread(fd, &byte, 1, 0) == 1, name);
		close(fd);
		unlink(name);
	}
}

static int bound(int type, uint32_t address, struct sockaddr_in *to)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(address),
	};
	socklen_t len = sizeof(*to);
	int fd = socket(AF_INET, type, 0);

	must(fd >= 0 && !bind(fd, (void *)&a, sizeof(a)), "bind");
	if (to)
		must(!getsockname(fd, (void *)to, &len), "getsockname");
	return fd;
}

static void peers(long n)
{
	struct sockaddr_in to;
	int listener = bound(SOCK_STREAM, INADDR_LOOPBACK, &to), from, fd;
	char byte = 'x';
	long i;

	must(!listen(listener, 8), "listen");
	for (i = 0; i < n; i++) {
		from = bound(SOCK_STREAM, 0x7f010000 + i, NULL);
		must(!connect(from, (void *)&to, sizeof(to)), "connect");
		fd = accept(listener, NULL, NULL);
		must(fd >= 0 && write(from, &byte, 1) == 1 &&
		     read(fd, &byte, 1) == 1 && write(fd, &byte, 1) == 1 &&
		     read(from, &byte, 1) == 1, "peer");
		close(from);
		close(fd);
	}
	close(listener);
}

static void ports(long n)
{
	struct sockaddr_in to;
	char byte = 'x';
	long i;
	int fd;

	for (i = 0; i < n; i++) {
		fd = bound(SOCK_DGRAM, INADDR_LOOPBACK, &to);
		must(sendto(fd, &byte, 1, 0, (void *)&to, sizeof(to)) == 1 &&
		     read(fd, &byte, 1) == 1, "packet");
		close(fd);
	}
}

static void *taker(void *mutex)
{
	pthread_mutex_lock(mutex);
	pthread_mutex_unlock(mutex);
	return NULL;
}

static void mutexes(long n)
{
	pthread_mutex_t *all = calloc(n, sizeof(*all));
	pthread_t thread;
	long i;

	must(all != NULL, "calloc");
	for (i = 0; i < n; i++) {
		pthread_mutex_init(&all[i], NULL);
		pthread_mutex_lock(&all[i]);
		must(!pthread_create(&thread, NULL, taker, &all[i]), "pthread_create");
		nap(20000);
		pthread_mutex_unlock(&all[i]);
		pthread_join(thread, NULL);
	}
	free(all);
}

/* as many rounds as its argument says */
static const unsigned char loop[] = {
#ifdef __x86_64__
	0x90, 0x48, 0xff, 0xcf,		/* nop; dec %rdi */
	0x75, 0xfa, 0xc3		/* jnz; ret */
#else
	0x00, 0x04, 0x00, 0xd1,		/* sub x0, x0, #1 */
	0xe0, 0xff, 0xff, 0xb5,		/* cbnz x0 */
	0xc0, 0x03, 0x5f, 0xd6		/* ret */
#endif
};

static void run_at(long i)
{
	char name[32];
	char *code = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *at = code + i * 64 % (1 << 20);
	struct timespec t;
	long begun;

	must(code != MAP_FAILED, "mmap");
	snprintf(name, sizeof(name), "crowd-%ld", i);
	prctl(PR_SET_NAME, name);
	memcpy(at, loop, sizeof(loop));
	__builtin___clear_cache(at, at + sizeof(loop));
	clock_gettime(CLOCK_MONOTONIC, &t);
	begun = t.tv_sec * 1000000 + t.tv_nsec / 1000;
	do {
		((void (*)(long))at)(1000);
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while (t.tv_sec * 1000000 + t.tv_nsec / 1000 - begun < 1000);
}

static void code(long n)
{
	pid_t pid;
	long i;

	for (i = 0; i < n; i++) {
		pid = fork();
		if (!pid) {
			run_at(i);
			_exit(0);
		}
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
	}
}

static void calls(long n)
{
	while (n--) {
		syscall(SYS_getppid);
		nap(20000);
	}
}

/* writes where its argument points */
static const unsigned char store[] = {
#ifdef __x86_64__
	0xc6, 0x07, 0x01, 0xc3			/* movb $1, (%rdi); ret */
#else
	0x1f, 0x00, 0x00, 0x39,			/* strb wzr, [x0] */
	0xc0, 0x03, 0x5f, 0xd6			/* ret */
#endif
};

#define PLACE 64

static void faults(long n)
{
	long page = sysconf(_SC_PAGESIZE), i;
	char *code = mmap(NULL, n * PLACE, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	char *data = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(code != MAP_FAILED && data != MAP_FAILED, "mmap");
	madvise(data, n * page, MADV_NOHUGEPAGE);
	for (i = 0; i < n; i++)
		memcpy(code + i * PLACE, store, sizeof(store));
	__builtin___clear_cache(code, code + n * PLACE);
	for (i = 0; i < n; i++)
		((void (*)(char *))(code + i * PLACE))(data + i * page);
}

#define SECTOR 512
#define SECTORS 2048

static void blocks(long n)
{
	int fd = open("/dev/slow0", O_RDONLY | O_DIRECT);
	char *to = aligned_alloc(SECTOR, SECTOR);
	long i;

	must(fd >= 0 && to, "/dev/slow0");
	for (i = 0; i < n; i++)
		must(pread(fd, to, SECTOR, i % SECTORS * SECTOR) == SECTOR, "pread");
	close(fd);
}

static void retransmits(long n)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog drop = { 1, &nothing };
	struct rlimit most = { n + 16, n + 16 };
	struct sockaddr_in to;
	int listener, from;
	long i;

	must(!setrlimit(RLIMIT_NOFILE, &most), "RLIMIT_NOFILE");
	listener = bound(SOCK_STREAM, INADDR_LOOPBACK, &to);
	must(!listen(listener, 8) &&
	     !setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &drop, sizeof(drop)),
	     "listen");
	for (i = 0; i < n; i++) {
		from = bound(SOCK_STREAM | SOCK_NONBLOCK, 0x7f010000 + i, NULL);
		must(connect(from, (void *)&to, sizeof(to)) < 0 && errno == EINPROGRESS,
		     "connect");
	}
	sleep(2);
}

static void ask(void)
{
	static const char line[] = "user 1000 0xabc0 300";
	int fd = open("/dev/simpmu", O_WRONLY);

	must(fd >= 0 && write(fd, line, sizeof(line) - 1) == sizeof(line) - 1,
	     "/dev/simpmu");
}

static void units(long n)
{
	pid_t pid;

	while (n--) {
		pid = fork();
		if (!pid) {
			ask();
			_exit(0);
		}
		must(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork");
	}
}

#define HUNGER (2L << 20)

static void eat(void)
{
	char *at = mmap(NULL, HUNGER, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(at != MAP_FAILED, "mmap");
	madvise(at, HUNGER, MADV_NOHUGEPAGE);
	memset(at, 1, HUNGER);
}

/* They alone are in the cgroup, so that it is not this that is killed. */
static void hungry(long n)
{
	int cgroup = open("cg/small", O_RDONLY | O_DIRECTORY), status;
	struct clone_args args = {
		.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD, .cgroup = cgroup,
	};
	pid_t pid;

	must(cgroup >= 0, "cg/small");
	while (n--) {
		pid = syscall(SYS_clone3, &args, sizeof(args));
		if (!pid) {
			eat();
			_exit(0);
		}
		must(pid > 0 && waitpid(pid, &status, 0) == pid &&
		     WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "hungry");
	}
	close(cgroup);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(long n);
	} all[] = {
		{ "threads", threads }, { "programs", programs },
		{ "files", files }, { "peers", peers }, { "ports", ports },
		{ "mutexes", mutexes }, { "code", code },
		{ "calls", calls }, { "faults", faults }, { "blocks", blocks },
		{ "retransmits", retransmits }, { "units", units },
		{ "hungry", hungry },
	};
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	size_t i;

	if (argc != 3 || len < 0)
		return 2;
	if (!strcmp(argv[1], "child"))
		child();
	for (i = 0; i < sizeof(all) / sizeof(*all); i++) {
		if (strcmp(argv[1], all[i].name))
			continue;
		all[i].make(atol(argv[2]));
		return 0;
	}
	return 2;
}
