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
#include <arpa/inet.h>
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
/* ... with those that were ended, which go a little later: many may come meanwhile */
#define HELD (4 * CONNECTIONS)
#define ADDRESSES 16U		/* of a name */

struct connection {
	bool open;
	bool ended;		/* it makes room, and libmicrohttpd is to see that yet */
	int fd;
	time_t since;
	uint64_t order;
	struct in6_addr client;
};

struct server {
	char *const *maps;
	int nr;
	struct metrics_log log;
	struct metrics_ppa ppa;
	char *name;		/* what it listens as; empty: all addresses */
	bool loopback;		/* nobody else's machine is to reach it */
	/* each has a thread of its own */
	struct MHD_Daemon *daemons[ADDRESSES];
	unsigned int nr_daemons;
	pthread_mutex_t answering;
	pthread_mutex_t lock;	/* of the connections */
	struct connection connections[HELD];
	uint64_t orders;
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

/*
 * Whether a request for that host is one for this server.  A page from anywhere may have
 * its own name lead to 127.0.0.1, and its script would read what we say.  Numbers are
 * nobody's name; and who answers to other machines has names that only they know.
 */
static bool is_ours(const struct server *s, const char *host)
{
	struct in6_addr number;
	char name[256];
	size_t len;

	if (!s->loopback || !host)
		return true;
	/* [ADDR]:PORT, or NAME:PORT */
	if (*host == '[')
		len = strcspn(++host, "]");
	else
		len = strcspn(host, ":");
	if (len >= sizeof(name))
		return false;
	memcpy(name, host, len);
	name[len] = '\0';
	return !strcasecmp(name, "localhost") || !strcasecmp(name, s->name) ||
	       inet_pton(AF_INET, name, &number) == 1 ||
	       inet_pton(AF_INET6, name, &number) == 1;
}

static mhd_result answer_one(void *arg, struct MHD_Connection *connection,
			     const char *url, const char *method)
{
	static const char *const types[] = {
		[METRICS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0;"
				" charset=utf-8",
		[METRICS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
		[METRICS_HISTOGRAMS] = "application/json",
	};
	const struct metrics_part *part = metrics_part(url);
	struct server *s = arg;
	struct buf text = { 0 };
	enum metrics_format format;

	if (!is_ours(s, MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
						    "Host"))) {
		buf_puts(&text, "this server is asked as localhost, or by the name or number that it listens at\n");
		return reply(connection, MHD_HTTP_FORBIDDEN, &text,
			     "text/plain");
	}
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
	if (!strcmp(url, "/histograms")) {
		format = METRICS_HISTOGRAMS;
	} else if (!strcmp(url, "/metrics")) {
		format = choose_format(MHD_lookup_connection_value(
			connection, MHD_HEADER_KIND, "Accept"));
	} else {
		buf_puts(&text, "there are / for a browser and /metrics\n");
		return reply(connection, MHD_HTTP_NOT_FOUND, &text,
			     "text/plain");
	}
	/* of what cannot be read the text itself tells */
	metrics_collect(&text, format, s->maps, s->nr, &s->log);
	return reply(connection, MHD_HTTP_OK, &text, types[format]);
}

/* Called by the threads of libmicrohttpd, one for each address. */
static mhd_result answer(void *arg, struct MHD_Connection *connection,
			 const char *url, const char *method,
			 const char *version, const char *data, size_t *size,
			 void **state)
{
	struct server *s = arg;
	mhd_result rc;

	(void)version;
	(void)data;
	(void)size;
	(void)state;
	pthread_mutex_lock(&s->answering);
	rc = answer_one(s, connection, url, method);
	pthread_mutex_unlock(&s->answering);
	return rc;
}

/* ---- connections */

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/* IPv4's as IPv6 has them. */
static struct in6_addr address_of(const struct sockaddr *sa)
{
	struct in6_addr a = { 0 };

	if (sa->sa_family == AF_INET6) {
		a = ((const struct sockaddr_in6 *)sa)->sin6_addr;
	} else if (sa->sa_family == AF_INET) {
		a.s6_addr[10] = a.s6_addr[11] = 0xff;
		memcpy(&a.s6_addr[12],
		       &((const struct sockaddr_in *)sa)->sin_addr, 4);
	}
	return a;
}

/* For libmicrohttpd it is then as if the client had gone. */
static void end_connection(struct connection *c)
{
	c->ended = true;
	shutdown(c->fd, SHUT_RDWR);
}

/*
 * Who is there longest makes room, of too many from one address, or of all: a client that
 * is served needs no time, and those that say nothing keep nobody out.
 */
static void make_room(struct server *s, const struct in6_addr *client)
{
	struct connection *c, *oldest = NULL, *oldest_of = NULL;
	unsigned int nr = 0, nr_of = 0, i;

	for (i = 0; i < HELD; i++) {
		c = &s->connections[i];
		if (!c->open || c->ended)
			continue;
		nr++;
		if (!oldest || c->order < oldest->order)
			oldest = c;
		if (memcmp(&c->client, client, sizeof(*client)))
			continue;
		nr_of++;
		if (!oldest_of || c->order < oldest_of->order)
			oldest_of = c;
	}
	if (nr_of >= OF_ADDRESS)
		end_connection(oldest_of);
	else if (nr >= CONNECTIONS)
		end_connection(oldest);
}

static void on_connection(void *arg, struct MHD_Connection *connection,
			  void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	const union MHD_ConnectionInfo *from = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	struct connection *c = *context;
	struct server *s = arg;
	struct in6_addr client;
	size_t i;

	pthread_mutex_lock(&s->lock);
	if (what == MHD_CONNECTION_NOTIFY_CLOSED && c) {
		/* and only now its number is free for another one */
		c->open = false;
	} else if (what == MHD_CONNECTION_NOTIFY_STARTED && info && from) {
		client = address_of(from->client_addr);
		make_room(s, &client);
		for (i = 0; i < HELD && s->connections[i].open; i++)
			;
		if (i < HELD) {
			c = *context = &s->connections[i];
			*c = (struct connection) {
				.open = true, .fd = info->connect_fd,
				.since = now(), .order = s->orders++,
				.client = client,
			};
		}
	}
	pthread_mutex_unlock(&s->lock);
}

static void end_late(struct server *s)
{
	const time_t before = now() - DEADLINE;
	size_t i;

	pthread_mutex_lock(&s->lock);
	for (i = 0; i < HELD; i++)
		if (s->connections[i].open && s->connections[i].since < before)
			end_connection(&s->connections[i]);
	pthread_mutex_unlock(&s->lock);
}

/* ---- addresses */

/* getaddrinfo() takes the low 16 bits of any number. */
static bool is_port(const char *port)
{
	char *end;
	const unsigned long nr = strtoul(port, &end, 10);

	return !isdigit((unsigned char)*port) || (!*end && nr <= 65535);
}

/* ADDR:PORT, [ADDR]:PORT or :PORT; -1 after a message.  @name gets ADDR. */
static int parse_address(const char *listen, struct addrinfo **found,
			 char **name)
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

	if (!colon || !colon[1] || !is_port(colon + 1)) {
		shown_line(stderr, "stapwatch metrics: --listen wants ADDR:PORT, with a port of 0 to 65535, not \"%s\"",
			   listen);
		return -1;
	}
	len = colon - listen;
	addr = xstrndup(listen, len);
	if (len > 1 && *addr == '[' && addr[len - 1] == ']') {
		addr[len - 1] = '\0';
		memmove(addr, addr + 1, len - 1);
	}
	/* none is said: nobody else's machine is to reach it */
	if (!*addr) {
		free(addr);
		addr = xstrdup("localhost");
	} else if (!strcmp(addr, "::")) {
		*addr = '\0';
	}
	*name = addr;
	err = getaddrinfo(*addr ? addr : NULL, colon + 1, &hints, found);
	if (!err)
		return 0;
	shown_line(stderr, "stapwatch metrics: --listen %s: %s", listen,
		   gai_strerror(err));
	return -1;
}

static bool start(const struct addrinfo *at, unsigned int flags,
		  struct server *s)
{
	struct MHD_Daemon *daemon;

	flags |= MHD_USE_INTERNAL_POLLING_THREAD;
	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	daemon = MHD_start_daemon(flags, 0, NULL, NULL, answer, s,
				  MHD_OPTION_SOCK_ADDR, at->ai_addr,
				  MHD_OPTION_CONNECTION_TIMEOUT,
				  (unsigned int)DEADLINE,
				  MHD_OPTION_CONNECTION_LIMIT, HELD,
				  MHD_OPTION_NOTIFY_CONNECTION, on_connection,
				  s, MHD_OPTION_END);
	if (daemon)
		s->daemons[s->nr_daemons++] = daemon;
	return daemon;
}

static unsigned int bound_port(const struct server *s)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(
		s->daemons[0], MHD_DAEMON_INFO_BIND_PORT);

	return info ? info->port : 0;
}

/* Every address, IPv6 and IPv4, or IPv4 where the kernel has no other. */
static void start_any(const struct addrinfo *found, struct server *s)
{
	const struct addrinfo *at;

	for (at = found; at && !s->nr_daemons; at = at->ai_next)
		if (at->ai_family == AF_INET6)
			start(at, MHD_USE_DUAL_STACK, s);
	for (at = found; at && !s->nr_daemons; at = at->ai_next)
		if (at->ai_family == AF_INET)
			start(at, 0, s);
}

static bool is_loopback(const struct sockaddr *sa)
{
	const struct in6_addr a = address_of(sa);

	return IN6_IS_ADDR_LOOPBACK(&a) ||
	       (IN6_IS_ADDR_V4MAPPED(&a) && a.s6_addr[12] == 127);
}

/* Each address of a name, all at the port that the first one got. */
static void start_each(const struct addrinfo *found, const char *listen,
		       struct server *s)
{
	const struct addrinfo *at;
	char text[INET6_ADDRSTRLEN];
	in_port_t *port;

	s->loopback = true;
	for (at = found; at && s->nr_daemons < ADDRESSES; at = at->ai_next) {
		port = at->ai_family == AF_INET6 ?
		       &((struct sockaddr_in6 *)at->ai_addr)->sin6_port :
		       &((struct sockaddr_in *)at->ai_addr)->sin_port;
		if (s->nr_daemons)
			*port = htons(bound_port(s));
		errno = 0;
		if (start(at, 0, s)) {
			s->loopback &= is_loopback(at->ai_addr);
			continue;
		}
		if (!getnameinfo(at->ai_addr, at->ai_addrlen, text,
				 sizeof(text), NULL, 0, NI_NUMERICHOST))
			shown_line(stderr, "stapwatch metrics: --listen %s: not at %s: %s",
				   listen, text, strerror(errno));
	}
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
		.maps = maps, .nr = nr,
		.answering = PTHREAD_MUTEX_INITIALIZER,
		.lock = PTHREAD_MUTEX_INITIALIZER,
	};
	struct addrinfo *found;
	sigset_t set;
	int status = 1;

	if (parse_address(listen, &found, &s.name))
		goto out;
	/* before there is a thread, which would have them too */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	if (*s.name)
		start_each(found, listen, &s);
	else
		start_any(found, &s);
	freeaddrinfo(found);
	if (!s.nr_daemons) {
		if (!*s.name)
			shown_line(stderr, "stapwatch metrics: --listen %s: %s",
				   listen, strerror(errno));
		goto out;
	}
	shown_line(stderr, "stapwatch metrics: listening on port %u",
		   bound_port(&s));
	wait_for_end(&s, &set);
	while (s.nr_daemons)
		MHD_stop_daemon(s.daemons[--s.nr_daemons]);
	metrics_log_free(&s.log);
	metrics_ppa_free(&s.ppa);
	status = 0;
out:
	free(s.name);
	return status;
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
