/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

size_t utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len, i;

	if (*s < 0x80)
		return 1;
	len = *s >= 0xc2 && *s < 0xe0 ? 2 : *s >= 0xe0 && *s < 0xf0 ? 3 :
	      *s >= 0xf0 && *s < 0xf5 ? 4 : 0;
	for (i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* too long, a surrogate, or beyond what there is */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	return len;
}

uint32_t utf8_code(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t code;
	size_t i;

	if (len == 1)
		return *s;
	/* of 7 bits the first byte has as many fewer as there are bytes */
	code = *s & (0x7f >> len);
	for (i = 1; i < len; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

size_t utf8_characters(const char *text)
{
	size_t nr;

	for (nr = 0; *text; nr++)
		text += utf8_length(text) ?: 1;
	return nr;
}

void utf8_text(struct buf *out, const char *text)
{
	unsigned char pair[2];
	size_t len;

	buf_puts(out, "");
	for (; *text; text += len) {
		len = utf8_length(text);
		if (len) {
			buf_add(out, text, len);
			continue;
		}
		/* not below 0x80, or it would be UTF-8 */
		pair[0] = 0xc0 | (unsigned char)*text >> 6;
		pair[1] = 0x80 | (*text & 0x3f);
		buf_add(out, pair, sizeof(pair));
		len = 1;
	}
}
