/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The same facts as stap's, from the same places.  Where stap may have others
 * none is better than a wrong one: the condition then stays for stap.
 */
#include "stap/facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "stap/find.h"

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* Stap's names of machines, which are those of the kernel's arch/. */
static const char *arch_name(const char *machine)
{
	static const struct {
		const char *machine, *arch;
	} same[] = {
		{ "i486", "i386" }, { "i586", "i386" }, { "i686", "i386" },
		{ "sun4u", "sparc64" }, { "sa110", "arm" },
		{ "s390x", "s390" }, { "aarch64", "arm64" },
		{ "riscv64", "riscv" },
	}, begins[] = {
		{ "arm", "arm" }, { "ppc", "powerpc" }, { "mips", "mips" },
		{ "sh2", "sh" }, { "sh3", "sh" }, { "sh4", "sh" },
	};
	size_t k;

	for (k = 0; k < sizeof(same) / sizeof(*same); k++)
		if (!strcmp(machine, same[k].machine))
			return same[k].arch;
	for (k = 0; k < sizeof(begins) / sizeof(*begins); k++)
		if (starts(machine, begins[k].machine))
			return begins[k].arch;
	return machine;
}

static char *release_of_tree(const char *tree)
{
	char line[128] = "", *release = NULL;
	struct buf b = { 0 };
	FILE *f;

	buf_printf(&b, "%s/include/config/kernel.release", tree);
	f = fopen(b.s, "re");
	free(b.s);
	if (!f)
		return NULL;
	if (fgets(line, sizeof(line), f) && *line && *line != '\n')
		release = xstrndup(line, strcspn(line, "\n"));
	fclose(f);
	return release;
}

static void find_kernel(struct facts *f, const char *given,
			const struct utsname *here)
{
	struct buf b = { 0 };

	if (given && *given == '/') {
		f->build_tree = xstrdup(given);
		f->release = release_of_tree(given);
		return;
	}
	f->release = xstrdup(given ?: here->release);
	buf_printf(&b, "/lib/modules/%s/build", f->release);
	f->build_tree = buf_take(&b);
}

/* What the stap that will run calls itself; asked for once. */
static const char *ask_version(const void *of)
{
	struct facts *f = (struct facts *)of;
	char *path;

	if (f->version)
		return *f->version ? f->version : NULL;
	path = find_stap();
	f->version = path ? find_version(path) : NULL;
	free(path);
	if (!f->version)
		f->version = xstrdup("");
	return *f->version ? f->version : NULL;
}

static const char *given_version(const void *of)
{
	return ((const struct options *)of)->compatible;
}

static const char *privilege(const char *given)
{
	static const char *const levels[] = { "stapdev", "stapsys", "stapusr" };
	size_t k;

	for (k = 0; given && k < 3; k++)
		if (!strcmp(given, levels[k]))
			return given;
	return given ? NULL : "stapdev";
}

void facts_find(const struct options *opts, struct facts *f)
{
	const char *release = opts->release ?: getenv("SYSTEMTAP_RELEASE");
	struct utsname here;

	*f = (struct facts) { .for_scripts = { 0 } };
	if (opts->elsewhere || find_rc() || uname(&here))
		return;
	find_kernel(f, release, &here);
	f->arch = xstrdup(opts->arch ?: arch_name(here.machine));
	f->for_scripts = (struct script_facts) {
		.arch = f->arch,
		.release = f->release,
		.build_tree = f->build_tree,
		.guru_mode = opts->guru ? "1" : "0",
		.privilege = privilege(opts->privilege),
		.runtime = opts->runtime ?: "kernel",
		.systemtap_v = opts->compatible ? given_version : ask_version,
		.of = opts->compatible ? (const void *)opts : f,
	};
}

void facts_free(struct facts *f)
{
	free(f->arch);
	free(f->release);
	free(f->build_tree);
	free(f->version);
	*f = (struct facts) { 0 };
}
