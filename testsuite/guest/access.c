// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may do what with files.
 *
 *	access WHO FILE...	a line for each: "FILE read R write W", and for a
 *				file that can be mapped "map M exec E protect P",
 *				where each is "yes" or the error
 *	access WHO -- COMMAND ARGS...	run that
 *
 * WHO is what this process becomes first:
 *
 *	root		root
 *	contained	root without CAP_PERFMON and CAP_SYS_ADMIN, as in a container
 *			that shares the machine's user namespace
 *	perfmon		root with CAP_PERFMON of those two
 *	user:U		user U, without groups
 *	group:G		user 12345, in group G
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void drop(int cap)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		die("capget");
	d[cap / 32].effective &= ~(1U << cap % 32);
	d[cap / 32].permitted &= ~(1U << cap % 32);
	d[cap / 32].inheritable &= ~(1U << cap % 32);
	if (syscall(SYS_capset, &h, d))
		die("capset");
}

static void become(const char *who)
{
	gid_t gid = 12345;
	uid_t uid = 12345;

	if (!strcmp(who, "root"))
		return;
	if (!strcmp(who, "contained") || !strcmp(who, "perfmon")) {
		drop(CAP_SYS_ADMIN);
		if (!strcmp(who, "contained"))
			drop(CAP_PERFMON);
		return;
	}
	if (!strncmp(who, "user:", 5))
		uid = atoi(who + 5);
	else if (!strncmp(who, "group:", 6))
		gid = atoi(who + 6);
	if (setgroups(0, NULL) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid))
		die(who);
}

static const char *said(int failed)
{
	return failed ? strerrorname_np(errno) : "yes";
}

static void show_map(int fd)
{
	long page = sysconf(_SC_PAGESIZE);
	void *p = mmap(NULL, page, PROT_READ, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return;
	printf(" map yes protect %s",
	       said(mprotect(p, page, PROT_READ | PROT_WRITE)));
	printf(" %s", said(mprotect(p, page, PROT_READ | PROT_EXEC)));
	munmap(p, page);
	p = mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	printf(" exec %s", said(p == MAP_FAILED));
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	printf(" write %s", said(p == MAP_FAILED));
	/* of a private one, a page that is written to is the process's own */
	p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	printf(" private %s", said(p == MAP_FAILED));
}

int main(int argc, char **argv)
{
	int i, fd;

	if (argc < 3)
		return 2;
	become(argv[1]);
	if (!strcmp(argv[2], "--")) {
		execvp(argv[3], argv + 3);
		die(argv[3]);
	}
	for (i = 2; i < argc; i++) {
		fd = open(argv[i], O_RDONLY | O_CLOEXEC);
		printf("%s %s read %s", argv[1], strrchr(argv[i], '/') + 1,
		       said(fd < 0));
		if (fd >= 0)
			show_map(fd);
		fd = open(argv[i], O_WRONLY | O_CLOEXEC);
		printf(" write %s\n", said(fd < 0));
	}
	return 0;
}
