/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The script of stapwatch stat.
 *
 * Numbers and names that differ from run to run come by -G and as target(), so that
 * the same question finds its module in stap's cache.
 *
 * What it prints, a line each:
 *
 *	begin NS		since it counts; a block begins
 *	event I COUNT		or "event I none"
 *	set I RUNS NS		of several sets; or "set I none"
 *	session NS		that all CPUs had sets, or somebody ran; or "session none"
 *	thread PID TID NAME	and the counts of that thread: of I COUNT,
 *				ofset I RUNS NS, ran NS
 *	late CPUS		that did not say in time what they had counted up to now
 *	end, or last		the block is whole
 */
#include "cmd/stat.h"

#include <inttypes.h>
#include <stdlib.h>

#include "event/event_declare.h"

static const char *const whose[] = {
	[STAT_COMMAND] = "target()",
	[STAT_PROCESS] = "target()",
	[STAT_THREAD] = "stat_id",
	[STAT_CGROUP] = "stat_cgroup",
	[STAT_CPUS] = "-1",
};

static bool has_sets(const struct stat_request *req)
{
	return req->nr_sets > 1;
}

static const char *name_of(const struct stat_event *e)
{
	return e->ev.table_name ?: e->text;
}

/* An event that the table has no name for, and whether it counts always. */
static void put_native(const struct stat_event *e, bool always, struct buf *out)
{
	if (e->native < 0)
		return;
	event_declare(out, e->native, e->text, &e->ev.attr, 0, 0, 0);
	buf_puts(out, "\n");
	if (!always)
		return;
	event_anchor(out, e->native);
	buf_puts(out, "\n");
}

static void put_natives(const struct stat_request *req, struct buf *out)
{
	size_t i;

	for (i = 0; i < req->nr_events; i++)
		put_native(&req->events[i], !has_sets(req), out);
	if (req->every.overflows)
		put_native(&req->every.event, false, out);
}

/* "pmu_set_tree(target(), ": what comes next is a set's name. */
static void put_of_sets(const struct stat_request *req, struct buf *out)
{
	static const char *const functions[] = {
		[STAT_COMMAND] = "pmu_set_tree",
		[STAT_PROCESS] = "pmu_set_tree",
		[STAT_THREAD] = "pmu_set_virtual_of",
		[STAT_CGROUP] = "pmu_set_cgroup",
		[STAT_CPUS] = NULL,
	};

	if (req->whom == STAT_CPUS)
		buf_puts(out, "pmu_set_count(");
	else
		buf_printf(out, "%s(%s, ", functions[req->whom],
			   whose[req->whom]);
}

/* What names an event of a set, the last of a call's arguments. */
static void put_in_set(const struct stat_event *e, struct buf *out)
{
	buf_printf(out, "\"s%zu\", ", e->set);
	buf_stap_string(out, name_of(e));
	buf_puts(out, ")");
}

/* The value of an event, of the whole target. */
static void put_value(const struct stat_request *req,
		      const struct stat_event *e, struct buf *out)
{
	static const char *const of_table[] = {
		[STAT_COMMAND] = "tree_%s(%s)",
		[STAT_PROCESS] = "tree_%s(%s)",
		[STAT_THREAD] = "virtual_%s_of(%s)",
		[STAT_CGROUP] = "cgroup_%s(%s)",
		[STAT_CPUS] = "startwatch_%s_of(%s)",
	};
	static const char *const of_natives[] = {
		[STAT_COMMAND] = "__sw_native_tree(%d, %s)",
		[STAT_PROCESS] = "__sw_native_tree(%d, %s)",
		[STAT_THREAD] = "__sw_native_of(%d, %s)",
		[STAT_CGROUP] = "__sw_native_cgroup(%d, %s)",
		[STAT_CPUS] = "__sw_native_cpu_of(%d, %s)",
	};
	const char *name = e->ev.table_name;

	if (has_sets(req)) {
		put_of_sets(req, out);
		put_in_set(e, out);
	} else if (e->native < 0) {
		buf_printf(out, of_table[req->whom], name, whose[req->whom]);
	} else {
		buf_printf(out, of_natives[req->whom], e->native,
			   whose[req->whom]);
	}
}

/* A time for each set, as many as there are sets. */
static void put_every_own(const char *text, struct buf *out)
{
	size_t set, len;
	char *time;

	for (set = 0; *text; set++) {
		len = strcspn(text, ";");
		time = xstrndup(text, len);
		buf_printf(out, "\tpmu_set_every(\"s%zu\", ", set);
		buf_stap_string(out, time);
		buf_puts(out, ")\n");
		free(time);
		text += len + (text[len] == ';');
	}
}

/* When the next set runs: 10 ms is where switching costs next to nothing. */
static void put_every(const struct stat_request *req, struct buf *out)
{
	struct buf spec = { 0 };

	if (req->every.text && strchr(req->every.text, ';')) {
		put_every_own(req->every.text, out);
		return;
	}
	if (req->every.overflows)
		buf_printf(&spec, "overflow:%s%s", name_of(&req->every.event),
			   req->every.overflows);
	buf_puts(out, "\tpmu_switch_every(");
	buf_stap_string(out, spec.s ?: req->every.text ?: "10ms");
	buf_puts(out, ")\n");
	free(spec.s);
	/* whose own time it goes by */
	if (stat_every_is_of_threads(req) && req->whom == STAT_CPUS)
		buf_puts(out, "\tif (!process_watch(target())) exit()\n");
}

static void put_sets(const struct stat_request *req, struct buf *out)
{
	size_t set, i;

	for (set = 0; set < req->nr_sets; set++) {
		struct buf names = { 0 };

		for (i = 0; i < req->nr_events; i++)
			if (req->events[i].set == set)
				buf_printf(&names, "%s%s", names.s ? "," : "",
					   name_of(&req->events[i]));
		buf_printf(out, "\tpmu_set(\"s%zu\", ", set);
		buf_stap_string(out, names.s);
		buf_puts(out, ")\n");
		free(names.s);
	}
	put_every(req, out);
}

static void put_begin(const struct stat_request *req, struct buf *out)
{
	buf_puts(out, "probe begin {\n\tstat_began = stapwatch_ns()\n");
	if (req->command)
		buf_puts(out, "\t__sw_command()\n");
	if (has_sets(req))
		put_sets(req, out);
	if (req->whom == STAT_COMMAND || req->whom == STAT_PROCESS)
		buf_puts(out, "\tif (!process_watch(target())) exit()\n");
	else if (req->whom == STAT_THREAD)
		buf_puts(out, "\tif (!thread_watch(stat_id)) exit()\n");
	else if (req->whom == STAT_CGROUP)
		buf_puts(out, "\tif (!cgroup_watch(stat_cgroup)) exit()\n");
	buf_puts(out, "}\n");
}

/* How often each set was active, and how long; of the time that somebody ran. */
static void put_turns(const struct stat_request *req, struct buf *out)
{
	size_t i;

	for (i = 0; i < req->nr_sets; i++) {
		if (req->whom == STAT_CPUS) {
			buf_printf(out, "\tstat_turns(\"set\", %zu, pmu_set_runs(\"s%zu\"), pmu_set_active_ns(\"s%zu\"))\n",
				   i, i, i);
			continue;
		}
		buf_printf(out, "\tstat_turns(\"set\", %zu, ", i);
		put_of_sets(req, out);
		buf_printf(out, "\"s%zu\", \"runs\"), ", i);
		put_of_sets(req, out);
		buf_printf(out, "\"s%zu\", \"active_ns\"))\n", i);
	}
	buf_puts(out, "\tstat_time(\"session\", ");
	if (req->whom == STAT_CPUS) {
		buf_puts(out, "pmu_session_ns())\n");
		return;
	}
	put_of_sets(req, out);
	buf_puts(out, "\"s0\", \"ran_ns\"))\n");
}

/* The same of a thread that has ended. */
static void put_turns_of_thread(const struct stat_request *req, struct buf *out)
{
	size_t i;

	for (i = 0; i < req->nr_sets; i++)
		buf_printf(out, "\t\tstat_turns(\"ofset\", %zu, pmu_set_dead(i, \"s%zu\", \"runs\"), pmu_set_dead(i, \"s%zu\", \"active_ns\"))\n",
			   i, i, i);
	buf_puts(out, "\t\tstat_time(\"ran\", pmu_set_dead(i, \"s0\", \"ran_ns\"))\n");
}

static void put_count_of_dead(const struct stat_request *req,
			      const struct stat_event *e, struct buf *out)
{
	if (has_sets(req)) {
		buf_puts(out, "pmu_set_dead(i, ");
		put_in_set(e, out);
	} else if (e->native < 0) {
		buf_printf(out, "dead_%s(i)", e->ev.table_name);
	} else {
		buf_printf(out, "__sw_native_dead(%d, i)", e->native);
	}
}

static void put_threads(const struct stat_request *req, struct buf *out)
{
	size_t i;

	buf_puts(out, "\tfor (i = 0; i < dead_count(); i++) {\n"
		      "\t\tprintf(\"thread %d %d %s\\n\", dead_pid(i), dead_tid(i), str_replace(dead_name(i), \"\\n\", \"?\"))\n");
	for (i = 0; i < req->nr_events; i++) {
		buf_printf(out, "\t\tstat_say(\"of\", %zu, ", i);
		put_count_of_dead(req, &req->events[i], out);
		buf_puts(out, ")\n");
	}
	if (has_sets(req))
		put_turns_of_thread(req, out);
	buf_puts(out, "\t}\n");
}

/* What says a value, or that there is none. */
static void put_says(const struct stat_request *req, struct buf *out)
{
	buf_puts(out, "function stat_say(what:string, i:long, v:long) {\n"
		      "\tif (stapwatch_missing(v)) printf(\"%s %d none\\n\", what, i)\n"
		      "\telse printf(\"%s %d %d\\n\", what, i, v)\n"
		      "}\n");
	if (!has_sets(req))
		return;
	buf_puts(out, "function stat_turns(what:string, i:long, runs:long, ns:long) {\n"
		      "\tif (stapwatch_missing(runs) || stapwatch_missing(ns)) printf(\"%s %d none\\n\", what, i)\n"
		      "\telse printf(\"%s %d %d %d\\n\", what, i, runs, ns)\n"
		      "}\n"
		      "function stat_time(what:string, ns:long) {\n"
		      "\tif (stapwatch_missing(ns)) printf(\"%s none\\n\", what)\n"
		      "\telse printf(\"%s %d\\n\", what, ns)\n"
		      "}\n");
}

static void put_block(const struct stat_request *req, struct buf *out)
{
	size_t i;

	put_says(req, out);
	buf_puts(out, "function stat_block(at:long) {\n"
		      "\tprintf(\"begin %d\\n\", at - stat_began)\n");
	for (i = 0; i < req->nr_events; i++) {
		buf_printf(out, "\tstat_say(\"event\", %zu, ", i);
		put_value(req, &req->events[i], out);
		buf_puts(out, ")\n");
	}
	if (has_sets(req))
		put_turns(req, out);
	buf_puts(out, "}\n");
}

/* Its path has bytes that stap -G does not let pass. */
static void put_cgroup(const struct stat_request *req, struct buf *out)
{
	buf_puts(out, "global stat_cgroup = ");
	buf_stap_string(out, req->cgroup);
	buf_puts(out, "\n");
}

/* Whoever is counted has ended, and nothing else tells when to. */
static void put_end(const struct stat_request *req, struct buf *out)
{
	const char *lives = req->whom == STAT_PROCESS ? "tree_threads" :
						       "thread_is_watched";

	if (req->command ||
	    (req->whom != STAT_PROCESS && req->whom != STAT_THREAD))
		return;
	buf_printf(out, "probe timer.ms(100) { if (!%s(%s)) exit() }\n", lives,
		   whose[req->whom]);
}

void stat_script(const struct stat_request *req, struct buf *out)
{
	buf_puts(out, "global stat_began\n");
	if (req->whom == STAT_THREAD)
		buf_puts(out, "global stat_id = 0\n");
	if (req->whom == STAT_CGROUP)
		put_cgroup(req, out);
	put_natives(req, out);
	put_begin(req, out);
	put_block(req, out);
	if (req->interval_ms || req->estimate) {
		buf_printf(out, "probe timer.ms(%" PRIu64 ") {\n",
			   req->interval_ms ?: STAT_ESTIMATE_MS);
		buf_printf(out, "\tlate = %s()\n\tstat_block(stapwatch_ns())\n\tprintf(\"late %%d\\nend\\n\", late)\n}\n",
			   has_sets(req) && req->whom == STAT_CPUS ?
			   "pmu_set_refresh" : "watch_refresh");
	}
	put_end(req, out);
	/* the last handler before it ends has counts that nothing is added to */
	buf_puts(out, "probe end {\n\tstat_block(stapwatch_ns())\n");
	if (req->per_thread)
		put_threads(req, out);
	if (req->command)
		buf_puts(out, "\tprintf(\"command %d\\n\", __sw_command_status())\n");
	buf_puts(out, "\tprintf(\"last\\n\")\n}\n");
}
