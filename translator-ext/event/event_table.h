/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The event table: the portable names, which the tapsets have aliases for.
 */
#ifndef STAPWATCH_EVENT_TABLE_H
#define STAPWATCH_EVENT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event/event.h"

struct event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
	bool exclude_user;
	bool exclude_kernel;
	const char *text;
};

/**
 * event_table_get - the names one by one
 * @i: from 0
 *
 * Return: NULL after the last one
 */
const struct event_name *event_table_get(size_t i);

/**
 * event_table_find - a name's entry
 * @name: need not end in a NUL
 * @len: its length
 *
 * Return: NULL if the table has no such name
 */
const struct event_name *event_table_find(const char *name, size_t len);

/**
 * event_table_attr - what perf is to be told to count that
 */
struct event_attr event_table_attr(const struct event_name *e);

/**
 * event_table_match - the name for just this
 * @attr: what is to be counted
 *
 * The hypervisor's share is nothing that the table's names speak of, so
 * exclude_hv may be either way.
 *
 * Return: NULL if the table has no name for it
 */
const struct event_name *event_table_match(const struct event_attr *attr);

/**
 * event_table_text - what is counted, wherever it happens
 *
 * Return: NULL if the table does not say
 */
const char *event_table_text(uint32_t type, uint64_t config);

/**
 * event_table_is_tsc - is it the system counter, which is no event of perf's?
 */
bool event_table_is_tsc(const struct event_name *e);

#endif
