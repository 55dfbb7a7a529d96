/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SipHash; siphash.h says what is wanted of it. */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct state {
	uint64_t v0, v1, v2, v3;
};

struct siphash_key siphash_random(void)
{
	struct siphash_key key;
	struct timespec now;

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) == sizeof(key))
		return key;
	/* early in a boot, or where a filter has it not: what few can guess */
	clock_gettime(CLOCK_REALTIME, &now);
	return (struct siphash_key) { { (uint64_t)now.tv_sec << 32 ^ getpid(),
					(uint64_t)now.tv_nsec } };
}

static uint64_t rotated(uint64_t x, unsigned int by)
{
	return x << by | x >> (64 - by);
}

static void round_of(struct state *s)
{
	s->v0 += s->v1;
	s->v1 = rotated(s->v1, 13) ^ s->v0;
	s->v0 = rotated(s->v0, 32);
	s->v2 += s->v3;
	s->v3 = rotated(s->v3, 16) ^ s->v2;
	s->v0 += s->v3;
	s->v3 = rotated(s->v3, 21) ^ s->v0;
	s->v2 += s->v1;
	s->v1 = rotated(s->v1, 17) ^ s->v2;
	s->v2 = rotated(s->v2, 32);
}

static void take(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	round_of(s);
	s->v0 ^= word;
}

uint64_t siphash(const struct siphash_key *key, const void *bytes, size_t len)
{
	struct state s = {
		key->k[0] ^ 0x736f6d6570736575u,
		key->k[1] ^ 0x646f72616e646f6du,
		key->k[0] ^ 0x6c7967656e657261u,
		key->k[1] ^ 0x7465646279746573u,
	};
	const char *p = bytes, *end = p + (len & ~(size_t)7);
	uint64_t word;

	for (; p < end; p += 8) {
		memcpy(&word, p, 8);
		take(&s, le64toh(word));
	}
	word = 0;
	if (len & 7)
		memcpy(&word, p, len & 7);
	take(&s, le64toh(word) | (uint64_t)len << 56);
	s.v2 ^= 0xff;
	round_of(&s);
	round_of(&s);
	round_of(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
