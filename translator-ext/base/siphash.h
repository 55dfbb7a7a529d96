/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hashes of what others choose: who has not got the key cannot make them alike. */
#ifndef STAPWATCH_SIPHASH_H
#define STAPWATCH_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

struct siphash_key {
	uint64_t k[2];
};

/** siphash_random - a key that nobody knows */
struct siphash_key siphash_random(void);

/**
 * siphash - SipHash-1-3 of some bytes
 * Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF", 2012
 */
uint64_t siphash(const struct siphash_key *key, const void *bytes, size_t len);

#endif
