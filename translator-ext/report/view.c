/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as it is looked at; view.h says what is wanted of it. */
#include "view.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "progress.h"

static bool matches(const char *pattern, const char *text)
{
	return !pattern || !fnmatch(pattern, text, 0);
}

/* A path matches by its last part too. */
static bool image_matches(const char *pattern, const char *name)
{
	const char *slash = strrchr(name, '/');

	return matches(pattern, name) || (slash && matches(pattern, slash + 1));
}

static bool is_wanted(struct view *v, const struct cell_key *key)
{
	const struct view_filter *f = &v->filter;
	const struct place *place;

	if (!image_matches(f->image, v->profile->images.all[key->image].name))
		return false;
	if (!f->symbol)
		return true;
	place = place_get(v->places, view_place(v, key));
	return matches(f->symbol, intern_text(&v->profile->texts,
					      place->symbol));
}

static uint32_t mark(struct view *v, const char *name)
{
	return place_number(v->places,
			    image_of_mark(&v->profile->images, name), 0);
}

struct view *view_new(struct profile *profile, const char *kallsyms,
		      const struct view_filter *filter)
{
	struct view *v = xmalloc(sizeof(*v));
	const struct cell_key *key;
	struct view_total *t;
	uint32_t i;

	*v = (struct view) {
		.profile = profile,
		.places = places_new(profile, kallsyms),
		.filter = *filter,
	};
	v->lost = mark(v, "[stack lost]");
	v->cut = mark(v, "[more callers]");
	for (i = 0; i < profile->keys.nr; i++) {
		key = profile_key(profile, i);
		progress("symbols", (uint64_t)i * 1000 / profile->keys.nr);
		if (!is_wanted(v, key))
			continue;
		v->cells = array_room(v->cells, &v->size, v->nr + 1,
				      sizeof(*v->cells));
		v->cells[v->nr++] = i;
		v->totals = array_room(v->totals, &v->nr_totals,
				       key->event + 1, sizeof(*v->totals));
		t = &v->totals[key->event];
		t->samples += profile->cells[i].samples;
		t->events += profile->cells[i].events;
	}
	progress_end();
	return v;
}

void view_free(struct view *v)
{
	places_free(v->places);
	free(v->cells);
	free(v->totals);
	free(v->frames);
	free(v);
}

uint32_t view_place(struct view *v, const struct cell_key *key)
{
	return place_number(v->places, key->image, key->offset);
}

static void push(struct view *v, size_t *nr, uint32_t place)
{
	v->frames = array_room(v->frames, &v->size_frames, *nr + 1,
			       sizeof(*v->frames));
	v->frames[(*nr)++] = place;
}

static void push_stack(struct view *v, const struct cell_key *key, bool kernel,
		       size_t *nr)
{
	const struct profile_stack *s;
	uint32_t image, i;
	uint64_t offset;

	s = profile_stack(v->profile, kernel ? key->kstack : key->ustack);
	if (!s) {
		push(v, nr, v->lost);
		return;
	}
	for (i = 0; i < s->nr; i++) {
		/* the first of all is where the sample says that it was */
		if (!*nr) {
			push(v, nr, view_place(v, key));
			continue;
		}
		image = procs_find(v->profile->procs, key->space, kernel,
				   s->ip[i] - !!i, &offset);
		push(v, nr, place_number(v->places, image, offset));
	}
	if (s->flags & TRACE_STACK_CUT)
		push(v, nr, v->cut);
}

const uint32_t *view_stack(struct view *v, const struct cell_key *key,
			   size_t *nr)
{
	*nr = 0;
	/* no innermost part: begin with the place itself */
	if (!(key->in_user ? key->ustack : key->kstack))
		push(v, nr, view_place(v, key));
	if (key->kstack)
		push_stack(v, key, true, nr);
	if (key->ustack)
		push_stack(v, key, false, nr);
	return v->frames;
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
