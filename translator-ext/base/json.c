/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON; json.h says what is wanted of it. */
#include "base/json.h"

#include "base/utf8.h"

void json_string(struct buf *out, const char *text)
{
	uint32_t code;
	size_t len;

	buf_puts(out, "\"");
	for (; *text; text += len ? len : 1) {
		len = utf8_length(text);
		code = len ? utf8_code(text, len) : (unsigned char)*text;
		if (*text == '"' || *text == '\\')
			buf_printf(out, "\\%c", *text);
		else if (!len || utf8_is_control(code))
			buf_printf(out, "\\u%04x", code);
		else
			buf_add(out, text, len);
	}
	buf_puts(out, "\"");
}
