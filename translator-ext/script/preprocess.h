/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stap's parser gets to see of a script's tokens: macros expanded, and of
 * %( CONDITION %? ... %: ... %) the branch that is taken.
 */
#ifndef STAPWATCH_PREPROCESS_H
#define STAPWATCH_PREPROCESS_H

#include "script/condition.h"
#include "script/lex.h"

/**
 * preprocess - expand macros, take branches
 * @raw: the script's tokens; those of branches that are not taken become dead
 * @seen: the result; tokens_free() frees it
 *
 * A condition that cannot be decided here stays, with both of its branches.
 * Macros of stap's own and those of other files stay as they are.
 */
void preprocess(struct tokens *raw, const struct script_facts *facts,
		struct tokens *seen);

#endif
