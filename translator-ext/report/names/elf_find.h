/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which file an image was mapped from: the one at its path, if it is proven to
 * be that, or another one with its build-id.
 */
#ifndef STAPWATCH_ELF_FIND_H
#define STAPWATCH_ELF_FIND_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "base/buf.h"
#include "report/input/images.h"

struct elf_search {
	const struct image *image;
	const struct sw_trace_head *head;
	const char *root;	/* of the machine's files; NULL: as they are */
	const Dwfl_Callbacks *callbacks;
	struct buf *why;	/* the last reason against a file */
	size_t root_len;	/* found: how much of the path is not its own */
};

/**
 * elf_find - look for it
 * @path: gets its name
 *
 * Return: a file descriptor; -1 if there is none, with the reason in @s->why
 */
int elf_find(struct elf_search *s, struct buf *path);

/** elf_because - replace the reason */
void elf_because(struct elf_search *s, const char *reason);

#endif
