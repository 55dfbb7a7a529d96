/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as it is looked at; view.h says what is wanted of it. */
#include "report/output/view.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/progress.h"
#include "report/names/idle.h"

/* Names with brackets, as [kernel], are no patterns to who reads them in a table. */
static bool matches(const char *pattern, const char *text)
{
	return !pattern || !strcmp(pattern, text) || !fnmatch(pattern, text, 0);
}

/* A path matches by its last part too. */
static bool image_matches(const char *pattern, const char *name)
{
	const char *slash = strrchr(name, '/');

	return matches(pattern, name) || (slash && matches(pattern, slash + 1));
}

/* One of the functions there, if what is inlined is wanted. */
static bool symbol_wanted(struct view *v, const struct cell_key *key)
{
	const struct place_frames f = place_frames(v->places,
						   view_place(v, key));
	const struct place *p;
	uint32_t i;

	for (i = 0; i < f.nr; i++) {
		p = place_get(v->places, f.places[i]);
		if (matches(v->filter.symbol,
			    intern_text(&v->profile->texts, p->symbol)))
			return true;
	}
	return false;
}

bool view_wants(struct view *v, const struct cell_key *key)
{
	const struct view_filter *f = &v->filter;

	if (!image_matches(f->image, v->profile->images.all[key->image].name))
		return false;
	return !f->symbol || symbol_wanted(v, key);
}

static uint32_t mark(struct view *v, const char *name)
{
	return place_number(v->places,
			    image_of_mark(&v->profile->images, name), 0);
}

static bool is_idle(struct view *v, const struct cell_key *key)
{
	const struct place *place;

	if (!key->idle)
		return false;
	place = place_get(v->places, view_place(v, key));
	return is_idle_function(intern_text(&v->profile->texts,
					    place->function));
}

static void add_cell(struct view *v, uint32_t cell)
{
	const struct cell_key *key = profile_key(v->profile, cell);
	const struct cell *c = &v->profile->cells[cell];
	struct view_total *t;

	v->totals = array_room(v->totals, &v->nr_totals, key->event + 1,
			       sizeof(*v->totals));
	t = &v->totals[key->event];
	if (v->filter.without_idle && is_idle(v, key)) {
		t->idle_samples += c->samples;
		t->idle_events += c->events;
		return;
	}
	v->cells = array_room(v->cells, &v->size, v->nr + 1,
			      sizeof(*v->cells));
	v->cells[v->nr++] = cell;
	t->samples += c->samples;
	t->events += c->events;
	if (key->wait < PROFILE_WAIT_OPEN)
		return;
	t->open_samples += c->samples;
	t->open_events += c->events;
}

struct view *view_new(struct profile *profile,
		      const struct places_from *from,
		      const struct view_filter *filter)
{
	struct view *v = xmalloc(sizeof(*v));
	const struct cell_key *key;
	uint32_t i;

	*v = (struct view) {
		.profile = profile,
		.places = places_new(profile, from),
		.filter = *filter,
		.disasms = xmalloc(profile->nr_traces * sizeof(*v->disasms)),
	};
	for (i = 0; i < profile->nr_traces; i++)
		v->disasms[i] = disasm_new(profile->traces[i].head->machine);
	v->lost = mark(v, "[stack lost]");
	v->cut = mark(v, "[more callers]");
	v->broken = mark(v, "[unknown callers]");
	for (i = 0; i < profile->keys.nr; i++) {
		key = profile_key(profile, i);
		progress("symbols", (uint64_t)i * 1000 / profile->keys.nr);
		if (view_wants(v, key))
			add_cell(v, i);
	}
	progress_end();
	return v;
}

void view_free(struct view *v)
{
	uint32_t i;

	for (i = 0; i < v->function_keys.nr; i++)
		function_free(&v->functions[i]);
	free(v->functions);
	intern_free(&v->function_keys);
	for (i = 0; i < v->profile->nr_traces; i++)
		disasm_free(v->disasms[i]);
	free(v->disasms);
	places_free(v->places);
	free(v->cells);
	free(v->totals);
	free(v->stacks);
	intern_free(&v->callers);
	intern_free(&v->stack_keys);
	free(v);
}

uint32_t view_place(struct view *v, const struct cell_key *key)
{
	return place_number(v->places, key->image, key->offset);
}

uint32_t view_frame(struct view *v, const struct cell_key *key)
{
	return place_frames(v->places, view_place(v, key)).places[key->frame];
}

void view_frame_name(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_add(out, *name == ';' ? ":" : name, 1);
}

struct stack_key {
	uint32_t modules;
	uint32_t space;
	uint32_t kstack;
	uint32_t ustack;
	uint32_t in_user;
	uint32_t off;
	uint32_t trace;
};

/* Places as they are put together. */
struct gathering {
	uint32_t places[VIEW_DEEPEST];
	uint32_t nr;
};

static void push(const struct view *v, struct gathering *g, uint32_t place)
{
	if (g->nr < VIEW_DEEPEST)
		g->places[g->nr++] = place;
	else
		g->places[VIEW_DEEPEST - 1] = v->cut;
}

/* A process's addresses are below the kernel's, on all machines. */
static bool is_kernels(uint64_t ip)
{
	return ip >> 63;
}

static enum view_end push_stack(struct view *v, const struct stack_key *key,
				bool kernel, struct gathering *g)
{
	/* the first of all is where the sample itself says that it was, if it does */
	const uint32_t skip = !key->off && kernel != key->in_user;
	const uint32_t space = kernel ? key->modules : key->space;
	const struct image *images = v->profile->images.all;
	const struct profile_stack *s;
	uint32_t image, i;
	uint64_t offset;

	s = profile_stack(v->profile, key->trace,
			  kernel ? key->kstack : key->ustack);
	if (!s) {
		push(v, g, v->lost);
		return VIEW_END_WHOLE;
	}
	for (i = skip; i < s->nr; i++) {
		image = procs_find(v->profile->traces[key->trace].procs, space,
				   kernel, s->ip[i] - !!i, &offset);
		if (!kernel && (images[image].kind == IMAGE_NONE ||
				is_kernels(s->ip[i]))) {
			push(v, g, v->broken);
			return is_kernels(s->ip[i]) ? VIEW_END_KERNEL :
						      VIEW_END_NO_CODE;
		}
		push(v, g, place_number(v->places, image, offset));
	}
	if (s->flags & SW_TRACE_STACK_CUT)
		push(v, g, v->cut);
	return VIEW_END_WHOLE;
}

static struct view_callers numbered(const struct view *v, uint32_t nr)
{
	const struct intern_key *k = &v->callers.keys[nr];

	return (struct view_callers) { nr, k->len / sizeof(uint32_t), k->key };
}

static struct stack_key stack_of(const struct cell_key *cell)
{
	return (struct stack_key) {
		.modules = cell->modules,
		.space = cell->space,
		.kstack = cell->kstack,
		.ustack = cell->ustack,
		.in_user = cell->in_user,
		.off = cell->off,
		.trace = cell->trace,
	};
}

struct view_callers view_callers(struct view *v, const struct cell_key *cell)
{
	const struct stack_key key = stack_of(cell);
	const uint32_t before = v->stack_keys.nr;
	const uint32_t nr = intern(&v->stack_keys, &key, sizeof(key));
	enum view_end end = VIEW_END_WHOLE;
	struct gathering g;

	if (nr != before)
		return numbered(v, v->stacks[nr].callers);
	g.nr = 0;
	if (key.kstack)
		push_stack(v, &key, true, &g);
	if (key.ustack)
		end = push_stack(v, &key, false, &g);
	v->stacks = array_room(v->stacks, &v->size_stacks, nr + 1,
			       sizeof(*v->stacks));
	v->stacks[nr].callers = intern(&v->callers, g.places,
				       g.nr * sizeof(*g.places));
	v->stacks[nr].end = end;
	return numbered(v, v->stacks[nr].callers);
}

uint64_t view_broken(const struct view *v, uint32_t trace, enum view_end end)
{
	struct stack_key key;
	uint64_t samples = 0;
	uint32_t nr;
	size_t i;

	for (i = 0; i < v->nr; i++) {
		key = stack_of(profile_key(v->profile, v->cells[i]));
		if (key.trace == trace &&
		    intern_find(&v->stack_keys, &key, sizeof(key), &nr) &&
		    v->stacks[nr].end == end)
			samples += v->profile->cells[v->cells[i]].samples;
	}
	return samples;
}

struct disasm *view_disasm(const struct view *v, uint32_t image)
{
	return v->disasms[v->profile->images.all[image].trace];
}

const struct function *view_function(struct view *v, const struct place *place)
{
	const uint64_t key[] = { place->image, place->start };
	const uint32_t before = v->function_keys.nr;
	const uint32_t nr = intern(&v->function_keys, key, sizeof(key));

	if (nr != before)
		return &v->functions[nr];
	v->functions = array_room(v->functions, &v->size_functions, nr + 1,
				  sizeof(*v->functions));
	function_read(v->places, place, view_disasm(v, place->image),
		      &v->functions[nr]);
	function_drop_code(&v->functions[nr]);
	return &v->functions[nr];
}

double view_share(const struct view *v, uint32_t event, uint64_t events,
		  uint64_t samples)
{
	const struct view_total *t = &v->totals[event];

	/* an event without periods is one for each sample */
	if (t->events)
		return 100.0 * events / t->events;
	return t->samples ? 100.0 * samples / t->samples : 0;
}
