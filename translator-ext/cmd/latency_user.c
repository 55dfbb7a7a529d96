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
#include "cmd/latency_exits.h"
#include "cmd/latency_hidden.h"
#include "cmd/latency_parts.h"
#include "cmd/latency_returns.h"

/* What may stand in the map's names, and in a script. */
#define PATH_CHARS LATENCY_NAME "/+-,@=~% "
#define FILE_MOST (4ULL << 30)
/* What the script can take in one string. */
#define PATH_MOST 500
#define PARTS_MOST 4
#define LOOKS "what looks where it returns to does not stand a probe on its return"
#define NOT_CALLED "it is jumped to, and not called, so that there is no call to record"
#define NAME_MOST (LATENCY_MAX_NAME + sizeof(LATENCY_PART) + 2)

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
	struct latency_parts parts;
	unsigned int nr_parts;	/* whose names are wanted */
	/* why no probe on a return may be, as latency_returns_check() has it */
	struct buf why_not;
};

struct user_function {
	char *name;		/* without a version */
	uint64_t addr, size;	/* as the file has them */
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

static bool get_code(const struct user *u, const struct user_function *f,
		     struct latency_code *code)
{
	size_t size;
	const char *bytes = elf_rawfile(u->elf, &size);

	if (!bytes || !f->size || f->offset > size || f->size > size - f->offset)
		return false;
	*code = (struct latency_code) {
		f->addr, f->size, f->offset, bytes + f->offset
	};
	return true;
}

/* One symbol, if it is a function that is wanted. */
static void take(struct user *u, const struct latency_hidden *hidden,
		 const char *symbol, const GElf_Sym *sym, GElf_Addr addr)
{
	const size_t longest = strnlen(symbol, NAME_MOST + 1);
	const char *at = memchr(symbol, '@', longest);
	const size_t len = at ? (size_t)(at - symbol) : longest;
	struct user_function f = {
		.addr = addr - u->bias, .size = sym->st_size,
		.chooses = GELF_ST_TYPE(sym->st_info) == STT_GNU_IFUNC,
	};
	struct latency_code code;
	bool is_part;
	char *name;

	if (len > NAME_MOST)
		return;
	name = f.name = xstrndup(symbol, len);
	/* name@VERSION is for old programs, name@@VERSION for those of today */
	f.hidden = at ? at[1] != '@' :
			latency_hidden_has(hidden, name, f.addr);
	is_part = latency_is_part(name);
	if (!(is_part || fits(u, name)) ||
	    !offset_of(u, f.addr, &f.offset)) {
		free(name);
		return;
	}
	if (is_part) {
		if (get_code(u, &f, &code))
			latency_parts_add(&u->parts, name, &code);
		u->nr_parts += fits(u, name);
		free(name);
		return;
	}
	u->found = array_room(u->found, &u->room, u->nr_found + 1,
			      sizeof(*u->found));
	u->found[u->nr_found++] = f;
}

/* Whose parts they are: any of the file's functions may have that name. */
static void find_owners(struct user *u, int nr)
{
	GElf_Addr addr;
	GElf_Sym sym;
	int i;

	latency_parts_sort(&u->parts);
	for (i = 0; u->parts.nr && i < nr; i++) {
		const char *name = dwfl_module_getsym_info(u->mod, i, &sym,
							   &addr, NULL, NULL,
							   NULL);

		if (name && sym.st_shndx != SHN_UNDEF &&
		    GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			latency_parts_symbol(&u->parts, name, addr - u->bias);
	}
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
	find_owners(u, nr);
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

/* ---- where probes can be */

/* NULL, or why it cannot be, with the function as the subject. */
static const char *find_exits(const struct user *u,
			      const struct user_function *f, struct buf *exits)
{
	struct latency_code code[1 + PARTS_MOST];
	size_t nr;

	if (!get_code(u, f, &code[0]))
		return "has a symbol that does not say how long it is";
	nr = latency_parts_of(&u->parts, f->addr, code + 1, PARTS_MOST);
	if (nr > PARTS_MOST)
		return "has more than four parts";
	return latency_exits_find(u->elf, code, 1 + nr, exits);
}

/* What nobody calls has no return address on the stack: its probe would write to another word. */
static bool is_called(const struct user *u, const struct user_function *f)
{
	GElf_Ehdr head;
	GElf_Phdr phdr;
	size_t nr, i;

	if (latency_returns_is_jumped_to(f->name))
		return false;
	if (!gelf_getehdr(u->elf, &head) || f->addr != head.e_entry ||
	    elf_getphdrnum(u->elf, &nr))
		return true;
	/* libraries may have any address there */
	for (i = 0; i < nr; i++)
		if (gelf_getphdr(u->elf, i, &phdr) &&
		    phdr.p_type == PT_INTERP)
			return false;
	return head.e_type != ET_EXEC;
}

/* How a function is recorded: by its own returns, EXITS; or by a probe on its return. */
static const char *find_way(const struct user *u, const struct user_function *f,
			    struct buf *exits)
{
	if (u->req->force ||
	    !(u->why_not.len || latency_returns_looks(f->name)))
		return NULL;
	return find_exits(u, f, exits);
}

static int fail_of_way(const struct user *u, const char *name, const char *why)
{
	struct buf b = { 0 };

	shown_name(&b, name);
	buf_printf(&b, " %s; %s; --force records all the same", why,
		   u->why_not.len ? u->why_not.s : LOOKS);
	fail(u, b.s);
	free(b.s);
	return -1;
}

static void say_no_way(const struct user *u, unsigned int nr)
{
	if (nr)
		shown_line(stderr, "stapwatch latency: \"%s\": %u functions are left out, as they do not end by returns of their own alone; %s; --force records all the same",
			   u->word, nr, u->why_not.len ? u->why_not.s : LOOKS);
}

static int put(struct user *u, const struct user_function *found,
	       const char *exits, bool optional)
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
		f->exits = exits ? xstrdup(exits) : NULL;
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
	unsigned int several = 0, chosen = 0, no_way = 0;
	unsigned int jumped_to = u->nr_parts;
	struct buf exits = { 0 };
	size_t i, nr, same;
	const char *why;
	int rc = 0;

	if (u->nr_found)
		qsort(u->found, u->nr_found, sizeof(*u->found), by_name);
	for (i = 0; i < u->nr_found && !rc; i += nr) {
		const struct user_function *f = &u->found[i];

		nr = count_same(f, u->nr_found - i, &same);
		if (has_chooser(f, same)) {
			chosen++;
			if (!optional)
				rc = fail_of_chosen(u, f->name);
		} else if (f[0].offset != f[same - 1].offset) {
			several++;
		} else if (!is_called(u, f)) {
			jumped_to++;
			if (!optional)
				rc = fail(u, NOT_CALLED);
		} else if ((why = find_way(u, f, &exits))) {
			no_way++;
			if (!optional)
				rc = fail_of_way(u, f->name, why);
		} else {
			rc = put(u, f, exits.len ? exits.s : NULL, optional);
		}
		exits.len = 0;
	}
	free(exits.s);
	if (rc)
		return rc;
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
	say_no_way(u, no_way);
	if (u->req->nr_functions == before)
		return fail(u, "no function is left");
	return 0;
}

/* Told before anything is recorded: it is too late then. */
static int check_returns(struct user *u)
{
	struct buf note = { 0 };
	const char *never = NULL;
	int rc = 0;

	if (u->req->force)
		return 0;
	switch (latency_returns_check(u->mod, u->elf, &u->why_not, &note)) {
	case LATENCY_RETURNS_OWN:
		never = latency_exits_why_never(u->elf);
		if (!never)
			break;
		buf_printf(&u->why_not, "; %s", never);
		/* fall through */
	case LATENCY_RETURNS_FATAL:
		buf_puts(&u->why_not, "; --force records all the same");
		rc = fail(u, u->why_not.s);
		break;
	case LATENCY_RETURNS_FINE:
		break;
	}
	if (note.len && !rc)
		shown_line(stderr, "stapwatch latency: \"%s\": note: %s",
			   u->word, note.s);
	free(note.s);
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
	if (u->nr_parts && !strpbrk(u->function, LATENCY_WILD))
		return fail(u, NOT_CALLED);
	if (!u->nr_found && !u->nr_parts && strlen(u->path) + 1 + strlen(u->function) >
			    LATENCY_MAX_NAME)
		return fail(u, "that is longer than 79 characters; make a link with a shorter path");
	if (!u->nr_found && !u->nr_parts)
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
	latency_parts_free(&u.parts);
	free(u.found);
	free(u.why_not.s);
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
