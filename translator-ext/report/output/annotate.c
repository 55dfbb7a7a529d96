/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions line by line; annotate.h says what is wanted of it. */
#include "report/output/annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "report/names/function.h"
#include "report/names/source_file.h"

struct part_key {
	uint32_t event;
	uint32_t image;
	uint64_t start;
	uint64_t addr;
	uint64_t total;		/* not of an address, but of the function */
};

struct part {
	uint64_t samples;
	uint64_t events;
	uint32_t place;
	uint32_t next;		/* of a function's addresses; plus 1; 0: that was all */
};

struct annotation {
	struct view *view;
	struct warnings *warnings;
	struct intern keys;
	struct part *parts;
	size_t size;
	struct intern source_keys;
	struct source_file *sources;
	size_t nr_sources;
	size_t room;		/* for more of them */
	struct buf *out;
};

static uint32_t add(struct annotation *a, const struct part_key *key,
		    const struct cell *c, uint32_t place)
{
	const uint32_t nr = intern(&a->keys, key, sizeof(*key));

	a->parts = array_room(a->parts, &a->size, nr + 1, sizeof(*a->parts));
	a->parts[nr].samples += c->samples;
	a->parts[nr].events += c->events;
	a->parts[nr].place = place;
	return nr;
}

static void add_cell(struct annotation *a, uint32_t cell)
{
	struct view *v = a->view;
	const struct cell_key *k = profile_key(v->profile, cell);
	const struct cell *c = &v->profile->cells[cell];
	const uint32_t nr = view_place(v, k);
	const struct place *place = place_get(v->places, nr);
	struct part_key key = {
		.event = k->event,
		.image = place->image,
		.start = place->start,
		.total = true,
	};
	uint32_t total, before, part;

	places_missed(v->places, place, c->samples);
	total = add(a, &key, c, nr);
	key.addr = place->addr;
	key.total = false;
	before = a->keys.nr;
	part = add(a, &key, c, nr);
	if (part != before)
		return;
	a->parts[part].next = a->parts[total].next;
	a->parts[total].next = part + 1;
}

static const struct part *find(const struct annotation *a,
			       const struct part_key *key)
{
	uint32_t nr;

	return intern_find(&a->keys, key, sizeof(*key), &nr) ? &a->parts[nr] :
							       NULL;
}

/* ---- the source */

/* One image may name what another one may not. */
struct source_key {
	uint32_t file;		/* a number of the texts plus 1 */
	uint32_t image;
};

static const struct source_file *source_of(struct annotation *a,
					   const struct place *place)
{
	const struct source_key key = { place->file, place->image };
	const uint32_t before = a->source_keys.nr;
	const uint32_t nr = intern(&a->source_keys, &key, sizeof(key));
	const struct profile *p = a->view->profile;
	const uint32_t trace = p->images.all[place->image].trace;
	struct buf why = { 0 };

	a->sources = array_room(a->sources, &a->nr_sources, nr + 1,
				sizeof(*a->sources));
	if (nr == before)
		place_source(a->view->places, place, &a->sources[nr],
			     &a->room, &why);
	if (why.len)
		warnings_add(a->warnings, WARNING_NAMES, 0,
			     "%s%s%s: no lines of it are shown: %s",
			     p->nr_traces > 1 ? p->traces[trace].name : "",
			     p->nr_traces > 1 ? ": " : "",
			     intern_text(&p->texts, place->file - 1), why.s);
	free(why.s);
	return &a->sources[nr];
}

static void put_source(struct annotation *a, const struct place *place)
{
	const char *path = intern_text(&a->view->profile->texts,
				       place->file - 1);
	const char *slash = strrchr(path, '/');

	buf_printf(a->out, "%18s", "");
	shown_text(a->out, slash ? slash + 1 : path);
	buf_printf(a->out, ":%u  ", place->line);
	shown_lines(a->out, source_file_line(source_of(a, place),
					     place->line));
	buf_puts(a->out, "\n");
}

/* ---- a function */

static void put_share(struct annotation *a, const struct part *part,
		      const struct part *total)
{
	if (!part)
		buf_printf(a->out, "%7s  %7s  ", "", "");
	else
		buf_printf(a->out, "%6.2f%%  %7" PRIu64 "  ", total->events ?
			   100.0 * part->events / total->events :
			   100.0 * part->samples / total->samples,
			   part->samples);
}

/* Where the line changes, a line of its own. */
static void put_line(struct annotation *a, const struct place *place,
		     uint64_t addr, uint32_t *file, uint32_t *line)
{
	struct places *pl = a->view->places;
	const uint32_t nr = place_number(pl, place->image,
					 place->offset + (addr - place->addr));
	const struct place *at = place_line(pl, nr);

	if (!at->file || (at->file == *file && at->line == *line))
		return;
	*file = at->file;
	*line = at->line;
	put_source(a, at);
}

static void print_address(struct annotation *a, struct part_key *key,
			  const struct place *place, const struct part *total,
			  const struct function *f,
			  const struct instruction *in, uint32_t *file,
			  uint32_t *line)
{
	char text[DISASM_TEXT];

	put_line(a, place, in->addr, file, line);
	key->addr = in->addr;
	key->total = false;
	put_share(a, find(a, key), total);
	buf_printf(a->out, "  %12" PRIx64 "  ", in->addr);
	if (f->bytes) {
		disasm_text(view_disasm(a->view, place->image),
			    f->bytes + (in->addr - f->start),
			    in, text);
		shown_text(a->out, text);
	}
	buf_puts(a->out, "\n");
}

static int by_addr(const void *a, const void *b)
{
	const struct instruction *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Of code that is not to be had: the addresses that have samples. */
static void sampled_addresses(const struct annotation *a,
			      const struct part *total, struct function *f)
{
	const struct part_key *key;
	uint32_t i;

	for (i = total->next; i; i = a->parts[i - 1].next) {
		key = a->keys.keys[i - 1].key;
		f->code = array_room(f->code, &f->size, f->nr + 1,
				     sizeof(*f->code));
		f->code[f->nr++].addr = key->addr;
	}
	qsort(f->code, f->nr, sizeof(*f->code), by_addr);
}

static void print_function(struct annotation *a, struct part_key key,
			   const struct part total)
{
	struct view *v = a->view;
	/* a copy: new places may move them */
	const struct place place = *place_get(v->places, total.place);
	const struct image *im = &v->profile->images.all[place.image];
	uint32_t file = 0, line = 0;
	struct function f;
	size_t i;

	buf_puts(a->out, a->out->len ? "\n# " : "# ");
	shown_text(a->out, profile_event_name(v->profile, key.event));
	buf_puts(a->out, ": ");
	shown_text(a->out, intern_text(&v->profile->texts, place.symbol));
	buf_puts(a->out, " in ");
	shown_text(a->out, im->name);
	if (v->profile->nr_traces > 1) {
		buf_puts(a->out, ", ");
		shown_text(a->out, v->profile->traces[im->trace].name);
	}
	buf_printf(a->out, ": %" PRIu64 " samples, %" PRIu64 " events\n",
		   total.samples, total.events);
	buf_puts(a->out, "  SHARE  SAMPLES       ADDRESS\n");
	function_read(v->places, &place, view_disasm(v, place.image), &f);
	if (!f.nr)
		sampled_addresses(a, &total, &f);
	for (i = 0; i < f.nr; i++)
		print_address(a, &key, &place, &total, &f, &f.code[i], &file,
			      &line);
	function_free(&f);
}

void annotate_print(struct view *v, struct warnings *w, struct buf *out)
{
	struct annotation a = {
		.view = v, .warnings = w, .out = out,
		.room = SOURCE_FILES_ROOM,
	};
	const struct part_key *key;
	size_t k;
	uint32_t i;

	for (k = 0; k < v->nr; k++)
		add_cell(&a, v->cells[k]);
	for (i = 0; i < a.keys.nr; i++) {
		key = a.keys.keys[i].key;
		if (key->total)
			print_function(&a, *key, a.parts[i]);
	}
	for (i = 0; i < a.source_keys.nr; i++)
		source_file_free(&a.sources[i]);
	free(a.sources);
	free(a.parts);
	intern_free(&a.source_keys);
	intern_free(&a.keys);
}
