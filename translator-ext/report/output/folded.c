/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks; folded.h says what is wanted of it. */
#include "report/output/folded.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/shown.h"
#include "report/output/view.h"

static void put_name(struct buf *out, const char *name)
{
	struct buf frame = { 0 };

	view_frame_name(&frame, name);
	shown_text(out, frame.s ?: "");
	free(frame.s);
}

void folded_print(const struct calltree *t, const struct intern *texts,
		  struct buf *out, FILE *to)
{
	const struct call_node *n;
	uint32_t *path = NULL, i, at;
	size_t size = 0, depth;

	for (i = 1; i < t->keys.nr; i++) {
		n = &t->nodes[i];
		if (!n->self_samples)
			continue;
		depth = 0;
		for (at = i; at; at = t->nodes[at].parent) {
			path = array_room(path, &size, depth + 1,
					  sizeof(*path));
			path[depth++] = at;
		}
		while (depth) {
			put_name(out, intern_text(texts,
					t->nodes[path[--depth]].name));
			buf_puts(out, depth ? ";" : " ");
		}
		buf_printf(out, "%" PRIu64 "\n", t->nodes->events ?
			   n->self_events : n->self_samples);
		buf_drain(out, to);
	}
	free(path);
}
