/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's own list of its symbols and its modules', /proc/kallsyms. */
#ifndef STAPWATCH_KALLSYMS_H
#define STAPWATCH_KALLSYMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "report/names/symtab.h"
#include "trace/abi.h"

struct kallsyms {
	struct symtab kernel;
	struct intern module_names;
	struct symtab *modules;	/* one for each name */
	size_t size;
};

/**
 * kallsyms_read - the symbols of the kernel that a trace is of
 * @path: a file that is said to have them; NULL: this machine's, if it runs
 *	that kernel
 * @k: gets them, sorted; kallsyms_free() frees it
 * @why: why there are none: a line without its end
 *
 * A file of another boot has the kernel at another place, but in the same
 * order: it is moved by what _stext tells.  Modules lie elsewhere then, each
 * for itself, and are left out.
 *
 * Return: whether there are any
 */
bool kallsyms_read(const char *path, const struct sw_trace_head *head,
		   struct intern *texts, struct kallsyms *k, struct buf *why);
void kallsyms_free(struct kallsyms *k);

/** kallsyms_module - a module's symbols by its name, or NULL */
const struct symtab *kallsyms_module(const struct kallsyms *k,
				     const char *name);

/** kernel_is_this - whether the trace's kernel is the one that runs here */
bool kernel_is_this(const struct sw_trace_head *head);

#endif
