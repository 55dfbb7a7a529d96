/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What places are called; places.h says what is wanted of it. */
#include "report/names/places.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/progress.h"
#include "report/names/demangle.h"
#include "report/names/jit_map.h"
#include "report/names/kallsyms.h"
#include "report/names/source_file.h"

/* What is known of an image. */
struct source {
	bool tried;
	bool elf_tried;
	struct elf_file *elf;
	struct symtab own;
	const struct symtab *symbols;	/* own, or kallsyms' */
	char *why;			/* what is to be told of it */
	uint64_t missed;		/* samples without a symbol */
	uint32_t name;		/* [NAME], a number of the texts plus 1 */
};

struct place_key {
	uint64_t offset;
	uint32_t image;
	uint32_t frame;		/* one of its frames, from 1; 0: the place */
};

/* What was asked for last, by a part of its hash. */
#define RECENT 32768

struct recent {
	uint64_t offset;
	uint32_t image;
	uint32_t place;		/* plus 1 */
};

/* The symbols of a boot's kernel. */
struct kernel {
	struct kallsyms kallsyms;
	bool tried;
	char *why;
};

struct places {
	struct recent recent[RECENT];
	struct profile *profile;
	struct places_from from;
	struct kernel *kernels;	/* by boots; sources have their symbols */
	struct intern keys;
	struct place *all;
	size_t size;
	uint32_t *frames;	/* of places, one's after another's */
	size_t nr_frames, size_frames;
	uint32_t *names;	/* of texts, what they stand for, plus 1 */
	size_t size_names;
	struct source *sources;
	size_t size_sources;
};

struct places *places_new(struct profile *profile,
			  const struct places_from *from)
{
	struct places *pl = xmalloc(sizeof(*pl));

	memset(pl, 0, sizeof(*pl));
	pl->profile = profile;
	pl->from = *from;
	/* all at once: they stay where they are */
	pl->kernels = xmalloc(profile->nr_boots * sizeof(*pl->kernels));
	memset(pl->kernels, 0, profile->nr_boots * sizeof(*pl->kernels));
	return pl;
}

void places_free(struct places *pl)
{
	size_t i;

	for (i = 0; i < pl->size_sources; i++) {
		if (pl->sources[i].elf)
			elf_file_close(pl->sources[i].elf);
		symtab_free(&pl->sources[i].own);
		free(pl->sources[i].why);
	}
	free(pl->sources);
	free(pl->frames);
	free(pl->names);
	free(pl->all);
	for (i = 0; i < pl->profile->nr_boots; i++) {
		free(pl->kernels[i].why);
		kallsyms_free(&pl->kernels[i].kallsyms);
	}
	free(pl->kernels);
	intern_free(&pl->keys);
	free(pl);
}

/* Whose trace an image is of. */
static const struct profile_trace *trace_of(const struct places *pl,
					    const struct image *im)
{
	return &pl->profile->traces[im->trace];
}

static const struct kernel *kernel_of(struct places *pl,
				      const struct image *im)
{
	const struct profile_trace *t = trace_of(pl, im);
	struct buf why = { 0 };
	struct kernel *k = &pl->kernels[t->boot];

	if (k->tried)
		return k;
	k->tried = true;
	/* a file is one kernel's, which several boots do not have in common */
	if (pl->profile->nr_boots > 1 && !kernel_is_this(t->head))
		buf_puts(&why, "the trace is of another kernel than the one that runs here; a report of this trace alone takes its symbols by --kallsyms FILE");
	else
		kallsyms_read(pl->from.kallsyms, t->head, &pl->profile->texts,
			      &k->kallsyms, &why);
	k->why = buf_take(&why);
	return k;
}

static struct source *source_of(struct places *pl, uint32_t image)
{
	pl->sources = array_room(pl->sources, &pl->size_sources, image + 1,
				 sizeof(*pl->sources));
	return &pl->sources[image];
}

/* The first that is to be told of an image is told. */
static void set_why(struct source *s, struct buf *why)
{
	if (why->len && !(s->why && *s->why)) {
		free(s->why);
		s->why = buf_take(why);
	}
	free(why->s);
}

struct elf_file *place_elf(struct places *pl, uint32_t image)
{
	struct source *s = source_of(pl, image);
	const struct profile *p = pl->profile;
	const struct image *im = &p->images.all[image];
	struct buf why = { 0 };

	if (s->elf_tried)
		return s->elf;
	s->elf_tried = true;
	if (im->kind == IMAGE_JIT || im->kind == IMAGE_NONE ||
	    im->kind == IMAGE_MARK)
		return NULL;
	s->elf = elf_file_open(im, trace_of(pl, im)->head, pl->from.root,
			       &why);
	set_why(s, &why);
	return s->elf;
}

/* Code that a program made: as it was written down with its times, or else as
 * it is now. */
static void load_jit(struct places *pl, const struct image *im,
		     struct source *s)
{
	struct profile *p = pl->profile;
	const struct jit_dump *dump = im->kind == IMAGE_JIT ?
				      procs_jit(trace_of(pl, im)->procs, im->pid) :
				      NULL;
	const struct jit_code *codes = NULL;
	struct buf why = { 0 };
	uint32_t nr = 0, i;
	bool known;

	if (dump)
		codes = jit_dump_codes(dump, &nr);
	for (i = 0; i < nr; i++)
		symtab_add(&s->own, &(struct symbol) {
			.addr = codes[i].place, .size = codes[i].size,
			.name = codes[i].name, .rank = i,
		});
	known = jit_map_read(im->pid, &p->texts, &s->own, &why) || nr;
	symtab_sort(&s->own);
	if (dump && jit_dump_why(dump)) {
		free(why.s);
		why = (struct buf) { 0 };
		buf_puts(&why, jit_dump_why(dump));
	} else if (!known && !why.len) {
		buf_puts(&why, im->kind == IMAGE_JIT ?
			 "memory without a file, and neither /tmp/perf-PID.map nor a jit-PID.dump says what is there" :
			 "nothing was mapped there, as far as the trace tells");
	}
	set_why(s, &why);
}

/* A module that stap made is gone when its script has ended, wherever this is run. */
static bool is_scripts(const struct image *im)
{
	return im->kind == IMAGE_MODULE && !strncmp(im->path, "stap_", 5);
}

static void load(struct places *pl, uint32_t image, struct source *s)
{
	const struct image *im = &pl->profile->images.all[image];
	const struct kernel *k;

	s->tried = true;
	progress("reading symbols", -1);
	switch (im->kind) {
	case IMAGE_KERNEL:
	case IMAGE_MODULE:
		k = kernel_of(pl, im);
		s->symbols = im->kind == IMAGE_KERNEL ? &k->kallsyms.kernel :
			kallsyms_module(&k->kallsyms, im->path);
		s->why = xstrdup(is_scripts(im) && !s->symbols ?
				 "a script's module, which is gone when that has ended" :
				 k->why);
		/* of another kernel, whose files may be here */
		if ((s->symbols && s->symbols->nr) || !place_elf(pl, image))
			break;
		free(s->why);
		s->why = NULL;
		s->symbols = &s->own;
		elf_file_symbols(s->elf, &s->own);
		break;
	case IMAGE_FILE:
	case IMAGE_VDSO:
		s->symbols = &s->own;
		if (place_elf(pl, image))
			elf_file_symbols(s->elf, &s->own);
		break;
	case IMAGE_JIT:
	case IMAGE_NONE:
		s->symbols = &s->own;
		load_jit(pl, im, s);
	}
}

/* What stands for a symbol that is not known: [libc.so.6] */
static uint32_t name_of(struct places *pl, uint32_t image, struct source *s)
{
	const struct image *im = &pl->profile->images.all[image];
	const char *slash = strrchr(im->name, '/');
	struct buf name = { 0 };

	if (!s->name) {
		buf_printf(&name, *im->name == '[' ? "%s" : "[%s]",
			   slash ? slash + 1 : im->name);
		s->name = intern_string(&pl->profile->texts, name.s) + 1;
		free(name.s);
	}
	return s->name - 1;
}

/* What a symbol is called, which is found out once. */
static uint32_t plain_name(struct places *pl, uint32_t text)
{
	struct intern *texts = &pl->profile->texts;
	uint32_t plain = text;
	char *name;

	if (pl->from.mangled)
		return text;
	pl->names = array_room(pl->names, &pl->size_names, text + 1,
			       sizeof(*pl->names));
	if (!pl->names[text]) {
		name = demangle(intern_text(texts, text));
		if (name)
			plain = intern_string(texts, name);
		free(name);
		pl->names[text] = plain + 1;
	}
	return pl->names[text] - 1;
}

static void set_name(struct places *pl, struct place *place, uint32_t linkage)
{
	place->linkage = linkage;
	/* what anybody may have written to /tmp stays as it is */
	place->function =
		pl->profile->images.all[place->image].kind == IMAGE_JIT ?
		linkage : plain_name(pl, linkage);
	place->symbol = place->function;
}

static void resolve(struct places *pl, struct place *place)
{
	struct source *s = source_of(pl, place->image);
	const struct symbol *symbol = NULL;
	bool known = true;

	if (!s->tried)
		load(pl, place->image, s);
	place->addr = place->offset;
	if (s->elf && s->symbols == &s->own)
		known = elf_file_address(s->elf, place->offset, &place->addr);
	if (known && s->symbols)
		symbol = symtab_find(s->symbols, place->addr);
	place->start = symbol ? symbol->addr : 0;
	place->size = symbol ? symbol->size : 0;
	if (!symbol)
		set_name(pl, place, name_of(pl, place->image, s));
	else if (symbol->text)
		set_name(pl, place, intern_name(&pl->profile->texts,
						symbol->text));
	else
		set_name(pl, place, symbol->name);
}

static uint32_t add_place(struct places *pl, uint32_t image, uint64_t offset)
{
	const struct place_key key = { .offset = offset, .image = image };
	const uint32_t before = pl->keys.nr;
	const uint32_t nr = intern(&pl->keys, &key, sizeof(key));

	if (nr != before)
		return nr;
	pl->all = array_room(pl->all, &pl->size, nr + 1, sizeof(*pl->all));
	pl->all[nr] = (struct place) { .image = image, .offset = offset };
	resolve(pl, &pl->all[nr]);
	return nr;
}

uint32_t place_number(struct places *pl, uint32_t image, uint64_t offset)
{
	const uint64_t hash = (offset ^ (uint64_t)image << 48) *
			      0x9e3779b97f4a7c15u;
	struct recent *r = &pl->recent[hash >> 32 & (RECENT - 1)];

	if (!r->place || r->offset != offset || r->image != image)
		*r = (struct recent) {
			.offset = offset,
			.image = image,
			.place = add_place(pl, image, offset) + 1,
		};
	return r->place - 1;
}

const struct place *place_get(const struct places *pl, uint32_t place)
{
	return &pl->all[place];
}

const struct place *place_line(struct places *pl, uint32_t place)
{
	struct place *p = &pl->all[place];
	struct elf_file *elf;
	const char *file = NULL;
	struct buf why = { 0 };
	uint64_t addr;
	int line = 0;

	if (p->line_tried)
		return p;
	p->line_tried = true;
	progress("reading lines", -1);
	elf = place_elf(pl, p->image);
	if (elf && elf_file_address(elf, p->offset, &addr))
		file = elf_file_line(elf, addr, &line, &why);
	set_why(source_of(pl, p->image), &why);
	if (file) {
		p->file = intern_name(&pl->profile->texts, file) + 1;
		p->line = line;
	}
	return p;
}

void place_source(struct places *pl, const struct place *place,
		  struct source_file *f, size_t *room, struct buf *why)
{
	source_file_read(intern_text(&pl->profile->texts, place->file - 1),
			 pl->from.root,
			 elf_file_writer(place_elf(pl, place->image)), f,
			 room, why);
}

/* ---- what is inlined */

static void add_frame(struct places *pl, uint32_t place)
{
	pl->frames = array_room(pl->frames, &pl->size_frames,
				pl->nr_frames + 1, sizeof(*pl->frames));
	pl->frames[pl->nr_frames++] = place;
}

/* A frame of a place: another place, with the same symbol and line so far. */
static struct place *new_frame(struct places *pl, uint32_t place,
			       uint32_t number)
{
	const struct place_key key = {
		.offset = pl->all[place].offset,
		.image = pl->all[place].image,
		.frame = number,
	};
	const uint32_t nr = intern(&pl->keys, &key, sizeof(key));

	pl->all = array_room(pl->all, &pl->size, nr + 1, sizeof(*pl->all));
	pl->all[nr] = pl->all[place];
	add_frame(pl, nr);
	return &pl->all[nr];
}

static void name_frame(struct places *pl, struct place *frame, const char *name)
{
	struct intern *texts = &pl->profile->texts;
	struct buf text = { 0 };

	set_name(pl, frame, intern_name(texts, name ?: "??"));
	buf_printf(&text, "%s (inlined)",
		   intern_text(texts, frame->function));
	frame->symbol = intern_string(texts, text.s);
	free(text.s);
}

static void set_call(struct places *pl, struct place *frame,
		     const struct elf_inlined *call)
{
	frame->file = call->file ? intern_name(&pl->profile->texts,
					       call->file) + 1 : 0;
	frame->line = call->file ? call->line : 0;
}

static void find_frames(struct places *pl, uint32_t place)
{
	struct elf_inlined list[ELF_INLINED_MAX];
	struct elf_file *elf = pl->from.inlined ?
			       place_elf(pl, pl->all[place].image) : NULL;
	unsigned int nr = 0, i;
	struct buf why = { 0 };
	struct place *frame;
	uint64_t addr;

	if (elf && elf_file_address(elf, pl->all[place].offset, &addr))
		nr = elf_file_inlined(elf, addr, list, &why);
	set_why(source_of(pl, pl->all[place].image), &why);
	pl->all[place].frames = pl->nr_frames;
	pl->all[place].nr_frames = nr + 1;
	if (!nr) {
		add_frame(pl, place);
		return;
	}
	progress("inlined functions", -1);
	place_line(pl, place);
	for (i = 0; i <= nr; i++) {
		frame = new_frame(pl, place, i + 1);
		if (i < nr)
			name_frame(pl, frame, list[i].name);
		if (i)
			set_call(pl, frame, &list[i - 1]);
	}
}

struct place_frames place_frames(struct places *pl, uint32_t place)
{
	if (!pl->all[place].nr_frames)
		find_frames(pl, place);
	return (struct place_frames) { pl->all[place].nr_frames,
				       pl->frames + pl->all[place].frames };
}

void places_missed(struct places *pl, const struct place *place,
		   uint64_t samples)
{
	if (!place->size)
		pl->sources[place->image].missed += samples;
}

/* A file that was looked for, if by its symbols or for its lines. */
static bool is_to_say(const struct source *s, uint32_t kind)
{
	return s->tried && s->why && *s->why &&
	       (kind == IMAGE_FILE ||
		((kind == IMAGE_KERNEL || kind == IMAGE_MODULE) &&
		 s->elf_tried && !s->elf));
}

/* What is to be told, and of how many samples: images may have one name. */
struct told {
	struct intern texts;
	uint64_t *missed;
	size_t size;
};

static void tell(struct told *told, const struct image *im,
		 const struct source *s, const char *trace)
{
	struct buf text = { 0 };
	uint32_t before, nr;

	if (trace)
		buf_printf(&text, "%s: ", trace);
	buf_puts(&text, im->name);
	if (im->kind == IMAGE_JIT || im->kind == IMAGE_NONE)
		buf_printf(&text, ", process %u", im->pid);
	buf_printf(&text, ": %s", s->why && *s->why ? s->why :
		   "it has no symbol at some addresses");
	before = told->texts.nr;
	nr = intern_string(&told->texts, text.s);
	told->missed = array_room(told->missed, &told->size, nr + 1,
				  sizeof(*told->missed));
	if (nr == before)
		told->missed[nr] = 0;
	told->missed[nr] += s->missed;
	free(text.s);
}

static void say(const struct profile *p, struct told *told, struct warnings *w)
{
	const uint64_t samples = profile_samples(p);
	uint32_t i;

	for (i = 0; i < told->texts.nr; i++)
		warnings_note(w, WARNING_NAMES, told->missed[i], samples,
			      "%s; samples without a symbol: %" PRIu64,
			      intern_text(&told->texts, i), told->missed[i]);
}

void places_say(struct places *pl, struct warnings *w)
{
	const struct profile *p = pl->profile;
	struct told told = { 0 };
	const struct source *s;
	size_t i;

	for (i = 0; i < pl->size_sources && i < p->images.keys.nr; i++) {
		s = &pl->sources[i];
		/* a mark is its own name */
		if (p->images.all[i].kind == IMAGE_MARK)
			continue;
		if (s->missed || is_to_say(s, p->images.all[i].kind))
			tell(&told, &p->images.all[i], s,
			     w->several ? trace_of(pl, &p->images.all[i])->name : NULL);
	}
	say(p, &told, w);
	free(told.missed);
	intern_free(&told.texts);
}
