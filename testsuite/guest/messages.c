/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A reader of a module's messages, by libstapwatch, in the guest.
 *
 *	messages PATH [N]	say each message, until there were N or the script has
 *				ended; then "got N lost L", and why it ended
 *	messages PATH now	the same of what is there already
 *	messages PATH blocked	wait in read() itself for what comes, with one record's
 *				room; then for the end
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message/abi.h"
#include "stapwatch.h"

static void blocked(const char *path)
{
	int fd = open(path, O_RDONLY);
	struct sw_message m;
	char small[8];
	ssize_t n;
	int got = 0;

	if (fd < 0)
		err(1, "%s", path);
	if (read(fd, small, sizeof(small)) != -1 || errno != EINVAL)
		errx(1, "a record in eight bytes");
	while ((n = read(fd, &m, sizeof(m))) > 0)
		got += n == sizeof(m) && m.mark == SW_MESSAGE_MARK;
	printf("blocked got %d end %d\n", got, n == 0 || errno == EIO);
}

int main(int argc, char **argv)
{
	struct stapwatch_messages *m;
	struct stapwatch_message got;
	long wanted = -1, n = 0;
	bool now = false;
	int rc = 0;

	if (argc < 2)
		errx(2, "messages PATH [N | now | blocked]");
	if (argc > 2 && !strcmp(argv[2], "blocked")) {
		blocked(argv[1]);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[2], "now"))
		now = true;
	else if (argc > 2)
		wanted = atol(argv[2]);
	m = stapwatch_messages_open(argv[1]);
	if (!m)
		errx(1, "%s", stapwatch_error());
	while (n != wanted) {
		rc = stapwatch_messages_read(m, &got);
		if (rc < 0 || (!rc && now))
			break;
		if (!rc) {
			if (stapwatch_messages_wait(m, -1) < 0)
				errx(1, "%s", stapwatch_error());
			continue;
		}
		n++;
		printf("message %" PRId64 " pid %u tid %u cpu %u ip %" PRIx64
		       " ns %" PRIu64 " set '%s' event '%s'",
		       got.value, got.pid, got.tid, got.cpu, got.ip, got.ns,
		       got.set, got.event);
		for (; *got.overflowed; got.overflowed++)
			putchar(*got.overflowed == '\n' ? '+' : *got.overflowed);
		putchar('\n');
	}
	printf("got %ld lost %" PRIu64 " %s\n", n, stapwatch_messages_lost(m),
	       rc < 0 ? stapwatch_error() : "enough");
	stapwatch_messages_close(m);
	return 0;
}
