/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that a probe on the return of their functions ends; latency_returns.h. */
#include "cmd/latency_returns.h"

#ifdef HAVE_LIBDW

#include <fnmatch.h>
#include <string.h>

#include "base/shown.h"

/* The longest name of a sign's form that is looked at. */
#define SIGN_LONGEST 255

/*
 * What a file has, or takes from others, that throws exceptions or lets them through, or
 * changes from one stack to another.  C has no exceptions, but libc and what is linked
 * with it have means of C++'s for themselves, so that only who takes these from another
 * file is meant: they are no sign where the file has them.
 */
static const struct sign {
	const char *symbol;
	bool own;		/* it is a sign in the file that has it, too */
	bool throws;		/* or it changes stacks */
} signs[] = {
	{ "_Unwind_RaiseException", false, true },
	{ "__cxa_rethrow", true, true },
	{ "__cxa_throw", true, true },
	{ "__gxx_personality_v0", true, true },
	{ "rust_eh_personality", true, true },
	{ "boost_jump_fcontext", true, false },
	{ "jump_fcontext", true, false },
	{ "makecontext", false, false },
	{ "swapcontext", false, false },
};

/* A symbol may have its version with it, after an @. */
static bool is_named(const char *name, const char *symbol)
{
	const size_t len = strlen(symbol);

	return !strncmp(name, symbol, len) && (!name[len] || name[len] == '@');
}

/* std::vector::at() and such throw by a function of the library's: std::__throw_... */
static bool is_library_throw(const char *name)
{
	return !strncmp(name, "_ZSt", 4) &&
	       strnlen(name, SIGN_LONGEST + 1) <= SIGN_LONGEST &&
	       strstr(name, "__throw_");
}

static const struct sign *sign_of(const char *name, bool own)
{
	size_t i;

	if (is_library_throw(name))
		return &signs[0];
	for (i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if ((!own || signs[i].own) && is_named(name, signs[i].symbol))
			return &signs[i];
	return NULL;
}

/* The file's symbols that say so; NULL: there is none. */
struct found {
	const char *throws, *changes_stacks;
};

static struct found find_signs(Dwfl_Module *mod)
{
	const int nr = dwfl_module_getsymtab(mod);
	struct found found = { 0 };
	GElf_Sym sym;
	int i;

	for (i = 0; i < nr && !(found.throws && found.changes_stacks); i++) {
		const char *name = dwfl_module_getsym(mod, i, &sym, NULL);
		const struct sign *sign =
			name ? sign_of(name, sym.st_shndx != SHN_UNDEF) : NULL;

		if (sign && sign->throws)
			found.throws = name;
		else if (sign)
			found.changes_stacks = name;
	}
	return found;
}

static bool is_go(Elf *elf)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr shdr;
		const char *name = gelf_getshdr(scn, &shdr) ?
				   elf_strptr(elf, names, shdr.sh_name) : NULL;

		if (name && (!strcmp(name, ".go.buildinfo") ||
			     !strcmp(name, ".note.go.buildid")))
			return true;
	}
	return false;
}

enum latency_returns latency_returns_check(Dwfl_Module *mod, Elf *elf,
					   struct buf *why, struct buf *note)
{
	struct found found;

	if (is_go(elf)) {
		buf_puts(why, "it is a Go program, which ends when it finds a probe of a return on a stack that it moves");
		return LATENCY_RETURNS_FATAL;
	}
	found = find_signs(mod);
	if (found.changes_stacks) {
		buf_puts(note, "the file changes from one stack to another (");
		shown_name(note, found.changes_stacks);
		buf_puts(note, found.throws ?
			 "), and a recorded call in which it does so may be lost" :
			 "), and a recorded call in which it does so may end the program");
	}
	if (!found.throws)
		return LATENCY_RETURNS_FINE;
	buf_puts(why, "the file throws exceptions or lets them through (");
	shown_name(why, found.throws);
	buf_puts(why, "), and one that leaves a call with a probe on its return ends the program");
	return LATENCY_RETURNS_OWN;
}

static bool is_one_of(const char *name, const char *const *names, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (!fnmatch(names[i], name, 0))
			return true;
	return false;
}

bool latency_returns_is_jumped_to(const char *name)
{
	static const char *const names[] = {
		"_start", "_dl_start_user", "_dl_runtime_resolve*",
		"_dl_runtime_profile*", "__restore_rt", "__start_context",
	};

	return is_one_of(name, names, sizeof(names) / sizeof(*names));
}

bool latency_returns_looks(const char *name)
{
	static const char *const names[] = {
		"setjmp", "sigsetjmp", "getcontext", "swapcontext",
		"Unwind_RaiseException", "Unwind_Resume*",
		"Unwind_ForcedUnwind", "uw_init_context*",
	};

	/* as libraries have them, by other names too */
	return is_one_of(name + strspn(name, "_"), names,
			 sizeof(names) / sizeof(*names));
}

#endif
