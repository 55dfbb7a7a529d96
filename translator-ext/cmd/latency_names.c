/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that stapwatch latency is asked for; latency.h. */
#include "cmd/latency.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

#define NAME "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."
#define MAX_NAME 79		/* as the runtime has it */
#define MAX_FUNCTIONS 4096
/* before a system call's name */
#define SYSCALL "syscall:"

static int fail(const char *word, const char *why)
{
	shown_line(stderr, "stapwatch latency: \"%s\": %s", word, why);
	return -1;
}

/* Whether it is there already, be it a pattern's or not. */
static bool has(const struct latency_request *req, const char *name)
{
	size_t i;

	for (i = 0; i < req->nr_functions; i++)
		if (!strcmp(req->functions[i].name, name))
			return true;
	return false;
}

static void add(struct latency_request *req, const char *name,
		const char *asked, bool optional)
{
	if (has(req, name))
		return;
	req->functions = xrealloc(req->functions, (req->nr_functions + 1) *
				  sizeof(*req->functions));
	req->functions[req->nr_functions++] = (struct latency_function_name) {
		xstrdup(name), asked ? xstrdup(asked) : NULL, optional
	};
}

/* The compiler's parts of functions, and what stands before them. */
static bool is_function(const char *name)
{
	return strlen(name) <= MAX_NAME && !strstr(name, ".cold") &&
	       strncmp(name, "__pfx_", 6) && !name[strspn(name, NAME)];
}

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

/* A pattern behind SYSCALL is one of system calls. */
static bool is_of_syscalls(const char *pattern)
{
	return !strncmp(pattern, SYSCALL, strlen(SYSCALL));
}

static bool take_syscall(struct latency_request *req, const char *pattern,
			 const char *name)
{
	const char *syscall = syscall_of(name);
	struct buf b = { 0 };

	if (!syscall || fnmatch(pattern + strlen(SYSCALL), syscall, 0))
		return false;
	buf_printf(&b, SYSCALL "%s", syscall);
	add(req, name, b.s, !!strpbrk(pattern, "*?["));
	free(b.s);
	return true;
}

/* A line of /proc/kallsyms, ADDRESS TYPE NAME [MODULE]: does the pattern fit? */
static bool take_symbol(struct latency_request *req, const char *pattern,
			const char *line)
{
	char type, name[512], module[128] = "";
	struct buf b = { 0 };
	bool fits;
	int n;

	n = sscanf(line, "%*x %c %511s [%127[^]]", &type, name, module);
	if (n < 2 || !strchr("tTwW", type) || !is_function(name))
		return false;
	if (is_of_syscalls(pattern))
		return take_syscall(req, pattern, name);
	if (n > 2)
		buf_printf(&b, "%s:", module);
	buf_puts(&b, name);
	fits = b.len <= MAX_NAME && !fnmatch(pattern, b.s, 0);
	if (fits)
		add(req, b.s, NULL, true);
	free(b.s);
	return fits;
}

/* Also of a system call's name: which function that is, the kernel knows. */
static int add_pattern(struct latency_request *req, const char *pattern)
{
	const char *path = getenv("STAPWATCH_KALLSYMS") ?: "/proc/kallsyms";
	bool found = false;
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		shown_line(stderr, "stapwatch latency: %s: %s", path,
			   strerror(errno));
		return -1;
	}
	while (getline(&line, &size, f) > 0 &&
	       req->nr_functions <= MAX_FUNCTIONS)
		found |= take_symbol(req, pattern, line);
	free(line);
	fclose(f);
	if (req->nr_functions > MAX_FUNCTIONS)
		return fail(pattern, "these are more than 4096 functions; take a narrower pattern");
	if (!found && is_of_syscalls(pattern))
		return fail(pattern, "the kernel has no such system call");
	if (!found)
		return fail(pattern, "no function of the kernel has such a name; names of a module's begin with MODULE:");
	return 0;
}

int latency_names_add(struct latency_request *req, const char *word)
{
	const char *name = strchr(word, ':');

	name = name ? name + 1 : word;
	if (strpbrk(word, "*?[") || is_of_syscalls(word))
		return add_pattern(req, word);
	if (strpbrk(word, "@(\"/"))
		return fail(word, "calls are recorded of the kernel's functions, by name: vfs_read, 'vfs_*', MODULE:FUNCTION or syscall:NAME; for other probe points write a script, with elapsed(\"tsc\") before them");
	if (!*name || name[strspn(name, NAME)] || strlen(word) > MAX_NAME)
		return fail(word, "it is no function's name");
	if (has(req, word))
		return fail(word, "it stands there twice");
	add(req, word, NULL, false);
	return 0;
}
