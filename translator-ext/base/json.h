/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A writer of JSON: it places the commas, the quotes and the braces.
 *
 *	struct json j = { .out = out };
 *
 *	json_document(&j);
 *	json_uint(&j, "pid", 42);
 *	json_end_document(&j);
 *
 * Each value has a key where it is a member of an object; in an array, or alone, its
 * key is NULL.  A key is any text, and is escaped.
 */
#ifndef STAPWATCH_JSON_H
#define STAPWATCH_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

/*
 * Of all that is printed.  Within a version keys are added, at most: a key that goes, or
 * that means another thing, makes a new one.
 */
#define JSON_VERSION 1

struct json {
	struct buf *out;
	bool more;		/* what comes next needs a comma before it */
};

/* json_document - begin an object in a line, which is in no other: it has the version */
void json_document(struct json *j);
void json_end_document(struct json *j);

/* json_object, json_array - begin one; its end is json_end_object(), json_end_array() */
void json_object(struct json *j, const char *key);
void json_end_object(struct json *j);
void json_array(struct json *j, const char *key);
void json_end_array(struct json *j);

/* json_line - end the line of a value that is in no other: what comes is another one */
void json_line(struct json *j);

/* json_break - go on in a new line, within an object or an array */
void json_break(struct json *j);

/**
 * json_string - a string
 *
 * UTF-8 stays UTF-8.  A control character (C0, DEL, C1) and a byte that is no
 * UTF-8 come out as \u00NN.
 */
void json_string(struct json *j, const char *key, const char *text);

void json_int(struct json *j, const char *key, int64_t value);
void json_uint(struct json *j, const char *key, uint64_t value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* json_fixed - a number with so many decimals; null if it is not finite */
void json_fixed(struct json *j, const char *key, double value, int decimals);

/* json_text - a value that is JSON already */
void json_text(struct json *j, const char *key, const char *text);

#endif
