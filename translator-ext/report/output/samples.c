/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Each sample; samples.h says what is wanted of them. */
#include "report/output/samples.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/shown.h"

#define WIDEST 40		/* what is wider moves the others */
#define NUMBER 12

struct printing {
	struct view *v;
	const struct columns *columns;
	struct buf *out;
	FILE *to;
	/* each text as it is shown, by its number; NULL: not yet */
	char **shown;
	size_t size_shown;
	uint32_t *texts;	/* of each cell, those of the columns */
	int widths[COLUMNS_MAX];
	int event_width;
	bool has[UINT8_MAX + 1];	/* is there such a value? */
	uint32_t nr_values;
};

static void visit_marks(const struct marks *m, size_t *nr, uint64_t up_to,
			const struct samples_visit *visit, void *arg)
{
	for (; *nr < m->nr && m->list[*nr].ns <= up_to; ++*nr)
		if (visit->mark)
			visit->mark(arg, &m->list[*nr]);
}

void samples_visit(const struct view *v, const struct samples_visit *visit,
		   void *arg)
{
	const struct profile *p = v->profile;
	bool *wanted = xmalloc(p->keys.nr + 1);
	size_t i, marks = 0;

	memset(wanted, 0, p->keys.nr + 1);
	for (i = 0; i < v->nr; i++)
		wanted[v->cells[i]] = true;
	for (i = 0; i < p->nr_each; i++) {
		visit_marks(&p->marks, &marks, p->each[i].time, visit, arg);
		if (wanted[p->each[i].cell])
			visit->sample(arg, &p->each[i]);
	}
	visit_marks(&p->marks, &marks, UINT64_MAX, visit, arg);
	free(wanted);
}

static const char *shown(struct printing *pr, uint32_t text)
{
	struct buf out = { 0 };

	pr->shown = array_room(pr->shown, &pr->size_shown, text + 1,
			       sizeof(*pr->shown));
	if (!pr->shown[text]) {
		shown_text(&out, intern_text(&pr->v->profile->texts, text));
		pr->shown[text] = buf_take(&out);
	}
	return pr->shown[text];
}

static void widen(int *width, const char *text)
{
	const int w = shown_width(text);

	if (w > *width)
		*width = w < WIDEST ? w : WIDEST;
}

static uint32_t event_text(struct printing *pr, uint32_t event)
{
	struct profile *p = pr->v->profile;

	return intern_string(&p->texts, profile_event_name(p, event));
}

static void find_texts(struct printing *pr)
{
	const struct columns *c = pr->columns;
	const struct cell_key *key;
	struct view *v = pr->v;
	size_t i, k;

	for (i = 0; i < v->nr; i++) {
		key = profile_key(v->profile, v->cells[i]);
		widen(&pr->event_width, shown(pr, event_text(pr, key->event)));
		for (k = 0; k < c->nr; k++) {
			uint32_t *text = &pr->texts[v->cells[i] * c->nr + k];

			*text = c->list[k]->text(v, key);
			widen(&pr->widths[k], shown(pr, *text));
		}
	}
}

static void find_values(void *arg, const struct profile_sample *s)
{
	struct printing *pr = arg;
	const struct profile *p = pr->v->profile;
	uint32_t i, value;

	for (i = 0; i < s->nr_values; i++) {
		if (p->values[s->values + i] == UINT64_MAX)
			continue;
		value = profile_value_of(p, s->cell, i);
		pr->has[value] = true;
		if (value >= pr->nr_values)
			pr->nr_values = value + 1;
	}
}

static void put_time(struct printing *pr, uint64_t time)
{
	const uint64_t ns = span_since(pr->v->profile->first->r.time, time);

	buf_printf(pr->out, "%5" PRIu64 ".%09u  ", ns / 1000000000,
		   (unsigned int)(ns % 1000000000));
}

static void put_title(struct printing *pr, const char *name)
{
	struct buf title = { 0 };

	shown_text(&title, name);
	shown_pad(pr->out, title.s ?: "", NUMBER);
	buf_puts(pr->out, "  ");
	free(title.s);
}

static void put_titles(struct printing *pr)
{
	struct profile *p = pr->v->profile;
	uint32_t i;
	size_t k;

	buf_printf(pr->out, "%15s  ", "SECONDS");
	shown_pad(pr->out, "EVENT", -pr->event_width);
	buf_puts(pr->out, "  ");
	put_title(pr, "EVENTS");
	for (i = 0; i < pr->nr_values; i++)
		if (pr->has[i])
			put_title(pr, profile_value_name(p, i));
	for (k = 0; k < pr->columns->nr; k++) {
		shown_pad(pr->out, pr->columns->list[k]->title,
			  k + 1 < pr->columns->nr ? -pr->widths[k] : 0);
		buf_puts(pr->out, k + 1 < pr->columns->nr ? "  " : "\n");
	}
}

static void put_number(struct printing *pr, uint64_t n)
{
	buf_printf(pr->out, "%*" PRIu64 "  ", NUMBER, n);
}

/* A sample may have fewer than others. */
static void put_value(struct printing *pr, const struct profile_sample *s,
		      uint32_t i)
{
	const uint64_t value = profile_sample_value(pr->v->profile, s, i);

	if (value != UINT64_MAX)
		put_number(pr, value);
	else
		buf_printf(pr->out, "%*s  ", NUMBER, "-");
}

static void put_sample(void *arg, const struct profile_sample *s)
{
	struct printing *pr = arg;
	const struct profile *p = pr->v->profile;
	const uint32_t *texts = &pr->texts[s->cell * pr->columns->nr];
	uint32_t i;
	size_t k;

	put_time(pr, s->time);
	shown_pad(pr->out, shown(pr, event_text(pr, profile_key(p, s->cell)->event)),
		  -pr->event_width);
	buf_puts(pr->out, "  ");
	put_number(pr, s->period);
	for (i = 0; i < pr->nr_values; i++)
		if (pr->has[i])
			put_value(pr, s, i);
	for (k = 0; k < pr->columns->nr; k++) {
		shown_pad(pr->out, shown(pr, texts[k]),
			  k + 1 < pr->columns->nr ? -pr->widths[k] : 0);
		buf_puts(pr->out, k + 1 < pr->columns->nr ? "  " : "\n");
	}
	buf_drain(pr->out, pr->to);
}

static void put_mark(void *arg, const struct mark *m)
{
	struct printing *pr = arg;
	const struct profile *p = pr->v->profile;

	put_time(pr, m->ns);
	buf_puts(pr->out, "mark ");
	shown_text(pr->out, m->name);
	buf_printf(pr->out, ", by %" PRIu32 " on CPU %" PRIu32, m->tid,
		   m->cpu);
	if (p->nr_traces > 1) {
		buf_puts(pr->out, ", ");
		shown_text(pr->out, p->traces[m->trace].name);
	}
	buf_puts(pr->out, "\n");
}

void samples_print(struct view *v, const struct columns *columns,
		   struct buf *out, FILE *to)
{
	static const struct samples_visit find = { find_values, NULL };
	static const struct samples_visit print = { put_sample, put_mark };
	const size_t cells = v->profile->keys.nr + 1;
	struct printing pr = {
		.v = v,
		.columns = columns,
		.out = out,
		.to = to,
		.texts = xmalloc(cells * columns->nr * sizeof(*pr.texts)),
		.event_width = strlen("EVENT"),
	};
	size_t i;

	for (i = 0; i < columns->nr; i++)
		pr.widths[i] = strlen(columns->list[i]->title);
	find_texts(&pr);
	samples_visit(v, &find, &pr);
	put_titles(&pr);
	samples_visit(v, &print, &pr);
	for (i = 0; i < pr.size_shown; i++)
		free(pr.shown[i]);
	free(pr.shown);
	free(pr.texts);
}
