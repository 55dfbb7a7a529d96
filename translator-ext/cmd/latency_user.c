/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of programs and libraries, by their symbols, also those of a debug
 * file with the same build-id; latency.h.
 *
 * The kernel is told where in the file a function begins.
 */
#include "cmd/latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <fnmatch.h>
#include <unistd.h>

#include "base/foreign.h"
#include "base/intern.h"
#include "cmd/latency_hidden.h"
#include "cmd/latency_returns.h"

/* What may stand in the map's names, and in a script. */
#define PATH_CHARS LATENCY_NAME "/+-,@=~% "
#define FILE_MOST (4ULL << 30)
/* What the script can take in one string. */
#define PATH_MOST 500
#define NOT_CALLED "it is jumped to, and not called, so that there is no call to record"

struct user {
	struct latency_request *req;
	const char *word;
	char *path;		/* as it was written */
	char *file;		/* without links */
	const char *function;
	Dwfl *dwfl;
	Dwfl_Module *mod;
	Elf *elf;
	GElf_Addr bias;		/* of addresses against the file's */
	struct user_function *found;
	size_t nr_found, room;
};

struct user_function {
	char *name;		/* without a version */
	uint64_t addr;		/* as the file has it */
	uint64_t offset;
	bool hidden;		/* only old programs are linked with it */
	bool chooses;		/* it chooses the function when a program begins */
};

static int fail(const struct user *u, const char *why)
{
	return latency_functions_fail(u->word, why);
}

/* Only directories of root's: not what a name in the file says. */
static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = dwfl_build_id_find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

static int open_file(struct user *u)
{
	const struct foreign_rule rule = { .most = FILE_MOST };
	struct buf why = { 0 };
	int fd;

	u->file = realpath(u->path, NULL);
	fd = u->file ? foreign_open(u->file, &rule) : -1;
	if (fd < 0) {
		buf_printf(&why, "%s", foreign_error(errno));
		fail(u, why.s);
		free(why.s);
		return -1;
	}
	u->dwfl = dwfl_begin(&callbacks);
	if (u->dwfl)
		u->mod = dwfl_report_offline(u->dwfl, "", u->file, fd);
	if (!u->mod) {
		close(fd);
		return fail(u, "it is no ELF file: a program or a library is wanted, and no script");
	}
	dwfl_report_end(u->dwfl, NULL, NULL);
	u->elf = dwfl_module_getelf(u->mod, &u->bias);
	return u->elf ? 0 : fail(u, "it cannot be read as an ELF file");
}

/* Where an address of code is in the file. */
static bool offset_of(const struct user *u, GElf_Addr addr, uint64_t *offset)
{
	GElf_Phdr phdr;
	size_t nr, i;

	if (elf_getphdrnum(u->elf, &nr))
		return false;
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(u->elf, i, &phdr) && phdr.p_type == PT_LOAD &&
		    phdr.p_flags & PF_X && addr >= phdr.p_vaddr &&
		    addr - phdr.p_vaddr < phdr.p_filesz) {
			*offset = addr - phdr.p_vaddr + phdr.p_offset;
			return true;
		}
	return false;
}

static bool fits(const struct user *u, const char *name)
{
	return strlen(u->path) + 1 + strlen(name) <= LATENCY_MAX_NAME &&
	       !name[strspn(name, LATENCY_NAME)] &&
	       !fnmatch(u->function, name, 0);
}

/* One symbol, if it is a function that is wanted. */
static void take(struct user *u, const struct latency_hidden *hidden,
		 const char *symbol, const GElf_Sym *sym, GElf_Addr addr)
{
	const size_t longest = strnlen(symbol, LATENCY_MAX_NAME + 1);
	const char *at = memchr(symbol, '@', longest);
	const size_t len = at ? (size_t)(at - symbol) : longest;
	struct user_function f = {
		.addr = addr - u->bias,
		.chooses = GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC,
	};
	char *name;

	if (len > LATENCY_MAX_NAME)
		return;
	name = f.name = xstrndup(symbol, len);
	/* name@VERSION is for old programs, name@@VERSION for those of today */
	f.hidden = at ? at[1] != '@' :
			latency_hidden_has(hidden, name, f.addr);
	if (!fits(u, name) || !offset_of(u, f.addr, &f.offset)) {
		free(name);
		return;
	}
	u->found = array_room(u->found, &u->room, u->nr_found + 1,
			      sizeof(*u->found));
	u->found[u->nr_found++] = f;
}

static void find(struct user *u)
{
	const int nr = dwfl_module_getsymtab(u->mod);
	struct latency_hidden hidden = { 0 };
	GElf_Addr addr;
	GElf_Sym sym;
	int i;

	latency_hidden_read(&hidden, u->elf, LATENCY_MAX_NAME);
	for (i = 0; i < nr; i++) {
		const char *name = dwfl_module_getsym_info(u->mod, i, &sym,
							   &addr, NULL, NULL,
							   NULL);

		if (name && sym.st_shndx != SHN_UNDEF &&
		    (GELF_ST_TYPE(sym.st_info) == STT_FUNC ||
		     GELF_ST_TYPE(sym.st_info) == STT_GNU_IFUNC))
			take(u, &hidden, name, &sym, addr);
	}
	latency_hidden_free(&hidden);
}

/* Those that an IFUNC chooses from have its name in theirs, in libc: __strlen_avx2. */
static bool is_variant(const char *symbol, const GElf_Sym *sym,
		       const char *name, size_t len)
{
	return GELF_ST_TYPE(sym->st_info) == STT_FUNC &&
	       sym->st_shndx != SHN_UNDEF && !strncmp(symbol, "__", 2) &&
	       !strncmp(symbol + 2, name, len) && symbol[2 + len] == '_' &&
	       !strstr(symbol, "_ifunc");
}

static void put_variants(const struct user *u, const char *name,
			 struct buf *out)
{
	const int nr = dwfl_module_getsymtab(u->mod);
	const size_t len = strlen(name);
	unsigned int found = 0;
	GElf_Sym sym;
	int i;

	for (i = 0; i < nr && found < 3; i++) {
		const char *symbol = dwfl_module_getsym(u->mod, i, &sym, NULL);

		if (!symbol || !is_variant(symbol, &sym, name, len))
			continue;
		buf_puts(out, found++ ? ", " : ": take one of them, as ");
		shown_name(out, symbol);
	}
	if (found)
		buf_printf(out, ", or all by '%s:__%s_*'", u->path, name);
	else
		buf_puts(out, "; these have no symbols here, but may have in the file's debug file, below /usr/lib/debug/.build-id");
}

static int fail_of_chosen(const struct user *u, const char *name)
{
	struct buf why = { 0 };

	buf_printf(&why, "a program that begins chooses %s from functions of other names (IFUNC)",
		   name);
	put_variants(u, name, &why);
	fail(u, why.s);
	free(why.s);
	return -1;
}

static int by_name(const void *a, const void *b)
{
	const struct user_function *x = a, *y = b;

	/* those for old programs come last */
	return strcmp(x->name, y->name) ?: x->hidden - y->hidden ?:
	       (x->offset > y->offset) - (x->offset < y->offset);
}

/*
 * Those of the name at the beginning of F; *same: how many of them are what programs
 * mean by it.  A function for old programs is meant where there is no other.
 */
static size_t count_same(const struct user_function *f, size_t nr, size_t *same)
{
	size_t end;

	*same = 0;
	for (end = 0; end < nr && !strcmp(f[0].name, f[end].name); end++)
		*same += f[end].hidden == f[0].hidden;
	return end;
}

static bool has_chooser(const struct user_function *f, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		if (f[i].chooses)
			return true;
	return false;
}

/* What nobody calls has no return address on the stack: its probe would write to another word. */
static bool is_called(const struct user *u, const struct user_function *f)
{
	GElf_Ehdr head;

	return !(gelf_getehdr(u->elf, &head) && f->addr == head.e_entry) &&
	       !latency_returns_is_jumped_to(f->name);
}

static int put(struct user *u, const struct user_function *found,
	       bool optional)
{
	struct latency_function_name *f;
	struct buf name = { 0 };
	int rc = 0;

	buf_printf(&name, "%s:%s", u->path, found->name);
	if (latency_functions_has(u->req, name.s)) {
		if (!optional)
			rc = fail(u, "it stands there twice");
	} else if (!(f = latency_functions_put(u->req, u->word, name.s))) {
		rc = latency_functions_full(u->word);
	} else {
		f->file = xstrdup(u->file);
		f->offset = found->offset;
		f->optional = optional;
	}
	free(name.s);
	return rc;
}

/* Each once; what has several names, or a name that several have, as they are
 * asked for. */
static int put_all(struct user *u)
{
	const bool optional = !!strpbrk(u->function, LATENCY_WILD);
	const size_t before = u->req->nr_functions;
	unsigned int several = 0, chosen = 0, jumped_to = 0;
	size_t i, nr, same;

	qsort(u->found, u->nr_found, sizeof(*u->found), by_name);
	for (i = 0; i < u->nr_found; i += nr) {
		const struct user_function *f = &u->found[i];

		nr = count_same(f, u->nr_found - i, &same);
		if (has_chooser(f, same)) {
			if (!optional)
				return fail_of_chosen(u, f->name);
			chosen++;
		} else if (f[0].offset != f[same - 1].offset) {
			several++;
		} else if (!is_called(u, f)) {
			if (!optional)
				return fail(u, NOT_CALLED);
			jumped_to++;
		} else if (put(u, f, optional)) {
			return -1;
		}
	}
	if (chosen)
		shown_line(stderr, "stapwatch latency: \"%s\": %u functions are left out, as programs that begin choose them from functions of other names (IFUNC)",
			   u->word, chosen);
	if (several && !optional)
		return fail(u, "the file has several functions of that name; write a script, with elapsed(\"tsc\") after process(\"PATH\")");
	if (several)
		shown_line(stderr, "stapwatch latency: \"%s\": %u functions are left out, as the file has others of their names",
			   u->word, several);
	if (jumped_to)
		shown_line(stderr, "stapwatch latency: \"%s\": %u functions are left out, as they are jumped to, and not called",
			   u->word, jumped_to);
	if (u->req->nr_functions == before)
		return fail(u, "no function is left");
	return 0;
}

/* Told before anything is recorded: it is too late then. */
static int check_returns(const struct user *u)
{
	struct buf why = { 0 };
	int rc = 0;

	if (u->req->force)
		return 0;
	switch (latency_returns_check(u->mod, u->elf, &why)) {
	case LATENCY_RETURNS_FATAL:
		buf_puts(&why, "; --force records all the same");
		rc = fail(u, why.s);
		break;
	case LATENCY_RETURNS_DOUBTFUL:
		shown_line(stderr, "stapwatch latency: \"%s\": note: %s",
			   u->word, why.s);
		break;
	case LATENCY_RETURNS_FINE:
		break;
	}
	free(why.s);
	return rc;
}

static int add(struct user *u)
{
	if (u->path[strspn(u->path, PATH_CHARS)])
		return fail(u, "its path has characters that a name in the map cannot have; make a link to it");
	if (open_file(u))
		return -1;
	if (strlen(u->file) > PATH_MOST ||
	    u->file[strspn(u->file, PATH_CHARS)])
		return fail(u, "the path that it is a link to is too long, or has characters that a script cannot have");
	find(u);
	if (!u->nr_found && strlen(u->path) + 1 + strlen(u->function) >
			    LATENCY_MAX_NAME)
		return fail(u, "that is longer than 79 characters; make a link with a shorter path");
	if (!u->nr_found)
		return fail(u, "the file has no symbol of such a function, nor has a debug file of it below /usr/lib/debug/.build-id");
	return check_returns(u) ?: put_all(u);
}

int latency_user_add(struct latency_request *req, const char *word)
{
	const char *colon = strrchr(word, ':');
	struct user u = { .req = req, .word = word };
	size_t i;
	int rc;

	if (!colon || !colon[1] || strchr(colon, '/'))
		return latency_functions_fail(word, "a program's function is PATH:FUNCTION, as /bin/bash:readline or '/bin/bash:read*'");
	u.path = xstrndup(word, colon - word);
	u.function = colon + 1;
	rc = add(&u);
	for (i = 0; i < u.nr_found; i++)
		free(u.found[i].name);
	free(u.found);
	free(u.path);
	free(u.file);
	if (u.dwfl)
		dwfl_end(u.dwfl);
	return rc;
}

#else /* !HAVE_LIBDW */

int latency_user_add(struct latency_request *req, const char *word)
{
	(void)req;
	return latency_functions_fail(word, "this stapwatch was built without elfutils, which finds programs' functions; build it with libdw (Debian: libdw-dev, Fedora: elfutils-devel)");
}

#endif
