/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions line by line; annotate.h says what is wanted of it. */
#include "annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "function.h"
#include "grid.h"

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
};

struct annotation {
	struct view *view;
	struct intern keys;
	struct part *parts;
	size_t size;
	struct intern files;
	char **sources;		/* of files, "" if it is not there */
	size_t nr_sources;
	struct buf *out;
};

static void add(struct annotation *a, const struct part_key *key,
		const struct cell *c, uint32_t place)
{
	const uint32_t nr = intern(&a->keys, key, sizeof(*key));

	a->parts = array_room(a->parts, &a->size, nr + 1, sizeof(*a->parts));
	a->parts[nr].samples += c->samples;
	a->parts[nr].events += c->events;
	a->parts[nr].place = place;
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

	places_missed(v->places, place, c->samples);
	add(a, &key, c, nr);
	key.addr = place->addr;
	key.total = false;
	add(a, &key, c, nr);
}

static const struct part *find(const struct annotation *a,
			       const struct part_key *key)
{
	uint32_t nr;

	return intern_find(&a->keys, key, sizeof(*key), &nr) ? &a->parts[nr] :
							       NULL;
}

/* ---- the source */

static char *read_source(const char *path)
{
	struct buf text = { 0 };
	char bytes[4096];
	FILE *f = fopen(path, "re");
	size_t n;

	while (f && (n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		buf_add(&text, bytes, n);
	if (f)
		fclose(f);
	return buf_take(&text);
}

static void put_source(struct annotation *a, uint32_t file, uint32_t line)
{
	const char *path = intern_text(&a->view->profile->texts, file - 1);
	const uint32_t nr = intern(&a->files, &file, sizeof(file));
	const char *slash = strrchr(path, '/'), *s;
	uint32_t skip = line;
	struct buf text = { 0 };

	a->sources = array_room(a->sources, &a->nr_sources, nr + 1,
				sizeof(*a->sources));
	if (!a->sources[nr])
		a->sources[nr] = read_source(path);
	for (s = a->sources[nr]; *s && --skip; s += *s == '\n')
		s += strcspn(s, "\n");
	buf_add(&text, s, strcspn(s, "\n"));
	buf_printf(a->out, "%18s", "");
	text_shown(a->out, slash ? slash + 1 : path);
	buf_printf(a->out, ":%u  ", line);
	/* tabs stay what they are */
	for (s = text.s; *s; s++)
		if (*s == '\t' || ((unsigned char)*s >= ' ' && *s != 0x7f))
			buf_add(a->out, s, 1);
	buf_puts(a->out, "\n");
	free(text.s);
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
	put_source(a, *file, *line);
}

static void print_address(struct annotation *a, struct part_key *key,
			  const struct place *place, const struct part *total,
			  const struct instruction *in, uint32_t *file,
			  uint32_t *line)
{
	put_line(a, place, in->addr, file, line);
	key->addr = in->addr;
	key->total = false;
	put_share(a, find(a, key), total);
	buf_printf(a->out, "  %12" PRIx64 "  %s\n", in->addr, in->text);
}

static int by_addr(const void *a, const void *b)
{
	const struct instruction *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Of code that is not to be had: the addresses that have samples. */
static void sampled_addresses(const struct annotation *a,
			      const struct part_key *of, struct function *f)
{
	const struct part_key *key;
	uint32_t i;

	for (i = 0; i < a->keys.nr; i++) {
		key = a->keys.keys[i].key;
		if (key->event != of->event || key->image != of->image ||
		    key->start != of->start || key->total)
			continue;
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
	uint32_t file = 0, line = 0;
	struct function f;
	size_t i;

	buf_puts(a->out, a->out->len ? "\n# " : "# ");
	text_shown(a->out, profile_event_name(v->profile, key.event));
	buf_puts(a->out, ": ");
	text_shown(a->out, intern_text(&v->profile->texts, place.symbol));
	buf_puts(a->out, " in ");
	text_shown(a->out, v->profile->images.all[place.image].name);
	buf_printf(a->out, ": %" PRIu64 " samples, %" PRIu64 " events\n",
		   total.samples, total.events);
	buf_puts(a->out, "  SHARE  SAMPLES       ADDRESS\n");
	function_read(v->places, &place, v->disasm, &f);
	if (!f.nr)
		sampled_addresses(a, &key, &f);
	for (i = 0; i < f.nr; i++)
		print_address(a, &key, &place, &total, &f.code[i], &file,
			      &line);
	function_free(&f);
}

void annotate_print(struct view *v, struct buf *out)
{
	struct annotation a = { .view = v, .out = out };
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
	for (i = 0; i < a.files.nr; i++)
		free(a.sources[i]);
	free(a.sources);
	free(a.parts);
	intern_free(&a.files);
	intern_free(&a.keys);
}
