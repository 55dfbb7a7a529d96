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
latency_functions_put(struct latency_request *req, const char *word,
		      const char *name)
{
	struct latency_function_name *f;

	if (req->nr_functions == MAX_FUNCTIONS)
		return NULL;
	req->functions = xrealloc(req->functions, (req->nr_functions + 1) *
				  sizeof(*req->functions));
	f = &req->functions[req->nr_functions++];
	*f = (struct latency_function_name) {
		.name = xstrdup(name), .word = word
	};
	return f;
}

/* ---- what the kernel has */

bool latency_is_part(const char *name)
{
	const char *at = strstr(name, LATENCY_PART);
	const char after = at ? at[strlen(LATENCY_PART)] : 'x';

	return !after || after == '.';
}

/* The compiler's parts of functions, and what stands before them. */
static bool is_function(const char *name)
{
	return strlen(name) <= LATENCY_MAX_NAME && !latency_is_part(name) &&
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

/* ---- names that are of one function */

/* How often the kernel has a name. */
struct tally {
	struct latency_function_name *f;
	unsigned int own;	/* as it stands there */
	unsigned int modules;	/* of any module, without that */
};

struct tallies {
	struct tally *of;	/* by name */
	size_t nr;
};

static int by_name(const void *a, const void *b)
{
	const struct tally *x = a, *y = b;

	return strcmp(x->f->name, y->f->name);
}

static int is_of_name(const void *name, const void *tally)
{
	return strcmp(name, ((const struct tally *)tally)->f->name);
}

static void count_symbol(void *data, const char *module, const char *name)
{
	const struct tallies *t = data;
	struct buf b = { 0 };
	struct tally *found;

	found = bsearch(name, t->of, t->nr, sizeof(*t->of), is_of_name);
	if (!*module) {
		if (found)
			found->own++;
		return;
	}
	if (found)
		found->modules++;
	buf_printf(&b, "%s:%s", module, name);
	found = bsearch(b.s, t->of, t->nr, sizeof(*t->of), is_of_name);
	if (found)
		found->own++;
	free(b.s);
}

static int count_all(struct latency_request *req)
{
	struct tallies t = { 0 };
	size_t i;
	int rc;

	t.of = xmalloc((req->nr_functions + 1) * sizeof(*t.of));
	for (i = 0; i < req->nr_functions; i++)
		if (!req->functions[i].file)
			t.of[t.nr++] = (struct tally) {
				.f = &req->functions[i]
			};
	qsort(t.of, t.nr, sizeof(*t.of), by_name);
	rc = t.nr ? latency_symbols(count_symbol, &t) : 0;
	/* a name without a module is a module's, if the kernel itself has none */
	for (i = 0; i < t.nr; i++)
		t.of[i].f->several = t.of[i].own > 1 ||
				     (!t.of[i].own && t.of[i].modules > 1);
	free(t.of);
	return rc;
}

void latency_function_free(struct latency_function_name *f)
{
	free(f->name);
	free(f->asked);
	free(f->file);
	free(f->exits);
}

static void say_left_out(const char *word, unsigned int nr)
{
	if (nr)
		shown_line(stderr, "stapwatch latency: \"%s\": %u functions are left out, as the kernel has others of their names",
			   word, nr);
}

int latency_functions_tell_apart(struct latency_request *req)
{
	struct latency_function_name *f = req->functions;
	size_t i, nr = req->nr_functions, left = 0;
	const char *word = NULL;
	unsigned int several = 0;

	if (count_all(req))
		return -1;
	for (i = 0; i < nr; i++)
		if (f[i].several && !f[i].optional)
			return latency_functions_fail(f[i].word, "the kernel has several functions of that name, and calls are recorded by name; write a script, with elapsed(\"tsc\") before the probe point, which may be kernel.function(\"FUNCTION@FILE\")");
	/* those of a word stand together */
	for (i = 0; i < nr; i++) {
		if (word != f[i].word) {
			say_left_out(word, several);
			several = 0;
		}
		word = f[i].word;
		if (f[i].several) {
			several++;
			latency_function_free(&f[i]);
		} else {
			f[left++] = f[i];
		}
	}
	say_left_out(word, several);
	req->nr_functions = left;
	return left ? 0 : latency_functions_fail(word, "no function is left");
}
