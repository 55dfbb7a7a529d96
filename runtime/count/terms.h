/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The terms of a PMU's event, as sysfs has them: "event=0x04,umask=0x03", and where
 * the bits of each go: "config:0-7,32-35".
 *
 * All of it: any context; texts and words that are the caller's.  It needs no kernel.
 */
#ifndef STAPWATCH_COUNT_TERMS_H
#define STAPWATCH_COUNT_TERMS_H

#include "base/compat.h"

#ifdef __KERNEL__
#include <linux/string.h>
#else
#include <string.h>
#endif

/* config, and config1 to config4 */
#define SW_TERMS_WORDS 5
#define SW_TERM_NAME 32

/* A number, hexadecimal after 0x.  Return: what follows; NULL: there is none. */
static const char *sw_terms_number(const char *s, u64 *value)
{
	unsigned int base = 10, digit;
	const char *from;
	u64 v = 0;

	if (s[0] == '0' && s[1] == 'x') {
		base = 16;
		s += 2;
	}
	for (from = s; ; s++) {
		if (*s >= '0' && *s <= '9')
			digit = *s - '0';
		else if (base == 16 && (*s | 0x20) >= 'a' && (*s | 0x20) <= 'f')
			digit = (*s | 0x20) - 'a' + 10;
		else
			break;
		if (v > ((u64)-1 - digit) / base)
			return NULL;
		v = v * base + digit;
	}
	*value = v;
	return s > from ? s : NULL;
}

/* "0-7" or "18".  Return: what follows; NULL: it is neither. */
static const char *sw_terms_range(const char *s, u64 *low, u64 *high)
{
	s = sw_terms_number(s, low);
	*high = *low;
	if (s && *s == '-')
		s = sw_terms_number(s + 1, high);
	if (!s || *low > *high || *high > 63)
		return NULL;
	return s;
}

/**
 * sw_terms_put - put a value's bits where a format has them, the lowest first
 * @config: config, and config1 to config4
 * @format: as sysfs has it, "config1:0-15"
 * Return: false: it is no format, or has not so many bits.
 */
static bool __maybe_unused
sw_terms_put(u64 *config, const char *format, u64 value)
{
	static const char word[] = "config";
	unsigned int room = 0;
	u64 low, high, which = 0;

	if (strncmp(format, word, sizeof(word) - 1))
		return false;
	format += sizeof(word) - 1;
	if (*format != ':')
		format = sw_terms_number(format, &which);
	if (!format || *format != ':' || which >= SW_TERMS_WORDS)
		return false;
	do {
		format = sw_terms_range(format + 1, &low, &high);
		if (!format)
			return false;
		for (; low <= high; low++, room++) {
			config[which] &= ~((u64)1 << low);
			if (room < 64)
				config[which] |= (value >> room & 1) << low;
		}
	} while (*format == ',');
	return !*format && (room >= 64 || !(value >> room));
}

/**
 * sw_terms_next - the next of several terms
 * @name: SW_TERM_NAME bytes, for its name
 * @value: its value; 1 where it stands alone
 * @alone: does it?
 * Return: what follows; NULL: these are no terms.
 */
static const char *__maybe_unused
sw_terms_next(const char *s, char *name, u64 *value, bool *alone)
{
	size_t len = strcspn(s, "=,");

	if (!len || len >= SW_TERM_NAME)
		return NULL;
	memcpy(name, s, len);
	name[len] = '\0';
	s += len;
	*value = 1;
	*alone = *s != '=';
	if (!*alone)
		s = sw_terms_number(s + 1, value);
	if (!s || (*s && *s != ','))
		return NULL;
	return s + (*s == ',');
}

#endif
