/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Build-ids in the notes of ELF files, as bytes and as text. */
#ifndef STAPWATCH_BUILD_ID_H
#define STAPWATCH_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/abi.h"

#define BUILD_ID_TEXT (SW_TRACE_BUILD_ID * 2 + 1)

/** build_id_find - the build-id among notes; returns whether there is one */
bool
build_id_find(const void *notes, size_t size, uint8_t id[SW_TRACE_BUILD_ID]);

/** build_id_of_notes - the same of a file that holds notes and nothing else */
bool build_id_of_notes(const char *path, uint8_t id[SW_TRACE_BUILD_ID]);

/**
 * build_id_length - how long it is, without the zeros that fill it up
 *
 * Linkers make ids of 8, 16 and 20 bytes: of these the last two bytes can be zeros.
 */
size_t build_id_length(const uint8_t id[SW_TRACE_BUILD_ID]);

/** build_id_text - in hexadecimal; returns @text */
const char *build_id_text(const uint8_t id[SW_TRACE_BUILD_ID],
			  char text[BUILD_ID_TEXT]);

#endif
