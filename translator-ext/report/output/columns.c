/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a report is made by; columns.h says what is wanted of it. */
#include "report/output/columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/output/data_source.h"

static uint32_t text_of(struct view *v, struct buf *text)
{
	const uint32_t nr = intern_string(&v->profile->texts, text->s);

	free(text->s);
	return nr;
}

static uint32_t number(struct view *v, uint32_t value)
{
	struct buf text = { 0 };

	buf_printf(&text, "%u", value);
	return text_of(v, &text);
}

static uint32_t comm(struct view *v, const struct cell_key *key)
{
	(void)v;
	return key->comm;
}

static uint32_t pid(struct view *v, const struct cell_key *key)
{
	return number(v, key->pid);
}

static uint32_t tid(struct view *v, const struct cell_key *key)
{
	return number(v, key->tid);
}

static uint32_t cpu(struct view *v, const struct cell_key *key)
{
	return number(v, key->cpu);
}

static uint32_t wait(struct view *v, const struct cell_key *key)
{
	static const char *const names[] = {
		[PROFILE_NO_WAIT] = "-",
		[PROFILE_WAIT_ENDED] = "ended",
		[PROFILE_WAIT_OPEN] = "open",
		[PROFILE_WAIT_THROUGHOUT] = "throughout",
	};

	return intern_string(&v->profile->texts, names[key->wait]);
}

static uint32_t image(struct view *v, const struct cell_key *key)
{
	struct profile *p = v->profile;

	return intern_string(&p->texts, p->images.all[key->image].name);
}

static uint32_t symbol(struct view *v, const struct cell_key *key)
{
	return place_get(v->places, view_frame(v, key))->symbol;
}

/* The name of a place without a line is what is known of it. */
static uint32_t line(struct view *v, const struct cell_key *key)
{
	const struct place *p = place_line(v->places, view_frame(v, key));
	struct buf text = { 0 };

	if (!p->file)
		return p->symbol;
	buf_printf(&text, "%s:%u", intern_text(&v->profile->texts, p->file - 1),
		   p->line);
	return text_of(v, &text);
}

static uint32_t address(struct view *v, const struct cell_key *key)
{
	const struct place *p = place_get(v->places, view_place(v, key));
	struct buf text = { 0 };

	buf_printf(&text, "%s+0x%" PRIx64,
		   intern_text(&v->profile->texts, p->symbol),
		   p->addr - p->start);
	return text_of(v, &text);
}

/* Of code that is not to be had a function is one block. */
static uint32_t block(struct view *v, const struct cell_key *key)
{
	const struct place *p = place_get(v->places, view_place(v, key));
	struct buf text = { 0 };
	uint64_t start, end;

	if (!p->size)
		return p->symbol;
	function_block(view_function(v, p), p->addr, &start, &end);
	buf_printf(&text, "%s+0x%" PRIx64 "..0x%" PRIx64,
		   intern_text(&v->profile->texts, p->symbol),
		   start - p->start, end - p->start);
	return text_of(v, &text);
}

static void put_frames(struct view *v, uint32_t place, struct buf *out)
{
	const struct place_frames f = place_frames(v->places, place);
	const struct place *p;
	uint32_t i;

	for (i = f.nr; i--; ) {
		p = place_get(v->places, f.places[i]);
		if (out->len)
			buf_puts(out, ";");
		view_frame_name(out, intern_text(&v->profile->texts,
						 p->symbol));
	}
}

static uint32_t stack(struct view *v, const struct cell_key *key)
{
	const struct view_callers c = view_callers(v, key);
	struct buf text = { 0 };
	uint32_t i;

	for (i = c.nr; i--; )
		put_frames(v, c.places[i], &text);
	put_frames(v, view_place(v, key), &text);
	return text_of(v, &text);
}

static uint32_t data(struct view *v, const struct cell_key *key)
{
	struct buf text = { 0 };

	if (key->has & SW_TRACE_HAS_ADDR)
		buf_printf(&text, "0x%" PRIx64, key->addr);
	else
		buf_puts(&text, "-");
	return text_of(v, &text);
}

static uint32_t source(struct view *v, const struct cell_key *key)
{
	struct buf text = { 0 };

	data_source_text(key->data_src, &text);
	return text_of(v, &text);
}

static uint32_t trace(struct view *v, const struct cell_key *key)
{
	struct profile *p = v->profile;

	return intern_string(&p->texts, p->traces[key->trace].name);
}

static const struct column all[] = {
	{ "comm", "COMM", PROFILE_COMM, comm, false },
	{ "pid", "PID", PROFILE_PID, pid, true },
	{ "tid", "TID", PROFILE_TID, tid, true },
	{ "cpu", "CPU", PROFILE_CPU, cpu, true },
	{ "wait", "WAIT", PROFILE_WAIT, wait, false },
	{ "image", "IMAGE", PROFILE_IP, image, false },
	{ "symbol", "SYMBOL", PROFILE_IP, symbol, false },
	{ "line", "LINE", PROFILE_IP, line, false },
	{ "block", "BLOCK", PROFILE_IP, block, false },
	{ "address", "ADDRESS", PROFILE_IP, address, false },
	{ "stack", "STACK", PROFILE_IP | PROFILE_STACK, stack, false },
	{ "data", "DATA", PROFILE_ADDR, data, false },
	{ "source", "SOURCE", PROFILE_DATA_SRC, source, false },
	{ "trace", "TRACE", PROFILE_TRACE, trace, false },
};

#define NR_ALL (sizeof(all) / sizeof(*all))

void columns_names(struct buf *out)
{
	size_t i;

	for (i = 0; i < NR_ALL; i++)
		buf_printf(out, "%s%s", i ? ", " : "", all[i].name);
}

static const struct column *find(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < NR_ALL; i++)
		if (strlen(all[i].name) == len &&
		    !memcmp(all[i].name, name, len))
			return &all[i];
	return NULL;
}

void columns_add_trace(struct columns *columns)
{
	if (columns->fields & PROFILE_TRACE || columns->nr == COLUMNS_MAX)
		return;
	memmove(columns->list + 1, columns->list,
		columns->nr * sizeof(*columns->list));
	columns->list[0] = find("trace", strlen("trace"));
	columns->nr++;
	columns->fields |= PROFILE_TRACE;
}

int columns_parse(const char *by, struct columns *columns, struct buf *why)
{
	const struct column *c;
	size_t len, i;

	*columns = (struct columns) { 0 };
	for (;; by += len + 1) {
		len = strcspn(by, ",");
		c = find(by, len);
		for (i = 0; c && i < columns->nr; i++)
			if (columns->list[i] == c)
				c = NULL;
		if (!c) {
			buf_printf(why, "--by wants names, each once, with commas between them: \"%.*s\"; there are ",
				   (int)len, by);
			columns_names(why);
			return -1;
		}
		if (c->text == block && !disasm_built()) {
			buf_puts(why, "--by block: built without capstone");
			return -1;
		}
		columns->list[columns->nr++] = c;
		columns->fields |= c->fields;
		if (!by[len])
			return 0;
	}
}
