/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that have a session of their own in a script's, and use it as nobody should.
 *
 *	control_wrong PATH wrong	what is wrong, in numbers, addresses, sizes, kinds
 *	control_wrong PATH many N	N children, each with a session, a set and targets,
 *					which are killed; then what is left
 *	control_wrong PATH storm	threads that do all at once until the script ends
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"
#include "control/abi.h"

/* ---- what is wrong */

static int raw(int fd, void *steps, uint32_t nr)
{
	struct sw_control_call call = {
		.version = SW_CONTROL_VERSION,
		.step_size = sizeof(struct sw_control_step),
		.nr = nr,
		.steps = (uintptr_t)steps,
	};

	return ioctl(fd, SW_CONTROL_RUN, &call);
}

static void say_step(const char *what, int fd, struct sw_control_step s)
{
	const int rc = raw(fd, &s, 1);

	if (rc < 0)
		printf("%s: %s\n", what, strerrorname_np(errno));
	else
		printf("%s: %d %s\n", what, rc, s.error ? strerrorname_np(s.error) : "0");
}

static void wrong_calls(int fd, uint64_t event)
{
	struct sw_control_step s = { 0 };
	struct sw_control_call call = {
		.version = SW_CONTROL_VERSION,
		.step_size = sizeof(s),
		.nr = 1,
		.steps = (uintptr_t)&s,
	}, bad;
	uint64_t count[2];

	say("another ioctl", ioctl(fd, SW_CONTROL_RUN + 1, &call));
	say("no call", ioctl(fd, SW_CONTROL_RUN, NULL));
	say("a kernel's address", ioctl(fd, SW_CONTROL_RUN, (void *)-4096L));
	bad = call, bad.version = 2;
	say("another version", ioctl(fd, SW_CONTROL_RUN, &bad));
	bad = call, bad.step_size = 56;
	say("short steps", ioctl(fd, SW_CONTROL_RUN, &bad));
	bad = call, bad.step_size = 1 << 30;
	say("long steps", ioctl(fd, SW_CONTROL_RUN, &bad));
	bad = call, bad.nr = -1;
	say("many steps", ioctl(fd, SW_CONTROL_RUN, &bad));
	bad = call, bad.steps = 0;
	say("no steps", ioctl(fd, SW_CONTROL_RUN, &bad));
	bad = call, bad.steps = (uint64_t)-64;
	say("steps at the end", ioctl(fd, SW_CONTROL_RUN, &bad));
	s.what = 99;
	bad = call, bad.why = 1, bad.why_size = 100;
	say("no room for why", ioctl(fd, SW_CONTROL_RUN, &bad));
	say("none at all", raw(fd, NULL, 0));
	say("read of 4 bytes", pread(fd, count, 4, 0) < 0 ? -1 : 0);
	say("read of 16 bytes", pread(fd, count, 16, 0) < 0 ? -1 : 0);
	say("read of no event", pread(fd, count, 8, 0) < 0 ? -1 : 0);
	say("read to nowhere", syscall(SYS_pread64, fd, NULL, 8L, event) < 0 ? -1 : 0);
	say("write", write(fd, count, 8) < 0 ? -1 : 0);
}

static void *say_tid(void *arg)
{
	*(pid_t *)arg = gettid();
	for (;;)
		pause();
	return NULL;
}

static void wrong_steps(int fd, uint64_t event)
{
	const char *long_name = "a name that is longer than 31 characters are";
	char big[600];
	unsigned int what, target;
	pthread_t thread;
	volatile pid_t tid = 0;
	struct sw_control_step s;
	int known = 0;

	memset(big, 'e', sizeof(big));
	pthread_create(&thread, NULL, say_tid, (void *)&tid);
	while (!tid)
		usleep(1000);
	say_step("nothing", fd, (struct sw_control_step) { 0 });
	say_step("no such step", fd, (struct sw_control_step) { .what = 60000 });
	say_step("no such target", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_READ, .target = 60000 });
	say_step("no such flag", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_ATTACH, .target = SW_CONTROL_THREAD, .flags = 2 });
	say_step("a flag elsewhere", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_READ, .flags = 1 });
	say_step("no name", fd, (struct sw_control_step) { .what = SW_CONTROL_MAKE_SET });
	say_step("a long name", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = (uintptr_t)long_name,
		 .name_size = strlen(long_name), .text = (uintptr_t)"page_faults",
		 .text_size = 11 });
	say_step("a longer one", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = (uintptr_t)big, .name_size = 600 });
	say_step("no end of a name", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = (uintptr_t)big, .name_size = ~0 });
	say_step("a name nowhere", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = 4096, .name_size = 10 });
	say_step("a name of the kernel's", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = (uint64_t)-4096, .name_size = 10 });
	say_step("long events", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = (uintptr_t)"x", .name_size = 1,
		 .text = (uintptr_t)big, .text_size = 511 });
	say_step("no thread", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_ATTACH, .target = SW_CONTROL_THREAD, .id = 1 << 30 });
	say_step("thread -1", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_ATTACH, .target = SW_CONTROL_THREAD, .id = -1 });
	say_step("thread 2^32", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_ATTACH, .target = SW_CONTROL_THREAD, .id = 1LL << 32 });
	say_step("a thread as process", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_ATTACH, .target = SW_CONTROL_PROCESS, .id = tid });
	say_step("not 0", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_REFRESH, .pad = 1 });
	say_step("a newline in a name", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_MAKE_SET, .name = (uintptr_t)"a\nb", .name_size = 3,
		 .text = (uintptr_t)"page_faults", .text_size = 11 });
	say_step("CPU -1", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_READ, .target = SW_CONTROL_CPU, .id = -1 });
	say_step("CPU 2^32", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_READ, .target = SW_CONTROL_CPU, .id = 1LL << 32, .event = event });
	say_step("no such word", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_READ, .event = ~0ULL });
	say_step("a word of no set", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_READ, .event = 1ULL << 32 | 15 << 16 });
	say_step("not attached", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_DETACH, .target = SW_CONTROL_THREAD, .id = 1 });
	say_step("start nobody", fd, (struct sw_control_step) {
		 .what = SW_CONTROL_START, .target = SW_CONTROL_PROCESS, .id = 1 << 30 });
	/* each step with each target: none is done that is not known */
	for (what = 1; what <= SW_CONTROL_PRESET + 5; what++)
		for (target = 0; target <= SW_CONTROL_CGROUP + 5; target++) {
			s = (struct sw_control_step) { .what = what, .target = target,
						       .id = 1 << 30 };
			known += raw(fd, &s, 1) == 1 && !s.error;
		}
	/* the sets of this session, which has none, start and stop; CPUs are asked */
	printf("steps that need nothing: %d\n", known);
}

static atomic_int ran;

static void *run_and_close(void *arg)
{
	struct sw_control_step s[100];
	int i;

	for (i = 0; i < 100; i++)
		s[i] = (struct sw_control_step) { .what = SW_CONTROL_REFRESH };
	while (raw((int)(intptr_t)arg, s, 100) >= 0)
		atomic_fetch_add(&ran, 1);
	return NULL;
}

static void wrong_memory(int fd)
{
	const long page = 4096;
	char *m = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct sw_control_step *s;
	int nr;

	/* the third step is at the end of what there is; what is before it is done */
	munmap(m + 2 * page, page);
	s = (struct sw_control_step *)(m + 2 * page) - 2;
	memset(s, 0, 2 * sizeof(*s));
	nr = raw(fd, s, 3);
	printf("steps that end: %d %s\n", nr, nr < 0 ? strerrorname_np(errno) : "");
	mprotect(m, 2 * page, PROT_READ);
	nr = raw(fd, s, 1);
	printf("steps to read only: %d %s\n", nr, nr < 0 ? strerrorname_np(errno) : "");
	munmap(m, 2 * page);
}

static void wrong(void)
{
	struct stapwatch_control *c = open_it();
	int fd = stapwatch_control_fd(c), status, i;
	uint64_t event;
	struct sw_control_step s;
	pthread_t threads[4];
	pid_t pid, pids[100];
	char number[16];

	if (stapwatch_control_find(c, NULL, "page_faults", &event) ||
	    stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0))
		errx(1, "%s", stapwatch_error());
	wrong_calls(fd, event);
	stapwatch_control_detach(c, STAPWATCH_THREAD, 0);
	wrong_steps(fd, event);
	wrong_memory(fd);
	/* targets, as many as there may be, of 0 and its number the same */
	for (i = 0; i < 100; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			pause();
		}
		if (stapwatch_control_attach(c, STAPWATCH_THREAD, pid, 0)) {
			say_why("many targets", -1);
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
		pids[i] = pid;
		/* one that has ended stays a target */
		if (i % 2)
			kill(pid, SIGKILL);
	}
	printf("targets: %d\n", i);
	while (i--) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
	}
	/* of a child, and after exec(): the descriptor is closed there */
	fflush(stdout);
	pid = fork();
	if (!pid) {
		s = (struct sw_control_step) { .what = SW_CONTROL_REFRESH };
		printf("of a child: %d\n", raw(fd, &s, 1));
		fflush(stdout);
		snprintf(number, sizeof(number), "%d", fd);
		execl("/proc/self/exe", "control_wrong", number, (char *)NULL);
	}
	waitpid(pid, &status, 0);
	for (i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, run_and_close, (void *)(intptr_t)fd);
	while (atomic_load(&ran) < 8)
		usleep(1000);
	stapwatch_control_close(c);
	for (i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	puts("closed within");
}

/* ---- programs that are killed */

static void one_of_many(int i)
{
	struct stapwatch_control *c = stapwatch_control_open(path);
	char name[32];

	if (!c)
		_exit(errno == EUSERS ? 3 : 2);
	snprintf(name, sizeof(name), "of%d", i);
	/* there is room for 16 */
	stapwatch_control_make_set(c, name, "page_faults");
	stapwatch_control_attach(c, STAPWATCH_THREAD, 0, i & 1);
	stapwatch_control_attach(c, STAPWATCH_PROCESS, 0, i & 1);
	stapwatch_control_attach(c, STAPWATCH_PROCESS, getppid(), 0);
	kill(getpid(), SIGKILL);
}

static void many(int nr)
{
	struct stapwatch_control *c;
	int i, status, killed = 0, refused = 0, at_once = 0;

	for (i = 0; i < nr; i++) {
		if (at_once == 8) {
			wait(&status);
			killed += WIFSIGNALED(status);
			refused += WIFEXITED(status);
			at_once--;
		}
		if (!fork())
			one_of_many(i);
		at_once++;
	}
	for (; at_once; at_once--) {
		wait(&status);
		killed += WIFSIGNALED(status);
		refused += WIFEXITED(status);
	}
	printf("killed: %d, refused: %d\n", killed, refused);
	/* nothing stays: with the script's there are 16 sets, and targets for who comes */
	c = open_it();
	for (i = 0; i < 15; i++) {
		char name[32];
		int tries;

		snprintf(name, sizeof(name), "left%d", i);
		/* a set that went is one for some milliseconds more */
		for (tries = 0; tries < 1000; tries++) {
			if (!stapwatch_control_make_set(c, name, "page_faults"))
				break;
			usleep(5000);
		}
		if (tries == 1000)
			say_why("no set", -1);
	}
	printf("sets: %d\n", i);
	say("attach to all", stapwatch_control_attach(c, STAPWATCH_PROCESS, 0, 0));
	stapwatch_control_close(c);
}

/* ---- all at once */

static atomic_int stormed;

static void *storm_of(void *arg)
{
	unsigned int seed = (uintptr_t)arg;
	struct stapwatch_control *c = NULL;
	uint64_t event = 0;
	char name[32];
	int64_t v;

	snprintf(name, sizeof(name), "storm%u", seed);
	for (;;) {
		if (!c)
			c = stapwatch_control_open(path);
		if (!c && errno != EUSERS)
			break;
		if (!c)
			continue;
		switch (rand_r(&seed) % 12) {
		case 0:
			stapwatch_control_make_set(c, name, "page_faults,minor_faults");
			break;
		case 1:
			stapwatch_control_find(c, name, "page_faults", &event);
			break;
		case 2:
			stapwatch_control_attach(c, STAPWATCH_THREAD, 0, seed & 1);
			break;
		case 3:
			stapwatch_control_attach(c, STAPWATCH_PROCESS, 0, seed & 1);
			break;
		case 4:
			stapwatch_control_detach(c, STAPWATCH_PROCESS, 0);
			break;
		case 5:
			stapwatch_control_detach(c, STAPWATCH_THREAD, 0);
			break;
		case 6:
			stapwatch_control_start(c, seed & 1 ? STAPWATCH_THREAD :
						STAPWATCH_ALL, 0);
			break;
		case 7:
			stapwatch_control_stop(c, seed & 1 ? STAPWATCH_PROCESS :
					       STAPWATCH_ALL, 0);
			break;
		case 8:
			stapwatch_control_run(c, &(struct stapwatch_step) {
				.what = STAPWATCH_SET_EVERY, .name = name,
				.text = seed & 1 ? "100us" : "thread:1ms" }, 1);
			break;
		case 9:
			stapwatch_control_close(c);
			c = NULL;
			break;
		case 10:
			stapwatch_control_read(c, event, STAPWATCH_TREE, 0, &v);
			break;
		default:
			touch(3);
			stapwatch_control_self(c, event, &v);
		}
		atomic_fetch_or(&stormed, 1 << (uintptr_t)arg);
		/* the file has gone: nothing comes of it any more */
		if (c && stapwatch_control_self(c, event, &v) && errno == ESHUTDOWN)
			break;
	}
	stapwatch_control_close(c);
	return NULL;
}

static void storm(void)
{
	pthread_t threads[6];
	int i;

	for (i = 0; i < 6; i++)
		pthread_create(&threads[i], NULL, storm_of, (void *)(intptr_t)(i + 1));
	while (atomic_load(&stormed) != 0x7e)
		usleep(1000);
	puts("all storm");
	fflush(stdout);
	for (i = 0; i < 6; i++)
		pthread_join(threads[i], NULL);
	puts("storm is over");
}

int main(int argc, char **argv)
{
	const char *what = argc > 2 ? argv[2] : "";

	struct sw_control_step s = { .what = SW_CONTROL_REFRESH };

	if (argc == 2) {
		say("after exec", raw(atoi(argv[1]), &s, 1));
		return 0;
	}
	path = argv[1];
	if (!strcmp(what, "wrong"))
		wrong();
	else if (!strcmp(what, "many"))
		many(atoi(argv[3]));
	else if (!strcmp(what, "storm"))
		storm();
	else
		return 2;
	return 0;
}
