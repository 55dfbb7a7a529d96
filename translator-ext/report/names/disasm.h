/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions, by capstone: it knows x86 and arm64 alike, says which of them
 * branch and where to, and is small and kept up.
 */
#ifndef STAPWATCH_DISASM_H
#define STAPWATCH_DISASM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disasm;

/* How a jump that has no target may be one of a switch, within its function. */
enum disasm_switch {
	DISASM_NO_SWITCH,
	DISASM_MARKED,		/* it is: calls by such jumps are checked, and it is not */
	DISASM_ADDRESSES,	/* if a table's words are addresses of the function's */
	DISASM_DISTANCES,	/* if these, of 32 bits, are distances from there to the table */
	DISASM_FROM,		/* if they are distances from a place of the function's */
};

struct instruction {
	uint64_t addr;
	unsigned int size;
	bool bad;		/* it is none */
	bool branches;		/* a jump or a return, and no call */
	bool returns;
	uint64_t target;	/* where to; 0: not known */
	enum disasm_switch by;
	uint64_t table;		/* that table, or that place */
};

#define DISASM_TEXT 200		/* room for one as text */

/**
 * disasm_new - for a processor
 * @machine: ELF's e_machine
 *
 * Return: NULL if it is none that is known, or built without capstone
 */
struct disasm *disasm_new(uint32_t machine);
void disasm_free(struct disasm *d);

/** disasm_built - whether there is any */
bool disasm_built(void);

/**
 * disasm_one - the first instruction of some code
 *
 * By what a jump without a target is, hangs on the instructions before it: these have to be
 * those of the last calls.
 *
 * What is none is one of as many bytes as an instruction has at least, (bad).
 */
void disasm_one(struct disasm *d, const void *code, size_t size, uint64_t addr,
		struct instruction *in);

/**
 * disasm_text - such an instruction as text, as an assembler has it
 *
 * There may be a million in a function, so that none keeps its text.
 */
void disasm_text(struct disasm *d, const void *code,
		 const struct instruction *in, char text[DISASM_TEXT]);

#endif
