/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of programs' functions; ppa_names.h says what is wanted of it. */
#include "cmd/ppa_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/foreign.h"
#include "base/intern.h"
#include "report/names/demangle.h"
#include "report/names/elf_file.h"

#define MAPS_MOST (16 << 20)

/* A file, and its functions by the addresses that it has for them. */
struct named_file {
	struct image image;
	struct elf_file *file;
	struct symtab symbols;
	bool tried;
};

struct mapping {
	uint64_t start, end, offset;
	uint32_t file;
};

/* What a process has mapped as code. */
struct mapped {
	struct mapping *all;
	size_t nr, size;
};

struct file_key {
	uint64_t inode;
	uint32_t major, minor;
	uint32_t mnt_ns, path;
};

struct ppa_names {
	struct intern texts;
	struct intern files;		/* by what they are */
	struct named_file *file;
	size_t nr_files;
	struct intern pids;
	struct mapped *processes;
	size_t nr_processes;
};

struct ppa_names *ppa_names_new(void)
{
	struct ppa_names *n = xmalloc(sizeof(*n));

	*n = (struct ppa_names) { 0 };
	return n;
}

void ppa_names_look_again(struct ppa_names *n)
{
	uint32_t i;

	for (i = 0; i < n->pids.nr; i++)
		free(n->processes[i].all);
	free(n->processes);
	intern_free(&n->pids);
	n->pids = (struct intern) { 0 };
	n->processes = NULL;
	n->nr_processes = 0;
}

void ppa_names_free(struct ppa_names *n)
{
	uint32_t i;

	if (!n)
		return;
	ppa_names_look_again(n);
	for (i = 0; i < n->files.nr; i++) {
		symtab_free(&n->file[i].symbols);
		if (n->file[i].file)
			elf_file_close(n->file[i].file);
	}
	free(n->file);
	intern_free(&n->files);
	intern_free(&n->texts);
	free(n);
}

/* ---- what is mapped */

static uint32_t namespace_of(uint32_t pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/mnt", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static uint32_t file_of(struct ppa_names *n, uint32_t pid,
			const struct file_key *key)
{
	const uint32_t nr = intern(&n->files, key, sizeof(*key));
	const char *path = intern_text(&n->texts, key->path);
	const char *slash = strrchr(path, '/');

	n->file = array_room(n->file, &n->nr_files, nr + 1, sizeof(*n->file));
	if (!n->file[nr].image.path)
		n->file[nr].image = (struct image) {
			.kind = IMAGE_FILE,
			.pid = pid,
			.mnt_ns = key->mnt_ns,
			.inode = key->inode,
			.dev_major = key->major,
			.dev_minor = key->minor,
			.path = path,
			.name = slash ? slash + 1 : path,
		};
	return nr;
}

/* "55d0-55e0 r-xp 00001000 08:01 4711    /usr/bin/program" */
static bool take_line(struct ppa_names *n, uint32_t pid, uint32_t mnt_ns,
		      char *line, struct mapping *m)
{
	struct file_key key = { .mnt_ns = mnt_ns };
	char mode[5];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %" SCNx32
		   ":%" SCNx32 " %" SCNu64 " %n", &m->start, &m->end, mode,
		   &m->offset, &key.major, &key.minor, &key.inode, &at) != 7 ||
	    !at || mode[2] != 'x' || line[at] != '/')
		return false;
	key.path = intern_string(&n->texts, line + at);
	m->file = file_of(n, pid, &key);
	return true;
}

static void take_maps(struct ppa_names *n, uint32_t pid, struct mapped *p)
{
	const struct foreign_rule rule = { .most = MAPS_MOST };
	const uint32_t mnt_ns = namespace_of(pid);
	struct buf text = { 0 };
	char path[64], *line, *rest;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	if (!foreign_read(path, &rule, &text)) {
		for (line = text.s ? strtok_r(text.s, "\n", &rest) : NULL; line;
		     line = strtok_r(NULL, "\n", &rest)) {
			p->all = array_room(p->all, &p->size, p->nr + 1,
					    sizeof(*p->all));
			p->nr += take_line(n, pid, mnt_ns, line, &p->all[p->nr]);
		}
	}
	free(text.s);
}

static const struct mapping *
mapping_of(struct ppa_names *n, uint32_t pid, uint64_t ip)
{
	const uint32_t before = n->pids.nr;
	const uint32_t nr = intern(&n->pids, &pid, sizeof(pid));
	const struct mapped *p;
	size_t i;

	n->processes = array_room(n->processes, &n->nr_processes, nr + 1,
				  sizeof(*n->processes));
	if (nr == before)
		take_maps(n, pid, &n->processes[nr]);
	p = &n->processes[nr];
	for (i = 0; i < p->nr; i++)
		if (ip >= p->all[i].start && ip < p->all[i].end)
			return &p->all[i];
	return NULL;
}

/* ---- what it is called */

static void read_symbols(struct named_file *f)
{
	struct timespec now;
	struct sw_trace_head head = { 0 };
	struct buf why = { 0 };

	f->tried = true;
	/* it is mapped now: a file that was written before is that one */
	clock_gettime(CLOCK_REALTIME, &now);
	head.realtime = now.tv_sec * 1000000000ULL + now.tv_nsec;
	f->file = elf_file_open(&f->image, &head, NULL, &why);
	if (f->file)
		elf_file_symbols(f->file, &f->symbols);
	free(why.s);
}

static const struct symbol *
symbol_of(struct named_file *f, uint64_t offset)
{
	uint64_t addr;

	if (!f->tried)
		read_symbols(f);
	if (!f->file || !elf_file_address(f->file, offset, &addr))
		return NULL;
	return symtab_find(&f->symbols, addr);
}

void ppa_names_put(struct ppa_names *n, uint32_t pid, uint64_t ip, bool returns,
		   struct buf *out)
{
	const struct mapping *m = mapping_of(n, pid, ip);
	const struct symbol *s;
	struct named_file *f;
	const char *name;
	char *plain;

	if (!m) {
		buf_printf(out, "0x%" PRIx64, ip);
		return;
	}
	f = &n->file[m->file];
	s = symbol_of(f, ip - returns - m->start + m->offset);
	if (!s) {
		buf_printf(out, "%s+0x%" PRIx64, f->image.name,
			   ip - m->start + m->offset);
		return;
	}
	name = intern_text(&n->texts, intern_name(&n->texts, s->text));
	plain = demangle(name);
	buf_printf(out, "%s [%s]", plain ?: name, f->image.name);
	free(plain);
}
