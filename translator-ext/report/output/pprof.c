/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * profile.proto, written field by field; pprof.h says what is wanted of it.
 *
 * An address has to mean one place in all the profile.  So each file is put
 * where no other is, by its offsets, and that is what its mapping says.
 */
#include "report/output/pprof.h"

#include <stdlib.h>
#include <string.h>

#ifdef HAVE_ZLIB
#include <zlib.h>
#endif

#include "report/names/build_id.h"
#include "report/output/protobuf.h"

/* ---- the profile */

/* Fields of message Profile */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME = 9,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_TYPE = 14,
};

#define FILE_BITS 40		/* no file is larger */
#define KERNEL_START 0x8000000000000000u

struct writing {
	struct view *view;
	const struct columns *columns;
	struct buf all;			/* what is not packed yet */
	struct buf *out;
	FILE *to;			/* where that goes as it grows */
#ifdef HAVE_ZLIB
	z_stream z;
	bool packs;
#endif
	struct buf part;
	struct intern strings;
	struct intern functions;	/* names and files */
	struct intern locations;	/* places */
	struct buf *stacks;		/* callers' locations, by number */
	size_t nr_stacks;
	uint8_t *mapped;		/* by image: its mapping was written */
	size_t size_mapped;
};

static uint64_t string(struct writing *w, const char *s)
{
	return intern_string(&w->strings, s);
}

static bool has_mapping(const struct image *im)
{
	return im->kind == IMAGE_FILE || im->kind == IMAGE_VDSO ||
	       im->kind == IMAGE_KERNEL;
}

static uint64_t file_start(uint32_t image)
{
	return (uint64_t)(image + 1) << FILE_BITS;
}

/* Returns its number, 0 for what is no file. */
static uint32_t put_mapping(struct writing *w, uint32_t image)
{
	const struct image *im = &w->view->profile->images.all[image];
	char id[BUILD_ID_TEXT];
	uint64_t start, limit;

	if (!has_mapping(im))
		return 0;
	w->mapped = array_room(w->mapped, &w->size_mapped, image + 1, 1);
	if (w->mapped[image])
		return image + 1;
	w->mapped[image] = true;
	start = im->kind == IMAGE_KERNEL ? KERNEL_START : file_start(image);
	limit = im->kind == IMAGE_KERNEL ? UINT64_MAX : file_start(image + 1);
	protobuf_number(&w->part, 1, image + 1);
	protobuf_number(&w->part, 2, start);
	protobuf_number(&w->part, 3, limit);
	protobuf_number(&w->part, 5, string(w, im->name));
	if (im->flags & SW_TRACE_MMAP_BUILD_ID)
		protobuf_number(&w->part, 6, string(w, build_id_text(im->build_id,
								id)));
	protobuf_number(&w->part, 7, 1);
	protobuf_number(&w->part, 8, 1);
	protobuf_number(&w->part, 9, 1);
	protobuf_part(&w->all, PROFILE_MAPPING, &w->part);
	return image + 1;
}

static uint64_t put_function(struct writing *w, const struct place *p)
{
	const struct intern *texts = &w->view->profile->texts;
	const uint64_t name = string(w, intern_text(texts, p->function));
	const uint64_t linkage = string(w, intern_text(texts, p->linkage));
	const uint64_t file = p->file ? string(w, intern_text(texts,
							p->file - 1)) : 0;
	const uint64_t key[] = { name, linkage, file };
	const uint32_t before = w->functions.nr;
	const uint32_t nr = intern(&w->functions, key, sizeof(key));

	if (nr != before)
		return nr + 1;
	protobuf_number(&w->part, 1, nr + 1);
	protobuf_number(&w->part, 2, name);
	protobuf_number(&w->part, 3, linkage);
	protobuf_number(&w->part, 4, file);
	protobuf_part(&w->all, PROFILE_FUNCTION, &w->part);
	return nr + 1;
}

/* Of a location, innermost first: what is inlined there, and in what. */
static void put_lines(struct writing *w, uint32_t place, struct buf *lines)
{
	struct places *pl = w->view->places;
	const struct place_frames f = place_frames(pl, place);
	const struct place *p;
	struct buf line = { 0 };
	uint64_t function;
	uint32_t i;

	for (i = 0; i < f.nr; i++) {
		p = place_line(pl, f.places[i]);
		function = put_function(w, p);
		protobuf_number(&line, 1, function);
		protobuf_number(&line, 2, p->line);
		protobuf_part(lines, 4, &line);
	}
	free(line.s);
}

static uint64_t put_location(struct writing *w, uint32_t place)
{
	struct places *pl = w->view->places;
	const struct place *p = place_get(pl, place);
	const struct image *im = &w->view->profile->images.all[p->image];
	const uint32_t before = w->locations.nr;
	const uint32_t nr = intern(&w->locations, &place, sizeof(place));
	struct buf lines = { 0 };
	uint32_t mapping;

	if (nr != before)
		return nr + 1;
	put_lines(w, place, &lines);
	/* it may have moved */
	p = place_get(pl, place);
	mapping = put_mapping(w, p->image);
	protobuf_number(&w->part, 1, nr + 1);
	protobuf_number(&w->part, 2, mapping);
	protobuf_number(&w->part, 3, mapping && im->kind != IMAGE_KERNEL ?
		   file_start(p->image) + p->offset : p->offset);
	buf_add(&w->part, lines.s, lines.len);
	protobuf_part(&w->all, PROFILE_LOCATION, &w->part);
	free(lines.s);
	return nr + 1;
}

static void put_labels(struct writing *w, const struct cell_key *key,
		       struct buf *sample)
{
	const struct column *c;
	const char *value;
	size_t i;

	for (i = 0; i < w->columns->nr; i++) {
		c = w->columns->list[i];
		value = intern_text(&w->view->profile->texts,
				    c->text(w->view, key));
		protobuf_number(&w->part, 1, string(w, c->name));
		protobuf_number(&w->part, 2, string(w, value));
		protobuf_part(sample, 3, &w->part);
	}
}

static const struct buf *put_callers(struct writing *w,
				     const struct view_callers *c)
{
	struct buf *list;
	uint32_t i;

	w->stacks = array_room(w->stacks, &w->nr_stacks, c->number + 1,
			       sizeof(*w->stacks));
	list = &w->stacks[c->number];
	if (list->s)
		return list;
	buf_puts(list, "");
	for (i = 0; i < c->nr; i++)
		protobuf_varint(list, put_location(w, c->places[i]));
	return list;
}

static void put_sample(struct writing *w, uint32_t cell)
{
	struct view *v = w->view;
	const struct cell_key *key = profile_key(v->profile, cell);
	const struct cell *c = &v->profile->cells[cell];
	struct buf sample = { 0 }, list = { 0 };
	const struct view_callers stack = view_callers(v, key);
	const struct buf *callers;
	size_t i;

	protobuf_varint(&list, put_location(w, view_place(v, key)));
	callers = put_callers(w, &stack);
	buf_add(&list, callers->s, callers->len);
	protobuf_part(&sample, 1, &list);
	protobuf_varint(&list, c->samples);
	for (i = 0; i < v->nr_totals; i++)
		if (v->totals[i].samples)
			protobuf_varint(&list, i == key->event ? c->events : 0);
	protobuf_part(&sample, 2, &list);
	put_labels(w, key, &sample);
	protobuf_part(&w->all, PROFILE_SAMPLES, &sample);
	free(sample.s);
	free(list.s);
	places_missed(v->places, place_get(v->places, view_place(v, key)),
		      c->samples);
}

/* ---- as gzip has it, piece by piece */

#define PIECE (1024 * 1024)

#ifdef HAVE_ZLIB
static void pack_begin(struct writing *w)
{
	/* 16: with gzip's header */
	w->packs = deflateInit2(&w->z, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8,
				Z_DEFAULT_STRATEGY) == Z_OK;
}

static bool pack(struct writing *w, bool last)
{
	char bytes[65536];

	if (!w->packs)
		return false;
	w->z.next_in = (void *)w->all.s;
	w->z.avail_in = w->all.len;
	do {
		w->z.next_out = (void *)bytes;
		w->z.avail_out = sizeof(bytes);
		deflate(&w->z, last ? Z_FINISH : Z_NO_FLUSH);
		buf_add(w->out, bytes, sizeof(bytes) - w->z.avail_out);
	} while (!w->z.avail_out);
	if (last)
		deflateEnd(&w->z);
	return true;
}
#else
static void pack_begin(struct writing *w)
{
	(void)w;
}

static bool pack(struct writing *w, bool last)
{
	(void)w;
	(void)last;
	return false;
}
#endif

/* Every reader of the format takes what is not packed, too. */
static void pass_on(struct writing *w, bool last)
{
	if (!last && w->all.len < PIECE)
		return;
	if (!pack(w, last))
		buf_add(w->out, w->all.s, w->all.len);
	w->all.len = 0;
	buf_drain(w->out, w->to);
}

static void put_type(struct writing *w, const char *type, const char *unit)
{
	protobuf_number(&w->part, 1, string(w, type));
	protobuf_number(&w->part, 2, string(w, unit));
	protobuf_part(&w->all, PROFILE_SAMPLE_TYPE, &w->part);
}

static void put_all(struct writing *w)
{
	struct view *v = w->view;
	const char *last = "samples";
	uint32_t i;

	/* the first string has to be the empty one */
	string(w, "");
	put_type(w, "samples", "count");
	for (i = 0; i < v->nr_totals; i++) {
		if (!v->totals[i].samples)
			continue;
		if (v->totals[i].events && !strcmp(last, "samples"))
			last = profile_event_name(v->profile, i);
		put_type(w, profile_event_name(v->profile, i),
			 profile_is_time(v->profile, i) ? "nanoseconds" :
							  "count");
	}
	for (i = 0; i < v->nr; i++) {
		put_sample(w, v->cells[i]);
		pass_on(w, false);
	}
	protobuf_number(&w->all, PROFILE_TIME, v->profile->first->realtime);
	protobuf_number(&w->all, PROFILE_DEFAULT_TYPE, string(w, last));
	for (i = 0; i < w->strings.nr; i++)
		protobuf_text(&w->all, PROFILE_STRING,
			      intern_text(&w->strings, i));
}

void pprof_print(struct view *v, const struct columns *columns, struct buf *out,
		 FILE *to)
{
	struct writing w = {
		.view = v,
		.columns = columns,
		.out = out,
		.to = to,
	};
	size_t i;

	pack_begin(&w);
	put_all(&w);
	pass_on(&w, true);
	for (i = 0; i < w.nr_stacks; i++)
		free(w.stacks[i].s);
	free(w.stacks);
	free(w.all.s);
	free(w.part.s);
	free(w.mapped);
	intern_free(&w.strings);
	intern_free(&w.functions);
	intern_free(&w.locations);
}
