/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mark as JSON; mark_json.h says what is wanted of it. */
#include "report/output/mark_json.h"

#include "base/json.h"
#include "report/input/span.h"

void mark_json(struct buf *out, const struct mark *m, uint64_t zero,
	       const char *trace)
{
	struct json j = { .out = out };

	json_document(&j);
	json_uint(&j, "time_ns", span_since(zero, m->ns));
	json_string(&j, "mark", m->name);
	json_uint(&j, "pid", m->pid);
	json_uint(&j, "tid", m->tid);
	json_uint(&j, "cpu", m->cpu);
	if (trace)
		json_string(&j, "trace", trace);
	json_end_document(&j);
}
