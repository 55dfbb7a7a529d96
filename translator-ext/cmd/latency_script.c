/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script of stapwatch latency.
 *
 * The kernel's functions and numbers come by -G, so that the same kind of question
 * finds its module in stap's cache, whatever the functions are.  Programs' functions,
 * with where they are, stand in the script.
 *
 * What it prints, a line each:
 *
 *	begin NS UNDER_WAY CLOCK	since it records; calls that have not returned;
 *				nanoseconds of 10^9 ticks.  A block begins.
 *	function MISSED NAME, or cpu CPU MISSED NAME	and its histograms; or, after a
 *	key VALUE, or key PID:START NAME	function and its histograms, those of a key
 *				of its calls.  A process's may be in no later block: then its
 *				calls are among the function's:
 *	hist I SUM NEGATIVE BUCKET:COUNT ... max HIGHEST
 *	end, or last		the block is whole
 */
#include "cmd/latency.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_declare.h"

/* The last block is shared out to so many end probes: each has preemption off. */
#define SHARES 32

/* How often the script looks whether a block is due, or goes on with one. */
#define TICK_MS 5

/* A function as stap -G lets it pass; the runtime knows the way back. */
static void put_plain(const struct latency_function_name *f, struct buf *out)
{
	const char *s;

	if (f->optional)
		buf_puts(out, ".");
	for (s = f->name; *s; s++)
		if (*s == ':')
			buf_puts(out, "..");
		else
			buf_add(out, s, 1);
}

size_t latency_lists(const struct latency_request *req, struct buf *lists)
{
	struct buf plain = { 0 };
	size_t i, at = 0, nr = 0;

	/* one after the other, each with a 0 at its end */
	for (i = 0; i < req->nr_functions; i++) {
		if (req->functions[i].file)
			continue;
		put_plain(&req->functions[i], &plain);
		nr += !nr;
		if (at && at + 1 + plain.len > LATENCY_LIST) {
			buf_add(lists, "", 1);
			at = 0;
			nr++;
		}
		if (at)
			buf_puts(lists, "-");
		buf_puts(lists, plain.s);
		at += !!at + plain.len;
		plain.len = 0;
	}
	if (nr)
		buf_add(lists, "", 1);
	free(plain.s);
	return nr;
}

/* How many the script takes. */
static size_t taken(size_t nr_lists)
{
	size_t n = 1;

	while (n < nr_lists)
		n *= 2;
	return n;
}

static void put_event(const struct latency_event *e, struct buf *out)
{
	if (e->native < 0)
		buf_printf(out, "\tcall_count_%s()\n", e->ev.table_name);
	else
		buf_printf(out, "\t__sw_native_call_count(%d)\n", e->native);
}

/* Events that the table has no name for. */
static void put_natives(const struct latency_request *req, struct buf *out)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++) {
		const struct latency_event *e = &req->events[i];

		if (e->native < 0)
			continue;
		event_declare(out, e->native, e->text, &e->ev.attr, 0, 0, 0);
		buf_puts(out, "\n");
		event_anchor(out, e->native);
		buf_puts(out, "\n");
	}
}

/* OFFSET NAME, with where it returns, or with a question mark where it may be left out. */
static void put_place(const struct latency_function_name *f, struct buf *out)
{
	buf_printf(out, "%" PRIx64 "%s %s%s", f->offset, f->exits ?: "",
		   strrchr(f->name, ':') + 1, f->optional ? "?" : "");
}

/* The functions of programs: as many as a string takes at a time, of one file. */
static void put_programs(const struct latency_request *req, struct buf *out)
{
	const char *open = NULL;
	struct buf place = { 0 };
	size_t i, at = 0;

	for (i = 0; i < req->nr_functions; i++) {
		const struct latency_function_name *f = &req->functions[i];
		const size_t path = strrchr(f->name, ':') - f->name;

		if (!f->file)
			continue;
		place.len = 0;
		put_place(f, &place);
		if (open && (strncmp(open, f->name, path + 1) ||
			     at + 1 + place.len > LATENCY_LIST)) {
			buf_puts(out, "\")\n");
			open = NULL;
		}
		if (!open) {
			buf_puts(out, "\t__sw_calls_record_user(");
			buf_stap_string(out, f->file);
			buf_printf(out, ", \"%.*s\", \"", (int)path, f->name);
			open = f->name;
			at = 0;
		} else {
			buf_puts(out, ",");
		}
		buf_puts(out, place.s);
		at += 1 + place.len;
	}
	if (open)
		buf_puts(out, "\")\n");
	free(place.s);
}

/*
 * A block for each interval.  It can be long, and a handler is in an interrupt: each
 * tick gives out a part.  All of it is one timer's, so that the lines come in order.
 */
static void put_interval(uint64_t ms, struct buf *out)
{
	buf_printf(out, "global latency_due = %" PRIu64 ", latency_more\n"
		   "probe timer.ms(%" PRIu64 ") {\n"
		   "\tnow = stapwatch_ns() - latency_began\n"
		   "\tif (!latency_more) {\n"
		   "\t\tif (now < latency_due) next\n"
		   "\t\tlatency_due += %" PRIu64 "\n"
		   "\t\tif (latency_due < now) latency_due = now\n"
		   "\t\tlatency_head()\n"
		   "\t}\n"
		   "\tlatency_more = __sw_calls_print_part(latency_by_cpu)\n"
		   "\tif (!latency_more) printf(\"end\\n\")\n"
		   "}\n", ms * 1000000, ms < TICK_MS ? ms : TICK_MS,
		   ms * 1000000);
}

/* Whose calls are recorded, if not all threads'. */
static void put_whom(const struct latency_request *req, struct buf *out)
{
	if (req->cgroup) {
		buf_puts(out, "\tif (!cgroup_watch(");
		/* -G does not let each of its bytes pass */
		buf_stap_string(out, req->cgroup);
		buf_puts(out, ")) exit()\n");
	} else if (req->tid) {
		buf_puts(out, "\tif (!thread_watch(latency_tid)) exit()\n");
	} else if (!req->all && (req->pid || req->command)) {
		buf_puts(out, "\tif (!process_watch(target())) exit()\n");
	} else {
		return;
	}
	buf_puts(out, "\tcall_only_watched()\n");
}

/* They have ended, and no command tells when to. */
static void put_end(const struct latency_request *req, struct buf *out)
{
	if (req->pid)
		buf_puts(out, "probe timer.ms(100) { if (!tree_threads(target())) exit() }\n");
	else if (req->tid && !req->command)
		buf_puts(out, "probe timer.ms(100) { if (!thread_is_watched(latency_tid)) exit() }\n");
}

/* After the session nothing is added to what was recorded. */
static void put_last(const struct latency_request *req, struct buf *out)
{
	unsigned int i;

	buf_printf(out, "probe end(-%u) {%s latency_head() }\nprobe ",
		   SHARES + 1, req->command ?
		   " printf(\"command %d\\n\", __sw_command_status());" : "");
	for (i = SHARES; i; i--)
		buf_printf(out, "end(-%u)%s", i, i > 1 ? ", " : " {\n");
	buf_puts(out, "\t__sw_calls_print(latency_by_cpu, latency_shares)\n"
		      "\tif (!--latency_shares) printf(\"last\\n\")\n"
		      "}\n");
}

void latency_script(const struct latency_request *req, size_t nr_lists,
		    struct buf *out)
{
	size_t i, n = taken(nr_lists);

	buf_printf(out, "global latency_began, latency_by_cpu = 0, latency_shares = %u\n",
		   SHARES);
	for (i = 0; i < n; i++)
		buf_printf(out, "global latency_%zu = \"\"\n", i);
	if (req->over_us)
		buf_puts(out, "global latency_over = 0\n");
	if (req->tid)
		buf_puts(out, "global latency_tid = 0\n");
	put_natives(req, out);
	buf_puts(out, "probe begin {\n\tlatency_began = stapwatch_ns()\n");
	put_whom(req, out);
	if (req->over_us)
		buf_puts(out, "\tcall_only_over(latency_over)\n");
	if (req->by == LATENCY_BY_PROCESS)
		buf_puts(out, "\tcall_by_process()\n");
	if (req->by == LATENCY_BY_ARGUMENT)
		buf_printf(out, "\tcall_by_argument(%u, %d)\n", req->argument,
			   req->argument_is_int ? 32 : 64);
	/* the thread's time, which is the first */
	buf_puts(out, "\tcall_count_tsc()\n");
	for (i = 0; i < req->nr_events; i++)
		put_event(&req->events[i], out);
	for (i = 0; i < n; i++)
		buf_printf(out, "\t__sw_calls_record(latency_%zu)\n", i);
	put_programs(req, out);
	if (req->command)
		buf_puts(out, "\t__sw_command()\n");
	buf_puts(out, "}\n"
		      "function latency_head() {\n"
		      "\tprintf(\"begin %d %d %d\\n\", stapwatch_ns() - latency_began,\n"
		      "\t\tcall_under_way(), stapwatch_tsc_ns(1000000000))\n"
		      "}\n");
	if (req->interval_ms)
		put_interval(req->interval_ms, out);
	put_end(req, out);
	put_last(req, out);
}
