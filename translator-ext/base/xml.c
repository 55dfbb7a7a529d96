/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text in XML; xml.h says what is wanted of it. */
#include "base/xml.h"

#include "base/utf8.h"

/* XML has none of these, not even as a reference. */
static bool is_no_text(uint32_t code)
{
	return utf8_is_control(code) || code == 0xfffe || code == 0xffff;
}

void xml_text(struct buf *out, const char *text, size_t most)
{
	const char *s = text;
	size_t len;

	for (; *s && most; most--, s += len ? len : 1) {
		len = utf8_length(s);
		if (!len || is_no_text(utf8_code(s, len)))
			buf_puts(out, "\xef\xbf\xbd");	/* U+FFFD */
		else if (*s == '<')
			buf_puts(out, "&lt;");
		else if (*s == '>')
			buf_puts(out, "&gt;");
		else if (*s == '&')
			buf_puts(out, "&amp;");
		else if (*s == '"')
			buf_puts(out, "&quot;");
		else
			buf_add(out, s, len);
	}
}
