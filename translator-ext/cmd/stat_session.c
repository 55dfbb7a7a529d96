/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stapwatch stat gives to stap, and what its script says; stat.h. */
#include "cmd/stat.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "cmd/beside.h"
#include "cmd/words.h"

struct session {
	const struct stat_request *req;
	int (*on_block)(const struct stat_request *req,
			const struct stat_block *block);
	struct stat_block block;
	bool in_block;
	bool ended;		/* the last block was there */
	bool stopped;		/* somebody has asked us to end */
};

static void drop_threads(struct stat_block *b)
{
	size_t i;

	for (i = 0; i < b->nr_threads; i++) {
		free(b->threads[i].name);
		free(b->threads[i].counts);
		free(b->threads[i].sets);
	}
	free(b->threads);
	b->threads = NULL;
	b->nr_threads = 0;
}

/* What the script does not say a number of has none. */
static void forget(const struct stat_request *req, int64_t *counts,
		   struct stat_set *sets)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++)
		counts[i] = STAT_NO_COUNT;
	for (i = 0; i < req->nr_sets; i++)
		sets[i] = (struct stat_set) { STAT_NO_COUNT, STAT_NO_COUNT };
}

static void begin_block(struct session *s, int64_t ns)
{
	drop_threads(&s->block);
	s->block.ns = ns;
	s->block.span_ns = ns;
	s->block.session_ns = STAT_NO_COUNT;
	/* the last block needs to ask no CPU */
	s->block.late = 0;
	forget(s->req, s->block.counts, s->block.sets);
	s->in_block = true;
}

static struct stat_thread *new_thread(struct session *s)
{
	struct stat_block *b = &s->block;
	struct stat_thread *t;

	b->threads = xrealloc(b->threads,
			      (b->nr_threads + 1) * sizeof(*b->threads));
	t = &b->threads[b->nr_threads++];
	*t = (struct stat_thread) { .ran_ns = STAT_NO_COUNT };
	t->counts = xmalloc(s->req->nr_events * sizeof(*t->counts));
	t->sets = xmalloc(s->req->nr_sets * sizeof(*t->sets));
	forget(s->req, t->counts, t->sets);
	return t;
}

static void take_count(const struct session *s, int64_t *counts,
		       const char *line)
{
	unsigned long long i;
	int64_t v;

	if (sscanf(line, "%*s %llu %" SCNd64, &i, &v) == 2 &&
	    i < s->req->nr_events)
		counts[i] = v;
}

/* One line of the script's; what is none is no harm. */
static int take_line(void *data, const char *line)
{
	struct session *s = data;
	struct stat_block *b = &s->block;
	struct stat_thread *t;
	unsigned long long i;
	int64_t a, c;
	int at = 0;

	if (sscanf(line, "begin %" SCNd64, &a) == 1) {
		begin_block(s, a);
	} else if (!s->in_block) {
		return 0;
	} else if (!strncmp(line, "event ", 6)) {
		take_count(s, b->counts, line);
	} else if (sscanf(line, "set %llu %" SCNd64 " %" SCNd64, &i, &a, &c) ==
		   3) {
		if (i < s->req->nr_sets)
			b->sets[i] = (struct stat_set) { a, c };
	} else if (sscanf(line, "session %" SCNd64, &a) == 1) {
		b->session_ns = a;
	} else if (sscanf(line, "late %" SCNd64, &a) == 1) {
		b->late = a;
	} else if (sscanf(line, "thread %" SCNd64 " %" SCNd64 " %n", &a, &c,
			  &at) == 2 && at) {
		t = new_thread(s);
		t->pid = a;
		t->tid = c;
		t->name = xstrdup(line + at);
	} else if (!strncmp(line, "of ", 3) && b->nr_threads) {
		take_count(s, b->threads[b->nr_threads - 1].counts, line);
	} else if (sscanf(line, "ofset %llu %" SCNd64 " %" SCNd64, &i, &a,
			  &c) == 3 && b->nr_threads) {
		if (i < s->req->nr_sets)
			b->threads[b->nr_threads - 1].sets[i] =
				(struct stat_set) { a, c };
	} else if (sscanf(line, "ran %" SCNd64, &a) == 1 && b->nr_threads) {
		b->threads[b->nr_threads - 1].ran_ns = a;
	} else if (!strcmp(line, "end") || !strcmp(line, "last")) {
		b->last = *line == 'l';
		s->ended = b->last;
		s->in_block = false;
		return s->on_block(s->req, b);
	}
	return 0;
}

int stat_session(const struct stat_request *req, const char *script,
		 int (*on_block)(const struct stat_request *req,
				 const struct stat_block *block),
		 bool *more)
{
	struct session s = { .req = req, .on_block = on_block };
	char *args[16], id[32], *given[2] = { NULL, NULL };
	int n = 0, status;

	s.block.counts = xmalloc(req->nr_events * sizeof(*s.block.counts));
	s.block.sets = xmalloc(req->nr_sets * sizeof(*s.block.sets));
	snprintf(id, sizeof(id), "%" PRIu64, req->id);
	if (req->command) {
		args[n++] = "-c";
		args[n++] = req->command;
	}
	if (req->whom == STAT_PROCESS) {
		args[n++] = "-x";
		args[n++] = id;
	}
	if (req->whom == STAT_THREAD)
		given[0] = words_of_global("stat_id", id);
	if (req->cpus)
		given[1] = words_of_cpus(req->cpus);
	if (given[0]) {
		args[n++] = "-G";
		args[n++] = given[0];
	}
	if (given[1]) {
		args[n++] = "-G";
		args[n++] = given[1];
	}
	/* its end prints a line for each event of each thread: 1024 of each, at most */
	if (req->per_thread) {
		args[n++] = "-D";
		args[n++] = "MAXACTION_INTERRUPTIBLE=100000000";
	}
	args[n] = NULL;
	status = beside_run(&(struct beside) {
		.who = "stat",
		.args = args,
		.script = script,
		.on_line = take_line,
		.data = &s,
		.stopped = &s.stopped,
	});
	if (!status && !s.ended && !(s.stopped && req->repeat)) {
		shown_line(stderr, "stapwatch stat: no counts came (stap's message is above)");
		status = 1;
	}
	*more = s.ended && !s.stopped;
	drop_threads(&s.block);
	free(s.block.counts);
	free(s.block.sets);
	free(given[0]);
	free(given[1]);
	return status;
}
