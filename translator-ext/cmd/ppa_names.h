/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of programs that run, by their addresses.
 *
 * What a process has mapped is looked at once in a while; files are read once.
 */
#ifndef STAPWATCH_PPA_NAMES_H
#define STAPWATCH_PPA_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

struct ppa_names;

struct ppa_names *ppa_names_new(void);
void ppa_names_free(struct ppa_names *n);

/** ppa_names_look_again - what processes have mapped may be another by now */
void ppa_names_look_again(struct ppa_names *n);

/**
 * ppa_names_put - add what an address is called in a process
 * @returns: it is where a call returns to, after that
 *
 * That is a function, or the file and the place in it, or, where the process is gone,
 * the address.
 */
void ppa_names_put(struct ppa_names *n, uint32_t pid, uint64_t ip, bool returns,
		   struct buf *out);

#endif
