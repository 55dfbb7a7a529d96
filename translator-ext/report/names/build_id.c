/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids; build_id.h says what is wanted of it. */
#include "report/names/build_id.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define MOST_NOTES 65536

static size_t rounded(uint32_t size)
{
	return ((size_t)size + 3) & ~(size_t)3;
}

bool
build_id_find(const void *notes, size_t size, uint8_t id[SW_TRACE_BUILD_ID])
{
	const char *at = notes;
	const char *name, *value;
	Elf64_Nhdr n;

	while (size >= sizeof(n)) {
		memcpy(&n, at, sizeof(n));
		at += sizeof(n);
		size -= sizeof(n);
		if (rounded(n.n_namesz) > size ||
		    rounded(n.n_descsz) > size - rounded(n.n_namesz))
			return false;
		name = at;
		value = at + rounded(n.n_namesz);
		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 &&
		    !memcmp(name, "GNU", 4) && n.n_descsz &&
		    n.n_descsz <= SW_TRACE_BUILD_ID) {
			memset(id, 0, SW_TRACE_BUILD_ID);
			memcpy(id, value, n.n_descsz);
			return true;
		}
		at = value + rounded(n.n_descsz);
		size -= rounded(n.n_namesz) + rounded(n.n_descsz);
	}
	return false;
}

bool build_id_of_notes(const char *path, uint8_t id[SW_TRACE_BUILD_ID])
{
	static char notes[MOST_NOTES];
	FILE *f = fopen(path, "re");
	size_t size;

	if (!f)
		return false;
	size = fread(notes, 1, sizeof(notes), f);
	fclose(f);
	return build_id_find(notes, size, id);
}

size_t build_id_length(const uint8_t id[SW_TRACE_BUILD_ID])
{
	/* what linkers make; the last bytes of one can be zeros, too */
	static const size_t lengths[] = { 8, 16, SW_TRACE_BUILD_ID };
	size_t len = SW_TRACE_BUILD_ID, i;

	while (len && !id[len - 1])
		len--;
	for (i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		if (len < lengths[i] && len + 2 >= lengths[i])
			return lengths[i];
	return len;
}

const char *build_id_text(const uint8_t id[SW_TRACE_BUILD_ID],
			  char text[BUILD_ID_TEXT])
{
	const size_t len = build_id_length(id);
	size_t i;

	for (i = 0; i < len; i++)
		sprintf(text + i * 2, "%02x", id[i]);
	text[len * 2] = '\0';
	return text;
}
