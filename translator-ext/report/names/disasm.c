/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Instructions; disasm.h says what is wanted of it. */
#include "report/names/disasm.h"

#ifdef HAVE_CAPSTONE

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"

struct disasm {
	csh handle;
	cs_insn *insn;
	uint32_t machine;
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
	*d = (struct disasm) { handle, cs_malloc(handle), machine };
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
	if (!cs_disasm_iter(d->handle, &at, &left, &next, d->insn))
		return;
	in->size = d->insn->size;
	in->branches = in_group(d, CS_GRP_RET) || in_group(d, CS_GRP_IRET) ||
		       (in_group(d, CS_GRP_JUMP) && !in_group(d, CS_GRP_CALL));
	if (in->branches)
		in->target = target_of(d);
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
