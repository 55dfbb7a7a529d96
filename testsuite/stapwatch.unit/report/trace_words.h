/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What mutate.c puts into traces: marks, with some types after them; a text; edges of
 * numbers. */
#ifndef TRACE_WORDS_H
#define TRACE_WORDS_H

extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"SWT\xf7", "SWT\xf7\001", "SWT\xf7\004", "SWT\xf7\005", "SWT\xf7\017",
	"what a script says\n", "\377\377\377\377", "\177", "\200", "\001", "\010",
	"\377\377\377\177", "", NULL
};

#endif
