/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /proc/kallsyms; kallsyms.h says what is wanted of it. */
#include "report/names/kallsyms.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/names/build_id.h"

#define KALLSYMS "/proc/kallsyms"

bool kernel_is_this(const struct sw_trace_head *head)
{
	uint8_t id[SW_TRACE_BUILD_ID];

	return build_id_of_notes("/sys/kernel/notes", id) &&
	       !memcmp(id, head->build_id, SW_TRACE_BUILD_ID);
}

struct line {
	uint64_t addr;
	char type;		/* nm's, in lower case */
	bool global;
	const char *name;
	const char *module;	/* NULL: the kernel's own */
};

/* "ffffffff81000000 T _stext", and "\t[module]" perhaps */
static bool parse_line(char *text, struct line *l)
{
	char *at = text, *end;

	l->addr = strtoull(text, &at, 16);
	if (at == text || at[0] != ' ' || !at[1] || at[2] != ' ')
		return false;
	l->type = at[1] | 0x20;
	l->global = at[1] == 'T';
	l->name = at + 3;
	end = at + 3 + strcspn(at + 3, "\t \n");
	l->module = strchr(end, '[');
	*end = '\0';
	if (l->module) {
		end = strchr(++l->module, ']');
		if (!end)
			return false;
		*end = '\0';
	}
	return *l->name;
}

static void drop_modules(struct kallsyms *k)
{
	uint32_t i;

	for (i = 0; i < k->module_names.nr; i++)
		symtab_free(&k->modules[i]);
	free(k->modules);
	intern_free(&k->module_names);
	k->modules = NULL;
	k->size = 0;
}

static void move(struct kallsyms *k, uint64_t shift)
{
	size_t i;

	for (i = 0; i < k->kernel.nr; i++)
		k->kernel.symbols[i].addr += shift;
	drop_modules(k);
}

static struct symtab *table_of(struct kallsyms *k, const char *module)
{
	uint32_t nr;

	if (!module)
		return &k->kernel;
	nr = intern_string(&k->module_names, module);
	k->modules = array_room(k->modules, &k->size, nr + 1,
				sizeof(*k->modules));
	return &k->modules[nr];
}

static void take(struct kallsyms *k, const struct line *l, struct intern *texts)
{
	const struct symbol s = {
		.addr = l->addr,
		.name = intern_string(texts, l->name),
		/* of several names the one that others can call it by */
		.rank = l->global,
	};

	symtab_add(table_of(k, l->module), &s);
}

bool kallsyms_read(const char *path, const struct sw_trace_head *head,
		   struct intern *texts, struct kallsyms *k, struct buf *why)
{
	uint64_t stext = 0;
	char *text = NULL;
	struct line l;
	size_t size = 0;
	uint32_t i;
	FILE *f;

	*k = (struct kallsyms) { 0 };
	if (!path && !kernel_is_this(head)) {
		buf_puts(why, "the trace is of another kernel than the one that runs here; give its symbols by --kallsyms FILE");
		return false;
	}
	f = fopen(path ?: KALLSYMS, "re");
	if (!f) {
		buf_printf(why, "%s: %s", path ?: KALLSYMS, strerror(errno));
		return false;
	}
	while (getline(&text, &size, f) >= 0) {
		if (!parse_line(text, &l) || !l.addr)
			continue;
		if (!strcmp(l.name, "_stext"))
			stext = l.addr;
		if (l.type == 't' || l.type == 'w')
			take(k, &l, texts);
	}
	free(text);
	fclose(f);
	if (!k->kernel.nr) {
		buf_printf(why, "%s has no addresses%s", path ?: KALLSYMS,
			   path ? "" : " for this user (kernel.kptr_restrict)");
		return false;
	}
	if (head->stext && stext && head->stext != stext)
		move(k, head->stext - stext);
	symtab_sort(&k->kernel);
	for (i = 0; i < k->module_names.nr; i++)
		symtab_sort(&k->modules[i]);
	return true;
}

void kallsyms_free(struct kallsyms *k)
{
	symtab_free(&k->kernel);
	drop_modules(k);
}

const struct symtab *kallsyms_module(const struct kallsyms *k, const char *name)
{
	uint32_t nr;

	if (!intern_find(&k->module_names, name, strlen(name) + 1, &nr))
		return NULL;
	return &k->modules[nr];
}
