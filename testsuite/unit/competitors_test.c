/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who ran while a thread was ready: known switches, and what the table has of them. */
#include "ppa/competitors.h"

#include <string.h>

#include "test.h"

static struct ppa_came came;
static struct ppa_competing to;

static void begin(void)
{
	memset(&came, 0, sizeof(came));
	memset(&to, 0, sizeof(to));
}

static u64 ticks_of(u32 tid)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < PPA_COMPETITORS; i++)
		if (to.threads[i].tid == tid)
			sum += to.threads[i].ticks;
	return sum;
}

static u64 all(void)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < PPA_COMPETITORS; i++)
		sum += to.threads[i].ticks;
	for (i = 0; i < PPA_NR_COMPETED_VALUES; i++)
		sum += to.values[i];
	return sum;
}

/* Ready at 100, in the middle of 7's time, until 180. */
static void test_shares(void)
{
	begin();
	ppa_competitor_came(&came, 9, 10);
	ppa_competitor_came(&came, 7, 90);
	ppa_competitor_came(&came, 8, 130);
	ppa_competitor_came(&came, 0, 150);
	ppa_competitor_came(&came, 7, 155);
	ppa_competed(&to, &came, 80, 180);
	TEST_EQUAL("shares: one that ran twice, and before", ticks_of(7), 30 + 25);
	TEST_EQUAL("shares: one that ran once", ticks_of(8), 20);
	TEST_EQUAL("shares: one that ran before only", ticks_of(9), 0);
	TEST_EQUAL("shares: nobody", to.values[PPA_COMPETED_IDLE], 5);
	TEST_EQUAL("shares: all of it", all(), 80);
	ppa_competitor_came(&came, 5, 180);
	/* preempted at once, and is back */
	ppa_competitor_came(&came, 8, 200);
	ppa_competed(&to, &came, 40, 240);
	TEST_EQUAL("shares: another wait", ticks_of(8), 20 + 40);
	TEST_EQUAL("shares: its own time is none of it", ticks_of(5), 0);
}

static void test_bound(void)
{
	int i;

	begin();
	ppa_competed(&to, &came, 30, 100);
	TEST_EQUAL("bound: nobody is known yet", to.values[PPA_COMPETED_UNKNOWN],
		   30);
	ppa_competitor_came(&came, 3, 150);
	ppa_competed(&to, &came, 100, 200);
	TEST_EQUAL("bound: only the last is known", ticks_of(3), 50);
	TEST_EQUAL("bound: and the rest is not",
		   to.values[PPA_COMPETED_UNKNOWN], 30 + 50);
	begin();
	for (i = 0; i < 1000; i++)
		ppa_competitor_came(&came, 1 + i % 2, 10 * i);
	ppa_competed(&to, &came, 9000, 10000);
	TEST_EQUAL("bound: one of two that took turns", ticks_of(1),
		   10 * PPA_CAME / 2);
	TEST_EQUAL("bound: the other", ticks_of(2), 10 * PPA_CAME / 2);
	TEST_EQUAL("bound: what is further back",
		   to.values[PPA_COMPETED_UNKNOWN], 9000 - 10 * PPA_CAME);
}

/* The counter of the CPU goes back by 500 between two switches. */
static void test_set_back(void)
{
	begin();
	ppa_competitor_came(&came, 1, 1000);
	ppa_competitor_came(&came, 2, 1100);
	ppa_competitor_came(&came, 3, 600);
	ppa_competed(&to, &came, 50, 640);
	TEST_EQUAL("set back: since then", ticks_of(3), 40);
	TEST_EQUAL("set back: nobody ran in the time to come",
		   ticks_of(1) + ticks_of(2), 0);
	TEST_EQUAL("set back: all of it", all(), 50);
}

/* Sixteen that run a little each time, and after them one that runs for long, which
 * comes when there is no place. */
static void test_full(void)
{
	u64 now = 1000, waited = 0;
	int round, i;

	begin();
	for (i = 0; i < 16; i++) {
		ppa_competitor_came(&came, 100 + i, now);
		ppa_competed(&to, &came, 1000, now + 1000);
		waited += 1000;
		now += 1000;
	}
	for (round = 0; round < 1000; round++) {
		ppa_competitor_came(&came, 7, now);
		ppa_competitor_came(&came, 200 + round % 16, now + 90);
		ppa_competed(&to, &came, 100, now + 100);
		waited += 100;
		now += 100;
	}
	TEST_EQUAL("full: all of it", all(), waited);
	TEST("full: who runs for long stays, whoever was there before",
	     ticks_of(7) >= 89000 && ticks_of(7) <= 90000);
	TEST("full: and others have the rest",
	     to.values[PPA_COMPETED_OTHERS] >= 16 * 500);
	TEST_EQUAL("full: nothing is not known",
		   to.values[PPA_COMPETED_UNKNOWN], 0);
}

int main(void)
{
	test_shares();
	test_bound();
	test_set_back();
	test_full();
	return test_failures != 0;
}
