/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where our tapsets are, and of which version; tapsets.h says what is wanted. */
#include "stap/tapsets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/shown.h"
#include "config.h"

static const char *tapsets_dir(void)
{
	const char *dir = getenv("STAPWATCH_TAPSETS");

	return dir && *dir ? dir : TAPSETDIR;
}

const char *tapsets_option(void)
{
	const char *dir = tapsets_dir();

	return strcmp(dir, STAP_TAPSETDIR) ? dir : NULL;
}

/* What the function of mktapsets returns; NULL if there is none to be read. */
static char *tapsets_version(const char *dir)
{
	static const char before[] = "{ return \"";
	char line[256], *at, *version = NULL;
	struct buf path = { 0 };
	FILE *f;

	buf_printf(&path, "%s/linux/stapwatch-version.stp", dir);
	f = fopen(path.s, "re");
	free(path.s);
	if (!f)
		return NULL;
	while (!version && fgets(line, sizeof(line), f)) {
		at = strstr(line, before);
		if (!at)
			continue;
		at += strlen(before);
		version = xstrndup(at, strcspn(at, "\"\n"));
	}
	fclose(f);
	return version;
}

bool tapsets_fit(void)
{
	const char *dir = tapsets_dir();
	char *version = tapsets_version(dir);
	bool fit = !version || !strcmp(version, STAPWATCH_VERSION);

	if (!fit)
		shown_line(stderr, "stapwatch: this is version " STAPWATCH_VERSION ", and the tapsets in %s are of version %s; install both from one version, or name others in STAPWATCH_TAPSETS",
			   dir, version);
	free(version);
	return fit;
}
