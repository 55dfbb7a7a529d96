/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Protocol buffers, written field by field: a message is what a buffer has, and
 * goes as a field into the one around it.
 */
#ifndef STAPWATCH_PROTOBUF_H
#define STAPWATCH_PROTOBUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

void protobuf_varint(struct buf *out, uint64_t value);
void protobuf_number(struct buf *out, unsigned int field, uint64_t value);
void protobuf_bytes(struct buf *out, unsigned int field, const void *bytes,
		    size_t len);

/** protobuf_text - a string, which has to be UTF-8: as utf8_text() makes it */
void protobuf_text(struct buf *out, unsigned int field, const char *text);

/** protobuf_part - a message, or numbers in a row; @part is empty again */
void protobuf_part(struct buf *out, unsigned int field, struct buf *part);

#endif
