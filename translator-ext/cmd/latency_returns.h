/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Programs that a probe on the return of their functions ends.
 *
 * Such a probe has the kernel put another return address on the stack, for as long as
 * the call is under way.  Who looks through the stack meanwhile does not know it.
 */
#ifndef STAPWATCH_LATENCY_RETURNS_H
#define STAPWATCH_LATENCY_RETURNS_H

#ifdef HAVE_LIBDW

#include <elfutils/libdwfl.h>
#include <stdbool.h>

#include "base/buf.h"

enum latency_returns {
	LATENCY_RETURNS_FINE,
	LATENCY_RETURNS_OWN,	/* probes where functions return do no harm */
	LATENCY_RETURNS_FATAL,	/* nor would their times be right */
};

/**
 * latency_returns_check - what speaks against such probes in a file
 * @mod: with its symbols
 * @elf: of it
 * @why: gets it, as a part of a sentence, unless all is fine
 * @note: gets what few such files do
 */
enum latency_returns latency_returns_check(Dwfl_Module *mod, Elf *elf,
					   struct buf *why, struct buf *note);

/** latency_returns_is_jumped_to - is there no return address where it begins? */
bool latency_returns_is_jumped_to(const char *name);

/**
 * latency_returns_looks - does a function look where it returns to?
 *
 * It finds the probe's return address, and goes there when that has no meaning any
 * more, or wonders what function is there.
 */
bool latency_returns_looks(const char *name);

#endif

#endif
