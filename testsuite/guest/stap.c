/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A stap for a guest that can compile nothing: of all arguments it takes
 *
 *	stap --version
 *	stap -m NAME -e SCRIPT
 *
 * and runs the module of the one file *.ko here, which has been compiled from
 * that script.  Its own name, without .ko, is replaced by NAME, which is no longer.
 */
#define _GNU_SOURCE
#include <err.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void rename_module(char *at, size_t len, const char *old,
			  const char *new)
{
	size_t n = strlen(old);
	char *end = at + len, *found;

	while ((found = memmem(at, end - at, old, n))) {
		memset(found, 0, n);
		memcpy(found, new, strlen(new));
		at = found + n;
	}
}

int main(int argc, char **argv)
{
	char file[128], old[64], *module;
	glob_t found;
	size_t len;
	FILE *f;

	/* any will do */
	if (argc == 2 && !strcmp(argv[1], "--version"))
		return 0;
	if (argc != 5 || strcmp(argv[1], "-m") || strcmp(argv[3], "-e"))
		errx(1, "stap: not what is expected: %s", argv[argc - 1]);
	if (glob("*.ko", 0, NULL, &found) || found.gl_pathc != 1 ||
	    sscanf(found.gl_pathv[0], "%63[^.]", old) != 1 ||
	    strlen(argv[2]) > strlen(old))
		errx(1, "stap: no module that can be %s", argv[2]);
	f = fopen(found.gl_pathv[0], "r");
	module = malloc(64 << 20);
	if (!f || !module)
		err(1, "stap: %s", found.gl_pathv[0]);
	len = fread(module, 1, 64 << 20, f);
	fclose(f);
	rename_module(module, len, old, argv[2]);

	snprintf(file, sizeof(file), "/tmp/%s.ko", argv[2]);
	f = fopen(file, "w");
	if (!f || fwrite(module, 1, len, f) != len || fclose(f))
		err(1, "stap: %s", file);
	execlp("staprun", "staprun", "-C", "never", file, NULL);
	err(1, "stap: staprun");
}
