/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file system of one file whose daemon answers all but reads: those wait for ever.
 *
 *	fuse DIR	mount it there, and map the file as code, without touching it;
 *			says "mapped", and stays until it is killed
 *
 * No library: a guest has none.
 */
#define _GNU_SOURCE
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define FILE_ID 2

static int dev;

static void answer(uint64_t unique, int error, const void *data, size_t len)
{
	struct fuse_out_header h = {
		.len = sizeof(h) + len, .error = error, .unique = unique
	};
	struct iovec v[] = {
		{ &h, sizeof(h) }, { (void *)data, len }
	};

	if (writev(dev, v, 2) < 0 && errno != ENOENT)
		err(1, "answer");
}

static struct fuse_attr attr_of(uint64_t id)
{
	struct fuse_attr a = {
		.ino = id, .nlink = 1,
		.mode = id == FILE_ID ? S_IFREG | 0755 : S_IFDIR | 0755,
		.size = id == FILE_ID ? 8192 : 0
	};

	return a;
}

static void serve(const struct fuse_in_header *in)
{
	struct fuse_init_out init = {
		.major = FUSE_KERNEL_VERSION, .minor = 31, .max_write = 4096
	};
	struct fuse_attr_out attr = {
		.attr_valid = 1000, .attr = attr_of(in->nodeid)
	};
	struct fuse_entry_out entry = {
		.nodeid = FILE_ID, .entry_valid = 1000, .attr_valid = 1000,
		.attr = attr_of(FILE_ID)
	};
	struct fuse_open_out open = { .fh = 1 };

	switch (in->opcode) {
	case FUSE_INIT:
		answer(in->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(in->unique, 0, &attr, sizeof(attr));
		break;
	case FUSE_LOOKUP:
		answer(in->unique, 0, &entry, sizeof(entry));
		break;
	case FUSE_OPEN:
		answer(in->unique, 0, &open, sizeof(open));
		break;
	case FUSE_READ:
		/* somebody waits from here on */
		if (write(1, "read\n", 5) != 5)
			_exit(1);
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_FLUSH:
	case FUSE_RELEASE:
		answer(in->unique, 0, NULL, 0);
		break;
	default:
		answer(in->unique, -ENOSYS, NULL, 0);
	}
}

static void map_it(const char *dir)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/stalls", dir);
	fd = open(path, O_RDONLY);
	if (fd < 0 || mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			   0) == MAP_FAILED)
		err(1, "%s", path);
	if (write(1, "mapped\n", 7) != 7)
		_exit(1);
	pause();
}

int main(int argc, char **argv)
{
	static char buf[1 << 17];
	char options[128];

	if (argc != 2)
		return 2;
	dev = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0", dev);
	if (dev < 0 || mount("stalls", argv[1], "fuse", 0, options))
		err(1, "fuse");
	if (!fork()) {
		/* with the daemon's end the file system ends, and who waits for it */
		close(dev);
		map_it(argv[1]);
	}
	for (;;) {
		ssize_t n = read(dev, buf, sizeof(buf));

		if (n >= (ssize_t)sizeof(struct fuse_in_header))
			serve((struct fuse_in_header *)buf);
		else if (n < 0 && errno != EINTR && errno != ENOENT)
			return 1;
	}
}
