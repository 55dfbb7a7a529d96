/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Terms of a PMU's event, and where their bits go. */
#include <string.h>
#include "count/terms.h"
#include "test.h"

/* Does it put the value there, and nothing elsewhere? */
static bool put_is(const char *format, u64 value, unsigned int word, u64 bits)
{
	u64 config[SW_TERMS_WORDS] = { 0 }, wanted[SW_TERMS_WORDS] = { 0 };

	wanted[word] = bits;
	return sw_terms_put(config, format, value) &&
	       !memcmp(config, wanted, sizeof(config));
}

static bool refuses(const char *format, u64 value)
{
	u64 config[SW_TERMS_WORDS] = { 0 };

	return !sw_terms_put(config, format, value);
}

static void test_formats(void)
{
	u64 config[SW_TERMS_WORDS] = { 0xffff, 0, 0 };

	TEST("a range", put_is("config:8-15", 0x4, 0, 0x400));
	TEST("one bit", put_is("config:18", 1, 0, 1 << 18));
	TEST("two ranges, the lowest first",
	     put_is("config:0-7,32-35", 0x3c4, 0, 0x3000000c4));
	TEST("the whole word", put_is("config2:0-63", ~0ULL, 2, ~0ULL));
	TEST("another word", put_is("config1:0-15", 128, 1, 128));
	TEST("a value takes the place of another",
	     sw_terms_put(config, "config:4-7", 2) && config[0] == 0xff2f);
	TEST("a value that is too big", refuses("config:0-7", 256));
	TEST("the last word", put_is("config4:4-7", 0xa, 4, 0xa0));
	TEST("a word that perf does not take", refuses("config5:0-7", 1));
	TEST("a bit that no word has", refuses("config:0-64", 1));
	TEST("a range from high to low", refuses("config:7-0", 1));
	TEST("no bits", refuses("config:", 1));
	TEST("bits, and more", refuses("config:0-7x", 1));
	TEST("no word", refuses("events:0-7", 1));
	TEST("nothing", refuses("", 0));
}

/* The name of the first of TERMS, and what follows. */
static bool takes(const char *terms, const char *name, u64 value, bool alone,
		  const char *rest)
{
	char is[SW_TERM_NAME];
	bool is_alone;
	u64 v;
	const char *next = sw_terms_next(terms, is, &v, &is_alone);

	return next && !strcmp(is, name) && v == value && is_alone == alone &&
	       !strcmp(next, rest);
}

static bool stops_at(const char *terms)
{
	char name[SW_TERM_NAME];
	bool alone;
	u64 v;

	return !sw_terms_next(terms, name, &v, &alone);
}

static void test_terms(void)
{
	TEST("the first of two",
	     takes("event=0x04,umask=3", "event", 4, false, "umask=3"));
	TEST("a decimal number", takes("umask=30", "umask", 30, false, ""));
	TEST("one that stands alone", takes("edge", "edge", 1, true, ""));
	TEST("... before another", takes("edge,inv", "edge", 1, true, "inv"));
	TEST("the highest number", takes("a=0xffffffffffffffff", "a", ~0ULL,
					 false, ""));
	TEST("one above it", stops_at("a=0x10000000000000000"));
	TEST("... in decimals", stops_at("a=18446744073709551616"));
	TEST("no number", stops_at("a=?"));
	TEST("a number, and more", stops_at("a=1x"));
	TEST("no digits", stops_at("a=0x"));
	TEST("no name", stops_at("=1"));
	TEST("an empty term", stops_at(",a"));
	TEST("a name that is too long",
	     stops_at("abcdefghijklmnopqrstuvwxyz0123456789=1"));
}

int main(void)
{
	test_formats();
	test_terms();
	return test_failures != 0;
}
