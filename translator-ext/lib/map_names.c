/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map's list of instances; map_reader.h says what is wanted of it. */
#define _GNU_SOURCE	/* reallocarray(), tdestroy() */
#define _FILE_OFFSET_BITS 64
#include "lib/map_reader.h"

#include <fcntl.h>
#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX (256 << 20)	/* bytes of names that are believed */

static int by_number(const void *a, const void *b)
{
	const struct stapwatch_instance *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int by_name(const void *a, const void *b)
{
	const struct stapwatch_instance *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* ---- forgetting */

static void free_chunk(struct map_chunk *c)
{
	free(c->in);
	free(c->text);
	free(c);
}

void map_names_undo(struct map_names *n)
{
	struct map_chunk *c = n->next;
	size_t i;

	free(n->next_list);
	n->next_list = NULL;
	n->next = NULL;
	if (!c)
		return;
	for (i = 0; i < c->nr; i++)
		tdelete(&c->in[i], &n->by_name, by_name);
	free_chunk(c);
}

static void keep(void *instance)
{
	(void)instance;
}

void map_names_free(struct map_names *n)
{
	struct map_chunk *c, *before;

	map_names_undo(n);
	tdestroy(n->by_name, keep);
	for (c = n->last; c; c = before) {
		before = c->before;
		free_chunk(c);
	}
	free(n->list);
	if (n->fd >= 0)
		close(n->fd);
	*n = (struct map_names) MAP_NAMES_NONE;
}

/* ---- the file */

/* Whether `names' is what a map of another kind has put there for older readers. */
static bool is_link(int dir)
{
	char to[MAP_NAMES_PATH];

	return readlinkat(dir, "names", to, sizeof(to)) > 6 &&
	       !memcmp(to, "names.", 6);
}

int map_names_open(int dir, const struct perfmap_header *h,
		   const struct perfmap_more *more, struct map_names *n)
{
	char path[MAP_NAMES_PATH] = "names";
	struct stat st;

	if (more->names)
		map_names_path(path, h->session);
	else if (is_link(dir))
		return map_fail(EINVAL, "names: those of another map");
	n->made = more->names;
	n->hist_counters = more->hist_counters ?: PERFMAP_HIST_FEWEST;
	n->fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (n->fd < 0)
		return map_fail(errno, "%s: %s", path, strerror(errno));
	if (fstat(n->fd, &st) || !S_ISREG(st.st_mode))
		return map_fail(EINVAL, "%s: not a file", path);
	return 0;
}

/* How many bytes to expect; a file of /proc does not say. */
static size_t more_bytes(const struct map_names *n)
{
	struct stat st;

	if (fstat(n->fd, &st) || st.st_size <= (off_t)n->end ||
	    st.st_size > NAMES_MAX)
		return 0;
	return st.st_size - n->end;
}

/* @len: how many there are; all of them are more than were read before */
static char *read_more(const struct map_names *n, size_t *len)
{
	/* one byte to see the end by, one for the 0 */
	size_t size = more_bytes(n) + 2, used = 0;
	char *text = malloc(size), *more;
	ssize_t got = 1;

	while (text && got) {
		if (used == size - 1) {
			size = size < 1 << 15 ? 1 << 16 : size * 2;
			more = n->end + size > NAMES_MAX ? NULL :
			       realloc(text, size);
			if (!more)
				free(text);
			text = more;
			continue;
		}
		got = pread(n->fd, text + used, size - 1 - used,
			    n->end + used);
		if (got < 0 && errno != EINTR) {
			map_fail(errno, "names: %s", strerror(errno));
			free(text);
			return NULL;
		}
		if (got > 0)
			used += got;
	}
	if (!text) {
		map_fail(ENOMEM, "names: too long, or out of memory");
		return NULL;
	}
	text[used] = '\0';
	*len = used;
	return text;
}

/* ---- lines */

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* In place; -1 for what no writer writes. */
static int unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		unsigned char c = *s;

		if (c <= ' ' || c == 0x7f)
			return -1;
		if (c == '\\') {
			if (s[1] != 'x' || hex(s[2]) < 0 || hex(s[3]) < 0)
				return -1;
			c = hex(s[2]) << 4 | hex(s[3]);
			if (!c)
				return -1;
			s += 3;
		}
		*to++ = c;
	}
	*to = '\0';
	return 0;
}

static uint32_t length_of(const struct map_names *n, enum stapwatch_kind kind)
{
	return kind == STAPWATCH_HIST ? n->hist_counters : 1;
}

static int parse_number(char **line, uint32_t *number)
{
	char *s = *line;
	uint64_t v = 0;

	if (*s == '0' && s[1] != ' ')
		return -1;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (*s - '0');
		if (v > UINT32_MAX)
			return -1;
	}
	if (s == *line || *s != ' ')
		return -1;
	*number = v;
	*line = s + 1;
	return 0;
}

static int parse_kind(char **line, enum stapwatch_kind *kind)
{
	static const char *const kinds[] = {
		[STAPWATCH_COUNTER] = "counter ",
		[STAPWATCH_HIST] = "hist ",
	};
	size_t i, len;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		len = strlen(kinds[i]);
		if (!strncmp(*line, kinds[i], len)) {
			*line += len;
			*kind = i;
			return 0;
		}
	}
	return -1;
}

static int parse_line(const struct map_names *n, struct stapwatch_instance *in,
		      char *line, const struct perfmap_header *h)
{
	uint32_t len;

	if (parse_number(&line, &in->number) || parse_kind(&line, &in->kind) ||
	    !*line || unescape(line))
		return map_fail(EINVAL, "names: a line is not NUMBER KIND"
				" NAME");
	in->name = line;
	len = length_of(n, in->kind);
	if (in->number >= h->nr_instances || h->nr_instances - in->number < len)
		return map_fail(EINVAL, "names: instance %u is not among the"
				" map's %u", in->number, h->nr_instances);
	if (len > h->cpu_counters ||
	    in->number % h->cpu_counters > h->cpu_counters - len)
		return map_fail(EINVAL, "names: instance %u is not in one"
				" extent", in->number);
	return 0;
}

/* No two names alike. */
static int take_name(struct map_names *n, const struct stapwatch_instance *in)
{
	const struct stapwatch_instance **node;

	node = tsearch(in, &n->by_name, by_name);
	if (!node)
		return map_fail(ENOMEM, "out of memory");
	if (*node != in)
		return map_fail(EINVAL, "names: instances %u and %u have one"
				" name", (*node)->number, in->number);
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t nr = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		nr++;
	}
	return nr;
}

static int parse_chunk(struct map_names *n, struct map_chunk *c,
		       const struct perfmap_header *h)
{
	char *line, *end;

	c->in = calloc(count_lines(c->text), sizeof(*c->in));
	if (!c->in)
		return map_fail(ENOMEM, "out of memory");
	for (line = c->text; line < c->text + c->len; line = end) {
		end = strchr(line, '\n');
		*end++ = '\0';
		if (parse_line(n, &c->in[c->nr], line, h) ||
		    take_name(n, &c->in[c->nr]))
			return -1;
		c->nr++;
	}
	return 0;
}

/* No two instances over each other; @from: which is the first to look at */
static int check_order(const struct map_names *n,
		       const struct stapwatch_instance *in, size_t from,
		       size_t nr)
{
	size_t i;

	for (i = from; i < nr; i++)
		if (in[i].number - in[i - 1].number <
		    length_of(n, in[i - 1].kind))
			return map_fail(EINVAL, "names: instances %u and %u"
					" overlap", in[i - 1].number,
					in[i].number);
	return 0;
}

/* Whether all come after those that there are, in their order. */
static bool comes_after(const struct map_names *n, const struct map_chunk *c)
{
	size_t i;

	if (n->nr && n->list[n->nr - 1].number >= c->in[0].number)
		return false;
	for (i = 1; i < c->nr; i++)
		if (c->in[i - 1].number >= c->in[i].number)
			return false;
	return true;
}

/* The list is the user's until all is known to be well. */
static int check_chunk(struct map_names *n, const struct map_chunk *c)
{
	const size_t nr = n->nr + c->nr;
	const struct stapwatch_instance pair[] = {
		n->nr ? n->list[n->nr - 1] : c->in[0], c->in[0],
	};

	if (comes_after(n, c))
		return (n->nr && check_order(n, pair, 1, 2)) ||
		       check_order(n, c->in, 1, c->nr) ? -1 : 0;
	n->next_list = calloc(nr, sizeof(*n->next_list));
	if (!n->next_list)
		return map_fail(ENOMEM, "out of memory");
	if (n->nr)
		memcpy(n->next_list, n->list, n->nr * sizeof(*n->list));
	memcpy(n->next_list + n->nr, c->in, c->nr * sizeof(*c->in));
	qsort(n->next_list, nr, sizeof(*n->next_list), by_number);
	return check_order(n, n->next_list, 1, nr);
}

int map_names_read(const struct perfmap_header *h, struct map_names *n)
{
	struct map_chunk *c;
	size_t len;
	char *text = read_more(n, &len);

	if (!text)
		return -1;
	c = len ? calloc(1, sizeof(*c)) : NULL;
	if (!c) {
		free(text);
		return len ? map_fail(ENOMEM, "out of memory") : 0;
	}
	*c = (struct map_chunk) { .before = n->last, .text = text, .len = len };
	n->next = c;
	if (strlen(text) != len || text[len - 1] != '\n')
		return map_fail(EINVAL, "names: not a text of whole lines");
	return parse_chunk(n, c, h) || check_chunk(n, c) ? -1 : 0;
}

static int make_room(struct map_names *n, size_t nr)
{
	struct stapwatch_instance *list;
	size_t size = n->size;

	while (size < nr)
		size = size ? size * 2 : 64;
	list = reallocarray(n->list, size, sizeof(*list));
	if (!list)
		return map_fail(ENOMEM, "out of memory");
	n->list = list;
	n->size = size;
	return 0;
}

int map_names_take(struct map_names *n)
{
	struct map_chunk *c = n->next;

	/* it is read as a whole the next time, and may be a module's that goes */
	if (!n->made && n->fd >= 0) {
		close(n->fd);
		n->fd = -1;
	}
	if (!c)
		return 0;
	if (n->next_list) {
		free(n->list);
		n->list = n->next_list;
		n->size = n->nr + c->nr;
		n->next_list = NULL;
	} else {
		if (make_room(n, n->nr + c->nr))
			return -1;
		memcpy(&n->list[n->nr], c->in, c->nr * sizeof(*c->in));
	}
	n->nr += c->nr;
	n->end += c->len;
	n->last = c;
	n->next = NULL;
	return 0;
}

const struct stapwatch_instance *map_names_find(const struct map_names *n,
						const char *name)
{
	const struct stapwatch_instance key = { .name = name }, **node;

	node = tfind(&key, &n->by_name, by_name);
	return node ? map_names_get(n, (*node)->number) : NULL;
}

const struct stapwatch_instance *map_names_get(const struct map_names *n,
					       uint32_t number)
{
	const struct stapwatch_instance key = { .number = number };

	return n->nr ? bsearch(&key, n->list, n->nr, sizeof(key), by_number) :
		       NULL;
}
