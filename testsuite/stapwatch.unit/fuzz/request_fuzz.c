/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever bytes a client sends, the server of stapwatch metrics lives, answers
 * in HTTP or not at all, and has an answer for the next one.
 *
 * It serves ./map, from a process of its own; what it says is in ./server.err.
 * mutate.c calls LLVMFuzzerTestOneInput().
 */
#define _GNU_SOURCE	/* memmem() */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/metrics_server.h"
#include "../ensure.h"
#include "../executions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* for mutate.c */
extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"GET ", "HEAD ", "POST ", "/metrics", "/", " HTTP/1.1", " HTTP/1.0",
	"\r\n", "\r\n\r\n", "\n", "\r", ":", "Host: localhost\r\n", "Accept: ",
	"application/openmetrics-text", "text/plain", "text/*", "*/*", ";q=",
	"0.5", "1.000", "q=2", ",", ";", " ", "\t", "Content-Length: 5\r\n",
	"Content-Length: -1\r\n", "Transfer-Encoding: chunked\r\n",
	"Connection: keep-alive\r\n", "Expect: 100-continue\r\n",
	"Upgrade: h2c\r\n", "Cookie: a=b\r\n", "?", "%00", "%", "&", "=",
	"5\r\nhello\r\n", "0\r\n\r\n", "ffffffffffffffff\r\n", "",
	NULL
};

static pid_t server;
static unsigned int port;

static void start(void)
{
	static char *const maps[] = { "./map" };
	const struct timespec nap = { 0, 10000000 };
	char line[256];
	FILE *said;
	int fd;

	server = fork();
	ensure(server >= 0);
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		fd = open("server.err", O_WRONLY | O_CREAT | O_TRUNC, 0600);
		ensure(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0);
		exit(metrics_serve("127.0.0.1:0", maps, 1));
	}
	while (!port) {
		nanosleep(&nap, NULL);
		ensure(!waitpid(server, NULL, WNOHANG));
		said = fopen("server.err", "r");
		if (said && fgets(line, sizeof(line), said) &&
		    strchr(line, '\n'))
			sscanf(line, "%*[^0-9]%u", &port);
		if (said)
			fclose(said);
	}
}

/* The whole answer; false if the connection broke. */
static bool ask(const void *data, size_t size, struct buf *answer)
{
	const struct sockaddr_in at = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	const int fd = socket(AF_INET, SOCK_STREAM, 0);
	char part[4096];
	ssize_t n;

	ensure(fd >= 0 && !connect(fd, (const void *)&at, sizeof(at)));
	/* the server may have had enough before all of it is there */
	send(fd, data, size, MSG_NOSIGNAL);
	shutdown(fd, SHUT_WR);
	while ((n = recv(fd, part, sizeof(part), 0)) > 0)
		buf_add(answer, part, n);
	close(fd);
	return !n;
}

static const char *header(const struct buf *answer, const char *name)
{
	const char *found = strcasestr(answer->s, name);

	return found ? found + strlen(name) : "";
}

static void check(const struct buf *answer, const uint8_t *data, size_t size)
{
	static const char *const known[] = {
		"200", "301", "400", "403", "404", "405", "408", "411", "413",
		"414", "417", "431", "500", "501", "505",
	};
	static const char *const page[] = {
		"text/html;", "text/css;", "text/javascript;", "application/json\r",
	};
	const char *body, *type;
	size_t i, len;

	ensure(!strncmp(answer->s, "HTTP/1.", 7) && answer->s[8] == ' ');
	/* what asks for one is told to go on */
	if (!strncmp(answer->s + 9, "100 ", 4))
		return;
	for (i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (!strncmp(answer->s + 9, known[i], 3))
			break;
	ensure(i < sizeof(known) / sizeof(*known));
	body = strstr(answer->s, "\r\n\r\n");
	ensure(body);
	body += 4;
	len = answer->s + answer->len - body;
	if (!len && memmem(data, size, "HEAD", 4))
		return;
	ensure(strtoul(header(answer, "\r\nContent-Length: "), NULL, 10) ==
	       len);
	if (strncmp(answer->s + 9, "200", 3))
		return;
	/* a browser's page and what it asks for have no metrics */
	type = header(answer, "\r\nContent-Type: ");
	for (i = 0; i < sizeof(page) / sizeof(*page); i++)
		if (!strncmp(type, page[i], strlen(page[i])))
			return;
	ensure(strstr(body, "stapwatch_map_up{map=\"./map\"} 1\n"));
	ensure(!strstr(type, "openmetrics") ==
	       !strstr(body, "# EOF\n"));
}

static void check_healthy(void)
{
	static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
	struct buf answer = { 0 };

	ensure(ask(request, strlen(request), &answer) && answer.len);
	ensure(!strncmp(answer.s + 9, "200", 3));
	check(&answer, (const void *)request, strlen(request));
	free(answer.s);
}

static void stop(void)
{
	int status;

	check_healthy();
	kill(server, SIGTERM);
	ensure(waitpid(server, &status, 0) == server && !status);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf answer = { 0 };
	bool whole;

	if (!server) {
		start();
		check_healthy();
		atexit(stop);
	}
	whole = ask(data, size, &answer);
	if (whole && answer.len)
		check(&answer, data, size);
	free(answer.s);
	ensure(!waitpid(server, NULL, WNOHANG));
	executions_add();
	return 0;
}
