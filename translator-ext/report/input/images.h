/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever code can come from: files, the kernel and its modules, the vdso,
 * memory that a program wrote itself.  An image is who it is by its path, its
 * file and its build-id; a file that took its place is another.  So is the same file in
 * another trace, whose machine may have had other files by that name.
 */
#ifndef STAPWATCH_IMAGES_H
#define STAPWATCH_IMAGES_H

#include <stdint.h>

#include "base/intern.h"
#include "trace/abi.h"

enum image_kind {
	IMAGE_KERNEL,		/* offsets are addresses */
	IMAGE_MODULE,		/* the same */
	IMAGE_FILE,		/* offsets in the file */
	IMAGE_VDSO,
	IMAGE_JIT,		/* a process's, without a file; addresses */
	IMAGE_NONE,		/* a process's, where nothing was mapped */
	IMAGE_MARK,		/* no code: what a stack lacks */
};

/* What of a file was mapped as code, in bytes. */
struct image_part {
	uint64_t offset;
	uint64_t len;
};

#define IMAGE_PARTS 4		/* that are different; what is more is not kept */

struct image {
	uint32_t kind;
	uint32_t flags;		/* SW_TRACE_MMAP_BUILD_ID, _DELETED */
	uint32_t trace;		/* the number of the trace that it is of */
	uint32_t pid;		/* a file's: who mapped it first */
	uint32_t mnt_ns;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t mapped;	/* when that was last */
	uint64_t addr;		/* a module's */
	uint64_t len;
	/* SW_TRACE_SECTIONS of them, or NULL */
	struct sw_trace_section *sections;
	uint32_t nr_parts;
	struct image_part parts[IMAGE_PARTS];
	uint8_t build_id[SW_TRACE_BUILD_ID];
	const char *path;	/* or a module's name */
	const char *name;	/* as it is shown */
};

/* { 0 } is empty, but for the texts. */
struct images {
	struct intern keys;
	struct intern *texts;	/* where names are kept */
	struct image *all;
	size_t size;
};

void images_free(struct images *im);

/** image_of_kernel - the image of a trace's kernel, by number */
uint32_t image_of_kernel(struct images *im, uint32_t trace,
			 const struct sw_trace_head *head);

/** image_of_map - the image of a mapping, by number */
uint32_t image_of_map(struct images *im, uint32_t trace,
		      const struct sw_trace_mmap *map);

/** image_of_module - the image of a module, by number */
uint32_t image_of_module(struct images *im, uint32_t trace,
			 const struct sw_trace_module *module);

/** image_of_nothing - the image of a process's addresses without a mapping */
uint32_t image_of_nothing(struct images *im, uint32_t trace, uint32_t pid);

/** image_of_mark - something that is shown as code is, and is none; in all traces one */
uint32_t image_of_mark(struct images *im, const char *name);

#endif
