/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON; json.h says what is wanted of it. */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

#include "base/utf8.h"

/* How many bytes stand for themselves. */
static size_t plain(const char *text)
{
	size_t len = 0;

	while (text[len] >= ' ' && text[len] < 0x7f && text[len] != '"' &&
	       text[len] != '\\')
		len++;
	return len;
}

static void put_quoted(struct buf *out, const char *text)
{
	uint32_t code;
	size_t len;

	buf_puts(out, "\"");
	for (; *text; text += len ? len : 1) {
		len = plain(text);
		if (len) {
			buf_add(out, text, len);
			continue;
		}
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

static void put_comma(struct json *j)
{
	if (j->more)
		buf_puts(j->out, ",");
	j->more = true;
}

/* What stands before each value. */
static void put_key(struct json *j, const char *key)
{
	put_comma(j);
	if (!key)
		return;
	put_quoted(j->out, key);
	buf_puts(j->out, ":");
}

static void begin(struct json *j, const char *key, const char *bracket)
{
	put_key(j, key);
	buf_puts(j->out, bracket);
	j->more = false;
}

static void end(struct json *j, const char *bracket)
{
	buf_puts(j->out, bracket);
	j->more = true;
}

void json_object(struct json *j, const char *key)
{
	begin(j, key, "{");
}

void json_end_object(struct json *j)
{
	end(j, "}");
}

void json_document(struct json *j)
{
	json_object(j, NULL);
	json_uint(j, "version", JSON_VERSION);
}

void json_end_document(struct json *j)
{
	json_end_object(j);
	json_line(j);
}

void json_array(struct json *j, const char *key)
{
	begin(j, key, "[");
}

void json_end_array(struct json *j)
{
	end(j, "]");
}

void json_line(struct json *j)
{
	buf_puts(j->out, "\n");
	j->more = false;
}

void json_break(struct json *j)
{
	put_comma(j);
	json_line(j);
}

void json_string(struct json *j, const char *key, const char *text)
{
	put_key(j, key);
	put_quoted(j->out, text);
}

void json_int(struct json *j, const char *key, int64_t value)
{
	put_key(j, key);
	buf_printf(j->out, "%" PRId64, value);
}

void json_uint(struct json *j, const char *key, uint64_t value)
{
	put_key(j, key);
	buf_printf(j->out, "%" PRIu64, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	json_text(j, key, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	json_text(j, key, "null");
}

void json_fixed(struct json *j, const char *key, double value, int decimals)
{
	if (!isfinite(value)) {
		json_null(j, key);
		return;
	}
	put_key(j, key);
	buf_printf(j->out, "%.*f", decimals, value);
}

void json_text(struct json *j, const char *key, const char *text)
{
	put_key(j, key);
	buf_puts(j->out, text);
}
