/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that stapwatch latency is asked for; latency.h. */
#include "cmd/latency.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* before a system call's name */
#define SYSCALL "syscall:"

struct wanted {
	struct latency_request *req;
	const char *pattern;
	bool found, full;
};

/* A system call's entry, by the name that users know; NULL: it is none. */
static const char *syscall_of(const char *name)
{
	static const char *const prefixes[] = { "__x64_sys_", "__arm64_sys_" };
	size_t i, len;

	for (i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		len = strlen(prefixes[i]);
		if (!strncmp(name, prefixes[i], len))
			return name + len;
	}
	return NULL;
}

/* A pattern after SYSCALL is one of system calls. */
static bool is_of_syscalls(const char *pattern)
{
	return !strncmp(pattern, SYSCALL, strlen(SYSCALL));
}

static void put(struct wanted *w, const char *name, const char *asked,
		bool optional)
{
	struct latency_function_name *f;

	w->found = true;
	if (latency_functions_has(w->req, name))
		return;
	f = latency_functions_put(w->req, w->pattern, name);
	if (!f) {
		w->full = true;
		return;
	}
	f->asked = asked ? xstrdup(asked) : NULL;
	f->optional = optional;
}

static void take_syscall(struct wanted *w, const char *name)
{
	const char *syscall = syscall_of(name);
	struct buf b = { 0 };

	if (!syscall || fnmatch(w->pattern + strlen(SYSCALL), syscall, 0))
		return;
	buf_printf(&b, SYSCALL "%s", syscall);
	put(w, name, b.s, !!strpbrk(w->pattern, LATENCY_WILD));
	free(b.s);
}

/* Does the pattern fit? */
static void take_symbol(void *data, const char *module, const char *name)
{
	struct wanted *w = data;
	struct buf b = { 0 };

	if (is_of_syscalls(w->pattern)) {
		take_syscall(w, name);
		return;
	}
	buf_printf(&b, "%s%s%s", module, *module ? ":" : "", name);
	if (b.len <= LATENCY_MAX_NAME && !fnmatch(w->pattern, b.s, 0))
		put(w, b.s, NULL, true);
	free(b.s);
}

/* Also of a system call's name: which function that is, the kernel knows. */
static int add_pattern(struct latency_request *req, const char *pattern)
{
	struct wanted w = { .req = req, .pattern = pattern };

	if (latency_symbols(take_symbol, &w))
		return -1;
	if (w.full)
		return latency_functions_full(pattern);
	if (!w.found && is_of_syscalls(pattern))
		return latency_functions_fail(pattern, "the kernel has no such system call");
	if (!w.found)
		return latency_functions_fail(pattern, "no function of the kernel has such a name; names of a module's begin with MODULE:");
	return 0;
}

/* A path is told from a module's name by how it begins. */
static bool is_of_program(const char *word)
{
	return *word == '/' || !strncmp(word, "./", 2) ||
	       !strncmp(word, "../", 3);
}

int latency_names_add(struct latency_request *req, const char *word)
{
	const char *name = strchr(word, ':');

	name = name ? name + 1 : word;
	if (strpbrk(word, "(\""))
		return latency_functions_fail(word, "calls are recorded of functions, by name: vfs_read, 'vfs_*', MODULE:FUNCTION, syscall:NAME, FUNCTION@FILE.c or /PATH:FUNCTION; for other probe points write a script, with elapsed(\"tsc\") before them");
	if (is_of_program(word))
		return latency_user_add(req, word);
	if (strchr(word, '@'))
		return latency_source_add(req, word);
	if (strpbrk(word, LATENCY_WILD) || is_of_syscalls(word))
		return add_pattern(req, word);
	if (!*name || name[strspn(name, LATENCY_NAME)] ||
	    strlen(word) > LATENCY_MAX_NAME)
		return latency_functions_fail(word, "it is no function's name; a program's stands after its path, as ./PROGRAM:FUNCTION, and a COMMAND after --");
	if (latency_functions_has(req, word))
		return latency_functions_fail(word, "it stands there twice");
	if (!latency_functions_put(req, word, word))
		return latency_functions_fail(word, "there can be 4096 functions at most");
	return 0;
}
