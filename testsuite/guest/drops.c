/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A TCP connection of this machine to itself that loses what is sent.
 *
 *	drops MS	a hundred bytes forth and back, one by one; then one that is
 *			dropped, each time that it is sent, for MS milliseconds
 */
#include <arpa/inet.h>
#include <err.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static void pass(int from, int to)
{
	char c = 0;

	if (write(from, &c, 1) != 1 || read(to, &c, 1) != 1)
		err(1, "a byte");
}

int main(int argc, char **argv)
{
	struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
	struct sock_fprog drop = { 1, &nothing };
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	int client = socket(AF_INET, SOCK_STREAM, 0), server, one = 1, i;

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (void *)&a, len) || listen(listener, 1) ||
	    getsockname(listener, (void *)&a, &len) ||
	    connect(client, (void *)&a, len))
		err(1, "connect");
	server = accept(listener, NULL, NULL);
	if (server < 0)
		err(1, "accept");
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	for (i = 0; i < 100; i++) {
		pass(client, server);
		pass(server, client);
	}
	if (setsockopt(server, SOL_SOCKET, SO_ATTACH_FILTER, &drop, sizeof(drop)))
		err(1, "SO_ATTACH_FILTER");
	if (write(client, "", 1) != 1)
		err(1, "write");
	usleep((argc > 1 ? atoi(argv[1]) : 1000) * 1000);
	setsockopt(server, SOL_SOCKET, SO_DETACH_FILTER, &one, sizeof(one));
	if (read(server, &a, 1) != 1)
		err(1, "read");
	return 0;
}
