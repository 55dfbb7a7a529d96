/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list that has more than its share of memory is the same as one that qsort(3) puts
 * in order, and one that no disk has room for says so.
 *
 * usage: sorter_test DIRECTORY, which is empty, and goes
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sorter.h"
#include "test.h"

#define MEMORY 4096
#define NR 20000

struct element {
	uint64_t key;
	uint32_t order;
	char more[12];
};

static struct element all[NR];

static int compare(const void *a, const void *b)
{
	const struct element *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Keys are MOD values at most: the fewer, the more are alike. */
static void fill(struct sorter *s, size_t nr, uint64_t mod)
{
	uint64_t random = 88172645463325252u;
	size_t i;

	memset(all, 0, sizeof(all));
	sorter_init(s, sizeof(*all), MEMORY);
	for (i = 0; i < nr; i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		all[i].key = mod ? random % mod : random;
		all[i].order = i;
		memset(all[i].more, random >> 56, sizeof(all[i].more));
		sorter_add(s, &all[i]);
	}
}

/* How many of the first are as they should be. */
static size_t right(size_t nr, uint64_t mod, bool *is_filed)
{
	const struct element *e;
	struct sorter s;
	size_t i;

	fill(&s, nr, mod);
	sorter_sort(&s);
	*is_filed = s.spool.has_file;
	qsort(all, nr, sizeof(*all), compare);
	for (i = 0; i < nr; i++) {
		e = sorter_next(&s);
		if (!e || memcmp(e, &all[i], sizeof(*e)))
			break;
	}
	if (i == nr && sorter_next(&s))
		i++;
	sorter_free(&s);
	return i;
}

static int why_not(char **why)
{
	struct buf b = { 0 };
	struct sorter s;
	int error;

	fill(&s, NR, 0);
	sorter_sort(&s);
	while (sorter_next(&s))
		;
	error = s.spool.error;
	spool_why(&s.spool, &b);
	*why = buf_take(&b);
	sorter_free(&s);
	return error;
}

int main(int argc, char **argv)
{
	const struct rlimit none = { 8192, 8192 };
	bool is_filed;
	char *why;

	if (argc != 2 || setenv("TMPDIR", argv[1], 1))
		return 2;
	TEST_EQUAL("no element", right(0, 0, &is_filed), 0);
	TEST_EQUAL("one", right(1, 0, &is_filed), 1);
	TEST_EQUAL("as many as memory has room for",
		   right(MEMORY / sizeof(*all), 0, &is_filed),
		   MEMORY / sizeof(*all));
	TEST("... are in memory", !is_filed);
	TEST_EQUAL("one more", right(MEMORY / sizeof(*all) + 1, 0, &is_filed),
		   MEMORY / sizeof(*all) + 1);
	TEST_EQUAL("a hundred times as many", right(NR, 0, &is_filed), NR);
	TEST("... are in a file", is_filed);
	TEST_EQUAL("three keys: who came first is first",
		   right(NR, 3, &is_filed), NR);
	TEST_EQUAL("one key", right(NR, 1, &is_filed), NR);

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &none);
	TEST_EQUAL("no room on the disk", why_not(&why), EFBIG);
	free(why);
	TEST_EQUAL("files had no names", rmdir(argv[1]), 0);
	setenv("TMPDIR", "/none", 1);
	TEST_EQUAL("no directory", why_not(&why), ENOENT);
	TEST("... and why", !strcmp(why, "a temporary file in /none: No such file or directory; TMPDIR may name another directory"));
	free(why);
	return test_failures != 0;
}
