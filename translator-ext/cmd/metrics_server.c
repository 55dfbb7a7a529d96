/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Metrics over HTTP; metrics_server.h says what is wanted of it. */
#include "cmd/metrics_server.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef HAVE_MICROHTTPD
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#endif

#include "base/shown.h"
#include "cmd/metrics_collect.h"
#include "cmd/metrics_page.h"
#include "cmd/metrics_ppa.h"

#ifdef HAVE_MICROHTTPD

#if MHD_VERSION < 0x00097002
#define mhd_result int
#else
#define mhd_result enum MHD_Result
#endif

/*
 * Seconds from a connection's begin to its end.  libmicrohttpd itself only knows
 * how long nothing may come, and a byte now and then is something.
 */
#define DEADLINE 10

#define CONNECTIONS 64U		/* at once */
#define OF_ADDRESS 8U		/* of these */

struct connection {
	bool open;
	int fd;
	time_t since;
};

struct server {
	char *const *maps;
	int nr;
	struct metrics_log log;
	struct metrics_ppa ppa;
	pthread_mutex_t lock;	/* of the connections */
	struct connection connections[CONNECTIONS];
};

/* The first parameter q of a media range, in thousandths; 1000 without. */
static int parse_weight(const char *s, const char *end)
{
	int weight = 0, digit;

	while ((s = memchr(s, ';', end - s))) {
		s += 1 + strspn(s + 1, " \t");
		if (strncasecmp(s, "q=", 2))
			continue;
		s += 2;
		for (digit = 1000; digit && isdigit((unsigned char)*s);
		     digit /= 10) {
			weight += (*s++ - '0') * digit;
			s += digit == 1000 && *s == '.';
		}
		return weight;
	}
	return 1000;
}

/*
 * What @accept says of a media type: the weight of the most exact range that
 * has it, 0 for none.  @named: whether that range is the type itself.
 */
static int weight_of(const char *accept, const char *type, bool *named)
{
	const size_t slash = strcspn(type, "/") + 1;
	int weight = 0, exact = 0, now, w;
	const char *end;
	size_t len;

	for (; *accept; accept = *end ? end + 1 : end) {
		accept += strspn(accept, " \t");
		end = accept + strcspn(accept, ",");
		len = strcspn(accept, "; \t,");
		if (len == strlen(type) && !strncasecmp(accept, type, len))
			now = 3;
		else if (len == slash + 1 && accept[slash] == '*' &&
			 !strncasecmp(accept, type, slash))
			now = 2;
		else
			now = len == 3 && !strncmp(accept, "*/*", len);
		if (!now || now < exact)
			continue;
		w = parse_weight(accept, end);
		weight = now > exact || w > weight ? w : weight;
		exact = now;
	}
	*named = exact == 3;
	return weight;
}

/* Who does not speak of OpenMetrics may not know it. */
static enum metrics_format choose_format(const char *accept)
{
	bool named, other;
	int weight;

	if (!accept)
		return METRICS_PROMETHEUS;
	weight = weight_of(accept, "application/openmetrics-text", &named);
	return named && weight &&
	       weight >= weight_of(accept, "text/plain", &other)
		? METRICS_OPENMETRICS : METRICS_PROMETHEUS;
}

static mhd_result reply(struct MHD_Connection *connection, unsigned int status,
			struct buf *text, const char *type)
{
	struct MHD_Response *response;
	const size_t len = text->len;
	mhd_result rc;

	response = MHD_create_response_from_buffer(len, buf_take(text),
						   MHD_RESPMEM_MUST_FREE);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", type);
	MHD_add_response_header(response, "Content-Security-Policy",
				METRICS_POLICY);
	/* names that a script has chosen are not to be taken for a page */
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	/* whoever has an answer makes room for others */
	MHD_add_response_header(response, "Connection", "close");
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(response, "Allow", "GET, HEAD");
	if (status == MHD_HTTP_OK)
		MHD_add_response_header(response, "Vary", "Accept");
	rc = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return rc;
}

/* Called by one thread only, libmicrohttpd's own. */
static mhd_result answer(void *arg, struct MHD_Connection *connection,
			 const char *url, const char *method,
			 const char *version, const char *data, size_t *size,
			 void **state)
{
	static const char *const types[] = {
		[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0;"
				" charset=utf-8",
		[METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
	};
	const struct metrics_part *part = metrics_part(url);
	struct server *s = arg;
	struct buf text = { 0 };
	enum metrics_format format;

	(void)version;
	(void)data;
	(void)size;
	(void)state;
	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		buf_puts(&text, "only GET and HEAD\n");
		return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, &text,
			     "text/plain");
	}
	if (part) {
		buf_puts(&text, part->text);
		return reply(connection, MHD_HTTP_OK, &text, part->type);
	}
	if (!strcmp(url, "/ppa")) {
		metrics_ppa(&s->ppa, s->maps, s->nr, &text);
		return reply(connection, MHD_HTTP_OK, &text,
			     "application/json");
	}
	if (strcmp(url, "/metrics")) {
		buf_puts(&text, "there are / for a browser and /metrics\n");
		return reply(connection, MHD_HTTP_NOT_FOUND, &text,
			     "text/plain");
	}
	format = choose_format(MHD_lookup_connection_value(connection,
							   MHD_HEADER_KIND,
							   "Accept"));
	/* of what cannot be read the text itself tells */
	metrics_collect(&text, format, s->maps, s->nr, &s->log);
	return reply(connection, MHD_HTTP_OK, &text, types[format]);
}

/* ---- connections */

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void on_connection(void *arg, struct MHD_Connection *connection,
			  void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	struct connection *c = *context;
	struct server *s = arg;
	size_t i;

	pthread_mutex_lock(&s->lock);
	if (what == MHD_CONNECTION_NOTIFY_CLOSED && c) {
		/* and only now its number is free for another one */
		c->open = false;
	} else if (what == MHD_CONNECTION_NOTIFY_STARTED && info) {
		for (i = 0; i < CONNECTIONS && s->connections[i].open; i++)
			;
		if (i < CONNECTIONS) {
			c = *context = &s->connections[i];
			*c = (struct connection) { true, info->connect_fd,
						   now() };
		}
	}
	pthread_mutex_unlock(&s->lock);
}

/* For libmicrohttpd it is then as if the client had gone. */
static void end_late(struct server *s)
{
	const time_t before = now() - DEADLINE;
	size_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < CONNECTIONS; i++)
		if (s->connections[i].open && s->connections[i].since < before)
			shutdown(s->connections[i].fd, SHUT_RDWR);
	pthread_mutex_unlock(&s->lock);
}

/* ---- addresses */

/* ADDR:PORT, [ADDR]:PORT or :PORT; -1 after a message. */
static int parse_address(const char *listen, struct addrinfo **found,
			 bool *any)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_PASSIVE,
	};
	const char *colon = strrchr(listen, ':');
	char *addr;
	size_t len;
	int err;

	if (!colon || !colon[1]) {
		shown_line(stderr, "stapwatch metrics: --listen wants ADDR:PORT, not \"%s\"",
			   listen);
		return -1;
	}
	len = colon - listen;
	addr = xstrndup(listen, len);
	if (len > 1 && *addr == '[' && addr[len - 1] == ']') {
		addr[len - 1] = '\0';
		memmove(addr, addr + 1, len - 1);
	}
	*any = !*addr;
	err = getaddrinfo(*addr ? addr : NULL, colon + 1, &hints, found);
	free(addr);
	if (!err)
		return 0;
	shown_line(stderr, "stapwatch metrics: --listen %s: %s", listen,
		   gai_strerror(err));
	return -1;
}

static struct MHD_Daemon *start(const struct addrinfo *at, unsigned int flags,
				struct server *s)
{
	flags |= MHD_USE_INTERNAL_POLLING_THREAD;
	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	return MHD_start_daemon(flags, 0, NULL, NULL, answer, s,
				MHD_OPTION_SOCK_ADDR, at->ai_addr,
				MHD_OPTION_CONNECTION_TIMEOUT,
				(unsigned int)DEADLINE,
				MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
				MHD_OPTION_PER_IP_CONNECTION_LIMIT, OF_ADDRESS,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, s,
				MHD_OPTION_END);
}

/* @any: every address, IPv6 and IPv4, or IPv4 where the kernel has no other */
static struct MHD_Daemon *start_first(const struct addrinfo *found, bool any,
				      struct server *s)
{
	struct MHD_Daemon *daemon = NULL;
	const struct addrinfo *at;

	for (at = found; any && at && !daemon; at = at->ai_next)
		if (at->ai_family == AF_INET6)
			daemon = start(at, MHD_USE_DUAL_STACK, s);
	for (at = found; at && !daemon; at = at->ai_next)
		if (!any || at->ai_family == AF_INET)
			daemon = start(at, 0, s);
	return daemon;
}

static void wait_for_end(struct server *s, const sigset_t *set)
{
	const struct timespec second = { .tv_sec = 1 };

	while (sigtimedwait(set, NULL, &second) < 0)
		end_late(s);
}

int metrics_serve(const char *listen, char *const *maps, int nr)
{
	struct server s = {
		.maps = maps, .nr = nr, .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	const union MHD_DaemonInfo *info;
	struct MHD_Daemon *daemon;
	struct addrinfo *found;
	sigset_t set;
	bool any;

	if (parse_address(listen, &found, &any))
		return 1;
	/* before there is a thread, which would have them too */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	daemon = start_first(found, any, &s);
	freeaddrinfo(found);
	if (!daemon) {
		shown_line(stderr, "stapwatch metrics: --listen %s: %s", listen,
			   strerror(errno));
		return 1;
	}
	info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	if (info)
		shown_line(stderr, "stapwatch metrics: listening on port %u",
			   info->port);
	wait_for_end(&s, &set);
	MHD_stop_daemon(daemon);
	metrics_log_free(&s.log);
	metrics_ppa_free(&s.ppa);
	return 0;
}

#else

int metrics_serve(const char *listen, char *const *maps, int nr)
{
	(void)maps;
	(void)nr;
	shown_line(stderr, "stapwatch metrics: --listen %s: built without libmicrohttpd",
		   listen);
	return 1;
}

#endif
