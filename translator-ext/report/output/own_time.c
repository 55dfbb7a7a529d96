/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Time of threads; own_time.h says what is wanted of it. */
#include "report/output/own_time.h"

#include <stdlib.h>

#include "base/shown.h"

#define LINES 10		/* of what stands above a tree */

/* The thread whose columns have these texts, of all columns. */
static struct own_thread *thread_of(struct own_time *o, const uint32_t *texts)
{
	uint32_t key[COLUMNS_MAX], nr;
	size_t i;

	for (i = 0; i < o->nr_columns; i++)
		key[i] = texts[o->columns[i]];
	nr = intern(&o->keys, key, o->nr_columns * sizeof(*key));
	o->threads = array_room(o->threads, &o->size, nr + 1,
				sizeof(*o->threads));
	o->threads[nr].texts = o->keys.keys[nr].key;
	o->threads[nr].nr = nr;
	return &o->threads[nr];
}

static void add_cell(struct own_time *o, struct view *v, uint32_t cell,
		     const struct columns *columns)
{
	const struct cell_key *key = profile_key(v->profile, cell);
	const struct cell *c = &v->profile->cells[cell];
	uint32_t texts[COLUMNS_MAX] = { 0 };
	struct own_thread *t;
	size_t i;

	for (i = 0; i < o->nr_columns; i++)
		texts[o->columns[i]] =
			columns->list[o->columns[i]]->text(v, key);
	t = thread_of(o, texts);
	t->samples += c->samples;
	t->ns += c->events;
	if (key->wait != PROFILE_NO_WAIT)
		t->off_ns += c->events;
}

void own_time_make(struct own_time *o, struct view *v, uint32_t event,
		   const struct columns *columns)
{
	const unsigned int threads = PROFILE_COMM | PROFILE_PID | PROFILE_TID;
	size_t i;

	*o = (struct own_time) { 0 };
	/* in another trace it may be another thread, if that is told */
	for (i = 0; columns->fields & threads && i < columns->nr; i++)
		if (columns->list[i]->fields & (threads | PROFILE_TRACE))
			o->columns[o->nr_columns++] = i;
	for (i = 0; o->nr_columns && i < v->nr; i++)
		if (profile_key(v->profile, v->cells[i])->event == event)
			add_cell(o, v, v->cells[i], columns);
	o->nr = o->keys.nr;
}

void own_time_free(struct own_time *o)
{
	intern_free(&o->keys);
	free(o->threads);
}

double own_time_share(struct own_time *o, const uint32_t *texts, uint64_t ns)
{
	const struct own_thread *t = thread_of(o, texts);

	return t->ns ? 100.0 * ns / t->ns : 0;
}

static int by_time(const void *a, const void *b)
{
	const struct own_thread *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

static void print_thread(const struct own_time *o, const struct own_thread *t,
			 const struct intern *texts, struct buf *out)
{
	size_t i;

	buf_puts(out, "#");
	for (i = 0; i < o->nr_columns; i++) {
		buf_puts(out, " ");
		shown_text(out, intern_text(texts, t->texts[i]));
	}
	buf_printf(out, ": %.3f ms, of which %.2f%% off CPUs\n", t->ns / 1e6,
		   t->ns ? 100.0 * t->off_ns / t->ns : 0);
}

void own_time_print(struct own_time *o, const struct view *v, uint32_t event,
		    double limit, struct buf *out)
{
	const struct intern *texts = &v->profile->texts;
	size_t i, nr = 0, more = 0;

	if (o->nr)
		qsort(o->threads, o->nr, sizeof(*o->threads), by_time);
	for (i = 0; i < o->nr; i++) {
		const struct own_thread *t = &o->threads[i];

		if (view_share(v, event, t->ns, t->samples) < limit)
			continue;
		if (nr < LINES)
			print_thread(o, t, texts, out);
		else
			more++;
		nr++;
	}
	if (more)
		buf_printf(out, "# %zu more have less time\n", more);
}
