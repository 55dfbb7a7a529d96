/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program's file: whatever is in it, it is refused in a line, or its symbols and lines
 * are told, and what it says of them can be asked.  The file is ./image.
 *
 * elfutils is linked as it is installed: of its own code only what it does to memory of
 * malloc()'s by way of the C library is seen, and what it takes of that.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "report/names/elf_check.h"
#include "report/names/elf_file.h"
#include "../cost.h"
#include "../ensure.h"
#include "../executions.h"

#define FIRST (1 << 18)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"\177ELF", "\177ELF\002\001\001", "\001", "\002", "\010", "\200",
	"\377\377\377\377", "\377\377\377\177", "\020", "GNU", ".text", ".debug_info",
	"ZLIB", "", NULL
};

static void put_file(const uint8_t *data, size_t size, struct image *im)
{
	const int fd = open(im->path, O_WRONLY | O_CREAT, 0600);
	struct stat st;

	ensure(fd >= 0 && !ftruncate(fd, size));
	ensure(write(fd, data, size) == (ssize_t)size && !fstat(fd, &st));
	close(fd);
	im->inode = st.st_ino;
	im->dev_major = major(st.st_dev);
	im->dev_minor = minor(st.st_dev);
}

static void ask(struct elf_file *f, size_t size)
{
	struct symtab tab = { 0 };
	struct buf why = { 0 };
	uint64_t addr;
	size_t i;
	int line;

	elf_file_symbols(f, &tab);
	for (i = 0; i < tab.nr; i++) {
		ensure(!tab.symbols[i].text || *tab.symbols[i].text);
		symtab_find(&tab, tab.symbols[i].addr);
		elf_file_line(f, tab.symbols[i].addr, &line, &why);
	}
	for (i = 0; i < size; i += 64)
		if (elf_file_address(f, i, &addr))
			symtab_find(&tab, addr);
	symtab_free(&tab);
	free(why.s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char path[PATH_MAX];
	/* it was mapped later than it was written */
	const struct sw_trace_head head = {
		.page_size = 4096, .nr_cpus = 1, .realtime = INT64_MAX,
	};
	struct image im = {
		.kind = IMAGE_FILE, .path = path, .name = "elf", .nr_parts = 1,
		.parts = { { 0, 4096 } },
	};
	struct buf why = { 0 };
	struct elf_file *f;

	if (!*path)
		ensure(getcwd(path, sizeof(path) - 6) && strcat(path, "/image"));
	put_file(data, size, &im);
	cost_begin();
	f = elf_file_open(&im, &head, NULL, &why);
	ensure(f || why.len);
	ensure(!why.s || !strchr(why.s, '\n'));
	if (f)
		ask(f, size);
	if (f)
		elf_file_close(f);
	free(why.s);
	cost_end(size, FIRST);
	executions_add();
	return 0;
}
