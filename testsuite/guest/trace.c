/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in a trace, for tests: a reader that takes nothing for granted
 * and adds up.
 *
 *	trace FILE [SHARES]	SHARES: what `shares' printed
 */
#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/abi.h"

#define MAX_CPUS 64
#define MAX_FUNCTIONS 32
#define MAX_PATHS 256

/* No user's address is longer. */
#define USER_BITS 48

/* Where a function has no frame yet, or no more: its first instructions, and
 * its return. */
#ifdef __x86_64__
#define BEFORE_FRAME 4
#define AFTER_FRAME 1
#else
#define BEFORE_FRAME 8
#define AFTER_FRAME 4
#endif

static struct {
	uint64_t seen, gaps;
	uint32_t next;
	struct sw_trace_end end;
	bool ended;
} cpus[MAX_CPUS];

static struct {
	char name[32];
	uint64_t addr;
} functions[MAX_FUNCTIONS];
static int nr_functions;
static uint32_t pids[64];
static int nr_pids;

static struct {
	char text[256];
	int n;
} paths[MAX_PATHS];
static int nr_paths;

static const char *data;
static size_t size;
static uint64_t counts[SW_TRACE_END + 1], text_bytes, oldest, unordered;

static const struct sw_trace_record *next_record(size_t *at)
{
	while (*at + sizeof(struct sw_trace_record) <= size) {
		const struct sw_trace_record *r = (const void *)(data + *at);
		struct sw_trace_record copy;

		memcpy(&copy, r, sizeof(copy));
		if (copy.mark == SW_TRACE_MARK && copy.type &&
		    copy.type <= SW_TRACE_END && copy.size % 8 == 0 &&
		    copy.size >= sizeof(copy) &&
		    copy.size <= SW_TRACE_MAX_SIZE && copy.cpu < MAX_CPUS &&
		    *at + copy.size <= size) {
			struct sw_trace_record *whole = malloc(copy.size);

			memcpy(whole, r, copy.size);
			*at += copy.size;
			return whole;
		}
		text_bytes++;
		++*at;
	}
	text_bytes += size - *at;
	return NULL;
}

static const struct sw_trace_stack **stacks;
static uint32_t nr_stacks, twice, beyond;

static void add_stack(const struct sw_trace_stack *s)
{
	uint32_t i;

	for (i = 0; i < s->nr; i++)
		beyond += s->flags & SW_TRACE_STACK_USER && s->ip[i] >> USER_BITS;
	for (i = 0; i < nr_stacks; i++)
		if (stacks[i] && stacks[i]->nr == s->nr &&
		    stacks[i]->flags == s->flags &&
		    !memcmp(stacks[i]->ip, s->ip, s->nr * 8))
			twice++;
	if (s->stack >= nr_stacks) {
		stacks = realloc(stacks, (s->stack + 1) * sizeof(*stacks));
		while (nr_stacks <= s->stack)
			stacks[nr_stacks++] = NULL;
	}
	twice += !!stacks[s->stack];
	stacks[s->stack] = s;
}

static void read_shares(const char *path)
{
	FILE *f = fopen(path, "r");
	char line[256];

	if (!f)
		err(1, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "pid %u", &pids[nr_pids]) == 1)
			nr_pids += nr_pids < 63;
		else if (nr_functions < MAX_FUNCTIONS &&
			 sscanf(line, "function %31s %" SCNx64,
				functions[nr_functions].name,
				&functions[nr_functions].addr) == 2)
			nr_functions++;
	}
	fclose(f);
}

/* A return address is after the call. */
static const char *function_of(uint64_t ip)
{
	int i;

	for (i = 0; i + 1 < nr_functions; i++)
		if (ip >= functions[i].addr && ip < functions[i + 1].addr)
			return functions[i].name;
	return NULL;
}

static bool has_frame(uint64_t ip)
{
	int i;

	for (i = 0; i + 1 < nr_functions; i++)
		if (ip >= functions[i].addr && ip < functions[i + 1].addr)
			return ip - functions[i].addr >= BEFORE_FRAME &&
			       functions[i + 1].addr - ip > AFTER_FRAME;
	return false;
}

static bool is_ours(uint32_t pid)
{
	int i;

	for (i = 0; i < nr_pids; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Where a sample was, and who called, up to what is not of ours. */
static void add_path(const struct sw_trace_sample *s)
{
	const struct sw_trace_stack *k = s->ustack < nr_stacks ?
				      stacks[s->ustack] : NULL;
	char text[256] = "";
	uint32_t i;

	if (!k || !has_frame(k->ip[0]))
		return;
	for (i = 0; i < k->nr; i++) {
		const char *name = function_of(k->ip[i] - !!i);

		if (!name)
			break;
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s%s", i ? "<" : "", name);
	}
	for (i = 0; i < (uint32_t)nr_paths; i++)
		if (!strcmp(paths[i].text, text))
			break;
	if (i == MAX_PATHS)
		return;
	strcpy(paths[i].text, text);
	paths[i].n++;
	nr_paths += i == (uint32_t)nr_paths;
}

static void print_map(const struct sw_trace_mmap *m)
{
	int i;

	printf("mmap %u %#" PRIx64 "+%" PRIx64 " %" PRIx64 " ino %" PRIu64
	       " ns %u flags %u ", m->pid, m->addr, m->len, m->offset, m->inode,
	       m->mnt_ns, m->flags);
	for (i = 0; i < SW_TRACE_BUILD_ID; i++)
		printf("%02x", m->build_id[i]);
	printf(" %s\n", m->path);
}

/* What its CPU counted since the sample before; - is no value. */
static void print_counts(const struct sw_trace_sample *s)
{
	const uint64_t *count = s->more;
	unsigned int i;

	count += !!(s->has & SW_TRACE_HAS_ADDR) +
		 !!(s->has & SW_TRACE_HAS_LATENCY) +
		 !!(s->has & SW_TRACE_HAS_DATA_SRC) +
		 !!(s->has & SW_TRACE_HAS_THREAD);
	printf("counts %u %u", s->r.cpu, s->event);
	for (i = 0; i < s->nr_counts; i++)
		if (count[i] == UINT64_MAX)
			printf(" -");
		else
			printf(" %" PRIu64, count[i]);
	printf("\n");
}

static void print_record(const struct sw_trace_record *r)
{
	const struct sw_trace_sample *s = (const void *)r;
	const struct sw_trace_head *h = (const void *)r;
	const struct sw_trace_event *e = (const void *)r;
	const struct sw_trace_count *c = (const void *)r;
	const struct sw_trace_comm *o = (const void *)r;
	const struct sw_trace_fork *f = (const void *)r;
	const struct sw_trace_exit *x = (const void *)r;
	const struct sw_trace_module *m = (const void *)r;

	switch (r->type) {
	case SW_TRACE_HEAD:
		printf("head version %u size %u page %u stext %d build %d by %x release %s\n",
		       h->version, h->size, h->page_size, !!h->stext,
		       !!h->build_id[0], h->made_by,
		       (const char *)h + h->size);
		break;
	case SW_TRACE_EVENT:
		printf("event %u %s every %" PRIu64 " flags %u\n", e->event,
		       e->name, e->every, e->flags);
		break;
	case SW_TRACE_COUNT:
		printf("count %u %s\n", c->count, c->name);
		break;
	case SW_TRACE_SAMPLE:
		if (s->nr_counts)
			print_counts(s);
		break;
	case SW_TRACE_COMM:
		printf("comm %u %u %s%s\n", o->pid, o->tid, o->comm,
		       o->flags & SW_TRACE_COMM_EXEC ? " exec" : "");
		break;
	case SW_TRACE_FORK:
		printf("fork %u %u of %u\n", f->pid, f->tid, f->parent_pid);
		break;
	case SW_TRACE_EXIT:
		printf("exit %u %u\n", x->pid, x->tid);
		break;
	case SW_TRACE_MMAP:
		print_map((const void *)r);
		break;
	case SW_TRACE_MODULE:
		printf("module %s %d %d\n", m->name, !!m->addr, m->flags);
		break;
	}
}

static void look_at(const struct sw_trace_record *r)
{
	uint64_t *gaps = &cpus[r->cpu].gaps;

	counts[r->type]++;
	*gaps += r->seq - cpus[r->cpu].next;
	cpus[r->cpu].next = r->seq + 1;
	if (r->type != SW_TRACE_ROUND)
		unordered += r->time < oldest;
	else
		oldest = ((const struct sw_trace_round *)r)->oldest;
	if (r->type == SW_TRACE_SAMPLE)
		cpus[r->cpu].seen++;
	if (r->type == SW_TRACE_STACK)
		add_stack((const struct sw_trace_stack *)r);
	if (r->type == SW_TRACE_END) {
		cpus[r->cpu].end = *(const struct sw_trace_end *)r;
		cpus[r->cpu].ended = true;
	}
}

static void look_at_samples(void)
{
	uint64_t missing = 0, periods = 0, ours = 0, n[MAX_FUNCTIONS] = { 0 };
	const struct sw_trace_record *r;
	size_t at = 0;
	int i;

	while ((r = next_record(&at))) {
		const struct sw_trace_sample *s = (const void *)r;

		if (r->type != SW_TRACE_SAMPLE)
			continue;
		missing += s->kstack && (s->kstack >= nr_stacks ||
					 !stacks[s->kstack]);
		missing += s->ustack && (s->ustack >= nr_stacks ||
					 !stacks[s->ustack]);
		periods += s->period;
		if (!is_ours(s->pid))
			continue;
		ours++;
		for (i = 0; i < nr_functions; i++) {
			const char *name = function_of(s->ip);

			n[i] += name && !strcmp(name, functions[i].name);
		}
		add_path(s);
	}
	printf("missing stacks %" PRIu64 "\nperiods %" PRIu64 "\nours %" PRIu64
	       "\n", missing, periods, ours);
	for (i = 0; i < nr_functions; i++)
		printf("share %s %" PRIu64 "\n", functions[i].name, n[i]);
	for (i = 0; i < nr_paths; i++)
		printf("path %s %d\n", paths[i].text, paths[i].n);
}

static void print_ends(void)
{
	uint64_t taken = 0, written = 0, lost = 0, seen = 0, gaps = 0;
	uint64_t full = 0, nested = 0, skipped = 0, no_stack = 0, other = 0;
	int i, n = 0, wrong = 0;

	for (i = 0; i < MAX_CPUS; i++) {
		const struct sw_trace_end *e = &cpus[i].end;
		uint64_t l = e->lost_full + e->lost_nested + e->lost_skipped;

		n += cpus[i].ended;
		if (e->taken != e->written + l || e->written != cpus[i].seen) {
			wrong++;
			warnx("cpu %d, %s: taken %" PRIu64 ", written %" PRIu64
			      ", seen %" PRIu64 ", lost %" PRIu64 " + %" PRIu64
			      " + %" PRIu64, i,
			      cpus[i].ended ? "ended" : "not ended", e->taken,
			      e->written, cpus[i].seen, e->lost_full,
			      e->lost_nested, e->lost_skipped);
		}
		taken += e->taken;
		written += e->written;
		lost += l;
		full += e->lost_full;
		nested += e->lost_nested;
		skipped += e->lost_skipped;
		no_stack += e->no_stack;
		other += e->other_lost;
		seen += cpus[i].seen;
		gaps += cpus[i].gaps;
	}
	printf("ends %d\ntaken %" PRIu64 "\nwritten %" PRIu64 "\nlost %" PRIu64
	       "\nfull %" PRIu64 "\nnested %" PRIu64 "\nskipped %" PRIu64
	       "\nno_stack %" PRIu64 "\nother_lost %" PRIu64 "\nseen %" PRIu64
	       "\ngaps %" PRIu64 "\nwrong sums %d\n", n, taken, written, lost,
	       full, nested, skipped, no_stack, other, seen, gaps, wrong);
}

static void read_all(const char *path)
{
	FILE *f = fopen(path, "rb");
	size_t room = 0, n;
	char *all = NULL;

	if (!f)
		err(1, "%s", path);
	do {
		room += 1 << 20;
		all = realloc(all, room);
		if (!all)
			err(1, "%s", path);
		n = fread(all + size, 1, room - size, f);
		size += n;
	} while (n);
	fclose(f);
	data = all;
}

int main(int argc, char **argv)
{
	const struct sw_trace_record *r;
	size_t at = 0;

	if (argc < 2)
		errx(2, "trace FILE [SHARES]");
	read_all(argv[1]);
	if (argc > 2)
		read_shares(argv[2]);
	while ((r = next_record(&at))) {
		look_at(r);
		print_record(r);
	}
	printf("text %" PRIu64 "\nsamples %" PRIu64 "\nstacks %" PRIu64
	       "\nstacks twice %u\nbeyond %u\nrounds %" PRIu64
	       "\nunordered %" PRIu64 "\n",
	       text_bytes, counts[SW_TRACE_SAMPLE], counts[SW_TRACE_STACK],
	       twice, beyond, counts[SW_TRACE_ROUND], unordered);
	text_bytes = 0;
	look_at_samples();
	print_ends();
	return 0;
}
