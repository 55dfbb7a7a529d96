/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a writer may not do: numbers of the other kind, or of nobody; what is its parent's. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stapwatch.h"
#include "test.h"

#define FIRST_HIST 2

static bool refused(int rc, int err)
{
	return rc == -1 && errno == err && *stapwatch_error();
}

/* Of all CPUs: what the map has of each name, in the order of their numbers. */
static const char *values(const char *path)
{
	struct stapwatch *sw = stapwatch_open(path);
	static struct stapwatch_hist h;
	static char text[300];
	const struct stapwatch_instance *in;
	size_t i, len = 0;
	int64_t v;

	if (!sw)
		return stapwatch_error();
	*text = '\0';
	for (i = 0; i < stapwatch_nr(sw); i++) {
		in = stapwatch_instance(sw, i);
		if (!stapwatch_read(sw, in->number, &v))
			len += sprintf(text + len, "%s %lld,", in->name,
				       (long long)v);
		else if (!stapwatch_read_hist(sw, in->number, &h))
			len += sprintf(text + len, "%s %llu of %lld,", in->name,
				       (unsigned long long)h.count,
				       (long long)h.sum);
	}
	sprintf(text + len, "%s",
		stapwatch_state(sw) == STAPWATCH_LIVE ? "live" : "ended");
	stapwatch_close(sw);
	return text;
}

static bool has(const char *path, const char *should)
{
	const char *is = values(path);

	if (strcmp(is, should))
		printf("%s has %s\n", path, is);
	return !strcmp(is, should);
}

static void kinds(void)
{
	struct stapwatch_map *map = stapwatch_map_create("kinds", 2, 16);
	int64_t a = stapwatch_map_add(map, "a"),
		b = stapwatch_map_add(map, "b");
	int64_t h;
	int i, wrong = 0;

	TEST("a value for a counter",
	     refused(stapwatch_map_record(map, a, 0, 1), EINVAL));
	/* the 497 counters of the histogram to come */
	for (i = FIRST_HIST; i < 1200; i++)
		wrong += !refused(stapwatch_map_adjust(map, i, 0, 7), EINVAL) +
			 !refused(stapwatch_map_record(map, i, 0, 7), EINVAL);
	TEST_EQUAL("numbers of nobody", wrong, 0);
	h = stapwatch_map_add_hist(map, "h");
	TEST_EQUAL("the histogram's number", h, FIRST_HIST);
	for (i = h; i < 1200; i++)
		wrong += !refused(stapwatch_map_adjust(map, i, 0, 7), EINVAL) +
			 (i > h &&
			  !refused(stapwatch_map_record(map, i, 0, 7), EINVAL));
	TEST_EQUAL("numbers inside a histogram, and its own", wrong, 0);
	TEST("a CPU that is none",
	     refused(stapwatch_map_record(map, h, 2, 1), EINVAL));
	TEST("nothing was counted", has("kinds", "a 0,b 0,h 0 of 0,live"));
	stapwatch_map_record(map, h, 0, 5);
	stapwatch_map_adjust(map, b, 1, 3);
	stapwatch_map_del(map, b);
	TEST_EQUAL("hidden, a counter goes on",
		   stapwatch_map_adjust(map, b, 0, 4), 0);
	TEST("... and is of its kind still",
	     refused(stapwatch_map_record(map, b, 0, 4), EINVAL));
	stapwatch_map_add(map, "b");
	TEST("all that was counted", has("kinds", "a 0,b 7,h 1 of 5,live"));
	stapwatch_map_close(map);
}

/* What a child has found wrong. */
static int child_of(struct stapwatch_map *map, bool closes)
{
	int wrong = 0;

	wrong += stapwatch_map_adjust(map, 0, 1, 100) != 0;
	wrong += !refused(stapwatch_map_add(map, "child"), EPERM);
	wrong += !refused(stapwatch_map_add(map, "a"), EPERM);
	wrong += !refused(stapwatch_map_add_hist(map, "h"), EPERM);
	wrong += !refused(stapwatch_map_del(map, 0), EPERM);
	if (closes)
		stapwatch_map_close(map);
	return wrong;
}

static int fork_child(struct stapwatch_map *map, bool closes)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(child_of(map, closes));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void forks(void)
{
	struct stapwatch_map *map = stapwatch_map_create("forks", 2, 16),
			     *other;
	int64_t a = stapwatch_map_add(map, "a");

	stapwatch_map_adjust(map, a, 0, 1);
	TEST_EQUAL("a child that closes", fork_child(map, true), 0);
	TEST("the map goes on", has("forks", "a 101,live"));
	TEST_EQUAL("a child that is just gone", fork_child(map, false), 0);
	stapwatch_map_adjust(map, stapwatch_map_add(map, "b"), 0, 2);
	TEST("the parent adds", has("forks", "a 201,b 2,live"));
	/* what a child makes is its own */
	fflush(stdout);
	if (!fork()) {
		other = stapwatch_map_create("of_child", 1, 16);
		stapwatch_map_adjust(other, stapwatch_map_add(other, "c"), 0,
				     3);
		stapwatch_map_close(other);
		stapwatch_map_close(map);
		_exit(0);
	}
	wait(NULL);
	TEST("a child's own map ends with it", has("of_child", "c 3,ended"));
	TEST("... its parent's does not", has("forks", "a 201,b 2,live"));
	stapwatch_map_close(map);
	TEST("its maker ends it", has("forks", "a 201,b 2,ended"));
}

static void arguments(void)
{
	struct stapwatch_map *map;

	TEST("65537 CPUs",
	     !stapwatch_map_create("many", 65537, 16) && errno == EINVAL);
	TEST("-1 CPUs", !stapwatch_map_create("many", -1, 16) &&
				errno == EINVAL && access("many", F_OK));
	TEST("no path", !stapwatch_map_create(NULL, 1, 16) && errno == EINVAL);
	TEST("no path to read", !stapwatch_open(NULL) && errno == EINVAL);
	TEST("no path of messages",
	     !stapwatch_messages_open(NULL) && errno == EINVAL);
	map = stapwatch_map_create("many", 65536, 16);
	TEST("65536 CPUs", map);
	TEST("no name", refused(stapwatch_map_add(map, NULL), EINVAL));
	TEST("no name, of a histogram",
	     refused(stapwatch_map_add_hist(map, NULL), EINVAL));
	stapwatch_map_close(map);
}

int main(void)
{
	kinds();
	forks();
	arguments();
	return test_failures != 0;
}
