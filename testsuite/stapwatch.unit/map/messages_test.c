/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages as libstapwatch reads them: whole ones, those of a later version, kinds that
 * it does not know, and what is none.  The file is a pipe here.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "message/abi.h"
#include "stapwatch.h"
#include "test.h"

static const struct sw_message good = {
	.mark = SW_MESSAGE_MARK,
	.size = sizeof(good),
	.kind = SW_MESSAGE_SENT,
	.lost = 3,
	.ns = 5,
	.value = -7,
	.ip = 0xffffffff81000000,
	.pid = 10,
	.tid = 11,
	.cpu = 12,
	.set = "a",
	.event = "page_faults",
	.overflowed = "page_faults\nmajor_faults\n",
};

static int to;

/* A reader of an empty pipe, which TO writes to. */
static struct stapwatch_messages *begin(void)
{
	struct stapwatch_messages *m;

	unlink("messages");
	if (mkfifo("messages", 0600))
		exit(1);
	m = stapwatch_messages_open("messages");
	to = open("messages", O_WRONLY);
	if (!m || to < 0)
		exit(1);
	return m;
}

static void put(const void *bytes, size_t n)
{
	if (write(to, bytes, n) != (ssize_t)n)
		exit(1);
}

static void put_long(const struct sw_message *m, size_t size)
{
	char bytes[SW_MESSAGE_MAX_SIZE + 8] = { 0 };
	struct sw_message larger = *m;

	larger.size = size;
	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, &larger, sizeof(larger) < size ? sizeof(larger) : size);
	put(bytes, size);
}

static void whole(void)
{
	struct stapwatch_messages *m = begin();
	struct sw_message second = good;
	struct stapwatch_message got;

	TEST("none yet", stapwatch_messages_wait(m, 0) == 0);
	TEST("none to read", stapwatch_messages_read(m, &got) == 0);
	second.value = 8;
	second.lost = 4;
	put(&good, sizeof(good));
	/* of a later version, and of a kind that comes with it */
	second.kind = 77;
	put_long(&second, SW_MESSAGE_MAX_SIZE);
	put_long(&second, 8);
	second.kind = SW_MESSAGE_SENT;
	put_long(&second, sizeof(second) + 64);
	TEST("some", stapwatch_messages_wait(m, -1) == 1);
	TEST("the first", stapwatch_messages_read(m, &got) == 1);
	TEST("all of it", got.ns == 5 && got.value == -7 && got.ip == good.ip &&
				  got.pid == 10 && got.tid == 11 &&
				  got.cpu == 12 && !strcmp(got.set, "a") &&
				  !strcmp(got.event, "page_faults") &&
				  !strcmp(got.overflowed, good.overflowed));
	TEST("what was lost", stapwatch_messages_lost(m) == 3);
	TEST("one more is at hand", stapwatch_messages_wait(m, 0) == 1);
	TEST("the second, of a later version",
	     stapwatch_messages_read(m, &got) == 1 && got.value == 8);
	TEST("what was lost since", stapwatch_messages_lost(m) == 4);
	put_long(&second, offsetof(struct sw_message, overflowed));
	TEST("one of the first version", stapwatch_messages_read(m, &got) == 1 &&
						 got.value == 8 &&
						 !strcmp(got.event, "page_faults") &&
						 !*got.overflowed);
	TEST("and no more", stapwatch_messages_read(m, &got) == 0);
	close(to);
	TEST("the end is something", stapwatch_messages_wait(m, -1) == 1);
	errno = 0;
	TEST("which is told",
	     stapwatch_messages_read(m, &got) == -1 && errno == ESHUTDOWN);
	stapwatch_messages_close(m);
}

/* What is wrong with it is said, and nothing after it is taken. */
static void wrong(const char *what, const struct sw_message *bad, size_t n,
		  const char *why)
{
	struct stapwatch_messages *m = begin();
	struct stapwatch_message got;

	put(&good, sizeof(good));
	put(bad, n);
	put(&good, sizeof(good));
	errno = 0;
	TEST(what, stapwatch_messages_read(m, &got) == 1 &&
			   stapwatch_messages_read(m, &got) == -1 &&
			   errno == EINVAL && strstr(stapwatch_error(), why) &&
			   stapwatch_messages_read(m, &got) == -1 &&
			   errno == ESHUTDOWN);
	close(to);
	stapwatch_messages_close(m);
}

#define WRONG(what, why, field, value)               \
	do {                                         \
		struct sw_message bad = good;        \
                                                     \
		bad.field = value;                   \
		wrong(what, &bad, sizeof(bad), why); \
	} while (0)

static void damaged(void)
{
	struct sw_message endless = good;
	struct stapwatch_messages *m;
	struct stapwatch_message got;

	WRONG("no mark", "has no mark", mark, 1);
	WRONG("size 0", "a size that none has", size, 0);
	WRONG("odd size", "a size that none has", size, sizeof(good) + 4);
	WRONG("large size", "a size that none has", size,
	      SW_MESSAGE_MAX_SIZE + 8);
	WRONG("short", "too short", size,
	      offsetof(struct sw_message, overflowed) - 8);
	memset(endless.event, 'x', sizeof(endless.event));
	wrong("a name without an end", &endless, sizeof(endless),
	      "without an end");
	endless = good;
	memset(endless.overflowed, 'x', sizeof(endless.overflowed));
	wrong("names without an end", &endless, sizeof(endless),
	      "without an end");
	m = begin();
	put(&good, sizeof(good) - 8);
	TEST("cut off",
	     stapwatch_messages_read(m, &got) == -1 && errno == EINVAL);
	close(to);
	stapwatch_messages_close(m);
	m = begin();
	put(&good, 4);
	TEST("cut off in the mark",
	     stapwatch_messages_read(m, &got) == -1 && errno == EINVAL);
	close(to);
	stapwatch_messages_close(m);
	TEST("no file", !stapwatch_messages_open("none") && errno == ENOENT);
	stapwatch_messages_close(NULL);
}

int main(void)
{
	whole();
	damaged();
	return test_failures != 0;
}
