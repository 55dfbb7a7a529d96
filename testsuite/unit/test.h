/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What unit tests report by: a line for each case, and the exit status. */
#ifndef STAPWATCH_TEST_H
#define STAPWATCH_TEST_H

#include <stdio.h>

static int test_failures;

#define TEST(name, condition) do {					\
	if (condition) {						\
		printf("PASS: %s\n", name);				\
	} else {							\
		printf("FAIL: %s: %s, line %d\n", name, #condition,	\
		       __LINE__);					\
		test_failures++;					\
	}								\
} while (0)

#define TEST_EQUAL(name, is, should) do {				\
	long long is_ = (is), should_ = (should);			\
	if (is_ == should_) {						\
		printf("PASS: %s\n", name);				\
	} else {							\
		printf("FAIL: %s: %lld instead of %lld, line %d\n",	\
		       name, is_, should_, __LINE__);			\
		test_failures++;					\
	}								\
} while (0)

#endif
