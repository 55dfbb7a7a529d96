/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A counter's name in OpenMetrics; metrics_name.h says what is wanted of it. */
#include "cmd/metrics_name.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

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

void metrics_escape(struct buf *out, const char *s, const char *quote)
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

void metrics_name_free(struct metrics_name *p)
{
	size_t i;

	for (i = 0; i < p->nr; i++) {
		free(p->labels[i].name);
		free(p->labels[i].value);
	}
	free(p->labels);
	free(p->family);
	free(p->shown);
	*p = (struct metrics_name) { 0 };
}

static int by_label(const void *a, const void *b)
{
	const struct metrics_label *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/*
 * A label's name.  What begins with __ is Prometheus' own, which refuses a whole
 * answer for a second __name__, and le is the buckets'; Prometheus calls those of
 * others so, too.
 */
static char *label_name(const char *s, size_t len, enum stapwatch_kind kind)
{
	char *name = sanitise(s, len);
	struct buf out = { 0 };

	if (strncmp(name, "__", 2) &&
	    (kind != STAPWATCH_HIST || strcmp(name, "le")))
		return name;
	buf_printf(&out, "exported_%s", name);
	free(name);
	return buf_take(&out);
}

/* What is between the braces; -1 if it is not labels. */
static int parse_labels(struct metrics_name *p, const char *s,
			enum stapwatch_kind kind)
{
	struct metrics_label l;
	size_t len, i;

	while (*s != '}') {
		len = strcspn(s, "=,}\"");
		if (!len || s[len] != '=')
			return -1;
		l.name = label_name(s, len, kind);
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

void metrics_name_parse(const char *name, enum stapwatch_kind kind,
			struct metrics_name *p)
{
	static const char total[] = "_total";
	const char *brace = strchr(name, '{');
	size_t len = strlen(name);

	*p = (struct metrics_name) { 0 };
	if (brace && brace > name) {
		if (!parse_labels(p, brace + 1, kind))
			len = brace - name;
		else
			metrics_name_free(p);
	}
	p->shown = xstrndup(name, len);
	p->family = sanitise(name, len);
	len = strlen(p->family);
	/* _total is put after it, and once is enough */
	if (kind == STAPWATCH_COUNTER && len >= sizeof(total) &&
	    !strcmp(p->family + len - strlen(total), total))
		p->family[len - strlen(total)] = '\0';
}

char *metrics_name_labels(const struct metrics_name *p)
{
	struct buf out = { 0 };
	size_t i;

	for (i = 0; i < p->nr; i++) {
		buf_printf(&out, "%s%s=\"", i ? "," : "", p->labels[i].name);
		metrics_escape(&out, p->labels[i].value, "\\\"");
		buf_puts(&out, "\"");
	}
	return buf_take(&out);
}
