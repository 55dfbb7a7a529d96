/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that a program makes while it runs, as a dump of perf's agents: jit-PID.dump, see
 * tools/perf/Documentation/jitdump-specification.txt of the kernel.
 */
#define _GNU_SOURCE	/* asprintf() */
#define _FILE_OFFSET_BITS 64
#include "lib/map.h"

#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define MAGIC 0x4a695444u
#define LARGEST (1UL << 30)	/* bytes of a function */
#define LONGEST 4095		/* of a name */

#define LOAD 0

struct header {
	uint32_t magic;
	uint32_t version;
	uint32_t size;
	uint32_t machine;
	uint32_t pad;
	uint32_t pid;
	uint64_t time;
	uint64_t flags;
};

struct load {
	uint32_t id;
	uint32_t size;		/* with what follows */
	uint64_t time;
	uint32_t pid;
	uint32_t tid;
	uint64_t vma;
	uint64_t addr;
	uint64_t code_size;
	uint64_t index;
	/* its name, and its bytes */
};

static struct {
	pthread_mutex_t lock;
	int fd;			/* -1: not yet */
	void *page;		/* mapped, so that who records finds the file */
	size_t page_size;
	off_t end;
	uint64_t index;		/* the next function's */
} dump = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

/* ---- fork(): a child has a file of its own, once it makes code */

static void before_fork(void)
{
	pthread_mutex_lock(&dump.lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&dump.lock);
}

static void forget(void)
{
	if (dump.fd >= 0) {
		munmap(dump.page, dump.page_size);
		close(dump.fd);
	}
	dump.fd = -1;
	dump.index = 0;
}

static void in_child(void)
{
	forget();
	pthread_mutex_unlock(&dump.lock);
}

static int watches;		/* errno */

static void watch_forks(void)
{
	watches = pthread_atfork(before_fork, after_fork, in_child);
}

/* ---- the file */

/* Which machine a program is of. */
static uint32_t machine(void)
{
	const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr e = { .e_machine = EM_NONE };

	/* what comes before it has no addresses, and is as wide in all files */
	if (fd >= 0 && pread(fd, &e, 20, 0) != 20)
		e.e_machine = EM_NONE;
	if (fd >= 0)
		close(fd);
	return e.e_machine;
}

/* All parts, or none.  The lock is held. */
static int put(struct iovec *parts, int nr)
{
	off_t at = dump.end;
	ssize_t done;

	while (nr) {
		done = pwritev(dump.fd, parts, nr, at);
		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			goto fail;
		at += done;
		for (; nr && (size_t)done >= parts->iov_len; parts++, nr--)
			done -= parts->iov_len;
		if (nr) {
			parts->iov_base = (char *)parts->iov_base + done;
			parts->iov_len -= done;
		}
	}
	dump.end = at;
	return 0;
fail:
	map_fail(done ? errno : EIO, "jit-%d.dump: %s", getpid(),
		 strerror(done ? errno : EIO));
	/* the next record is where this one was; and if there is none, no part of it is */
	done = ftruncate(dump.fd, dump.end);
	return -1;
}

static int fill(const char *path)
{
	struct header h = {
		.magic = MAGIC,
		.version = 1,
		.size = sizeof(h),
		.machine = machine(),
		.pid = getpid(),
		.time = now(),
	};

	dump.end = 0;
	if (put(&(struct iovec) { &h, sizeof(h) }, 1))
		return -1;
	dump.page_size = sysconf(_SC_PAGESIZE);
	dump.page = mmap(NULL, dump.page_size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			 dump.fd, 0);
	if (dump.page == MAP_FAILED)
		return map_fail(errno, "%s cannot be mapped as code: %s; JITDUMPDIR"
				" says where it is to be", path, strerror(errno));
	return 0;
}

/* One of an earlier program of that number, if it was this user's, goes. */
static int create(const char *path)
{
	const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	struct stat st;
	int fd = open(path, flags, 0600);

	if (fd < 0 && errno == EEXIST && !lstat(path, &st) &&
	    st.st_uid == geteuid() && !unlink(path))
		fd = open(path, flags, 0600);
	if (fd < 0)
		return map_fail(errno, "%s: %s", path, strerror(errno));
	return fd;
}

/* The lock is held. */
static int ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const char *dir = getenv("JITDUMPDIR");
	char *path;
	int rc;

	if (dump.fd >= 0)
		return 0;
	pthread_once(&once, watch_forks);
	if (watches)
		return map_fail(watches, "pthread_atfork: %s", strerror(watches));
	if (asprintf(&path, "%s/jit-%d.dump", dir && *dir ? dir : "/tmp",
		     getpid()) < 0)
		return map_fail(ENOMEM, "out of memory");
	dump.fd = create(path);
	rc = dump.fd < 0 ? -1 : fill(path);
	if (rc && dump.fd >= 0) {
		unlink(path);
		close(dump.fd);
		dump.fd = -1;
	}
	free(path);
	return rc;
}

/* ---- what a program says */

int stapwatch_code(const void *code, size_t size, const char *name)
{
	struct load l = {
		.id = LOAD,
		.pid = getpid(),
		.tid = syscall(SYS_gettid),
		.vma = (uintptr_t)code,
		.addr = (uintptr_t)code,
		.code_size = size,
	};
	const size_t len = name ? strlen(name) + 1 : 0;
	struct iovec parts[] = {
		{ &l, sizeof(l) },
		{ (void *)name, len },
		{ (void *)code, size },
	};
	int rc;

	if (len < 2 || len > LONGEST || !code || !size || size > LARGEST)
		return map_fail(EINVAL, "code: it has a name of up to %d bytes, and"
				" from 1 to %lu bytes", LONGEST - 1, LARGEST);
	l.size = sizeof(l) + len + size;
	pthread_mutex_lock(&dump.lock);
	rc = ready();
	if (!rc) {
		l.index = dump.index;
		l.time = now();
		rc = put(parts, 3);
	}
	dump.index += !rc;
	pthread_mutex_unlock(&dump.lock);
	return rc;
}
