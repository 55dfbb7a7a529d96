/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Protocol buffers, field by field; protobuf.h says what is wanted of them. */
#include "report/output/protobuf.h"

#include <stdlib.h>

#include "base/utf8.h"

void protobuf_varint(struct buf *out, uint64_t value)
{
	char byte;

	for (; value > 0x7f; value >>= 7) {
		byte = value | 0x80;
		buf_add(out, &byte, 1);
	}
	byte = value;
	buf_add(out, &byte, 1);
}

void protobuf_number(struct buf *out, unsigned int field, uint64_t value)
{
	protobuf_varint(out, field << 3);
	protobuf_varint(out, value);
}

void protobuf_bytes(struct buf *out, unsigned int field, const void *bytes,
		    size_t len)
{
	protobuf_varint(out, field << 3 | 2);
	protobuf_varint(out, len);
	buf_add(out, bytes, len);
}

void protobuf_text(struct buf *out, unsigned int field, const char *text)
{
	struct buf utf8 = { 0 };

	utf8_text(&utf8, text);
	protobuf_bytes(out, field, utf8.s, utf8.len);
	free(utf8.s);
}

void protobuf_part(struct buf *out, unsigned int field, struct buf *part)
{
	protobuf_bytes(out, field, part->s, part->len);
	part->len = 0;
}
