/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of images; images.h says what is wanted of it. */
#include "report/input/images.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

/* What two images differ in; the path follows. */
struct image_key {
	uint32_t kind;
	uint32_t flags;
	uint32_t pid;		/* where it has no file */
	uint32_t mnt_ns;
	uint64_t inode;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint64_t addr;
	uint64_t len;
	uint8_t build_id[SW_TRACE_BUILD_ID];
	uint32_t trace;
};

static uint32_t add_image(struct images *im, const struct image_key *key,
			  const char *path, const char *name, uint32_t pid)
{
	const uint32_t before = im->keys.nr;
	struct buf whole = { 0 };
	uint32_t nr;

	buf_add(&whole, key, sizeof(*key));
	buf_puts(&whole, path);
	nr = intern(&im->keys, whole.s, whole.len);
	free(whole.s);
	if (nr != before)
		return nr;
	im->all = array_room(im->all, &im->size, nr + 1, sizeof(*im->all));
	im->all[nr] = (struct image) {
		.kind = key->kind,
		.flags = key->flags,
		.trace = key->trace,
		.pid = pid,
		.mnt_ns = key->mnt_ns,
		.inode = key->inode,
		.dev_major = key->dev_major,
		.dev_minor = key->dev_minor,
		.addr = key->addr,
		.len = key->len,
		.path = intern_text(im->texts, intern_string(im->texts, path)),
		.name = intern_text(im->texts, intern_string(im->texts, name)),
	};
	memcpy(im->all[nr].build_id, key->build_id, SW_TRACE_BUILD_ID);
	return nr;
}

uint32_t image_of_kernel(struct images *im, uint32_t trace,
			 const struct sw_trace_head *head)
{
	static const uint8_t none[SW_TRACE_BUILD_ID];
	struct image_key key = { .kind = IMAGE_KERNEL, .trace = trace };

	memcpy(key.build_id, head->build_id, SW_TRACE_BUILD_ID);
	if (memcmp(key.build_id, none, SW_TRACE_BUILD_ID))
		key.flags = SW_TRACE_MMAP_BUILD_ID;
	return add_image(im, &key, "", "[kernel]", 0);
}

void images_free(struct images *im)
{
	uint32_t i;

	for (i = 0; i < im->keys.nr; i++)
		free(im->all[i].sections);
	intern_free(&im->keys);
	free(im->all);
}

static uint32_t image_of_process(struct images *im, uint32_t trace,
				 enum image_kind kind, const char *name,
				 uint32_t pid)
{
	const struct image_key key = {
		.kind = kind, .pid = pid, .trace = trace
	};

	return add_image(im, &key, "", name, pid);
}

uint32_t image_of_nothing(struct images *im, uint32_t trace, uint32_t pid)
{
	return image_of_process(im, trace, IMAGE_NONE, "[unknown]", pid);
}

uint32_t image_of_mark(struct images *im, const char *name)
{
	const struct image_key key = { .kind = IMAGE_MARK };

	return add_image(im, &key, name, name, 0);
}

#define MEMORY_FILE "/memfd:"

static bool is_in_memory(const struct sw_trace_mmap *map)
{
	return !strncmp(map->path, MEMORY_FILE, strlen(MEMORY_FILE));
}

/* The kernel says of memory files and of shared memory that they are files.  A program
 * may be run from a memory file (memfd_create()); what a JIT compiler writes to one has
 * no build-id. */
static bool has_file(const struct sw_trace_mmap *map)
{
	static const char *const none[] = { "//anon", "[", "/dev/zero", "/SYSV",
					    "anon_inode:" };
	size_t i;

	if (is_in_memory(map))
		return map->flags & SW_TRACE_MMAP_BUILD_ID;

	for (i = 0; i < sizeof(none) / sizeof(*none); i++)
		if (!strncmp(map->path, none[i], strlen(none[i])))
			return false;
	return *map->path;
}

static void add_part(struct image *im, uint64_t offset, uint64_t len)
{
	uint32_t i;

	for (i = 0; i < im->nr_parts; i++)
		if (im->parts[i].offset == offset && im->parts[i].len == len)
			return;
	if (i < IMAGE_PARTS)
		im->parts[im->nr_parts++] = (struct image_part) { offset, len };
}

uint32_t image_of_map(struct images *im, uint32_t trace,
		      const struct sw_trace_mmap *map)
{
	struct image_key key = { .kind = IMAGE_FILE, .trace = trace };
	uint32_t nr;

	if (!strcmp(map->path, "[vdso]"))
		key.kind = IMAGE_VDSO;
	else if (!has_file(map))
		return image_of_process(im, trace, IMAGE_JIT, "[jit]",
					map->pid);
	key.flags = map->flags &
		    (SW_TRACE_MMAP_BUILD_ID | SW_TRACE_MMAP_DELETED);
	key.mnt_ns = map->mnt_ns;
	key.inode = map->inode;
	key.dev_major = map->dev_major;
	key.dev_minor = map->dev_minor;
	if (map->flags & SW_TRACE_MMAP_BUILD_ID)
		memcpy(key.build_id, map->build_id, SW_TRACE_BUILD_ID);
	nr = add_image(im, &key, map->path,
		       is_in_memory(map) ? map->path + 1 : map->path, map->pid);
	im->all[nr].mapped = map->r.time;
	add_part(&im->all[nr], map->offset, map->len);
	return nr;
}

static struct sw_trace_section *sections_of(const struct sw_trace_module *m)
{
	const size_t size = SW_TRACE_SECTIONS * sizeof(struct sw_trace_section);
	struct sw_trace_section *sections;

	if (!(m->flags & SW_TRACE_MODULE_SECTIONS))
		return NULL;
	sections = xmalloc(size);
	memcpy(sections, (const char *)m + m->r.size - size, size);
	return sections;
}

uint32_t image_of_module(struct images *im, uint32_t trace,
			 const struct sw_trace_module *module)
{
	struct image_key key = {
		.kind = IMAGE_MODULE,
		.trace = trace,
		.flags = module->flags & SW_TRACE_MODULE_BUILD_ID ?
			 SW_TRACE_MMAP_BUILD_ID : 0,
		.addr = module->addr,
		.len = module->len,
	};
	struct buf name = { 0 };
	uint32_t nr;

	if (key.flags)
		memcpy(key.build_id, module->build_id, SW_TRACE_BUILD_ID);
	buf_printf(&name, "[%s]", module->name);
	nr = add_image(im, &key, module->name, name.s, 0);
	free(name.s);
	if (!im->all[nr].sections)
		im->all[nr].sections = sections_of(module);
	return nr;
}
