/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trace asks of its source, which is all that there is to trace: so trace.h
 * knows neither samples nor images.  All of these are there, and are called in the
 * trace's work item, under sw_trace.lock; they may sleep.
 */
#ifndef STAPWATCH_TRACE_SOURCE_H
#define STAPWATCH_TRACE_SOURCE_H

#include "base/compat.h"

struct sw_trace_record;

struct sw_trace_source {
	/** begun - the trace has its head; called once */
	void (*begun)(void);
	/** before - a round begins: put what samples are going to name */
	void (*before)(void);
	/** after - put what this round's records named; false: no room for all */
	bool (*after)(void);
	/** finish - a CPU's record is about to be put; perhaps not for the first
	 * time, when there was no room */
	void (*finish)(struct sw_trace_record *r);
	/** took - it is out */
	void (*took)(const struct sw_trace_record *r);
	/** gave_up - no round follows: count what is not out */
	void (*gave_up)(void);
};

#endif
