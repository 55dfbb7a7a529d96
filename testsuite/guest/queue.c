/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Queues whose lengths are known.
 *
 *	queue disk FILE K	ask a disk for K blocks at once, twice
 *	queue socket K MS	send K packets to a UDP socket of its own, sleep, and
 *				take them; say "port N"
 *	queue drops K MS	send K to one that has room for few, sleep, take one, and
 *				close it
 *	queue stream K MS	as `socket', of segments of a TCP connection
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <err.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MOST 16
#define BLOCK 4096
#define PACKET 512

/* Neighbours would become one request. */
static void ask(aio_context_t context, int fd, int k, char *to)
{
	struct iocb cb[MOST] = {}, *cbs[MOST];
	struct io_event done[MOST];
	int i;

	for (i = 0; i < k; i++) {
		cbs[i] = &cb[i];
		cb[i].aio_fildes = fd;
		cb[i].aio_lio_opcode = IOCB_CMD_PREAD;
		cb[i].aio_buf = (unsigned long)(to + i * BLOCK);
		cb[i].aio_nbytes = BLOCK;
		cb[i].aio_offset = (long long)i * 4 * BLOCK;
	}
	if (syscall(SYS_io_submit, context, k, cbs) != k)
		err(1, "io_submit");
	if (syscall(SYS_io_getevents, context, k, k, done, NULL) != k)
		err(1, "io_getevents");
	for (i = 0; i < k; i++)
		if (done[i].res != BLOCK)
			errx(1, "read: %lld", done[i].res);
}

static void disk(const char *name, int k)
{
	int fd = open(name, O_RDONLY | O_DIRECT);
	aio_context_t context = 0;
	char *to;

	if (fd < 0)
		err(1, "%s", name);
	to = aligned_alloc(BLOCK, MOST * BLOCK);
	if (!to || syscall(SYS_io_setup, MOST, &context))
		err(1, "io_setup");
	ask(context, fd, k, to);
	ask(context, fd, k, to);
}

/* A UDP socket to which K packets of SIZE bytes have been sent; it says its port. */
static int receiver(int k, size_t size, bool little)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(a);
	int to = socket(AF_INET, SOCK_DGRAM, 0);
	int from = socket(AF_INET, SOCK_DGRAM, 0);
	char text[PACKET] = "";
	int least = 0;

	if (little &&
	    setsockopt(to, SOL_SOCKET, SO_RCVBUF, &least, sizeof(least)))
		err(1, "SO_RCVBUF");
	if (bind(to, (struct sockaddr *)&a, sizeof(a)) ||
	    getsockname(to, (struct sockaddr *)&a, &length))
		err(1, "bind");
	printf("port %d\n", ntohs(a.sin_port));
	while (k--)
		if (sendto(from, text, size, 0, (struct sockaddr *)&a,
			   sizeof(a)) != (ssize_t)size)
			err(1, "sendto");
	close(from);
	return to;
}

static void take(int from, size_t size, int flags)
{
	char text[PACKET];

	if (recv(from, text, size, flags) != (ssize_t)size)
		err(1, "recv");
}

static void pass(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static void packets(int k, int ms)
{
	int to = receiver(k, 64, false);
	int i, zero = 0;

	/* each has come, and who only looks takes nothing */
	if (setsockopt(to, SOL_SOCKET, SO_PEEK_OFF, &zero, sizeof(zero)))
		err(1, "SO_PEEK_OFF");
	for (i = 0; i < k; i++)
		take(to, 64, MSG_PEEK);
	pass(ms);
	for (i = 0; i < k; i++)
		take(to, 64, 0);
}

static void drops(int k, int ms)
{
	int to = receiver(k, PACKET, true);

	pass(ms);
	take(to, PACKET, 0);
	close(to);
}

static void segments(int k, int ms)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t size = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int from = socket(AF_INET, SOCK_STREAM, 0);
	char text[64] = "";
	int i, to, one = 1;

	if (bind(listener, (struct sockaddr *)&a, sizeof(a)) ||
	    listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&a, &size) ||
	    connect(from, (struct sockaddr *)&a, sizeof(a)))
		err(1, "connect");
	printf("port %d\n", ntohs(a.sin_port));
	to = accept(listener, NULL, NULL);
	setsockopt(from, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (i = 0; i < k; i++)
		if (send(from, text, sizeof(text), 0) != sizeof(text))
			err(1, "send");
	pass(ms);
	/* who only looks takes nothing, and half of a segment is not all of it */
	if (recv(to, text, sizeof(text), MSG_PEEK) != sizeof(text))
		err(1, "recv");
	for (i = 0; i < 2 * k; i++)
		if (recv(to, text, sizeof(text) / 2, 0) != sizeof(text) / 2)
			err(1, "recv");
}

int main(int argc, char **argv)
{
	const char *what = argc == 4 ? argv[1] : "";
	int k;

	if (!strcmp(what, "disk")) {
		k = atoi(argv[3]);
		if (k < 1 || k > MOST)
			errx(1, "from 1 to %d blocks", MOST);
		disk(argv[2], k);
	} else if (!strcmp(what, "socket")) {
		packets(atoi(argv[2]), atoi(argv[3]));
	} else if (!strcmp(what, "drops")) {
		drops(atoi(argv[2]), atoi(argv[3]));
	} else if (!strcmp(what, "stream")) {
		segments(atoi(argv[2]), atoi(argv[3]));
	} else {
		errx(1, "usage: queue disk FILE K | queue socket|drops|stream K MS");
	}
	return 0;
}
