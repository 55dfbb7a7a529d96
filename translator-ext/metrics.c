/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stapwatch metrics: the counters of maps, as OpenMetrics text, or in the older
 * format of Prometheus for what does not read that.
 *
 * A name like vfs.read.bytes{dev="sda"} is a metric family and labels.  A
 * family stands in one piece, so all is gathered first and printed then.
 */
#define _GNU_SOURCE	/* tdestroy() */
#include "metrics.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <search.h>
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
#include <sys/socket.h>
#endif

#include "buf.h"
#include "maps.h"
#include "stapwatch.h"
#include "utf8.h"

enum format {
	OPENMETRICS,
	PROMETHEUS,		/* text format 0.0.4 */
};

struct label {
	char *name;
	char *value;
};

/* What a map's name says, in OpenMetrics' letters. */
struct parsed {
	char *shown;		/* the family as the map has it */
	char *family;
	struct label *labels;	/* sorted by their names */
	size_t nr;
};

struct metric {
	size_t family;
	char *labels;		/* name="value",..., escaped */
	char *shown;		/* as the map has it */
	int64_t value;
	struct stapwatch_hist *hist;
};

struct family {
	char *name;
	char *shown;		/* as the map has the first one's */
	enum stapwatch_kind kind;
};

/* A name that lines of a family begin with, so that no other's may. */
struct claim {
	char *name;
	size_t family;
};

struct metrics {
	struct family *families;
	size_t nr_families;
	struct metric *metrics;
	size_t nr;
	void *claims;		/* a tree of struct claim */
	void *keys;		/* a tree of family and labels, strings */
	size_t skipped;
};

/* ---- a name */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char *sanitise(const char *s, size_t len)
{
	struct buf out = { 0 };
	size_t i;

	if (!len || is_digit(*s))
		buf_puts(&out, "_");
	for (i = 0; i < len; i++)
		buf_add(&out, is_letter(s[i]) || is_digit(s[i]) ? &s[i] : "_",
			1);
	return buf_take(&out);
}

/* @quote: what a double quote is written as */
static void escape(struct buf *out, const char *s, const char *quote)
{
	size_t len;

	while (*s) {
		len = utf8_length(s);
		if (!len)
			buf_puts(out, "\xef\xbf\xbd");	/* U+FFFD */
		else if (*s == '\n')
			buf_puts(out, "\\n");
		else if (*s == '\\')
			buf_puts(out, "\\\\");
		else if (*s == '"')
			buf_puts(out, quote);
		else
			buf_add(out, s, len);
		s += len ? len : 1;
	}
}

/* In quotes, or up to the next comma or brace.  NULL if neither ends. */
static const char *parse_value(const char *s, char **value)
{
	struct buf out = { 0 };
	bool quoted = *s == '"';

	for (s += quoted; *s; s++) {
		if (quoted ? *s == '"' : *s == ',' || *s == '}') {
			*value = buf_take(&out);
			return s + quoted;
		}
		if (quoted && *s == '\\' && s[1]) {
			s++;
			buf_add(&out, *s == 'n' ? "\n" : s, 1);
		} else {
			buf_add(&out, s, 1);
		}
	}
	free(out.s);
	return NULL;
}

static void parsed_free(struct parsed *p)
{
	size_t i;

	for (i = 0; i < p->nr; i++) {
		free(p->labels[i].name);
		free(p->labels[i].value);
	}
	free(p->labels);
	free(p->family);
	free(p->shown);
	*p = (struct parsed) { 0 };
}

static int by_label(const void *a, const void *b)
{
	const struct label *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* What is between the braces; -1 if it is not labels. */
static int parse_labels(struct parsed *p, const char *s)
{
	struct label l;
	size_t len, i;

	while (*s != '}') {
		len = strcspn(s, "=,}\"");
		if (!len || s[len] != '=')
			return -1;
		l.name = sanitise(s, len);
		s = parse_value(s + len + 1, &l.value);
		if (!s) {
			free(l.name);
			return -1;
		}
		p->labels = xrealloc(p->labels,
				     (p->nr + 1) * sizeof(*p->labels));
		p->labels[p->nr++] = l;
		if (*s == ',')
			s++;
		else if (*s != '}')
			return -1;
	}
	if (s[1] || !p->nr)
		return -1;
	qsort(p->labels, p->nr, sizeof(*p->labels), by_label);
	for (i = 1; i < p->nr; i++)
		if (!by_label(&p->labels[i - 1], &p->labels[i]))
			return -1;
	return 0;
}

/* A name with braces that hold no labels is a name all through. */
static void parse_name(const char *name, enum stapwatch_kind kind,
		       struct parsed *p)
{
	static const char total[] = "_total";
	const char *brace = strchr(name, '{');
	size_t len = strlen(name);

	*p = (struct parsed) { 0 };
	if (brace && brace > name) {
		if (!parse_labels(p, brace + 1))
			len = brace - name;
		else
			parsed_free(p);
	}
	p->shown = xstrndup(name, len);
	p->family = sanitise(name, len);
	len = strlen(p->family);
	/* _total is put behind it, and once is enough */
	if (kind == STAPWATCH_COUNTER && len >= sizeof(total) &&
	    !strcmp(p->family + len - strlen(total), total))
		p->family[len - strlen(total)] = '\0';
}

static char *labels_text(const struct parsed *p, enum stapwatch_kind kind)
{
	struct buf out = { 0 };
	const char *name;
	size_t i;

	for (i = 0; i < p->nr; i++) {
		name = p->labels[i].name;
		/* that one is the buckets' */
		if (kind == STAPWATCH_HIST && !strcmp(name, "le"))
			name = "exported_le";
		buf_printf(&out, "%s%s=\"", i ? "," : "", name);
		escape(&out, p->labels[i].value, "\\\"");
		buf_puts(&out, "\"");
	}
	return buf_take(&out);
}

/* ---- gathering */

static void skip(struct metrics *m, const char *name, const char *why)
{
	struct buf out = { 0 };
	size_t i;

	for (i = 0; name[i]; i++) {
		unsigned char c = name[i];

		if (c < ' ' || c == 0x7f || c == '\\')
			buf_printf(&out, "\\x%02x", c);
		else
			buf_add(&out, &name[i], 1);
	}
	fprintf(stderr, "stapwatch metrics: %s: skipped: %s\n", out.s ?: "",
		why);
	free(out.s);
	m->skipped++;
}

static int by_claim(const void *a, const void *b)
{
	const struct claim *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_string(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void free_claim(void *p)
{
	struct claim *c = p;

	free(c->name);
	free(c);
}

static void *must(void *node)
{
	if (!node) {
		fputs("stapwatch: out of memory\n", stderr);
		exit(1);
	}
	return node;
}

static const char *const suffixes[2][5] = {
	[STAPWATCH_COUNTER] = { "", "_total", "_created" },
	[STAPWATCH_HIST] = { "", "_bucket", "_count", "_sum", "_created" },
};

/* Whether any line of a family NAME could be taken for another family's. */
static bool clashes(struct metrics *m, const char *name,
		    enum stapwatch_kind kind)
{
	struct claim key;
	struct buf full = { 0 };
	bool found = false;
	size_t i;

	for (i = 0; i < 5 && suffixes[kind][i] && !found; i++) {
		full.len = 0;
		buf_printf(&full, "%s%s", name, suffixes[kind][i]);
		key.name = full.s;
		found = tfind(&key, &m->claims, by_claim);
	}
	free(full.s);
	return found;
}

static void claim(struct metrics *m, size_t family)
{
	const struct family *f = &m->families[family];
	struct buf full = { 0 };
	struct claim *c;
	size_t i;

	for (i = 0; i < 5 && suffixes[f->kind][i]; i++) {
		buf_printf(&full, "%s%s", f->name, suffixes[f->kind][i]);
		c = xmalloc(sizeof(*c));
		*c = (struct claim) { buf_take(&full), family };
		must(tsearch(c, &m->claims, by_claim));
	}
}

/* Returns -1 if the name is taken by something else. */
static int find_family(struct metrics *m, const struct parsed *p,
		       enum stapwatch_kind kind, size_t *family)
{
	const struct claim key = { .name = p->family };
	struct claim **found = tfind(&key, &m->claims, by_claim);
	struct family *f;

	if (found) {
		f = &m->families[(*found)->family];
		*family = (*found)->family;
		return strcmp(f->name, p->family) || f->kind != kind ? -1 : 0;
	}
	if (clashes(m, p->family, kind))
		return -1;
	m->families = xrealloc(m->families,
			       (m->nr_families + 1) * sizeof(*m->families));
	m->families[m->nr_families] = (struct family) {
		xstrdup(p->family), xstrdup(p->shown), kind,
	};
	*family = m->nr_families++;
	claim(m, *family);
	return 0;
}

/* Returns whether it is the first of this family and these labels. */
static bool is_first(struct metrics *m, const struct parsed *p,
		     const char *labels)
{
	struct buf key = { 0 };
	char **node, *s;

	buf_printf(&key, "%s{%s}", p->family, labels);
	s = buf_take(&key);
	node = must(tsearch(s, &m->keys, by_string));
	if (*node == s)
		return true;
	free(s);
	return false;
}

static int add_instance(struct metrics *m, const struct stapwatch *sw,
			const struct stapwatch_instance *in, int64_t value)
{
	struct metric new = { .value = value };
	const char *why = NULL;
	struct parsed p;

	if (in->kind == STAPWATCH_HIST) {
		new.hist = xmalloc(sizeof(*new.hist));
		if (stapwatch_read_hist(sw, in->number, new.hist)) {
			free(new.hist);
			return -1;
		}
	}
	parse_name(in->name, in->kind, &p);
	new.labels = labels_text(&p, in->kind);
	if (!new.hist && new.value < 0)
		why = "negative, which no counter of OpenMetrics is";
	else if (find_family(m, &p, in->kind, &new.family))
		why = "another kind of metric has this name";
	else if (!is_first(m, &p, new.labels))
		why = "another one has this name and these labels";
	parsed_free(&p);
	if (why) {
		skip(m, in->name, why);
		free(new.labels);
		free(new.hist);
		return 0;
	}
	new.shown = xstrdup(in->name);
	/* doubled, as there may be many */
	if (!(m->nr & (m->nr - 1)))
		m->metrics = xrealloc(m->metrics, (m->nr ? m->nr * 2 : 1) *
						  sizeof(*m->metrics));
	m->metrics[m->nr++] = new;
	return 0;
}

static int add_map(struct metrics *m, const char *path)
{
	struct stapwatch *sw = stapwatch_open(path);
	const struct stapwatch_instance *in;
	int64_t *sums;
	int rc = -1;
	size_t i;

	if (sw) {
		sums = xmalloc(stapwatch_nr(sw) * sizeof(*sums));
		rc = stapwatch_read_all(sw, sums);
		for (i = 0; !rc && i < stapwatch_nr(sw); i++) {
			in = stapwatch_instance(sw, i);
			rc = add_instance(m, sw, in, sums[i]);
		}
		free(sums);
	}
	if (rc)
		fprintf(stderr, "stapwatch metrics: %s: %s\n", path,
			stapwatch_error());
	stapwatch_close(sw);
	return rc;
}

static void metrics_free(struct metrics *m)
{
	size_t i;

	for (i = 0; i < m->nr; i++) {
		free(m->metrics[i].labels);
		free(m->metrics[i].shown);
		free(m->metrics[i].hist);
	}
	for (i = 0; i < m->nr_families; i++) {
		free(m->families[i].name);
		free(m->families[i].shown);
	}
	free(m->metrics);
	free(m->families);
	tdestroy(m->claims, free_claim);
	tdestroy(m->keys, free);
}

/* ---- the text */

/* `le' is another label behind those that there are; NULL for none. */
static void put_sample(struct buf *out, const char *family, const char *suffix,
		       const char *labels, const char *le)
{
	buf_printf(out, "%s%s", family, suffix);
	if (*labels || le) {
		buf_printf(out, "{%s", labels);
		if (le)
			buf_printf(out, "%sle=\"%s\"", *labels ? "," : "", le);
		buf_puts(out, "}");
	}
	buf_puts(out, " ");
}

/*
 * The bounds are a value below the powers of two, as a bound is of its bucket
 * and the values are whole.  They are the same ones each time, so that rates
 * can be had of them.  What is negative is below them all; then there is no
 * sum, since it might go down.
 */
static void put_hist(struct buf *out, const char *family,
		     const struct metric *metric)
{
	const struct stapwatch_hist *h = metric->hist;
	uint64_t seen = h->negative;
	unsigned int power, i = 0;
	char le[32];

	for (power = 0; power < 64; power++) {
		const uint64_t bound = ((uint64_t)1 << power) - 1;

		for (; stapwatch_hist_high(i) <= bound; i++)
			seen += h->buckets[i];
		snprintf(le, sizeof(le), "%" PRIu64 ".0", bound);
		put_sample(out, family, "_bucket", metric->labels, le);
		buf_printf(out, "%" PRIu64 "\n", seen);
	}
	seen = h->count + h->negative;
	put_sample(out, family, "_bucket", metric->labels, "+Inf");
	buf_printf(out, "%" PRIu64 "\n", seen);
	if (h->negative || h->sum < 0)
		return;
	put_sample(out, family, "_sum", metric->labels, NULL);
	buf_printf(out, "%" PRId64 "\n", h->sum);
	put_sample(out, family, "_count", metric->labels, NULL);
	buf_printf(out, "%" PRIu64 "\n", seen);
}

static int by_family(const void *a, const void *b)
{
	const struct metric *x = a, *y = b;

	if (x->family != y->family)
		return x->family < y->family ? -1 : 1;
	return strcmp(x->labels, y->labels);
}

/* OpenMetrics has a counter's name without the suffix of its samples. */
static void put_family(struct buf *out, const struct family *f,
		       enum format format)
{
	const bool counter = f->kind == STAPWATCH_COUNTER;
	const char *suffix = counter && format == PROMETHEUS ? "_total" : "";
	const char *kind = counter ? "counter" : "histogram";

	buf_printf(out, "# HELP %s%s The %s ", f->name, suffix, kind);
	escape(out, f->shown, format == PROMETHEUS ? "\"" : "\\\"");
	buf_printf(out, " of a script.\n# TYPE %s%s %s\n", f->name, suffix,
		   kind);
}

static void put_all(struct buf *out, struct metrics *m, enum format format)
{
	const struct metric *metric;
	const struct family *f;
	size_t i;

	if (m->nr)
		qsort(m->metrics, m->nr, sizeof(*m->metrics), by_family);
	for (i = 0; i < m->nr; i++) {
		metric = &m->metrics[i];
		f = &m->families[metric->family];
		if (!i || metric->family != metric[-1].family)
			put_family(out, f, format);
		if (metric->hist) {
			put_hist(out, f->name, metric);
		} else {
			put_sample(out, f->name, "_total", metric->labels,
				   NULL);
			buf_printf(out, "%" PRId64 "\n", metric->value);
		}
	}
	if (format == OPENMETRICS)
		buf_puts(out, "# EOF\n");
}

/*
 * Opened anew each time, as a module may go and come again.  What can be read
 * is printed even if not all can; returns -1 then.
 */
static int collect(struct buf *out, enum format format, char *const *maps,
		   int nr)
{
	struct map_paths all = { 0 };
	struct metrics m = { 0 };
	char *path;
	int rc = 0;
	size_t k;
	int i;

	for (i = 0; i < nr; i++) {
		path = maps_path(maps[i]);
		rc |= add_map(&m, path);
		free(path);
	}
	if (!nr)
		maps_all(&all);
	for (k = 0; k < all.nr; k++)
		rc |= add_map(&m, all.paths[k]);
	if (!nr && !all.nr)
		fputs("stapwatch metrics: no module has a map\n", stderr);
	if (m.skipped)
		fprintf(stderr, "stapwatch metrics: skipped in all: %zu\n",
			m.skipped);
	put_all(out, &m, format);
	maps_free(&all);
	metrics_free(&m);
	return rc || (!nr && !all.nr) ? -1 : 0;
}

static int print(enum format format, char *const *maps, int nr)
{
	struct buf out = { 0 };
	int status = collect(&out, format, maps, nr) ? 1 : 0;

	fwrite(out.s, 1, out.len, stdout);
	free(out.s);
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	fprintf(stderr, "stapwatch metrics: cannot write: %s\n",
		strerror(errno));
	return 1;
}

/* ---- over HTTP */

#ifdef HAVE_MICROHTTPD

#if MHD_VERSION < 0x00097002
#define mhd_result int
#else
#define mhd_result enum MHD_Result
#endif

struct server {
	char *const *maps;
	int nr;
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
		for (digit = 1000; digit && is_digit(*s); digit /= 10) {
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
static enum format choose_format(const char *accept)
{
	bool named, other;
	int weight;

	if (!accept)
		return PROMETHEUS;
	weight = weight_of(accept, "application/openmetrics-text", &named);
	return named && weight &&
	       weight >= weight_of(accept, "text/plain", &other)
		? OPENMETRICS : PROMETHEUS;
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
		[OPENMETRICS] = "application/openmetrics-text; version=1.0.0;"
				" charset=utf-8",
		[PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
	};
	const struct server *s = arg;
	struct buf text = { 0 };
	enum format format;

	(void)version;
	(void)data;
	(void)size;
	(void)state;
	if (strcmp(method, "GET") && strcmp(method, "HEAD")) {
		buf_puts(&text, "only GET and HEAD\n");
		return reply(connection, MHD_HTTP_METHOD_NOT_ALLOWED, &text,
			     "text/plain");
	}
	if (strcmp(url, "/metrics") && strcmp(url, "/")) {
		buf_puts(&text, "there is /metrics\n");
		return reply(connection, MHD_HTTP_NOT_FOUND, &text,
			     "text/plain");
	}
	format = choose_format(MHD_lookup_connection_value(connection,
							   MHD_HEADER_KIND,
							   "Accept"));
	if (collect(&text, format, s->maps, s->nr)) {
		text.len = 0;
		buf_puts(&text, "a map cannot be read\n");
		return reply(connection, MHD_HTTP_SERVICE_UNAVAILABLE, &text,
			     "text/plain");
	}
	return reply(connection, MHD_HTTP_OK, &text, types[format]);
}

/* ADDR:PORT, [ADDR]:PORT or :PORT; -1 after a message. */
static int parse_address(const char *listen, struct addrinfo **found)
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
		fprintf(stderr, "stapwatch metrics: --listen wants ADDR:PORT,"
			" not \"%s\"\n", listen);
		return -1;
	}
	len = colon - listen;
	addr = xstrndup(listen, len);
	if (len > 1 && *addr == '[' && addr[len - 1] == ']') {
		addr[len - 1] = '\0';
		memmove(addr, addr + 1, len - 1);
	}
	err = getaddrinfo(*addr ? addr : NULL, colon + 1, &hints, found);
	free(addr);
	if (!err)
		return 0;
	fprintf(stderr, "stapwatch metrics: --listen %s: %s\n", listen,
		gai_strerror(err));
	return -1;
}

static struct MHD_Daemon *start(const struct addrinfo *at, struct server *s)
{
	unsigned int flags = MHD_USE_INTERNAL_POLLING_THREAD;

	if (at->ai_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	return MHD_start_daemon(flags, 0, NULL, NULL, answer, s,
				MHD_OPTION_SOCK_ADDR, at->ai_addr,
				MHD_OPTION_CONNECTION_TIMEOUT, 30U,
				MHD_OPTION_CONNECTION_LIMIT, 64U,
				MHD_OPTION_END);
}

static int serve(const char *listen, char *const *maps, int nr)
{
	struct server s = { maps, nr };
	const union MHD_DaemonInfo *info;
	struct MHD_Daemon *daemon;
	struct addrinfo *at;
	sigset_t set;
	int sig;

	if (parse_address(listen, &at))
		return 1;
	/* before there is a thread, which would have them too */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
	daemon = start(at, &s);
	freeaddrinfo(at);
	if (!daemon) {
		fprintf(stderr, "stapwatch metrics: --listen %s: %s\n", listen,
			strerror(errno));
		return 1;
	}
	info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
	if (info)
		fprintf(stderr, "stapwatch metrics: listening on port %u\n",
			info->port);
	sigwait(&set, &sig);
	MHD_stop_daemon(daemon);
	return 0;
}

#else

static int serve(const char *listen, char *const *maps, int nr)
{
	(void)maps;
	(void)nr;
	fprintf(stderr, "stapwatch metrics: --listen %s: built without"
		" libmicrohttpd\n", listen);
	return 1;
}

#endif

/* ---- the command */

int cmd_metrics(int argc, char **argv)
{
	static const struct option options[] = {
		{ "listen", required_argument, NULL, 'l' },
		{ "prometheus", no_argument, NULL, 'p' },
		{ NULL, 0, NULL, 0 },
	};
	enum format format = OPENMETRICS;
	const char *listen = NULL;
	int c;

	optind = 0;	/* the command line's own options were read before */
	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", options, NULL)) >= 0) {
		if (c == 'l') {
			listen = optarg;
		} else if (c == 'p') {
			format = PROMETHEUS;
		} else {
			fprintf(stderr, "stapwatch metrics: option %s %s;"
				" there are --listen ADDR:PORT and"
				" --prometheus\n", argv[optind - 1],
				c == ':' ? "wants a value" : "is not known");
			return 1;
		}
	}
	if (!listen)
		return print(format, argv + optind, argc - optind);
	if (format != OPENMETRICS) {
		fputs("stapwatch metrics: --listen and --prometheus exclude"
		      " each other: who asks over HTTP says which format\n",
		      stderr);
		return 1;
	}
	return serve(listen, argv + optind, argc - optind);
}
