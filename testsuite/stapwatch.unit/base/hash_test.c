/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash-1-3, as Python has it (PYTHONHASHSEED=0, a key of zeros; hash() of bytes). */
#include <stdint.h>
#include <string.h>

#include "base/siphash.h"
#include "test.h"

int main(void)
{
	static const struct siphash_key zero;
	struct siphash_key key = siphash_random(), other = siphash_random();
	char counted[64];
	unsigned int i;

	for (i = 0; i < sizeof(counted); i++)
		counted[i] = i;
	TEST_EQUAL("one byte", siphash(&zero, "a", 1), 4644417185603328019u);
	TEST_EQUAL("a word", siphash(&zero, "12345678", 8),
		   3785724242978802311u);
	TEST_EQUAL("a word and a byte", siphash(&zero, "stapwatch", 9),
		   (int64_t)10578490858628879825u);
	TEST_EQUAL("63 bytes", siphash(&zero, counted, 63),
		   4061470857350050649u);
	TEST("two keys are not the same", memcmp(&key, &other, sizeof(key)));
	TEST("what one key says another does not",
	     siphash(&key, "a", 1) != siphash(&other, "a", 1));
	return test_failures != 0;
}
