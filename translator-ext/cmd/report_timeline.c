/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stapwatch report of a timeline; report_timeline.h says what is wanted of it. */
#include "cmd/report_timeline.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/shown.h"
#include "cmd/line.h"
#include "cmd/ppa_syscalls.h"
#include "cmd/ppa_why.h"

static const char *part_name(unsigned int part)
{
	return part < PPA_NR_PARTS ? ppa_part_name(part) : NULL;
}

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE
#endif

/* Each machine has numbers of its own. */
static const char *no_name(uint32_t call)
{
	(void)call;
	return NULL;
}

/* What is not shown is told of. */
static void say_losses(const struct timeline *t, struct warnings *w)
{
	const uint64_t threads = t->checked + t->differ + t->unchecked;

	loss_say(&t->loss, &t->skipped, t->name, w);
	if (t->lost)
		warnings_add(
			w, WARNING_NUMBERS, warnings_share(t->lost, t->taken),
			"%s: of %" PRIu64 " slices %" PRIu64
			" were lost to a full buffer; what threads did in that time is left out",
			t->name, t->taken, t->lost);
	if (t->damaged)
		warnings_add(w, WARNING_NUMBERS,
			     warnings_share(t->damaged, t->taken),
			     "%s: %" PRIu64 " records of slices are damaged",
			     t->name, t->damaged);
	if (t->differ)
		warnings_add(
			w, WARNING_NUMBERS, warnings_share(t->differ, threads),
			"%s: the slices of %" PRIu64
			" threads are not what was accounted for; those of %" PRIu64
			" are",
			t->name, t->differ, t->checked);
	if (t->unchecked)
		warnings_add(
			w, WARNING_NUMBERS,
			warnings_share(t->unchecked, threads),
			"%s: %" PRIu64 " threads have slices that are missing",
			t->name, t->unchecked);
}

/* Not all slices have been printed. */
static int say_error(const struct timeline *t)
{
	struct buf why = { 0 };

	if (!t->slices.spool.error)
		return 0;
	spool_why(&t->slices.spool, &why);
	shown_line(stderr, "stapwatch report: %s: %s", t->name, why.s);
	free(why.s);
	return 1;
}

int report_timeline(const char *path, const char *file,
		    const struct timeline_filter *filter,
		    void (*print)(const struct timeline_view *v,
				  struct buf *out, FILE *to),
		    struct warnings *w, struct buf *out)
{
	struct timeline_view v = { .filter = *filter, .part_name = part_name };
	struct buf why = { 0 };
	struct timeline *t = timeline_read(path, &why);
	int status;

	if (!t) {
		shown_line(stderr, "stapwatch report: %s: %s", path, why.s);
		free(why.s);
		return 1;
	}
	free(why.s);
	if (cmd_line_output_begin("report", file)) {
		timeline_free(t);
		return 1;
	}
	v.timeline = t;
	v.call_name = t->machine == OUR_MACHINE ? ppa_call_name : no_name;
	timeline_filter_marks(t, &v.filter);
	print(&v, out, stdout);
	spans_say(&v.filter.spans, &v.filter.span, t->name, w);
	spans_free(&v.filter.spans);
	say_losses(t, w);
	status = say_error(t);
	timeline_free(t);
	return status;
}
