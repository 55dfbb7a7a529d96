/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What stap will compare with in a script's conditions. */
#ifndef STAPWATCH_FACTS_H
#define STAPWATCH_FACTS_H

#include "lower/lower.h"
#include "options.h"

struct facts {
	struct script_facts for_scripts;
	char *arch;
	char *release;
	char *build_tree;
	char *version;
};

/** facts_find - those of a command line; facts_free() frees them */
void facts_find(const struct options *opts, struct facts *f);
void facts_free(struct facts *f);

#endif
