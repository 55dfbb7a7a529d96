/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a JIT compiler says of its code: /tmp/perf-PID.map. */
#ifndef STAPWATCH_JIT_MAP_H
#define STAPWATCH_JIT_MAP_H

#include <stdint.h>

#include "base/buf.h"
#include "report/names/symtab.h"

/**
 * jit_map_read - the symbols of a process's own code
 * @pid: as the trace has it; a container's process writes the file by the
 *	number that it has there, where its own /tmp is
 * @tab: gets them; the caller sorts it
 * @why: gets why a file that is there was not taken: a line without its end
 *
 * Return: whether there is such a file
 */
bool jit_map_read(uint32_t pid, struct intern *texts, struct symtab *tab,
		  struct buf *why);

#endif
