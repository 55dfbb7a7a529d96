/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that stapwatch latency is to record, and those that there are;
 * latency.h. */
#include "cmd/latency.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"

#define MAX_FUNCTIONS 4096

int latency_functions_fail(const char *word, const char *why)
{
	shown_line(stderr, "stapwatch latency: \"%s\": %s", word, why);
	return -1;
}

int latency_functions_full(const char *word)
{
	return latency_functions_fail(word, "these are more than 4096 functions; take a narrower pattern");
}

/* Be it a pattern's or not. */
bool latency_functions_has(const struct latency_request *req, const char *name)
{
	size_t i;

	for (i = 0; i < req->nr_functions; i++)
		if (!strcmp(req->functions[i].name, name))
			return true;
	return false;
}

struct latency_function_name *
latency_functions_put(struct latency_request *req, const char *name)
{
	struct latency_function_name *f;

	if (req->nr_functions == MAX_FUNCTIONS)
		return NULL;
	req->functions = xrealloc(req->functions, (req->nr_functions + 1) *
				  sizeof(*req->functions));
	f = &req->functions[req->nr_functions++];
	*f = (struct latency_function_name) { .name = xstrdup(name) };
	return f;
}

/* ---- what the kernel has */

/* The compiler's parts of functions, and what stands before them. */
static bool is_function(const char *name)
{
	return strlen(name) <= LATENCY_MAX_NAME && !strstr(name, ".cold") &&
	       strncmp(name, "__pfx_", 6) && !name[strspn(name, LATENCY_NAME)];
}

int latency_symbols(void (*on_symbol)(void *data, const char *module,
				      const char *name), void *data)
{
	const char *path = getenv("STAPWATCH_KALLSYMS") ?: "/proc/kallsyms";
	char *line = NULL;
	size_t size = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		shown_line(stderr, "stapwatch latency: %s: %s", path,
			   strerror(errno));
		return -1;
	}
	/* ADDRESS TYPE NAME [MODULE] */
	while (getline(&line, &size, f) > 0) {
		char type, name[512], module[128] = "";

		if (sscanf(line, "%*x %c %511s [%127[^]]", &type, name,
			   module) >= 2 &&
		    strchr("tTwW", type) && is_function(name))
			on_symbol(data, module, name);
	}
	free(line);
	fclose(f);
	return 0;
}
