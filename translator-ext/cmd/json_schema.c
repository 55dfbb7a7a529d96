/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What --json prints, as a JSON Schema made of the lines of json.tbl. */
#include "cmd/cmd.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/shown.h"

/* Of an object's own line the key is "-", the type how it is printed, WHEN the command. */
struct row {
	const char *object;
	const char *key;
	const char *type;
	const char *unit;
	const char *when;
	const char *text;
};

static const struct row rows[] = {
#include "json_table.h"
};

#define NR_ROWS (sizeof(rows) / sizeof(*rows))

/* A type, or the object that it names, without what stands around it. */
struct name {
	const char *at;
	size_t len;
};

static bool is_object(const struct row *r)
{
	return !strcmp(r->key, "-");
}

static bool is_part(const struct row *r)
{
	return !strcmp(r->type, "part");
}

static struct name name_of(const char *type)
{
	type += strspn(type, "[{");
	return (struct name) { type, strcspn(type, "]}|") };
}

static bool is_named(const struct name *n, const char *name)
{
	return strlen(name) == n->len && !strncmp(n->at, name, n->len);
}

/* The line of an object; NR_ROWS if the type is none. */
static size_t object_of(const char *type)
{
	const struct name n = name_of(type);
	size_t i;

	for (i = 0; i < NR_ROWS; i++)
		if (is_object(&rows[i]) && is_named(&n, rows[i].object))
			break;
	return i;
}

/* ---- what is wanted: the objects of a command, and those within them */

static void want(size_t object, bool *wanted)
{
	size_t i;

	if (object == NR_ROWS || wanted[object])
		return;
	wanted[object] = true;
	for (i = object + 1; i < NR_ROWS && !is_object(&rows[i]); i++)
		want(object_of(rows[i].type), wanted);
}

/* An object that a command prints, in no other; NULL is all commands. */
static bool is_own(const struct row *r, const char *command)
{
	return is_object(r) && !is_part(r) &&
	       (!command || !strcmp(command, r->when));
}

/* Whether the command prints JSON. */
static bool want_command(const char *command, bool *wanted)
{
	bool found = false;
	size_t i;

	for (i = 0; i < NR_ROWS; i++) {
		if (!is_own(&rows[i], command))
			continue;
		want(i, wanted);
		found = true;
	}
	return found;
}

/* ---- what is printed */

static void put_ref(struct json *j, const struct name *n)
{
	struct buf to = { 0 };

	buf_puts(&to, "#/$defs/");
	buf_add(&to, n->at, n->len);
	json_string(j, "$ref", to.s);
	free(to.s);
}

static void put_word(struct json *j, const char *key, const struct name *n)
{
	char *word = xstrndup(n->at, n->len);

	json_string(j, key, word);
	free(word);
}

static void put_type(struct json *j, const char *type)
{
	const struct name n = name_of(type);
	const bool is_ref = object_of(type) < NR_ROWS;
	const bool nullable = n.at == type && n.at[n.len] == '|';

	if (n.at != type) {
		json_string(j, "type", *type == '[' ? "array" : "object");
		json_object(j, *type == '[' ? "items" : "additionalProperties");
		put_type(j, type + 1);
		json_end_object(j);
	} else if (is_ref && nullable) {
		json_array(j, "anyOf");
		json_object(j, NULL);
		put_ref(j, &n);
		json_end_object(j);
		json_object(j, NULL);
		json_string(j, "type", "null");
		json_end_object(j);
		json_end_array(j);
	} else if (is_ref) {
		put_ref(j, &n);
	} else if (nullable) {
		json_array(j, "type");
		put_word(j, NULL, &n);
		json_string(j, NULL, "null");
		json_end_array(j);
	} else {
		put_word(j, "type", &n);
	}
}

static void put_key(struct json *j, const struct row *r)
{
	json_break(j);
	json_object(j, r->key);
	put_type(j, r->type);
	if (!strcmp(r->key, "version"))
		json_uint(j, "const", JSON_VERSION);
	if (strcmp(r->unit, "-"))
		json_string(j, "unit", r->unit);
	if (strcmp(r->when, "always"))
		json_string(j, "when", r->when);
	json_string(j, "description", r->text);
	json_end_object(j);
}

static void put_object(struct json *j, size_t object)
{
	size_t i;

	json_break(j);
	json_object(j, rows[object].object);
	json_string(j, "description", rows[object].text);
	json_string(j, "type", "object");
	json_array(j, "required");
	for (i = object + 1; i < NR_ROWS && !is_object(&rows[i]); i++)
		if (!strcmp(rows[i].when, "always"))
			json_string(j, NULL, rows[i].key);
	json_end_array(j);
	json_object(j, "properties");
	for (i = object + 1; i < NR_ROWS && !is_object(&rows[i]); i++)
		put_key(j, &rows[i]);
	json_end_object(j);
	json_end_object(j);
}

/* What a line may be, or the whole output. */
static void put_own(struct json *j, const struct row *r)
{
	const struct name n = name_of(r->object);
	const bool is_array = !strcmp(r->type, "array");

	json_break(j);
	json_object(j, NULL);
	if (is_array) {
		json_string(j, "type", "array");
		json_object(j, "items");
	}
	put_ref(j, &n);
	if (is_array)
		json_end_object(j);
	json_end_object(j);
}

static void put_schema(struct json *j, const char *command, const bool *wanted)
{
	size_t i;

	json_object(j, NULL);
	json_string(j, "$schema",
		    "https://json-schema.org/draft/2020-12/schema");
	json_string(j, "description", "What stapwatch prints with --json: each line, and the one array of list.");
	json_array(j, "anyOf");
	for (i = 0; i < NR_ROWS; i++)
		if (is_own(&rows[i], command))
			put_own(j, &rows[i]);
	json_end_array(j);
	json_object(j, "$defs");
	for (i = 0; i < NR_ROWS; i++)
		if (wanted[i])
			put_object(j, i);
	json_end_object(j);
	json_end_object(j);
	json_line(j);
}

/* The commands, each once: one's objects stand together. */
static void put_commands(struct buf *out)
{
	const char *last = "-";
	size_t i;

	for (i = 0; i < NR_ROWS; i++) {
		if (!is_own(&rows[i], NULL) || !strcmp(rows[i].when, last))
			continue;
		if (out->len)
			buf_puts(out, ", ");
		last = rows[i].when;
		buf_puts(out, last);
	}
}

static int wrong(const char *what)
{
	struct buf commands = { 0 };

	put_commands(&commands);
	shown_line(stderr, "stapwatch --json-schema: %s; commands that print JSON are %s",
		   what, commands.s);
	free(commands.s);
	return 1;
}

int cmd_json_schema(int argc, char **argv)
{
	bool wanted[NR_ROWS] = { false };
	struct buf out = { 0 }, what = { 0 };
	struct json j = { .out = &out };
	int status;

	if (argc > 2)
		return wrong("one COMMAND is enough");
	if (!want_command(argv[1], wanted)) {
		buf_printf(&what, "\"%s\" prints none", argv[1]);
		status = wrong(what.s);
		free(what.s);
		return status;
	}
	put_schema(&j, argv[1], wanted);
	fwrite(out.s, 1, out.len, stdout);
	free(out.s);
	return 0;
}
