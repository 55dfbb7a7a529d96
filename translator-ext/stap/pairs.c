/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SystemTaps that make no modules for a kernel, told before one compiles any. */
#define _GNU_SOURCE	/* strverscmp() */
#include "stap/pairs.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/buf.h"
#include "base/shown.h"
#include "stap/ask.h"

/* A line of pairs.tbl; "-" is any. */
struct pair {
	const char *stap, *stap_before, *kernel, *kernel_before;
	const char *word;
	const char *works;
};

static const struct pair pairs[] = {
#include "pairs_table.h"
};

static bool is_any(const char *s)
{
	return !strcmp(s, "-");
}

static bool is_between(const char *v, const char *from, const char *before)
{
	return (is_any(from) || strverscmp(v, from) >= 0) &&
	       (is_any(before) || strverscmp(v, before) < 0);
}

static const struct pair *find_pair(const char *version, const char *release)
{
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (is_between(version, pairs[i].stap, pairs[i].stap_before) &&
		    is_between(release, pairs[i].kernel, pairs[i].kernel_before))
			return &pairs[i];
	return NULL;
}

struct help {
	bool at_option;
	char *dir;
};

/* The line after "-R DIR ... instead of" is the directory. */
static void take_runtime(void *data, const char *line)
{
	struct help *h = data;

	line += strspn(line, " \t");
	if (h->at_option && *line == '/' && !h->dir)
		h->dir = xstrdup(line);
	h->at_option = !strncmp(line, "-R DIR", strlen("-R DIR"));
}

/* Where stap has its runtime, to be freed; NULL if it does not say. */
static char *find_runtime(const char *path)
{
	const char *named = getenv("SYSTEMTAP_RUNTIME");
	char *argv[] = { "stap", "--help", NULL };
	struct help h = { 0 };

	if (named && *named)
		return xstrdup(named);
	ask_stap(path, argv, take_runtime, &h);
	return h.dir;
}

static bool file_has(const char *path, const char *word)
{
	char *line = NULL;
	size_t size = 0;
	bool has = false;
	FILE *f = fopen(path, "re");

	if (!f)
		return false;
	while (!has && getline(&line, &size, f) > 0)
		has = strstr(line, word);
	free(line);
	fclose(f);
	return has;
}

/* 1 or 0; -1: there is no such directory. */
static int dir_has(const char *dir, const char *word)
{
	const struct dirent *e;
	int has = 0;
	DIR *d = opendir(dir);

	if (!d)
		return -1;
	while (!has && (e = readdir(d))) {
		struct buf b = { 0 };

		if (*e->d_name == '.')
			continue;
		buf_printf(&b, "%s/%s", dir, e->d_name);
		has = file_has(b.s, word);
		free(b.s);
	}
	closedir(d);
	return has;
}

/* Has the runtime the word? -1: nobody knows. */
static int runtime_has(const char *path, const char *word)
{
	static const char *const parts[] = { "linux", "transport" };
	char *dir = find_runtime(path);
	int has = 0;
	size_t i;

	if (!dir)
		return -1;
	for (i = 0; i < 2 && !has; i++) {
		struct buf b = { 0 };

		buf_printf(&b, "%s/%s", dir, parts[i]);
		has = dir_has(b.s, word);
		free(b.s);
	}
	free(dir);
	return has;
}

/* The version of a release: 6.12 of 6.12.117+deb13-amd64 */
static int version_len(const char *release)
{
	size_t len = strspn(release, "0123456789");

	if (release[len] == '.')
		len += 1 + strspn(release + len + 1, "0123456789");
	return len;
}

bool pairs_fit(const char *path, const char *version, const char *release)
{
	const struct pair *pair;
	struct utsname here;
	int has = -1;

	if (!release)
		release = getenv("SYSTEMTAP_RELEASE");
	if (!release && !uname(&here))
		release = here.release;
	pair = release && *release != '/' ? find_pair(version, release) : NULL;
	if (!pair)
		return true;
	if (!is_any(pair->word))
		has = runtime_has(path, pair->word);
	if (has > 0)
		return true;
	shown_line(stderr, "stapwatch: %sSystemTap %s makes no module that Linux %.*s loads%s: %s",
		   has < 0 ? "WARNING: " : "", version, version_len(release),
		   release, has < 0 ? ", unless it was patched" : "",
		   pair->works);
	return has < 0;
}
