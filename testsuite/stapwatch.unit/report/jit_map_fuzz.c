/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A JIT compiler's list of its code, /tmp/perf-PID.map: no symbol lies over another,
 * and an address in one is found there.
 *
 * An input is the file, whichever is asked for: foreign.c is not linked.  libFuzzer
 * calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE
#include "base/foreign.h"
#include "report/names/jit_map.h"
#include "../cost.h"
#include "../ensure.h"
#include "../executions.h"

#define FIRST (1 << 16)
#define NOBODY (UINT32_MAX - 1)	/* is no process's number */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"1000 10 f\n", "0 ffffffffffffffff all\n", "ffffffffffffffff 1 last\n",
	"0x", "-1", " ", "\n", "1000 ", "ffffffff", " 20 g\n", "", NULL
};

static const uint8_t *file;
static size_t file_size;

int foreign_read(const char *path, const struct foreign_rule *rule,
		 struct buf *text)
{
	(void)path;
	(void)rule;
	buf_add(text, (const char *)file, file_size);
	return 0;
}

const char *foreign_error(int err)
{
	(void)err;
	return "";
}

static void check_symbols(struct symtab *tab)
{
	size_t i;

	for (i = 0; i < tab->nr; i++) {
		ensure(tab->symbols[i].size);
		ensure(tab->symbols[i].addr + tab->symbols[i].size >
		       tab->symbols[i].addr);
		ensure(!i || tab->symbols[i - 1].addr +
		       tab->symbols[i - 1].size <= tab->symbols[i].addr);
	}
	symtab_sort(tab);
	for (i = 0; i < tab->nr; i++)
		ensure(symtab_find(tab, tab->symbols[i].addr) ==
		       &tab->symbols[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct intern texts = { 0 };
	struct symtab tab = { 0 };
	struct buf why = { 0 };

	file = data;
	file_size = size;
	cost_begin();
	ensure(jit_map_read(NOBODY, &texts, &tab, &why) && !why.len);
	check_symbols(&tab);
	symtab_free(&tab);
	intern_free(&texts);
	free(why.s);
	cost_end(size, FIRST);
	executions_add();
	return 0;
}
