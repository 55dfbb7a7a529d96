/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text from outside: as UTF-8, for a terminal, as JSON; each class of bytes. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"
#include "base/utf8.h"
#include "base/xml.h"
#include "test.h"

/* What was wanted, for a look at what is wrong. */
static void test_text(const char *name, struct buf *is, const char *should)
{
	char *text = buf_take(is);

	TEST(name, !strcmp(text, should));
	if (strcmp(text, should))
		printf("\"%s\" instead of \"%s\"\n", text, should);
	free(text);
}

static void test_shown(const char *name, const char *text, const char *should)
{
	struct buf out = { 0 };

	shown_text(&out, text);
	test_text(name, &out, should);
}

static void test_json(const char *name, const char *text, const char *should)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_string(&j, NULL, text);
	test_text(name, &out, should);
}

static void test_pad(const char *name, const char *text, int width,
		     const char *should)
{
	struct buf out = { 0 };

	shown_pad(&out, text, width);
	test_text(name, &out, should);
}

static void test_cut(const char *name, const char *text, int width,
		     const char *should)
{
	struct buf out = { 0 };

	shown_cut(&out, text, width);
	test_text(name, &out, should);
}

/* Every code there is, written by hand and read back. */
static size_t write_utf8(uint32_t code, char *s)
{
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	size_t i;

	for (i = len - 1; i; i--, code >>= 6)
		s[i] = 0x80 | (code & 0x3f);
	*s = len == 1 ? code : (0xf00 >> len) | code;
	s[len] = '\0';
	return len;
}

static void utf8_tests(void)
{
	uint32_t code, wrong = 0, controls = 0;
	size_t len;
	char s[5];

	for (code = 0; code < 0x110000; code++) {
		len = write_utf8(code, s);
		if (code >= 0xd800 && code < 0xe000)
			wrong += utf8_length(s) != 0;
		else if (utf8_length(s) != len || utf8_code(s, len) != code)
			wrong++;
		controls += utf8_is_control(code);
	}
	TEST_EQUAL("all codes but surrogates are read", wrong, 0);
	TEST_EQUAL("C0, DEL and C1", controls, 32 + 1 + 32);
	TEST_EQUAL("beyond the last code", utf8_length("\xf4\x90\x80\x80"), 0);
	TEST_EQUAL("longer than need be", utf8_length("\xc0\x9b"), 0);
	TEST_EQUAL("longer by two", utf8_length("\xe0\x82\x9b"), 0);
	TEST_EQUAL("longer by three", utf8_length("\xf0\x80\x82\x9b"), 0);
	TEST_EQUAL("cut off", utf8_length("\xe2\x82"), 0);
	TEST_EQUAL("a byte of another's", utf8_length("\x9b"), 0);
}

static void test_utf8(const char *name, const char *text, const char *should)
{
	struct buf out = { 0 };

	utf8_text(&out, text);
	test_text(name, &out, should);
}

static void utf8_text_tests(void)
{
	TEST_EQUAL("UTF-8: characters", utf8_characters("n€😀\xff\xc3("), 6);
	TEST_EQUAL("UTF-8: no characters", utf8_characters(""), 0);
	test_utf8("UTF-8: nothing", "", "");
	test_utf8("UTF-8: stays", "n\n\x7fé€😀", "n\n\x7fé€😀");
	test_utf8("UTF-8: bytes that are none", "\xc3(\x80\xff", "\u00c3(\u0080\u00ff");
	test_utf8("UTF-8: cut off", "a\xe2\x82", "a\u00e2\u0082");
}

static void shown_tests(void)
{
	struct buf out = { 0 };
	char all[256];
	size_t i, kept = 0;

	for (i = 1; i < 256; i++) {
		all[i - 1] = i;
		kept += i >= ' ' && i < 0x7f;
	}
	all[255] = '\0';
	shown_text(&out, all);
	TEST_EQUAL("one byte of each: \\xNN or itself", out.len,
		   kept + 4 * (255 - kept));
	for (i = 0; i < out.len; i++)
		if (out.s[i] < ' ' || out.s[i] > '~')
			break;
	TEST_EQUAL("one byte of each: nothing but ASCII", i, out.len);
	free(buf_take(&out));

	test_shown("nothing", "", "");
	test_shown("C0", "a\x1b[31m\r\n\tb", "a\\x1b[31m\\x0d\\x0a\\x09b");
	test_shown("DEL", "a\x7f", "a\\x7f");
	test_shown("C1 as UTF-8", "a\xc2\x9b[31m", "a\\xc2\\x9b[31m");
	test_shown("the last of C1", "\xc2\x9f\xc2\xa0", "\\xc2\\x9f\xc2\xa0");
	test_shown("C1 as a byte", "a\x9b[31m", "a\\x9b[31m");
	test_shown("no UTF-8", "\xc3(\xff", "\\xc3(\\xff");
	test_shown("cut off", "a\xe2\x82", "a\\xe2\\x82");
	test_shown("UTF-8 of 2, 3 and 4 bytes", "é€😀", "é€😀");
	test_shown("a backslash", "\\x1b", "\\x1b");
	shown_name(&out, "\\x1b\x1bé");
	test_text("a backslash in a name", &out, "\\x5cx1b\\x1bé");
}

static void line_tests(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	shown_line(f, "%s: %.3s %d", "é\x1b[2J", "a\nbc", 7);
	shown_line(f, "%s", "");
	fclose(f);
	TEST("a line", !strcmp(text, "é\\x1b[2J: a\\x0ab 7\n\n"));
	free(text);
}

static void width_tests(const char *locale)
{
	char name[64];

	snprintf(name, sizeof(name), "%s: ASCII", locale);
	TEST_EQUAL(name, shown_width("\\x1b"), 4);
	snprintf(name, sizeof(name), "%s: one column each", locale);
	TEST_EQUAL(name, shown_width("née"), 3);
	snprintf(name, sizeof(name), "%s: two columns each", locale);
	TEST_EQUAL(name, shown_width("日本"), 4);
	snprintf(name, sizeof(name), "%s: none", locale);
	TEST_EQUAL(name, shown_width("e\xcc\x81"), 1);
}

static void pad_tests(void)
{
	test_pad("spaces before", "né", 5, "   né");
	test_pad("spaces after", "né", -5, "né   ");
	test_pad("by columns", "日本", 5, " 日本");
	test_pad("what fits exactly", "日本", -4, "日本");
	test_pad("what is wider stays whole", "日本", 3, "日本");
	test_pad("no width", "né", 0, "né");
	test_cut("cut", "née", 2, "né");
	test_cut("and filled", "né", 4, "né  ");
	test_cut("not in a character", "日本", 3, "日 ");
	test_cut("with what stands over it", "e\xcc\x81xy", 2, "e\xcc\x81x");
	test_cut("to nothing", "née", 0, "");
	test_cut("what is nothing", "", 2, "  ");
}

static void json_tests(void)
{
	test_json("JSON: nothing", "", "\"\"");
	test_json("JSON: UTF-8", "é€😀", "\"é€😀\"");
	test_json("JSON: what has a meaning", "\"\\/", "\"\\\"\\\\/\"");
	test_json("JSON: C0", "\x1b\n", "\"\\u001b\\u000a\"");
	test_json("JSON: DEL", "\x7f", "\"\\u007f\"");
	test_json("JSON: C1 as UTF-8", "\xc2\x9b", "\"\\u009b\"");
	test_json("JSON: no UTF-8", "\xc3(\xff", "\"\\u00c3(\\u00ff\"");
	test_json("JSON: plain text around the rest", "ab\nc\"d",
		  "\"ab\\u000ac\\\"d\"");
}

static void json_writer_tests(void)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_object(&j, NULL);
	json_end_object(&j);
	json_line(&j);
	json_array(&j, NULL);
	json_end_array(&j);
	json_line(&j);
	test_text("JSON: an empty object and an empty array, a line each", &out,
		  "{}\n[]\n");

	json_object(&j, NULL);
	json_int(&j, "a", INT64_MIN);
	json_uint(&j, "b", UINT64_MAX);
	json_bool(&j, "c", true);
	json_bool(&j, "d", false);
	json_null(&j, "e");
	json_fixed(&j, "f", 1.0625, 3);
	json_fixed(&j, "g", 1e15, 0);
	json_text(&j, "h", "{}");
	json_string(&j, "\"i\n", "x");
	json_end_object(&j);
	test_text("JSON: values, and a key that is escaped", &out,
		  "{\"a\":-9223372036854775808,\"b\":18446744073709551615,"
		  "\"c\":true,\"d\":false,\"e\":null,\"f\":1.062,"
		  "\"g\":1000000000000000,\"h\":{},\"\\\"i\\u000a\":\"x\"}");
}

static void json_nesting_tests(void)
{
	struct buf out = { 0 };
	struct json j = { .out = &out };

	json_object(&j, NULL);
	json_array(&j, "a");
	json_uint(&j, NULL, 1);
	json_object(&j, NULL);
	json_end_object(&j);
	json_object(&j, NULL);
	json_array(&j, "b");
	json_string(&j, NULL, "");
	json_string(&j, NULL, "");
	json_end_array(&j);
	json_uint(&j, "c", 2);
	json_end_object(&j);
	json_end_array(&j);
	json_object(&j, "d");
	json_end_object(&j);
	json_uint(&j, "e", 3);
	json_end_object(&j);
	test_text("JSON: commas within, between and after others", &out,
		  "{\"a\":[1,{},{\"b\":[\"\",\"\"],\"c\":2}],\"d\":{},\"e\":3}");

	j.more = false;
	json_array(&j, NULL);
	json_break(&j);
	json_uint(&j, NULL, 1);
	json_break(&j);
	json_uint(&j, NULL, 2);
	json_end_array(&j);
	test_text("JSON: an array of lines", &out, "[\n1,\n2]");

	j.more = false;
	json_array(&j, NULL);
	json_fixed(&j, NULL, __builtin_nan(""), 3);
	json_fixed(&j, NULL, -__builtin_inf(), 0);
	json_end_array(&j);
	test_text("JSON: numbers that it has none of", &out, "[null,null]");
}

static void test_xml(const char *name, const char *text, size_t most,
		     const char *should)
{
	struct buf out = { 0 };

	xml_text(&out, text, most);
	test_text(name, &out, should);
}

static void xml_tests(void)
{
	test_xml("XML: UTF-8", "é€😀", 99, "é€😀");
	test_xml("XML: what has a meaning", "<a b=\"&\">", 99,
		 "&lt;a b=&quot;&amp;&quot;&gt;");
	test_xml("XML: controls", "\x1b\x7f\xc2\x9b\n", 99, "����");
	test_xml("XML: no UTF-8", "\xc3(\xff", 99, "�(�");
	test_xml("XML: what it has none of", "\xef\xbf\xbd\xef\xbf\xbe\xef\xbf\xbf",
		 99, "���");
	test_xml("XML: of other planes it has them", "\xf0\x9f\xbf\xbf", 99,
		 "\xf0\x9f\xbf\xbf");
	test_xml("XML: so many characters", "né<e", 3, "né&lt;");
}

static void test_stap(const char *name, const char *text, const char *should)
{
	struct buf out = { 0 };

	buf_stap_string(&out, text);
	test_text(name, &out, should);
}

static void stap_tests(void)
{
	test_stap("script: what has a meaning", "a\"b\\", "\"a\\\"b\\\\\"");
	test_stap("script: UTF-8, with a digit after", "é1", "\"\\303\\2511\"");
	test_stap("script: C0", "\n", "\"\\012\"");
}

int main(void)
{
	utf8_tests();
	utf8_text_tests();
	shown_tests();
	line_tests();
	width_tests("no locale");
	if (setlocale(LC_ALL, "C.UTF-8"))
		width_tests("C.UTF-8");
	else
		printf("UNSUPPORTED: C.UTF-8: this system has no such locale\n");
	pad_tests();
	json_tests();
	json_writer_tests();
	json_nesting_tests();
	xml_tests();
	stap_tests();
	return !!test_failures;
}
