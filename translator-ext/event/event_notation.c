/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the notations have in common: quotes, numbers, perf's modifiers. */
#include "event/event_notation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_QUOTE	60	/* of a text, in a message */

void event_quote(struct buf *out, const char *text, size_t len)
{
	size_t i, shown = len > LONGEST_QUOTE ? LONGEST_QUOTE : len;

	buf_puts(out, "\"");
	for (i = 0; i < shown; i++) {
		unsigned char c = text[i];

		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c >= ' ' && c <= '~')
			buf_printf(out, "%c", c);
		else
			buf_printf(out, "\\x%02x", c);
	}
	buf_puts(out, shown < len ? "...\"" : "\"");
}

bool event_number(const char *text, size_t len, int base, uint64_t *value)
{
	char digits[32];
	char *end;

	/* strtoull() would take white space and a sign */
	if (!len || len >= sizeof(digits) || text[0] < '0' || text[0] > '9')
		return false;
	memcpy(digits, text, len);
	digits[len] = '\0';
	errno = 0;
	*value = strtoull(digits, &end, base);
	return !errno && end == digits + len;
}

int event_modifiers(const char *mods, const char *name, size_t len,
		    struct event_attr *attr, struct buf *why)
{
	bool u = false, k = false, h = false, guest = false, host = false;
	unsigned int precise = 0;
	const char *m = mods;

	if (!*mods)
		goto unknown;
	for (; *m; m++) {
		switch (*m) {
		case 'u': u = true; break;
		case 'k': k = true; break;
		case 'h': h = true; break;
		case 'G': guest = true; break;
		case 'H': host = true; break;
		case 'I': attr->exclude_idle = true; break;
		case 'p': precise++; break;
		case 'P': precise = 3; break;
		case ':':
			if (m != mods && m[1] && m[1] != ':')
				break;
			/* fall through */
		default: goto unknown;
		}
	}
	if (precise > 3) {
		event_quote(why, mods, strlen(mods));
		buf_puts(why, " asks for more than the highest precision, ppp");
		return -1;
	}
	if (u || k || h) {
		attr->exclude_user |= !u;
		attr->exclude_kernel |= !k;
		attr->exclude_hv |= !h;
	}
	if (attr->exclude_user && attr->exclude_kernel &&
	    (attr->exclude_hv || !h)) {
		event_quote(why, name, len);
		buf_puts(why, " with modifier ");
		event_quote(why, mods, strlen(mods));
		buf_puts(why, " counts nothing anywhere");
		return -1;
	}
	/* as perf has it: hardware that is precise cannot look into guests */
	if (precise && !guest && !host)
		host = true;
	if (guest || host) {
		attr->exclude_guest = !guest;
		attr->exclude_host = !host;
	}
	if (precise)
		attr->precise_ip = precise;
	return 0;

unknown:
	/* a letter among perf's own, or something else altogether? */
	while (m > mods && m[-1] != ':')
		m--;
	buf_puts(why, "modifier ");
	event_quote(why, m, strcspn(m, ":"));
	buf_puts(why, " of ");
	event_quote(why, name, len);
	buf_puts(why, " is not known; perf's are u k h G H I p pp ppp P");
	return -1;
}
