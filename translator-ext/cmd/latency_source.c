/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of the kernel by the file that they are written in; latency.h.
 *
 * Which these are is in debug information, which stap reads: stap -l lists them.
 */
#include "cmd/latency.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/shown.h"
#include "stap/ask.h"
#include "stap/find.h"

/* What a file's name may be of; stap finds it at the end of a path. */
#define FILE_CHARS LATENCY_NAME LATENCY_WILD "]-+/,"
#define MODULE_MAX 64

struct source {
	struct latency_request *req;
	const char *word;
	char *module;		/* NULL: none is named */
	char *function;
	const char *file;
	char *stap;
	struct buf points;	/* what stap is asked for */
	struct buf names;	/* what it has said, each with a 0 after it */
	size_t nr_names;
	bool any;		/* debug information has said anything */
};

/* ---- where the file may be */

static void put_point(struct buf *points, const char *module,
		      const char *function, const char *file)
{
	buf_puts(points, points->len ? ", " : "");
	if (module)
		buf_printf(points, "module(\"%s\")", module);
	else
		buf_puts(points, "kernel");
	buf_printf(points, ".function(\"%s@%s\").call?", function, file);
}

/* "kernel/fs/ext4/ext4.ko.xz": is it of a directory that the file may be in? */
static bool is_beside(const struct source *s, const char *path)
{
	const size_t dir = strcspn(s->file, "/") ?
			   (size_t)(strrchr(s->file, '/') - s->file) : 0;
	const char *name = strrchr(path, '/');
	struct buf have = { 0 }, want = { 0 };
	bool fits;

	if (!name)
		return false;
	buf_puts(&have, "/");
	buf_add(&have, path, name - path);
	buf_puts(&want, "*/");
	buf_add(&want, s->file, dir);
	fits = !fnmatch(want.s, have.s, 0);
	free(have.s);
	free(want.s);
	return fits;
}

/* Modules of that directory.  What is of one that is not loaded is left out later. */
static void put_modules(struct source *s)
{
	const char *dir = getenv("STAPWATCH_MODULES");
	struct buf path = { 0 };
	struct utsname host;
	char *line = NULL;
	size_t size = 0;
	FILE *f;

	uname(&host);
	if (dir)
		buf_printf(&path, "%s/modules.dep", dir);
	else
		buf_printf(&path, "/lib/modules/%s/modules.dep", host.release);
	f = fopen(path.s, "r");
	free(path.s);
	/* a kernel without modules has no such file */
	while (f && getline(&line, &size, f) > 0) {
		char *name, *c;

		line[strcspn(line, ":\n")] = '\0';
		if (!is_beside(s, line))
			continue;
		name = strrchr(line, '/') + 1;
		name[strcspn(name, ".")] = '\0';
		for (c = name; *c; c++)
			*c = *c == '-' ? '_' : *c;
		if (strlen(name) <= MODULE_MAX &&
		    !name[strspn(name, LATENCY_NAME)])
			put_point(&s->points, name, s->function, s->file);
	}
	free(line);
	if (f)
		fclose(f);
}

/* ---- what stap says */

/* kernel.function("NAME@FILE:LINE").call?, or of module("MODULE") */
static void take_line(void *data, const char *line)
{
	char module[MODULE_MAX + 1] = "", name[LATENCY_MAX_NAME + 1];
	struct source *s = data;
	struct buf b = { 0 };

	if (sscanf(line, "kernel.function(\"%79[^@\"]@", name) != 1 &&
	    sscanf(line, "module(\"%64[^\"]\").function(\"%79[^@\"]@", module,
		   name) != 2)
		return;
	s->any = true;
	if (name[strspn(name, LATENCY_NAME)] ||
	    module[strspn(module, LATENCY_NAME)])
		return;
	buf_printf(&b, "%s%s%s", module, *module ? ":" : "", name);
	if (b.len <= LATENCY_MAX_NAME) {
		buf_add(&s->names, b.s, b.len + 1);
		s->nr_names++;
	}
	free(b.s);
}

static int ask(struct source *s, char *points, void (*on_line)(void *data,
	       const char *line))
{
	char *argv[] = { "stap", "-l", points, NULL };

	if (!ask_stap(s->stap, argv, on_line, s))
		return 0;
	return latency_functions_fail(s->word, "stap cannot be started");
}

static void take_any(void *data, const char *line)
{
	struct source *s = data;

	(void)line;
	s->any = true;
}

/* Nothing was found: is it the file's name, or is there nothing to look in? */
static int say_why(struct source *s)
{
	struct buf points = { 0 };
	int rc;

	put_point(&points, s->module, s->module ? "*" : "vfs_read", "*");
	rc = ask(s, points.s, take_any);
	free(points.s);
	if (rc)
		return rc;
	if (!s->any)
		return latency_functions_fail(s->word, "which functions a source file has is in debug information, and stap finds none; stap-prep installs it, or name the functions, as 'ext4_*'");
	return latency_functions_fail(s->word, "debug information has no such function in such a file; one of a module is MODULE:FUNCTION@FILE");
}

/* ---- what is recorded of them */

/* Functions that the compiler has left no symbol of have none to be probed by. */
static int put_names(struct source *s)
{
	const bool exact = !strpbrk(s->function, LATENCY_WILD);
	const char *name = s->names.s;
	size_t i;

	for (i = 0; i < s->nr_names; i++, name += strlen(name) + 1) {
		struct latency_function_name *f;

		if (latency_functions_has(s->req, name))
			continue;
		f = latency_functions_put(s->req, s->word, name);
		if (!f)
			return latency_functions_full(s->word);
		f->optional = !exact;
	}
	return 0;
}

static int add(struct source *s)
{
	put_point(&s->points, s->module, s->function, s->file);
	if (!s->module && strchr(s->file, '/'))
		put_modules(s);
	if (ask(s, s->points.s, take_line))
		return -1;
	if (!s->nr_names)
		return say_why(s);
	return put_names(s);
}

/* The parts of the word; false if it is of other characters. */
static bool split(struct source *s)
{
	const char *at = strchr(s->word, '@');
	const char *colon = memchr(s->word, ':', at - s->word);

	if (colon)
		s->module = xstrndup(s->word, colon - s->word);
	colon = colon ? colon + 1 : s->word;
	s->function = xstrndup(colon, at - colon);
	s->file = at + 1;
	return *s->function && *s->file &&
	       !s->function[strspn(s->function, LATENCY_NAME LATENCY_WILD "]-")] &&
	       !s->file[strspn(s->file, FILE_CHARS)] &&
	       (!s->module || (*s->module && strlen(s->module) <= MODULE_MAX &&
			       !s->module[strspn(s->module, LATENCY_NAME)]));
}

int latency_source_add(struct latency_request *req, const char *word)
{
	struct source s = { .req = req, .word = word };
	int rc = -1;

	if (!split(&s))
		latency_functions_fail(word, "write it as FUNCTION@FILE or MODULE:FUNCTION@FILE, as '*@fs/ext4/*.c'");
	else if ((s.stap = find_our_stap(false, NULL)))
		rc = add(&s);
	free(s.module);
	free(s.function);
	free(s.stap);
	free(s.points.s);
	free(s.names.s);
	return rc;
}
