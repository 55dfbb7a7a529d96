/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Programs that a probe on the return of their functions ends; latency_returns.h. */
#include "cmd/latency_returns.h"

#ifdef HAVE_LIBDW

#include <stdbool.h>
#include <string.h>

#define FORCE "; --force records all the same"

/*
 * What a file has, or takes from others, that makes or lets through exceptions, or that
 * changes from one stack to another.  libc has some of these for itself, so that only
 * who takes them from there is meant: these are no sign where the file has them.
 */
static const struct sign {
	const char *symbol;
	bool own;		/* it is a sign in the file that has it, too */
	bool throws;		/* or it changes stacks */
} signs[] = {
	{ "_Unwind_RaiseException", false, true },
	{ "_Unwind_Resume", false, true },
	{ "_Unwind_Resume_or_Rethrow", false, true },
	{ "__cxa_throw", true, true },
	{ "__cxa_rethrow", true, true },
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
	return !strncmp(name, "_ZSt", 4) && strstr(name, "__throw_");
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

static const struct sign *find_sign(Dwfl_Module *mod)
{
	const int nr = dwfl_module_getsymtab(mod);
	const struct sign *sign = NULL;
	GElf_Sym sym;
	int i;

	for (i = 0; i < nr && !sign; i++) {
		const char *name = dwfl_module_getsym(mod, i, &sym, NULL);

		if (name)
			sign = sign_of(name, sym.st_shndx != SHN_UNDEF);
	}
	return sign;
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

const char *latency_returns_why(Dwfl_Module *mod, Elf *elf)
{
	const struct sign *sign;

	if (is_go(elf))
		return "it is a Go program, which ends when it finds a probe of a return on a stack that it moves" FORCE;
	sign = find_sign(mod);
	if (!sign)
		return NULL;
	if (sign->throws)
		return "the file throws exceptions or lets them through, and one that leaves a recorded call ends the program" FORCE;
	return "the file changes from one stack to another, and what does so within a recorded call may end the program" FORCE;
}

#endif
