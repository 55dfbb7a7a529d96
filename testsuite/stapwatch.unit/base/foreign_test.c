/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: foreign DIR
 * Files that others may have made, in DIR, which is empty: what is opened, and
 * what is not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/foreign.h"
#include "test.h"

#define OTHER 12345
#define MOST 100

static const struct foreign_rule plain = { .most = MOST };
static const struct foreign_rule no_link = { .most = MOST, .no_link = true };
static const struct foreign_rule own = { .most = MOST, .own = true };

/* 0 if it is opened, else the errno. */
static int result(const char *path, const struct foreign_rule *rule)
{
	const int fd = foreign_open(path, rule);
	const int err = errno;

	if (fd < 0)
		return err;
	close(fd);
	return 0;
}

static void make(const char *path, const char *text, mode_t mode)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text) ||
	    fchmod(fd, mode)) {
		perror(path);
		exit(2);
	}
	close(fd);
}

static void kinds(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX, .sun_path = "socket" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	make("file", "text", 0644);
	TEST_EQUAL("a file", result("file", &plain), 0);
	TEST_EQUAL("none", result("none", &plain), ENOENT);
	TEST_EQUAL("a fifo does not keep us", mkfifo("fifo", 0666) ||
		   result("fifo", &plain) != ENODEV, 0);
	TEST_EQUAL("a directory", result(".", &plain), ENODEV);
	TEST_EQUAL("a device", result("/dev/zero", &plain), ENODEV);
	TEST_EQUAL("a socket", bind(fd, (void *)&at, sizeof(at)) ||
		   result("socket", &plain) != ENODEV, 0);
	close(fd);
	fd = foreign_open("file", &plain);
	TEST_EQUAL("exec closes it", fcntl(fd, F_GETFD), FD_CLOEXEC);
	TEST_EQUAL("it is for reading", fcntl(fd, F_GETFL) & O_ACCMODE,
		   O_RDONLY);
	close(fd);
}

static void links(void)
{
	struct foreign_rule in = { .most = MOST, .root = "root" };

	TEST_EQUAL("a link", symlink("file", "link") ||
		   result("link", &plain), 0);
	TEST_EQUAL("a link, where none may be", result("link", &no_link),
		   ELOOP);
	TEST_EQUAL("a link to a device", symlink("/dev/zero", "zero") ||
		   result("zero", &plain) != ENODEV, 0);

	mkdir("root", 0755);
	make("root/file", "inner", 0644);
	make("root/inner", "x", 0644);
	TEST_EQUAL("below a root", result("/file", &in), 0);
	TEST_EQUAL("below a root: no way out by ..",
		   result("/../root/file", &in), ENOENT);
	TEST_EQUAL("below a root: .. of / is /", result("/../../file", &in), 0);
	TEST_EQUAL("below a root: no way out by a link",
		   symlink("/etc/passwd", "root/out") ||
		   result("/out", &in) != ENOENT, 0);
	TEST_EQUAL("below a root: a link to /inner is to ROOT/inner",
		   symlink("/inner", "root/in") || result("/in", &in), 0);
	in.no_link = true;
	TEST_EQUAL("below a root: a link, where none may be",
		   result("/in", &in), ELOOP);
	in.root = "nowhere";
	TEST_EQUAL("a root that is none", result("/file", &in), ENOENT);
	in.root = "file";
	TEST_EQUAL("a root that is a file", result("/file", &in), ENOTDIR);
}

static void sizes(void)
{
	struct buf text = { 0 };
	char big[MOST + 2];

	memset(big, 'x', sizeof(big));
	big[MOST] = '\0';
	make("most", big, 0644);
	TEST_EQUAL("as large as can be", foreign_read("most", &plain, &text),
		   0);
	TEST_EQUAL("... and all of it", text.len, MOST);
	text.len = 0;
	big[MOST] = 'x';
	big[MOST + 1] = '\0';
	make("more", big, 0644);
	TEST_EQUAL("too large", result("more", &plain), EFBIG);
	TEST_EQUAL("too large to be read", foreign_read("more", &plain, &text),
		   -1);
	TEST_EQUAL("... of which nothing is", text.len, 0);
	make("sparse", "", 0644);
	TEST_EQUAL("20 GB of nothing", truncate("sparse", 20LL << 30) ||
		   result("sparse", &plain) != EFBIG, 0);
	/* says that it is empty, and is not */
	TEST_EQUAL("a file that grows", foreign_read("/proc/self/maps", &plain,
						     &text) != -1 ||
		   errno != EFBIG, 0);
	make("empty", "", 0644);
	TEST_EQUAL("an empty one", foreign_read("empty", &plain, &text), 0);
	TEST_EQUAL("... has nothing", text.len, 0);
	free(text.s);
}

static void owners(void)
{
	struct foreign_rule also = own;

	TEST_EQUAL("one's own", result("file", &own), 0);
	if (geteuid()) {
		printf("UNSUPPORTED: owners: this is not root\n");
		return;
	}
	make("other", "text", 0644);
	TEST_EQUAL("another's", chown("other", OTHER, OTHER) ||
		   result("other", &own) != EXDEV, 0);
	also.also = OTHER;
	TEST_EQUAL("that other's", result("other", &also), 0);
	also.also = OTHER + 1;
	TEST_EQUAL("another one's yet", result("other", &also), EXDEV);
	TEST_EQUAL("where that does not matter", result("other", &plain), 0);
}

static void readers(void)
{
	struct foreign_rule as = { .most = MOST, .reader = OTHER };
	gid_t groups[] = { 0, 42 };

	if (geteuid()) {
		printf("UNSUPPORTED: readers: this is not root\n");
		return;
	}
	if (setgroups(2, groups))
		perror("setgroups");
	make("secret", "text", 0600);
	TEST_EQUAL("root's secret, for root", result("secret", &plain), 0);
	TEST_EQUAL("root's secret, for another", result("secret", &as), EACCES);
	make("group", "text", 0640);
	TEST_EQUAL("root's group's", result("group", &as), EACCES);
	TEST_EQUAL("another group of root's", chown("group", 0, 42) ||
		   result("group", &as) != EACCES, 0);
	TEST_EQUAL("everybody's", result("file", &as), 0);
	TEST_EQUAL("that other's own", chown("secret", OTHER, OTHER) ||
		   result("secret", &as), 0);
	mkdir("closed", 0700);
	make("closed/file", "text", 0644);
	TEST_EQUAL("in a directory that is closed", result("closed/file", &as),
		   EACCES);
	mkdir("closed/root", 0755);
	make("closed/root/file", "text", 0644);
	as.root = "closed/root";
	TEST_EQUAL("... unless that one leads to the root",
		   result("/file", &as), 0);
	TEST_EQUAL("root is root again", result("secret", &plain) ||
		   setfsuid(-1) || setfsgid(-1), 0);
	TEST_EQUAL("and in its groups", getgroups(2, groups), 2);
	TEST_EQUAL("which are these", groups[1], 42);
}

static uid_t writer_of(const char *path)
{
	const int fd = foreign_open(path, &plain);
	const uid_t writer = foreign_writer(fd);

	close(fd);
	return writer;
}

static void writers(void)
{
	make("written", "text", 0644);
	TEST_EQUAL("written by this user", writer_of("written"), 0);
	make("written", "text", 0646);
	TEST_EQUAL("by everybody", writer_of("written"), FOREIGN_NOBODY);
	TEST_EQUAL("by who knows", foreign_writer(-1), FOREIGN_NOBODY);
	if (geteuid())
		return;
	make("written", "text", 0664);
	TEST_EQUAL("by root's group", writer_of("written"), 0);
	TEST_EQUAL("by another group", chown("written", 0, OTHER) ||
		   writer_of("written") != FOREIGN_NOBODY, 0);
	TEST_EQUAL("by another", chown("written", OTHER, OTHER) ||
		   writer_of("written") != OTHER, 0);
}

static void errors(void)
{
	TEST("what is wrong: a device", !strcmp(foreign_error(ENODEV),
						"it is no regular file"));
	TEST("what is wrong: what all files have",
	     !strcmp(foreign_error(ENOENT), strerror(ENOENT)));
}

int main(int argc, char **argv)
{
	/* where others may come in, as they do to /tmp */
	if (argc != 2 || chmod(argv[1], 0755) || chdir(argv[1])) {
		perror("foreign");
		return 2;
	}
	kinds();
	links();
	sizes();
	owners();
	readers();
	writers();
	errors();
	return !!test_failures;
}
