/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions; disasm.h says what is wanted of it. */
#include "report/names/disasm.h"

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

#define DISASM_REGISTERS 32

struct disasm {
	csh handle;
	cs_insn *insn;
	uint32_t machine;
	/* registers that an address was taken into */
	struct {
		unsigned int reg;
		uint64_t at;
	} bases[DISASM_REGISTERS];
	unsigned int nr_bases;
	/* what the last addition left, of which of these, and where the next instruction is */
	unsigned int sum;
	uint64_t sum_base, sum_end;
};

bool disasm_built(void)
{
	return true;
}

struct disasm *disasm_new(uint32_t machine)
{
	struct disasm *d;
	csh handle;
	cs_err err;

	if (machine == EM_X86_64)
		err = cs_open(CS_ARCH_X86, CS_MODE_64, &handle);
	else if (machine == EM_AARCH64)
		err = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &handle);
	else
		return NULL;
	if (err != CS_ERR_OK)
		return NULL;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	/* as objdump and gdb write it */
	if (machine == EM_X86_64)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d = xmalloc(sizeof(*d));
	*d = (struct disasm) {
		.handle = handle, .insn = cs_malloc(handle), .machine = machine
	};
	return d;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

static bool in_group(const struct disasm *d, unsigned int group)
{
	return cs_insn_group(d->handle, d->insn, group);
}

static uint64_t target_of(const struct disasm *d)
{
	const cs_detail *detail = d->insn->detail;
	int n;

	if (d->machine == EM_X86_64) {
		n = detail->x86.op_count;
		return n && detail->x86.operands[n - 1].type == X86_OP_IMM ?
			detail->x86.operands[n - 1].imm : 0;
	}
	n = detail->arm64.op_count;
	return n && detail->arm64.operands[n - 1].type == ARM64_OP_IMM ?
		detail->arm64.operands[n - 1].imm : 0;
}

static bool is_call(const struct disasm *d)
{
	/* capstone 4 does not have these in its group of calls */
	return in_group(d, CS_GRP_CALL) ||
	       (d->machine == EM_AARCH64 && (d->insn->id == ARM64_INS_BL ||
					     d->insn->id == ARM64_INS_BLR));
}

/* ---- jumps by a register, or by a word of memory */

/* Where the register's address was taken last; 0: nowhere. */
static uint64_t base_of(const struct disasm *d, unsigned int reg)
{
	unsigned int i;

	for (i = 0; i < d->nr_bases; i++)
		if (d->bases[i].reg == reg)
			return d->bases[i].at;
	return 0;
}

static void note_base(struct disasm *d, unsigned int reg, uint64_t at)
{
	unsigned int i;

	for (i = 0; i < d->nr_bases && d->bases[i].reg != reg; i++)
		;
	if (i == DISASM_REGISTERS)
		return;
	d->nr_bases += i == d->nr_bases;
	d->bases[i].reg = reg;
	d->bases[i].at = at;
}

/* The sum of a base and something else; the instruction after it may jump there. */
static void note_sum(struct disasm *d, unsigned int reg, uint64_t base)
{
	d->sum = reg;
	d->sum_base = base;
	d->sum_end = d->insn->address + d->insn->size;
}

static void note_x86(struct disasm *d)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	/* as AT&T has them, what is written comes last */
	const cs_x86_op *from = &x86->operands[0], *to = &x86->operands[1];

	if (x86->op_count != 2 || to->type != X86_OP_REG)
		return;
	if (d->insn->id == X86_INS_LEA && from->mem.base == X86_REG_RIP)
		note_base(d, to->reg, d->insn->address + d->insn->size +
				      from->mem.disp);
	else if (d->insn->id == X86_INS_ADD && from->type == X86_OP_REG)
		note_sum(d, to->reg, base_of(d, from->reg) ?:
				     base_of(d, to->reg));
}

static void note_arm64(struct disasm *d)
{
	const cs_arm64 *arm = &d->insn->detail->arm64;

	if (arm->op_count < 2 || arm->operands[0].type != ARM64_OP_REG)
		return;
	if (d->insn->id == ARM64_INS_ADR)
		note_base(d, arm->operands[0].reg, arm->operands[1].imm);
	else if (d->insn->id == ARM64_INS_ADD)
		note_sum(d, arm->operands[0].reg,
			 base_of(d, arm->operands[1].reg));
}

/* Is it a jump to what the instruction before it has added up? */
static bool is_to_sum(const struct disasm *d, unsigned int reg)
{
	return reg == d->sum && d->sum_base && d->insn->address == d->sum_end;
}

static void find_switch(const struct disasm *d, struct instruction *in)
{
	const cs_x86 *x86 = &d->insn->detail->x86;
	const cs_arm64 *arm = &d->insn->detail->arm64;

	if (d->machine == EM_AARCH64) {
		if (arm->op_count == 1 && is_to_sum(d, arm->operands[0].reg)) {
			in->by = DISASM_FROM;
			in->table = d->sum_base;
		}
		return;
	}
	if (x86->op_count != 1)
		return;
	if (x86->prefix[1] == X86_PREFIX_DS) {
		in->by = DISASM_MARKED;
	} else if (x86->operands[0].type == X86_OP_REG) {
		if (is_to_sum(d, x86->operands[0].reg)) {
			in->by = DISASM_DISTANCES;
			in->table = d->sum_base;
		}
	} else if (x86->operands[0].mem.base == X86_REG_INVALID &&
		   x86->operands[0].mem.scale == 8) {
		in->by = DISASM_ADDRESSES;
		in->table = x86->operands[0].mem.disp;
	}
}

void disasm_one(struct disasm *d, const void *code, size_t size, uint64_t addr,
		struct instruction *in)
{
	const size_t least = d->machine == EM_AARCH64 ? 4 : 1;
	const uint8_t *at = code;
	uint64_t next = addr;
	size_t left = size;

	*in = (struct instruction) {
		.addr = addr,
		.size = size < least ? size : least,
	};
	in->bad = !cs_disasm_iter(d->handle, &at, &left, &next, d->insn);
	if (in->bad)
		return;
	in->size = d->insn->size;
	in->branches = in_group(d, CS_GRP_RET) || in_group(d, CS_GRP_IRET) ||
		       (in_group(d, CS_GRP_JUMP) && !is_call(d));
	in->returns = in_group(d, CS_GRP_RET);
	if (in->branches) {
		in->target = target_of(d);
		if (!in->returns && !in->target)
			find_switch(d, in);
	}
	if (d->machine == EM_X86_64)
		note_x86(d);
	else
		note_arm64(d);
}

void disasm_text(struct disasm *d, const void *code,
		 const struct instruction *in, char text[DISASM_TEXT])
{
	const uint8_t *at = code;
	uint64_t next = in->addr;
	size_t left = in->size;

	if (cs_disasm_iter(d->handle, &at, &left, &next, d->insn))
		snprintf(text, DISASM_TEXT, "%-7s %s", d->insn->mnemonic,
			 d->insn->op_str);
	else
		snprintf(text, DISASM_TEXT, "(bad)");
}

#else /* !HAVE_CAPSTONE */

bool disasm_built(void)
{
	return false;
}

struct disasm *disasm_new(uint32_t machine)
{
	(void)machine;
	return NULL;
}

void disasm_free(struct disasm *d)
{
	(void)d;
}

void disasm_one(struct disasm *d, const void *code, size_t size, uint64_t addr,
		struct instruction *in)
{
	(void)d;
	(void)code;
	*in = (struct instruction) { .addr = addr, .size = size };
}

void disasm_text(struct disasm *d, const void *code,
		 const struct instruction *in, char text[DISASM_TEXT])
{
	(void)d;
	(void)code;
	(void)in;
	*text = '\0';
}

#endif
