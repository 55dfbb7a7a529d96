/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * code_test DIR: libstapwatch's stapwatch_code() writes what the report reads: functions,
 * each from its time on, of several threads, and of a child.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/intern.h"
#include "lib/stapwatch.h"
#include "report/input/jit_dump.h"
#include "test.h"

#define THREADS 4
#define EACH 200

static char room[THREADS * EACH * 16];
static const char *dir;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static const char *path_of(int pid)
{
	static char path[300];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, pid);
	return path;
}

/* The function at an address at a time; "": none. */
static const char *at(int pid, const void *addr, uint64_t time)
{
	static char name[100];
	struct intern texts = { 0 };
	const struct jit_code *codes;
	uint64_t place, begin = 0;
	struct jit_dump *d = jit_dump_read(path_of(pid), pid, &texts);
	uint32_t state = jit_dump_state(d, time), nr, i;

	*name = '\0';
	if (jit_dump_why(d))
		printf("%s\n", jit_dump_why(d));
	codes = jit_dump_codes(d, &nr);
	if (jit_dump_find(d, state, (uintptr_t)addr, &place))
		for (i = 0; i < nr; i++)
			if (codes[i].place <= place && codes[i].place >= begin) {
				begin = codes[i].place;
				strcpy(name, intern_text(&texts, codes[i].name));
			}
	jit_dump_free(d);
	intern_free(&texts);
	return name;
}

static uint32_t functions(int pid)
{
	struct intern texts = { 0 };
	struct jit_dump *d = jit_dump_read(path_of(pid), pid, &texts);
	uint32_t nr;

	jit_dump_codes(d, &nr);
	if (jit_dump_why(d))
		nr = UINT32_MAX;
	jit_dump_free(d);
	intern_free(&texts);
	return nr;
}

static void *make(void *arg)
{
	const uintptr_t t = (uintptr_t)arg;
	char name[32];
	int i;

	for (i = 0; i < EACH; i++) {
		snprintf(name, sizeof(name), "f%d.%d", (int)t, i);
		if (stapwatch_code(room + (t * EACH + i) * 16, 16, name))
			printf("%s\n", stapwatch_error());
	}
	return NULL;
}

static bool is_refused(const void *code, size_t size, const char *name)
{
	return stapwatch_code(code, size, name) == -1 && errno == EINVAL;
}

/* Before there is a file, and after. */
static void arguments(void)
{
	static char long_name[5000];

	memset(long_name, 'n', sizeof(long_name) - 1);
	TEST("no name", is_refused(room, 16, NULL) && is_refused(room, 16, ""));
	TEST("no code", is_refused(NULL, 16, "f") && is_refused(room, 0, "f"));
	TEST("a long name", is_refused(room, 16, long_name));
	TEST("much code", is_refused(room, 1UL << 31, "f"));
}

static void times(void)
{
	uint64_t before = now(), between, after;

	TEST_EQUAL("a function", stapwatch_code(room, 32, "first"), 0);
	between = now();
	TEST_EQUAL("another in its place", stapwatch_code(room + 16, 32, "second"), 0);
	after = now();
	TEST("before it there is none", !*at(getpid(), room, before));
	TEST("the first one", !strcmp(at(getpid(), room + 20, between), "first"));
	TEST("the other one", !strcmp(at(getpid(), room + 20, after), "second"));
	TEST("what it left", !strcmp(at(getpid(), room + 8, after), "first"));
	TEST("after its end there is none", !*at(getpid(), room + 48, after));
}

static void threads(void)
{
	pthread_t all[THREADS];
	uintptr_t t;
	int wrong = 0, i;
	char name[32];

	for (t = 0; t < THREADS; t++)
		pthread_create(&all[t], NULL, make, (void *)t);
	for (t = 0; t < THREADS; t++)
		pthread_join(all[t], NULL);
	TEST_EQUAL("threads: all functions", functions(getpid()),
		   2 + THREADS * EACH);
	for (t = 0; t < THREADS; t++)
		for (i = 0; i < EACH; i += 50) {
			snprintf(name, sizeof(name), "f%d.%d", (int)t, i);
			wrong += strcmp(at(getpid(), room + (t * EACH + i) * 16 + 3,
					   now()), name) != 0;
		}
	TEST_EQUAL("threads: each in its place", wrong, 0);
}

static void child(void)
{
	const pid_t parent = getpid();
	struct stat st;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(stapwatch_code(room, 16, "child's") ? 1 : 0);
	waitpid(pid, NULL, 0);
	TEST_EQUAL("a child's own file", functions(pid), 1);
	TEST_EQUAL("its parent's", functions(parent), 2 + THREADS * EACH);
	TEST_EQUAL("the parent goes on", stapwatch_code(room, 16, "more"), 0);
	TEST_EQUAL("in its own", functions(parent), 3 + THREADS * EACH);
	TEST("it is the owner's alone", !stat(path_of(parent), &st) &&
	     (st.st_mode & 0777) == 0600);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	dir = argv[1];
	arguments();
	setenv("JITDUMPDIR", "/nowhere", 1);
	TEST("no directory", stapwatch_code(room, 16, "f") == -1 && errno == ENOENT);
	setenv("JITDUMPDIR", dir, 1);
	times();
	threads();
	child();
	return test_failures != 0;
}
