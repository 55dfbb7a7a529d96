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
	/* each text as it is shown, by its number; NULL: not yet */
	char **shown;
	size_t size_shown;
	uint32_t *texts;	/* of each cell, those of the columns */
	bool *wanted;		/* the cell */
	int widths[COLUMNS_MAX];
	int event_width;
	bool has[UINT8_MAX + 1];	/* is there such a value? */
	uint32_t nr_values;
	size_t marks;		/* that are printed */
};

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
		pr->wanted[v->cells[i]] = true;
		widen(&pr->event_width, shown(pr, event_text(pr, key->event)));
		for (k = 0; k < c->nr; k++) {
			uint32_t *text = &pr->texts[v->cells[i] * c->nr + k];

			*text = c->list[k]->text(v, key);
			widen(&pr->widths[k], shown(pr, *text));
		}
	}
}

static void find_values(struct printing *pr)
{
	const struct profile *p = pr->v->profile;
	const struct profile_sample *s;
	uint32_t i;
	size_t k;

	for (k = 0; k < p->nr_each; k++) {
		s = &p->each[k];
		for (i = 0; pr->wanted[s->cell] && i < s->nr_values; i++) {
			if (p->values[s->values + i] == UINT64_MAX)
				continue;
			pr->has[i] = true;
			if (i >= pr->nr_values)
				pr->nr_values = i + 1;
		}
	}
}

/* What stands before the columns of names and of values that are not there. */
static void put_time(struct printing *pr, uint64_t time)
{
	const uint64_t zero = pr->v->profile->head->r.time;
	const uint64_t ns = time > zero ? time - zero : 0;

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
	const struct profile *p = pr->v->profile;
	uint32_t i;
	size_t k;

	buf_printf(pr->out, "%15s  ", "SECONDS");
	shown_pad(pr->out, "EVENT", -pr->event_width);
	buf_puts(pr->out, "  ");
	put_title(pr, "EVENTS");
	for (i = 0; i < pr->nr_values; i++)
		if (pr->has[i])
			put_title(pr, !i ? "latency" : i <= p->nr_counts &&
				  p->counts[i - 1] ? p->counts[i - 1] :
						     "count");
	for (k = 0; k < pr->columns->nr; k++) {
		shown_pad(pr->out, pr->columns->list[k]->title,
			  k + 1 < pr->columns->nr ? -pr->widths[k] : 0);
		buf_puts(pr->out, k + 1 < pr->columns->nr ? "  " : "\n");
	}
}

static void put_number(struct printing *pr, bool is, uint64_t n)
{
	if (is)
		buf_printf(pr->out, "%*" PRIu64 "  ", NUMBER, n);
	else
		buf_printf(pr->out, "%*s  ", NUMBER, "-");
}

static void put_sample(struct printing *pr, const struct profile_sample *s)
{
	const struct profile *p = pr->v->profile;
	const uint32_t *texts = &pr->texts[s->cell * pr->columns->nr];
	const uint64_t *values = p->values + s->values;
	uint32_t i;
	size_t k;

	put_time(pr, s->time);
	shown_pad(pr->out, shown(pr, event_text(pr, profile_key(p, s->cell)->event)),
		  -pr->event_width);
	buf_puts(pr->out, "  ");
	put_number(pr, true, s->period);
	for (i = 0; i < pr->nr_values; i++)
		if (pr->has[i])
			put_number(pr, i < s->nr_values &&
				   values[i] != UINT64_MAX, values[i]);
	for (k = 0; k < pr->columns->nr; k++) {
		shown_pad(pr->out, shown(pr, texts[k]),
			  k + 1 < pr->columns->nr ? -pr->widths[k] : 0);
		buf_puts(pr->out, k + 1 < pr->columns->nr ? "  " : "\n");
	}
}

/* Those up to TIME. */
static void put_marks(struct printing *pr, uint64_t time)
{
	const struct marks *m = &pr->v->profile->marks;
	const struct mark *mark;

	for (; pr->marks < m->nr && m->list[pr->marks].ns <= time; pr->marks++) {
		mark = &m->list[pr->marks];
		put_time(pr, mark->ns);
		buf_puts(pr->out, "mark ");
		shown_text(pr->out, mark->name);
		buf_printf(pr->out, ", by %" PRIu32 " on CPU %" PRIu32 "\n",
			   mark->tid, mark->cpu);
	}
}

void samples_print(struct view *v, const struct columns *columns,
		   struct buf *out, FILE *to)
{
	const struct profile *p = v->profile;
	const size_t cells = p->keys.nr + 1;
	struct printing pr = {
		.v = v,
		.columns = columns,
		.out = out,
		.texts = xmalloc(cells * columns->nr * sizeof(*pr.texts)),
		.wanted = xmalloc(cells),
		.event_width = strlen("EVENT"),
	};
	size_t i;

	memset(pr.wanted, 0, cells);
	for (i = 0; i < columns->nr; i++)
		pr.widths[i] = strlen(columns->list[i]->title);
	find_texts(&pr);
	find_values(&pr);
	put_titles(&pr);
	for (i = 0; i < p->nr_each; i++) {
		put_marks(&pr, p->each[i].time);
		if (pr.wanted[p->each[i].cell])
			put_sample(&pr, &p->each[i]);
		buf_drain(out, to);
	}
	put_marks(&pr, UINT64_MAX);
	for (i = 0; i < pr.size_shown; i++)
		free(pr.shown[i]);
	free(pr.shown);
	free(pr.texts);
	free(pr.wanted);
}
