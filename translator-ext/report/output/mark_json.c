/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mark as JSON; mark_json.h says what is wanted of it. */
#include "report/output/mark_json.h"

#include <inttypes.h>

#include "base/json.h"
#include "report/input/span.h"

void mark_json(struct buf *out, const struct mark *m, uint64_t zero)
{
	buf_printf(out, "{\"time_ns\":%" PRIu64 ",\"mark\":",
		   span_since(zero, m->ns));
	json_quote(out, m->name);
	buf_printf(out, ",\"pid\":%" PRIu32 ",\"tid\":%" PRIu32 ",\"cpu\":%" PRIu32 "}\n",
		   m->pid, m->tid, m->cpu);
}
