/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debugging information elsewhere; debug_file.h says what is wanted of it. */
#ifdef HAVE_LIBDW

#include "report/names/debug_file.h"

#include <elfutils/libdwelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "base/foreign.h"
#include "report/names/elf_check.h"

/* Without a build-id: what is larger is told by one, if by anything. */
#define CRC_MOST (1LL << 30)

static bool same_build_id(int fd, const void *id, size_t id_len)
{
	Elf *elf = dwelf_elf_begin(fd);
	const void *its;
	const ssize_t len = elf ? dwelf_elf_gnu_build_id(elf, &its) : -1;
	const bool same = len > 0 && (size_t)len == id_len &&
			  !memcmp(its, id, id_len);

	elf_end(elf);
	return same;
}

/*
 * The checksum of .gnu_debuglink, which is that of Ethernet and so zlib's.  Who wrote
 * the program chose the file: no more is summed than such a file may have.
 */
static bool same_crc(int fd, uint32_t crc)
{
#ifdef HAVE_ZLIB
	unsigned char part[65536];
	uLong is = crc32(0, NULL, 0);
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size > CRC_MOST)
		return false;
	while (at < CRC_MOST && (n = pread(fd, part, sizeof(part), at)) > 0) {
		is = crc32(is, part, n);
		at += n;
	}
	return is == crc;
#else
	(void)fd;
	(void)crc;
	return false;
#endif
}

static int try(Dwfl_Module *mod, const char *root, const char *path,
	       GElf_Word crc, char **name)
{
	const struct foreign_rule rule = {
		.root = root, .most = ELF_MOST, .own = !crc,
	};
	const int fd = foreign_open(path, &rule);
	const unsigned char *id;
	GElf_Addr at;
	int len;

	if (fd < 0)
		return -1;
	if (elf_check(fd)) {
		close(fd);
		return -1;
	}
	len = crc ? dwfl_module_build_id(mod, &id, &at) : 0;
	if (!crc || (len > 0 ? same_build_id(fd, id, len) :
			       same_crc(fd, crc))) {
		*name = xstrdup(path);
		return fd;
	}
	close(fd);
	return -1;
}

int debug_file_open(Dwfl_Module *mod, const char *path, size_t root_len,
		    const char *link, GElf_Word crc, char **name)
{
	static const char *const places[] = {
		"%.*s/%s", "%.*s/.debug/%s", "/usr/lib/debug%.*s/%s",
	};
	const char *own = path + root_len, *slash = strrchr(own, '/');
	char *root = root_len ? xstrndup(path, root_len) : NULL;
	struct buf place = { 0 };
	int fd = -1;
	size_t i;

	if (*link == '/')
		fd = try(mod, root, link, crc, name);
	for (i = 0; fd < 0 && slash && *link != '/' &&
	     i < sizeof(places) / sizeof(*places); i++) {
		place.len = 0;
		buf_printf(&place, places[i], (int)(slash - own), own, link);
		fd = try(mod, root, place.s, crc, name);
	}
	free(place.s);
	free(root);
	return fd;
}

#endif
