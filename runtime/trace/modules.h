/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The record of a module: its name and text at once, in any context; its build-id
 * and its other sections, which the kernel shows in sysfs, when it is put out,
 * sleepable.
 */
#ifndef STAPWATCH_TRACE_MODULES_H
#define STAPWATCH_TRACE_MODULES_H

#include "trace/abi.h"
#include "trace/buildid.h"
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/string.h>

/* In a module record's flags: nobody has looked for its build_id. */
#define SW_MODULE_IS_NEW 0x80000000u

/* ---- modules */

static u64 sw_module_text(const struct module *mod, u64 *len)
{
#if defined(STAPCONF_MODULE_MEMORY)
	*len = mod->mem[MOD_TEXT].size;
	return (unsigned long)mod->mem[MOD_TEXT].base;
#elif defined(STAPCONF_MODULE_LAYOUT)
	*len = mod->core_layout.text_size;
	return (unsigned long)mod->core_layout.base;
#else
	*len = mod->core_text_size;
	return (unsigned long)mod->module_core;
#endif
}

static u32 sw_module_size(const struct module *mod)
{
	return ALIGN(sizeof(struct sw_trace_module) + strlen(mod->name) + 1,
		     8) +
	       SW_TRACE_SECTIONS * sizeof(struct sw_trace_section);
}

/* All but the record's head. */
static void sw_module_fill(struct sw_trace_module *m, const struct module *mod)
{
	memset(&m->r + 1, 0, m->r.size - sizeof(m->r));
	m->addr = sw_module_text(mod, &m->len);
	m->flags = SW_MODULE_IS_NEW;
	strcpy(m->name, mod->name);
}

/* The kernel shows a module's notes as a file. */
static bool sw_module_build_id(const char *name, u8 *id)
{
	char path[sizeof("/sys/module//notes/.note.gnu.build-id") +
		  MODULE_NAME_LEN];
	u8 notes[64] __aligned(4);
	struct file *file;
	loff_t pos = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/module/%s/notes/.note.gnu.build-id",
		 name);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return false;
	n = kernel_read(file, notes, sizeof(notes), &pos);
	filp_close(file, NULL);
	return n > 0 && sw_build_id_in_notes(notes, n, id);
}

struct sw_sections {
	struct dir_context dir;
	struct sw_trace_section *to;
	unsigned int nr;
};

/* Some kernels want true to go on, and others 0. */
typedef __typeof__(((filldir_t)NULL)(NULL, NULL, 0, 0, 0, 0)) sw_filldir_ret;
#define SW_GO_ON __builtin_types_compatible_p(sw_filldir_ret, bool)

static sw_filldir_ret
sw_section_name(struct dir_context *dir, const char *name, int len, loff_t pos,
		u64 ino, unsigned int type)
{
	struct sw_sections *s = container_of(dir, struct sw_sections, dir);

	/* what runs once the module is there; data is never run */
	if (s->nr < SW_TRACE_SECTIONS && len < sizeof(s->to->name) &&
	    strnstr(name, "text", len) && strncmp(name, ".init.", 6))
		memcpy(s->to[s->nr++].name, name, len);
	return SW_GO_ON;
}

static u64 sw_section_addr(const char *module, const char *section)
{
	char path[sizeof("/sys/module//sections/") + MODULE_NAME_LEN +
		  sizeof(((struct sw_trace_section *)0)->name)];
	char text[32] = "";
	struct file *file;
	loff_t pos = 0;
	u64 addr = 0;

	snprintf(path, sizeof(path), "/sys/module/%s/sections/%s", module,
		 section);
	file = filp_open(path, O_RDONLY, 0);
	if (IS_ERR(file))
		return 0;
	if (kernel_read(file, text, sizeof(text) - 1, &pos) > 0 &&
	    kstrtou64(strim(text), 0, &addr))
		addr = 0;
	filp_close(file, NULL);
	return addr;
}

static struct sw_trace_section *sw_module_sections(struct sw_trace_module *m)
{
	return (void *)m + m->r.size -
	       SW_TRACE_SECTIONS * sizeof(struct sw_trace_section);
}

/* Return: are there any? */
static bool sw_module_find_sections(struct sw_trace_module *m)
{
	char path[sizeof("/sys/module//sections") + MODULE_NAME_LEN];
	struct sw_sections s = {
		.dir.actor = sw_section_name,
		.to = sw_module_sections(m),
	};
	unsigned int i, nr = 0;
	struct file *file;

	snprintf(path, sizeof(path), "/sys/module/%s/sections", m->name);
	file = filp_open(path, O_RDONLY | O_DIRECTORY, 0);
	if (IS_ERR(file))
		return false;
	iterate_dir(file, &s.dir);
	filp_close(file, NULL);
	for (i = 0; i < s.nr; i++) {
		s.to[i].addr = sw_section_addr(m->name, s.to[i].name);
		if (s.to[i].addr - m->addr < m->len)
			s.to[nr++] = s.to[i];
	}
	memset(s.to + nr, 0, (SW_TRACE_SECTIONS - nr) * sizeof(*s.to));
	return nr;
}

/**
 * sw_module_finish - look for what a new module's record lacks
 * Context: sleepable.
 */
static void sw_module_finish(struct sw_trace_module *m)
{
	if (!(m->flags & SW_MODULE_IS_NEW))
		return;
	m->flags = sw_module_build_id(m->name, m->build_id) ?
		   SW_TRACE_MODULE_BUILD_ID : 0;
	if (sw_module_find_sections(m))
		m->flags |= SW_TRACE_MODULE_SECTIONS;
}

#endif
