/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which stap is run, and whether it is new enough. */
#define _GNU_SOURCE	/* strverscmp() */
#include "stap/find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "config.h"
#include "stap/ask.h"
#include "stap/pairs.h"
#include "stap/tapsets.h"

#define OLDEST_STAP "5.1"

static char *in_path(const char *name)
{
	const char *path = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	struct buf b = { 0 };
	struct stat st;
	size_t len;

	for (;; path += len + 1) {
		len = strcspn(path, ":");
		buf_add(&b, path, len);
		buf_printf(&b, "%s%s", len ? "/" : "./", name);
		if (!access(b.s, X_OK) && !stat(b.s, &st) &&
		    S_ISREG(st.st_mode))
			return buf_take(&b);
		b.len = 0;
		if (!path[len])
			break;
	}
	free(b.s);
	return NULL;
}

char *find_stap(void)
{
	const char *named = getenv("STAPWATCH_STAP");
	char *path;

	if (named && *named) {
		path = strchr(named, '/') ? xstrdup(named) : in_path(named);
		if (path && !access(path, X_OK))
			return path;
		free(path);
		shown_line(stderr, "stapwatch: STAPWATCH_STAP=%s: %s; unset it, or let it name a stap",
			   named, strerror(errno));
		return NULL;
	}
	path = in_path("stap");
	if (path)
		return path;
	if (*STAP_PATH && !access(STAP_PATH, X_OK))
		return xstrdup(STAP_PATH);
	shown_line(stderr, "stapwatch: stap: not in $PATH; install SystemTap (Debian: systemtap, Fedora: systemtap systemtap-devel), or name it in STAPWATCH_STAP");
	return NULL;
}

/* The first line that tells it. */
static void take_version(void *data, const char *line)
{
	const char *from = strstr(line, "(version ");
	char **version = data;

	if (!from || *version)
		return;
	from += strlen("(version ");
	*version = xstrndup(from, strcspn(from, "/,) "));
}

bool find_rc(void)
{
	const char *dir = getenv("SYSTEMTAP_DIR"), *home = getenv("HOME");
	struct buf b = { 0 };
	bool there;

	if (dir && *dir)
		buf_printf(&b, "%s/rc", dir);
	else
		buf_printf(&b, "%s/.systemtap/rc", home ?: "");
	there = !access(b.s, F_OK);
	free(b.s);
	return there;
}

char *find_version(const char *path)
{
	char *argv[] = { "stap", "--version", NULL }, *version = NULL;

	ask_stap(path, argv, take_version, &version);
	return version;
}

/* One that does not say what it is may do. */
static bool stap_fits(const char *path, bool modules, const char *release)
{
	char *version = find_version(path);
	bool old = version && strverscmp(version, OLDEST_STAP) < 0;
	bool asks = version && modules && (release || !find_rc());
	bool fits = !old && (!asks || pairs_fit(path, version, release));

	if (old)
		shown_line(stderr, "stapwatch: %s is SystemTap %s, which is too old; install " OLDEST_STAP " or newer (Debian 13 has it), or name one in STAPWATCH_STAP",
			   path, version);
	free(version);
	return fits;
}

char *find_our_stap(bool modules, const char *release)
{
	char *path = find_stap();

	if (path && (!stap_fits(path, modules, release) || !tapsets_fit())) {
		free(path);
		return NULL;
	}
	return path;
}
