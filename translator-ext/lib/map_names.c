/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A map's list of instances; map_reader.h says what is wanted of it. */
#define _GNU_SOURCE	/* reallocarray() */
#define _FILE_OFFSET_BITS 64
#include "lib/map_reader.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES_MAX (256 << 20)	/* bytes of names that are believed */

void map_names_free(struct map_names *n)
{
	free(n->text);
	free(n->list);
	*n = (struct map_names) { 0 };
}

static char *read_all(int fd, size_t *len)
{
	size_t size = 1 << 16, used = 0;
	char *text = NULL, *more;
	ssize_t got;

	do {
		if (!text || used == size - 1) {
			if (text)
				size *= 2;
			more = size > NAMES_MAX ? NULL : realloc(text, size);
			if (!more) {
				map_fail(ENOMEM, "names: too long, or out of"
					 " memory");
				free(text);
				return NULL;
			}
			text = more;
		}
		got = read(fd, text + used, size - 1 - used);
		if (got > 0)
			used += got;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0) {
		map_fail(errno, "names: %s", strerror(errno));
		free(text);
		return NULL;
	}
	text[used] = '\0';
	*len = used;
	return text;
}

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

static uint32_t length_of(enum stapwatch_kind kind)
{
	return kind == STAPWATCH_HIST ? PERFMAP_HIST_COUNTERS : 1;
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

static int parse_line(struct map_names *n, char *line, const struct perfmap_header *h)
{
	struct stapwatch_instance in, *more;
	size_t size;
	uint32_t len;

	if (parse_number(&line, &in.number) || parse_kind(&line, &in.kind) ||
	    !*line || unescape(line))
		return map_fail(EINVAL, "names: a line is not NUMBER KIND"
				" NAME");
	in.name = line;
	len = length_of(in.kind);
	if (in.number >= h->nr_instances || h->nr_instances - in.number < len)
		return map_fail(EINVAL, "names: instance %u is not among the"
				" map's %u", in.number, h->nr_instances);
	if (len > h->cpu_counters ||
	    in.number % h->cpu_counters > h->cpu_counters - len)
		return map_fail(EINVAL, "names: instance %u is not in one"
				" extent", in.number);
	if (n->nr == n->size) {
		size = n->size ? n->size * 2 : 64;
		more = reallocarray(n->list, size, sizeof(*n->list));
		if (!more)
			return map_fail(ENOMEM, "out of memory");
		n->list = more;
		n->size = size;
	}
	n->list[n->nr++] = in;
	return 0;
}

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

/* No two names alike, no two instances over each other; sorts by number. */
static int check_names(struct map_names *n)
{
	const struct stapwatch_instance *in = n->list;
	size_t i;

	if (!n->nr)
		return 0;
	qsort(n->list, n->nr, sizeof(*n->list), by_name);
	for (i = 1; i < n->nr; i++)
		if (!by_name(&in[i - 1], &in[i]))
			return map_fail(EINVAL, "names: instances %u and %u"
					" have one name", in[i - 1].number,
					in[i].number);
	qsort(n->list, n->nr, sizeof(*n->list), by_number);
	for (i = 1; i < n->nr; i++)
		if (in[i].number - in[i - 1].number < length_of(in[i - 1].kind))
			return map_fail(EINVAL, "names: instances %u and %u"
					" overlap", in[i - 1].number,
					in[i].number);
	return 0;
}

int map_names_read(int dir, const struct perfmap_header *h, struct map_names *n)
{
	char *line, *end;
	size_t len = 0;
	struct stat st;
	int fd;

	fd = openat(dir, "names", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return map_fail(errno, "names: %s", strerror(errno));
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		n->text = read_all(fd, &len);
	else
		map_fail(EINVAL, "names: not a file");
	close(fd);
	if (!n->text)
		return -1;
	if (strlen(n->text) != len || (len && n->text[len - 1] != '\n'))
		return map_fail(EINVAL, "names: not a text of whole lines");
	for (line = n->text; *line; line = end) {
		end = strchr(line, '\n');
		*end++ = '\0';
		if (parse_line(n, line, h))
			return -1;
	}
	return check_names(n);
}

const struct stapwatch_instance *map_names_get(const struct map_names *n,
					       uint32_t number)
{
	const struct stapwatch_instance key = { .number = number };

	return n->nr ? bsearch(&key, n->list, n->nr, sizeof(key), by_number) :
		       NULL;
}
