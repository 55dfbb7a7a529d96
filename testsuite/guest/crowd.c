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
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
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

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(long n);
	} all[] = {
		{ "threads", threads }, { "programs", programs },
		{ "files", files }, { "peers", peers }, { "ports", ports },
		{ "mutexes", mutexes }, { "code", code },
		{ "calls", calls },
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
