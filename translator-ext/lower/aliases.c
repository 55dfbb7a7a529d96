/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script's own aliases: how many readings a probe point has by those that
 * it uses.
 */
#include "lower/lowering.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ALIAS_DEPTH 100

/* A component's name is of tokens that touch, for it may have wildcards. */
static char *component(const struct lowering *l, size_t *i, size_t end)
{
	struct buf b = { 0 };
	size_t depth = 0;

	for (; *i < end && (depth || !is(l, *i, ".")); ++*i) {
		if (is(l, *i, "("))
			depth++;
		buf_add(&b, tok_text(l, *i), tok_len(l, *i));
		if (is(l, *i, ")"))
			depth--;
	}
	++*i;
	return buf_take(&b);
}

/*
 * Does the point begin with the name?  @length: of how many components that is;
 * @wild: whether only wildcards make it so
 */
static bool begins_with_name(const struct lowering *l, const struct point *p,
			     const struct alias_name *name, size_t *length,
			     bool *wild)
{
	const struct token *t = l->s.t.tok;
	size_t i = name->begin, k = p->begin;
	bool match = true;

	*length = 0;
	*wild = false;
	if (i >= name->end || k >= p->end)
		return false;
	/* most names differ from the first word on */
	if (!is(l, k, "*") && !is(l, k + 1, "*") &&
	    (t[i].len != t[k].len || memcmp(t[i].s, t[k].s, t[k].len)))
		return false;
	while (match && i < name->end) {
		char *of_name = component(l, &i, name->end), *of_point;

		if (k >= p->end) {
			free(of_name);
			return false;
		}
		of_point = component(l, &k, p->end);
		if (strcmp(of_point, of_name)) {
			*wild = true;
			match = !strpbrk(of_point, "(\"") &&
				!fnmatch(of_point, of_name, 0);
			/* ** goes on over the dots */
			if (match && strstr(of_point, "**"))
				i = name->end;
		}
		free(of_name);
		free(of_point);
		++*length;
	}
	return match;
}

static struct range count_point(const struct lowering *l,
				const struct point *p, unsigned int depth);

static void widen(struct range *sum, struct range n, bool first)
{
	if (first || n.min < sum->min)
		sum->min = n.min;
	if (first || n.max > sum->max)
		sum->max = n.max;
	sum->mixed |= n.mixed;
	sum->elapsed |= n.elapsed;
}

/* Once for each alias; one that stands for itself is for stap to refuse. */
static struct range count_alias(const struct lowering *l, size_t probe,
				unsigned int depth)
{
	const struct probe *alias = &l->s.probes[probe];
	struct counted *c = &l->counted[probe];
	size_t k;

	if (c->state != NOT_COUNTED)
		return c->sum;
	c->state = COUNTING;
	for (k = 0; k < alias->nr_points; k++)
		widen(&c->sum, count_point(l, &alias->points[k], depth), !k);
	c->state = COUNTED;
	return c->sum;
}

/* The alias with the longest name that the point begins with; and all that its
 * wildcards can be. */
static struct range count_point(const struct lowering *l,
				const struct point *p, unsigned int depth)
{
	unsigned int own = point_readings(p);
	struct range sum = { 0 };
	size_t longest = 0, length, i, k;
	bool wild, any = false;

	for (i = 0; depth < MAX_ALIAS_DEPTH && i < l->s.nr_probes; i++) {
		const struct probe *alias = &l->s.probes[i];

		for (k = 0; k < alias->nr_names; k++) {
			if (!begins_with_name(l, p, &alias->names[k], &length,
					      &wild) ||
			    (!wild && length <= longest))
				continue;
			widen(&sum, count_alias(l, i, depth + 1),
			      !wild || !any);
			any = true;
			if (!wild)
				longest = length;
		}
	}
	sum.mixed |= own && sum.min != sum.max;
	if (sum.min == sum.max)
		sum.min += own;
	sum.max += own;
	sum.elapsed |= calls_elapsed(l, p) != NULL;
	return sum;
}

struct range aliases_readings(const struct lowering *l, const struct point *p)
{
	return count_point(l, p, 0);
}
