/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes, their threads' names and what they have mapped, as a trace's time
 * goes on.
 *
 * A space is what addresses mean to a process at one time.  It grows by maps
 * that lie where there was nothing; where one takes the place of another, at
 * exec, and when a JIT compiler has written down what it made, a new space begins,
 * so that (space, address) means one thing for ever.  The kernel's modules are such a
 * space too, with numbers of its own.
 */
#ifndef STAPWATCH_PROC_MAPS_H
#define STAPWATCH_PROC_MAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "report/input/images.h"
#include "report/input/jit_dump.h"
#include "trace/abi.h"

struct procs;

/**
 * procs_new - no processes yet
 * @trace: the number of the trace that they are of
 * @head: its head
 */
struct procs *procs_new(struct images *images, struct intern *texts,
			uint32_t trace, const struct sw_trace_head *head);
void procs_free(struct procs *p);

/** procs_record - a record of a process or a module, in the order of time */
void procs_record(struct procs *p, const struct sw_trace_record *r);

/** procs_comm - a thread's name at this time, as a number of the texts */
uint32_t procs_comm(struct procs *p, uint32_t pid, uint32_t tid);

/** procs_space - what a process's addresses mean at this time; it is kept */
uint32_t procs_space(struct procs *p, uint32_t pid, uint64_t time);

/** procs_modules - what the kernel's addresses mean at this time; it is kept */
uint32_t procs_modules(struct procs *p);

/**
 * procs_find - whose code an address is
 * @space: of procs_space(), or of procs_modules() for the kernel's addresses
 * @kernel: whether it is one of the kernel's
 * @offset: what the image calls it
 *
 * Return: an image's number
 */
uint32_t procs_find(struct procs *p, uint32_t space, bool kernel, uint64_t ip,
		    uint64_t *offset);

/** procs_jit - what a process's JIT compiler has written down, or NULL */
const struct jit_dump *procs_jit(const struct procs *p, uint32_t pid);

#endif
