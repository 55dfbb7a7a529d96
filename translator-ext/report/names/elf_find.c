/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looking for an image's file; elf_find.h says what is wanted of it. */
#define _GNU_SOURCE	/* memfd_create() */
#ifdef HAVE_LIBDW

#include "report/names/elf_find.h"

#include <dirent.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/foreign.h"
#include "report/names/build_id.h"
#include "report/names/elf_check.h"
#include "report/names/kallsyms.h"
#include "report/names/module_file.h"

void elf_because(struct elf_search *s, const char *reason)
{
	s->why->len = 0;
	buf_puts(s->why, reason);
}

static bool has_build_id(const struct image *im)
{
	return im->flags & SW_TRACE_MMAP_BUILD_ID;
}

/* Why not? A kernel's files are root's, and its modules compressed. */
static const char *may_not_read(const struct elf_search *s, int fd)
{
	return s->image->kind == IMAGE_KERNEL ||
	       s->image->kind == IMAGE_MODULE ? NULL : elf_check(fd);
}

static void say_replaced(struct elf_search *s, const char *by)
{
	char was[BUILD_ID_TEXT];

	elf_because(s, "another file has taken its place");
	buf_printf(s->why, ": %s, and it was %s", by,
		   build_id_text(s->image->build_id, was));
}

static void check_build_id(struct elf_search *s, int fd, bool *same)
{
	char is[BUILD_ID_TEXT];
	struct buf by = { 0 };
	uint8_t id[SW_TRACE_BUILD_ID] = { 0 };
	const void *bits;
	ssize_t len;
	Elf *elf;

	elf = dwelf_elf_begin(fd);
	len = elf ? dwelf_elf_gnu_build_id(elf, &bits) : -1;
	if (len > 0)
		memcpy(id, bits,
		       len < SW_TRACE_BUILD_ID ? len : SW_TRACE_BUILD_ID);
	elf_end(elf);
	*same = len > 0 && !memcmp(id, s->image->build_id, SW_TRACE_BUILD_ID);
	if (*same)
		return;
	buf_puts(&by, len > 0 ? "build-id " : "without a build-id");
	if (len > 0)
		buf_puts(&by, build_id_text(id, is));
	say_replaced(s, by.s);
	free(by.s);
}

/*
 * Where st_dev is another number than the kernel's own of a file system: of a subvolume,
 * and of what lies over others.  There a file is told by its inode and its time.
 */
static bool has_own_devices(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == BTRFS_SUPER_MAGIC ||
				     fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

static bool is_unchanged(struct elf_search *s, int fd, const struct stat *st)
{
	const struct image *im = s->image;
	const uint64_t mapped = s->head->realtime +
				(im->mapped - s->head->r.time);

	if (im->inode != st->st_ino ||
	    ((im->dev_major != major(st->st_dev) ||
	      im->dev_minor != minor(st->st_dev)) && !has_own_devices(fd))) {
		elf_because(s, "another file has taken its place: it is another inode, and there was no build-id");
		return false;
	}
	if ((uint64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec >
	    mapped) {
		elf_because(s, "it has been written to since it was mapped, and there was no build-id");
		return false;
	}
	return true;
}

/*
 * The file that is PATH where ROOT is /; NULL for our own.  Returns a file
 * descriptor of the right file, or -1.
 */
static int try_path(struct elf_search *s, const char *root, const char *path,
		    struct buf *name)
{
	const struct foreign_rule rule = { .root = root, .most = ELF_MOST };
	const char *reason;
	struct stat st;
	bool same;
	int fd;

	name->len = 0;
	buf_printf(name, "%s%s", root ?: "", path);
	s->root_len = name->len - strlen(path);
	fd = foreign_open(path, &rule);
	if (fd < 0) {
		elf_because(s, errno == ENOENT || errno == ENOTDIR ?
			    "it is gone" : errno == ENODEV ?
			    "another thing that is no file has taken its place" :
			    foreign_error(errno));
		return -1;
	}
	same = !fstat(fd, &st) &&
	       (has_build_id(s->image) || is_unchanged(s, fd, &st));
	reason = same ? may_not_read(s, fd) : NULL;
	if (reason && has_build_id(s->image) && !elf_is(fd))
		say_replaced(s, reason);
	else if (reason)
		elf_because(s, reason);
	else if (same && has_build_id(s->image))
		check_build_id(s, fd, &same);
	if (same && !reason)
		return fd;
	close(fd);
	return -1;
}

/* A mount namespace's number, as the trace has it; 0: not known. */
static uint32_t namespace_of(const char *pid)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.20s/ns/mnt", pid);
	return stat(path, &st) ? 0 : st.st_ino;
}

static int try_below(struct elf_search *s, const char *pid, struct buf *path)
{
	char root[64];

	snprintf(root, sizeof(root), "/proc/%.20s/root", pid);
	return try_path(s, root, s->image->path, path);
}

/* Through any process that sees the same mounts. */
static int try_namespace(struct elf_search *s, struct buf *path)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	int fd = -1;

	while (dir && fd < 0 && (d = readdir(dir)))
		if (*d->d_name >= '0' && *d->d_name <= '9' &&
		    namespace_of(d->d_name) == s->image->mnt_ns)
			fd = try_below(s, d->d_name, path);
	if (dir)
		closedir(dir);
	return fd;
}

static bool was_in_memory(const struct image *im)
{
	return !strncmp(im->path, "/memfd:", strlen("/memfd:"));
}

/* A program that has no name any more, or never had one, while it runs. */
static int try_running(struct elf_search *s, struct buf *path)
{
	struct buf why = { 0 };
	char exe[64];
	int fd;

	snprintf(exe, sizeof(exe), "/proc/%u", s->image->pid);
	buf_puts(&why, !was_in_memory(s->image) ? s->why->s :
		 access(exe, F_OK) ?
		 "it was in memory alone, and the process has ended" :
		 "it is in memory alone, and is not the process's program");
	snprintf(exe, sizeof(exe), "/proc/%u/exe", s->image->pid);
	fd = try_path(s, NULL, exe, path);
	if (fd < 0)
		elf_because(s, why.s);
	free(why.s);
	return fd;
}

static int try_process_file(struct elf_search *s, struct buf *path)
{
	const uint32_t ns = s->image->mnt_ns;
	char pid[16];
	int fd = -1;

	if (s->root)
		return try_path(s, s->root, s->image->path, path);
	snprintf(pid, sizeof(pid), "%u", s->image->pid);
	if (!ns || ns == namespace_of("self")) {
		fd = try_path(s, NULL, s->image->path, path);
		/* it may have a root of its own */
		if (fd < 0 && ns && has_build_id(s->image) &&
		    namespace_of(pid) == ns)
			fd = try_below(s, pid, path);
		return fd;
	}
	if (namespace_of(pid) == ns)
		fd = try_below(s, pid, path);
	if (fd < 0)
		fd = try_namespace(s, path);
	/* the same file, by whatever way it is seen */
	if (fd < 0 && has_build_id(s->image))
		fd = try_path(s, NULL, s->image->path, path);
	if (fd < 0)
		elf_because(s, "no process is left that sees its mount namespace");
	return fd;
}

/* This process's own is the same, if the kernel is. */
static int try_vdso(struct elf_search *s, struct buf *path)
{
	const char *start = (const char *)getauxval(AT_SYSINFO_EHDR);
	const GElf_Ehdr *e = (const void *)start;
	size_t size;
	bool same;
	int fd;

	if (!start || !kernel_is_this(s->head)) {
		elf_because(s, "that of another kernel");
		return -1;
	}
	size = e->e_shoff + (size_t)e->e_shnum * e->e_shentsize;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0 || write(fd, start, size) != (ssize_t)size) {
		elf_because(s, strerror(errno));
		if (fd >= 0)
			close(fd);
		return -1;
	}
	buf_puts(path, "[vdso]");
	if (!has_build_id(s->image))
		return fd;
	check_build_id(s, fd, &same);
	if (same)
		return fd;
	close(fd);
	return -1;
}

static int try_kernel_below(struct elf_search *s, const char *root,
			    struct buf *path)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
	};
	struct buf place = { 0 };
	int fd = -1;
	size_t i;

	for (i = 0; fd < 0 && i < sizeof(places) / sizeof(*places); i++) {
		place.len = 0;
		buf_printf(&place, places[i], s->head->release);
		fd = try_path(s, root, place.s, path);
	}
	free(place.s);
	return fd;
}

static int try_kernel(struct elf_search *s, struct buf *path)
{
	int fd = -1;

	if (!has_build_id(s->image) || !s->head->stext) {
		elf_because(s, "the trace does not say which kernel it is of");
		return -1;
	}
	if (s->root)
		fd = try_kernel_below(s, s->root, path);
	if (fd < 0)
		fd = try_kernel_below(s, NULL, path);
	if (fd < 0)
		elf_because(s, "no vmlinux of it was found");
	return fd;
}

struct module_search {
	struct elf_search *search;
	const char *root;
	struct buf *path;
};

static int try_module_path(void *arg, const char *path)
{
	struct module_search *m = arg;

	return try_path(m->search, m->root,
			path + (m->root ? strlen(m->root) : 0), m->path);
}

static int try_module(struct elf_search *s, struct buf *path)
{
	struct module_search m = { s, s->root, path };
	int fd = -1;

	if (!has_build_id(s->image)) {
		elf_because(s, "the trace does not have its build-id");
		return -1;
	}
	elf_because(s, "no file of it was found below /lib/modules");
	if (s->root)
		fd = module_file_find(s->root, s->head->release,
				      s->image->path, try_module_path, &m);
	m.root = NULL;
	if (fd < 0)
		fd = module_file_find("", s->head->release, s->image->path,
				      try_module_path, &m);
	return fd;
}

/* ---- by build-id alone */

/* elfutils does not always tell. */
static void put_path(struct buf *path, int fd)
{
	char link[64], target[4096];
	ssize_t len;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, target, sizeof(target));
	path->len = 0;
	buf_add(path, target, len < 0 ? 0 : len);
}

/* Below /usr/lib/debug, or from debuginfod. */
static int find_by_build_id(struct elf_search *s, struct buf *path)
{
	const struct image *im = s->image;
	Dwfl *dwfl = dwfl_begin(s->callbacks);
	Dwfl_Module *mod = NULL;
	char *name = NULL;
	void **userdata;
	Elf *elf = NULL;
	int fd = -1;

	if (dwfl)
		mod = dwfl_report_module(dwfl, im->path, 0x1000, 0x2000);
	if (mod && !dwfl_module_report_build_id(mod, im->build_id,
			build_id_length(im->build_id), 0)) {
		dwfl_module_info(mod, &userdata, NULL, NULL, NULL, NULL, NULL,
				 NULL);
		fd = dwfl_build_id_find_elf(mod, userdata, im->path, 0x1000,
					    &name, &elf);
		if (fd < 0)
			fd = dwfl_build_id_find_debuginfo(mod, userdata,
					im->path, 0x1000, NULL, NULL, 0, &name);
	}
	elf_end(elf);
	if (fd >= 0)
		put_path(path, fd);
	free(name);
	if (dwfl)
		dwfl_end(dwfl);
	return fd;
}

int elf_find(struct elf_search *s, struct buf *path)
{
	int fd;

	if (s->image->kind == IMAGE_KERNEL)
		fd = try_kernel(s, path);
	else if (s->image->kind == IMAGE_MODULE)
		fd = try_module(s, path);
	else if (s->image->kind == IMAGE_VDSO)
		fd = try_vdso(s, path);
	else
		fd = try_process_file(s, path);
	if (fd < 0 && s->image->kind == IMAGE_FILE && has_build_id(s->image) &&
	    !s->root && (s->image->flags & SW_TRACE_MMAP_DELETED ||
			 was_in_memory(s->image)))
		fd = try_running(s, path);
	if (fd >= 0) {
		s->why->len = 0;
		return fd;
	}
	if (!has_build_id(s->image))
		return -1;
	s->root_len = 0;
	fd = find_by_build_id(s, path);
	if (fd >= 0)
		buf_printf(s->why, "; its symbols are of %s", path->s);
	return fd;
}

#endif
