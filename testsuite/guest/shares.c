/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of known shares of the time, on known call paths.
 *
 *	shares N [THREADS]	N rounds of 10 parts of ten(), 20 of twenty(), 30
 *			of thirty() and 40 of forty(); each thread does that
 *	shares storm N	N processes that map, exec, fork and exit
 *	shares first CPU N	on that CPU, before nearly all else
 *	shares beyond N	N rounds in beyond(), whose frame pointer leads to a frame of
 *			rounds() and then to one whose return address is none
 *	shares deep N D		N rounds, D calls of deep() deep
 *	shares maps FILE N	maps the file's first page N times, as code; says
 *			"mapped"; waits to be killed
 *	shares led	its first thread ends, and the other says "alone" then; waits to
 *			be killed
 *
 * Prints where each function begins, for who looks at samples: "function NAME
 * ADDRESS", in the order of addresses, and "pid N" and "base ADDRESS", the
 * program's file's.  Compile with frame pointers,
 * or for WITHOUT_FRAMES without, and without reordering.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION __attribute__((noinline, noclone))
#define PART 2000

/* Two instructions a turn.  Who asks for its frame's address has a frame. */
static inline __attribute__((always_inline)) void spin(unsigned long turns)
{
#ifndef WITHOUT_FRAMES
	asm volatile("" : : "r"(__builtin_frame_address(0)));
#endif
#ifdef __x86_64__
	asm volatile("1: dec %0\n\tjnz 1b" : "+r"(turns));
#else
	asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(turns) : : "cc");
#endif
}

/* What keeps a call from being the last thing, and so a jump. */
#define STAYS asm volatile("")

FUNCTION void ten(void) { spin(10 * PART); STAYS; }
FUNCTION void twenty(void) { spin(20 * PART); STAYS; }
FUNCTION void thirty(void) { spin(30 * PART); STAYS; }
FUNCTION void forty(void) { spin(40 * PART); STAYS; }
FUNCTION void left(void) { ten(); twenty(); STAYS; }
FUNCTION void right(void) { thirty(); forty(); STAYS; }
FUNCTION void rounds(unsigned long n)
{
	while (n--) {
		left();
		right();
	}
	STAYS;
}

#ifdef __x86_64__
/* What a frame of code without frame pointers may have in its place. */
#define NO_ADDRESS 0xbe552274c0854800ul

FUNCTION void beyond(unsigned long turns)
{
	const unsigned long frames[3][2] = {
		{ (unsigned long)frames[1], (unsigned long)rounds + 16 },
		{ (unsigned long)frames[2], NO_ADDRESS },
		{ 0, (unsigned long)rounds + 16 },
	};

	asm volatile("mov %%rbp, %%r8\n\tmov %1, %%rbp\n"
		     "1: dec %0\n\tjnz 1b\n\tmov %%r8, %%rbp"
		     : "+c"(turns) : "S"(frames) : "r8", "cc", "memory");
}
#else
FUNCTION void beyond(unsigned long turns) { spin(turns); STAYS; }
#endif
FUNCTION void deep(unsigned int more, unsigned long n)
{
	if (more)
		deep(more - 1, n);
	else
		rounds(n);
	STAYS;
}
FUNCTION void after(void) { STAYS; }

static unsigned long turns;

static void *run(void *unused)
{
	(void)unused;
	rounds(turns);
	STAYS;
	return NULL;
}

extern const char __ehdr_start[];

static void print_functions(void)
{
	printf("pid %d\n", getpid());
	printf("base %p\n", (void *)__ehdr_start);
	printf("function ten %p\n", (void *)ten);
	printf("function twenty %p\n", (void *)twenty);
	printf("function thirty %p\n", (void *)thirty);
	printf("function forty %p\n", (void *)forty);
	printf("function left %p\n", (void *)left);
	printf("function right %p\n", (void *)right);
	printf("function rounds %p\n", (void *)rounds);
	printf("function beyond %p\n", (void *)beyond);
	printf("function after %p\n", (void *)after);
	fflush(stdout);
}

static void storm(const char *self, int n)
{
	while (n--) {
		pid_t child = fork();

		if (!child) {
			mmap(NULL, 4096, PROT_READ | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			if (n % 2)
				execl(self, self, "1", (char *)NULL);
			rounds(1);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

static void maps(const char *path, int n)
{
	int fd = open(path, O_RDONLY);

	while (n--)
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) ==
		    MAP_FAILED)
			err(1, "%s", path);
	puts("mapped");
	fflush(stdout);
	pause();
}

static void *wait_alone(void *unused)
{
	char path[64], state = 0;
	FILE *f;

	(void)unused;
	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", getpid());
	while (state != 'Z') {
		f = fopen(path, "r");
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			err(1, "%s", path);
		fclose(f);
		usleep(10000);
	}
	puts("alone");
	fflush(stdout);
	pause();
	return NULL;
}

static void led(void)
{
	pthread_t other;

	print_functions();
	if (pthread_create(&other, NULL, wait_alone, NULL))
		errx(1, "no thread");
	pthread_exit(NULL);
}

static void first(int cpu)
{
	struct sched_param p = { .sched_priority = 50 };
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) ||
	    sched_setscheduler(0, SCHED_FIFO, &p))
		perror("shares");
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int i, n = argc > 2 ? atoi(argv[2]) : 1;

	if (argc > 2 && !strcmp(argv[1], "storm")) {
		storm(argv[0], n);
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "led"))
		led();
	if (argc > 3 && !strcmp(argv[1], "maps")) {
		maps(argv[2], atoi(argv[3]));
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "deep")) {
		deep(atoi(argv[3]), n);
		return 0;
	}
	if (argc > 3 && !strcmp(argv[1], "first")) {
		first(n);
		argv += 2;
		n = 1;
	}
	if (argc > 2 && !strcmp(argv[1], "beyond")) {
		print_functions();
		while (n--)
			beyond(2000 * PART);
		return 0;
	}
	turns = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	if (argc < 2 || n < 1 || n > 64)
		return 2;
	print_functions();
	for (i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, run, NULL))
			return 1;
	run(NULL);
	for (i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
