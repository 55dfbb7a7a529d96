/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program whose session has counters of its own, which go on from one target to the
 * next.
 *
 *	control_counters PATH	cgroups of version 2 are in `cg'; each line is "WHAT: RESULT", of a failure its errno's name
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "control.h"

/* Who has just written to us may still run where it does. */
static void say_counter(const char *what, struct stapwatch_control *c, uint64_t counter)
{
	struct stapwatch_step s = { .what = STAPWATCH_REFRESH };
	int tries;

	for (tries = 0; tries < 1000; tries++)
		if (stapwatch_control_run(c, &s, 1) == 1 && !s.value)
			break;
	say_count(what, c, counter, STAPWATCH_SESSION, 0);
}

/* From one target to the next; the script's and others' counts do not change. */
static void counters_go_on(struct stapwatch_control *c, uint64_t event)
{
	int one, two, status;
	pid_t pid = child_that_touches(40, &one), other = child_that_touches(9, &two);
	uint64_t k = 0;

	/* what they share with us from fork() on they have of their own after that */
	tell(one);
	tell(two);
	say("count", stapwatch_control_count(c, event, 1000, &k));
	say_counter("of nobody", c, k);
	say("one", stapwatch_control_attach(c, STAPWATCH_THREAD, pid, 0));
	tell(one);
	say("one ends", stapwatch_control_detach(c, STAPWATCH_THREAD, pid));
	tell(one);
	say_counter("40 of one", c, k);
	say("two", stapwatch_control_attach(c, STAPWATCH_PROCESS, other, STAPWATCH_STOPPED));
	tell(two);
	say_counter("two is stopped", c, k);
	say("all start", stapwatch_control_start(c, STAPWATCH_SESSION, 0));
	tell(two);
	say("one, again", stapwatch_control_attach(c, STAPWATCH_THREAD, pid, 0));
	tell(one);
	say("all stop", stapwatch_control_stop(c, STAPWATCH_SESSION, 0));
	tell(one);
	tell(two);
	say_counter("9 of two, 40 of one", c, k);
	say("preset", stapwatch_control_preset(c, k, -5));
	say("all start", stapwatch_control_start(c, STAPWATCH_SESSION, 0));
	tell(one);
	tell(two);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	kill(other, SIGKILL);
	waitpid(other, &status, 0);
	say("one ends", stapwatch_control_detach(c, STAPWATCH_THREAD, pid));
	say("two ends", stapwatch_control_detach(c, STAPWATCH_PROCESS, other));
	say_counter("9 of two, 40 of one, from -5 on", c, k);
	say("reset", stapwatch_control_preset(c, 0, 0));
	say_counter("after a reset", c, k);
}

static void counters_of_cpus(struct stapwatch_control *c, uint64_t event)
{
	int64_t before = 0, after = 0, v = 0;
	const int cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t k = 0;
	int cpu, failed = 0;

	say("the same event", stapwatch_control_count(c, event, 0, &k));
	stapwatch_control_read(c, event, STAPWATCH_ALL, 0, &before);
	for (cpu = 0; cpu < cpus; cpu++)
		failed += !!stapwatch_control_attach(c, STAPWATCH_CPU, cpu, 0);
	touch(200);
	for (cpu = 0; cpu < cpus; cpu++)
		failed += !!stapwatch_control_stop(c, STAPWATCH_CPU, cpu);
	stapwatch_control_run(c, &(struct stapwatch_step) {
		.what = STAPWATCH_REFRESH }, 1);
	stapwatch_control_read(c, event, STAPWATCH_ALL, 0, &after);
	touch(200);
	stapwatch_control_read(c, k, STAPWATCH_SESSION, 0, &v);
	printf("CPUs: %d failed, %d\n", failed, v >= 200 && v <= after - before);
	for (cpu = 0; cpu < cpus; cpu++)
		failed += !!stapwatch_control_start(c, STAPWATCH_CPU, cpu) ||
			  !!stapwatch_control_detach(c, STAPWATCH_CPU, cpu);
	after = 0;
	stapwatch_control_read(c, k, STAPWATCH_SESSION, 0, &after);
	printf("again: %d failed, %d\n", failed, after >= v && after < v + 200);
	say("no CPU", stapwatch_control_attach(c, STAPWATCH_CPU, 1 << 20, 0));
	say("CPU -1", stapwatch_control_attach(c, STAPWATCH_CPU, -1, 0));
}

/* CHILD counts for a cgroup while it is in it. */
static void move(pid_t child, const char *cgroup)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "%s/cgroup.procs", cgroup);
	f = fopen(name, "w");
	if (!f || fprintf(f, "%d\n", child) < 0 || fclose(f))
		err(1, "%s", name);
}

static void counters_of_cgroup(struct stapwatch_control *c, uint64_t event)
{
	const char *mine = "cg/counters";
	int child, status, fd, failed = 0, i;
	pid_t pid = child_that_touches(20, &child);
	uint64_t k = 0;

	tell(child);
	if (mkdir(mine, 0700))
		err(1, "%s", mine);
	fd = open(mine, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	say("the same event", stapwatch_control_count(c, event, 0, &k));
	say("cgroup", stapwatch_control_attach(c, STAPWATCH_CGROUP, fd, 0));
	say("twice", stapwatch_control_attach(c, STAPWATCH_CGROUP, fd, 0));
	tell(child);
	move(pid, mine);
	tell(child);
	say_counter("20 in it", c, k);
	say("stop", stapwatch_control_stop(c, STAPWATCH_CGROUP, fd));
	tell(child);
	say("start", stapwatch_control_start(c, STAPWATCH_CGROUP, fd));
	tell(child);
	say_counter("20 more", c, k);
	move(pid, "cg");
	tell(child);
	say_count("its own", c, event, STAPWATCH_CGROUP, fd);
	say("detach", stapwatch_control_detach(c, STAPWATCH_CGROUP, fd));
	move(pid, mine);
	tell(child);
	say_counter("detached", c, k);
	say_count("its own", c, event, STAPWATCH_CGROUP, fd);
	/* who is in it already; more often than there are places */
	for (i = 0; i < 70; i++) {
		failed += !!stapwatch_control_attach(c, STAPWATCH_CGROUP, fd, 0);
		if (i == 69)
			tell(child);
		failed += !!stapwatch_control_detach(c, STAPWATCH_CGROUP, fd);
	}
	printf("again and again: %d failed\n", failed);
	say_counter("20 once more", c, k);
	say("attach", stapwatch_control_attach(c, STAPWATCH_CGROUP, fd, 0));
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	while (rmdir(mine))
		usleep(1000);
	say("it has gone", stapwatch_control_detach(c, STAPWATCH_CGROUP, fd));
	say("and again", stapwatch_control_attach(c, STAPWATCH_CGROUP, fd, 0));
	say_why("no cgroup", stapwatch_control_attach(c, STAPWATCH_CGROUP, 0, 0));
	say("no descriptor", stapwatch_control_attach(c, STAPWATCH_CGROUP, -1, 0));
	close(fd);
	close(child);
}

static void counters_in_sets(struct stapwatch_control *c)
{
	uint64_t k = 0, old = 0;
	int i, failed = 0;

	say("make", stapwatch_control_make_set(c, "a", "page_faults,minor_faults"));
	await_turn(c, "a");
	say("count", stapwatch_control_count(c, word(c, "a", "page_faults"), 0, &k));
	say("self", stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0));
	touch(30);
	say_counter("30 in a set", c, k);
	say("delete", stapwatch_control_run(c, &(struct stapwatch_step) {
		.what = STAPWATCH_DELETE_SET, .name = "a" }, 1) != 1);
	say_counter("its set has gone", c, k);
	/* its place is the next one's */
	for (i = 0; i < 40; i++) {
		old = k;
		failed += stapwatch_control_make_set(c, "a", "page_faults") ||
			  stapwatch_control_count(c, word(c, "a", "page_faults"), 0, &k);
	}
	printf("40 sets: %d failed\n", failed);
	say_counter("an old one", c, old);
	say("no counter", stapwatch_control_preset(c, old, 0));
	say("of no event", stapwatch_control_count(c, k, 0, &old));
	say("detach", stapwatch_control_detach(c, STAPWATCH_THREAD, 0));
}

int main(int argc, char **argv)
{
	struct stapwatch_control *c;
	uint64_t event;

	if (argc < 2)
		return 2;
	path = argv[1];
	c = open_it();
	event = word(c, NULL, "page_faults");
	counters_go_on(c, event);
	counters_of_cpus(c, event);
	counters_of_cgroup(c, event);
	counters_in_sets(c);
	stapwatch_control_close(c);
	return 0;
}
