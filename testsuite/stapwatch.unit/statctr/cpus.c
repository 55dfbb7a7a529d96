/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flexible counters on made-up CPUs, with numbers far apart, that come and go.
 * The one thread here says what CPU it runs on.
 */
#include "hooks.h"
#include "test.h"

#define COUNTERS (2 * STATCTR_PER_CHUNK)

static const unsigned int some[] = { 0, 3, 1000, 4000 };
#define SOME 4

static void run_on(unsigned int cpu)
{
	statctr_self = cpu;
}

static unsigned int words(const statctr_t *c)
{
	unsigned int cpu, n = 0;

	for (cpu = 0; cpu < STATCTR_SHARED; cpu++)
		n += PCPU_CTR(c->ctr, cpu) != NULL;
	return n;
}

static bool all_are(const statctr_t *c, unsigned long value)
{
	unsigned int i;

	for (i = 0; i < COUNTERS; i++)
		if (statctr_read(&c[i]) != value)
			return false;
	return true;
}

static void add_all(statctr_t *c, unsigned int cpu, unsigned long addend)
{
	unsigned int i;

	run_on(cpu);
	for (i = 0; i < COUNTERS; i++)
		statctr_add(&c[i], addend);
}

int main(void)
{
	static statctr_t c[COUNTERS], young;
	unsigned int i, k;
	unsigned long *word;
	long blocks;
	int rc;

	for (i = 0; i < SOME; i++)
		TEST_EQUAL("a CPU comes up", statctr_cpu_up(some[i]), 0);
	TEST_EQUAL("a number too high is refused",
		   statctr_cpu_up(STATCTR_MAX_THREADS), -EINVAL);
	if (statctr_ninit(c, COUNTERS, 100))
		abort();
	/* and one for each block that is shared by threads without number */
	TEST_EQUAL("blocks have chunks for the CPUs there are",
		   hooks_live_blocks, 2 * (SOME + 1));
	TEST_EQUAL("counters have words for them", words(&c[0]), SOME);
	TEST("and no others", !PCPU_CTR(c[0].ctr, 1) &&
			      !PCPU_CTR(c[0].ctr, 3999));
	for (i = 0; i < SOME; i++)
		add_all(c, some[i], 1 + i);
	TEST("the sum is over all of them", all_are(c, 110));
	/* the first one has what the counters began at, too */
	TEST("a CPU adds to its own word", *PCPU_CTR(c[3].ctr, 1000) == 3 &&
					   *PCPU_CTR(c[3].ctr, 0) == 101);

	/* one more, that counters have not known */
	blocks = hooks_live_blocks;
	for (k = 1;; k++) {
		hooks_fail = hooks_calls + k;
		rc = statctr_cpu_up(77);
		hooks_fail = 0;
		if (!rc)
			break;
		TEST_EQUAL("a CPU without memory for it is refused",
			   rc, -ENOMEM);
		TEST("and counters are as they were", all_are(c, 110));
	}
	TEST_EQUAL("for each block something can fail", k - 1, 2);
	TEST_EQUAL("a new CPU costs a chunk for each block",
		   hooks_live_blocks, blocks + 2);
	TEST("the sum is as before", all_are(c, 110));
	add_all(c, 77, 1000);
	TEST("a new CPU counts", all_are(c, 1110));

	/* one goes */
	word = PCPU_CTR(c[0].ctr, 1000);
	statctr_cpu_down(1000);
	TEST("what a gone CPU counted stays", all_are(c, 1110));
	add_all(c, 3, 5);
	TEST("others go on", all_are(c, 1115));
	if (statctr_init(&young, 0))
		abort();
	TEST("a new counter has no word for it", !PCPU_CTR(young.ctr, 1000));
	statctr_set(&c[1], 9);
	TEST_EQUAL("a set counts what a gone CPU has", statctr_read(&c[1]), 9);
	statctr_set(&c[1], 1115);

	/* and comes back */
	TEST_EQUAL("it comes back", statctr_cpu_up(1000), 0);
	TEST("to its old words", PCPU_CTR(c[0].ctr, 1000) == word);
	TEST("and has one of the new counter", PCPU_CTR(young.ctr, 1000));
	add_all(c, 1000, 10);
	run_on(1000);
	statctr_inc(&young);
	TEST("and counts", all_are(c, 1125) && statctr_read(&young) == 1);

	/* a used counter is 0 again, on gone CPUs too */
	statctr_cpu_down(1000);
	statctr_cleanup(&c[0]);
	if (statctr_init(&c[0], 1125))
		abort();
	TEST("a counter used again begins anew", all_are(c, 1125));

	/* one that is gone is not given the words of a new CPU */
	statctr_cleanup(&c[5]);
	TEST_EQUAL("a CPU comes up after a counter went",
		   statctr_cpu_up(555), 0);
	if (statctr_init(&c[5], 1125))
		abort();
	add_all(c, 555, 1);
	TEST("and counts for those there are", all_are(c, 1126));

	statctr_cleanup(&young);
	statctr_ncleanup(c, COUNTERS);
	TEST_EQUAL("in the end nothing is allocated", hooks_live, 0);
	TEST_EQUAL("not a byte", hooks_live_bytes, 0);
	return test_failures != 0;
}
