/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whatever bytes a script has, the command's front end takes them: the lowering,
 * the resolver of events, the parts of a profile's text.  It keeps its word, too:
 * what it says in lower.h is looked at after every script.
 *
 * libFuzzer calls LLVMFuzzerTestOneInput(); so does mutate.c.
 */
#define _GNU_SOURCE	/* memmem() */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event.h"
#include "lower/lower.h"
#include "../ensure.h"
#include "../executions.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* for mutate.c */
extern const char *const mutate_words[];
const char *const mutate_words[] = {
	"probe ", "%(", "%?", "%:", "%)", "{", "}", "(", ")", "\"",
	"%{", "%}", "/*", "*/", "\n", "\\", ".startwatch(\"tsc\")",
	".virtual", ".elapsed(\"cpi\")", "$pmu[0]", "$thread->a = ",
	"$current->", "$timestamp", "kernel.", "?", "!", ",", " if (",
	"@define x %(", "function f() ", "global ", "@1", "$#", " = ",
	" += ", "$4", "@4", "$5", "@x", "@f(", " == ",
	"@define f(a, b) %( @a.@b ", "%( arch == \"x86_64\" %? ",
	"%( CONFIG_X == 1 %? ", ".time_ms(1)", "ppa.runqslower(9)",
	".nmi.pmu_profile(\"r1:1\")", ".elapsed.tsc", "",
	NULL
};

static const char *const args[] = {
	"cpu_cycles", "10", "r00c0", "\"tsc\"", "a[1] /* \" %( 1 == 2 %?",
};

/* Some of the conditions can be decided, and some cannot. */
static const struct script_facts facts = {
	.arch = "x86_64", .release = "6.12.9-some", .guru_mode = "0",
	.build_tree = "/nowhere",
};

/* What a script must have for the lowering to change it. */
static const char *const words[] = {
	"startwatch", "elapsed", "pmu_profile", "time_ms", "runqslower",
	"$timestamp", "$thread", "$current", "pmu_set", "pmu_switch_every",
};

/* What it may also refuse, and never changes alone. */
static const char *const refused[] = { "$pmu" };

static bool has(const char *text, size_t len, const char *word)
{
	return memmem(text, len, word, strlen(word));
}

/* The user's lines are as long as they were, and end where they did. */
static void check_lines(const char *text, size_t len, const struct lowered *out)
{
	unsigned int lines = 0;
	size_t i;

	ensure(out->len >= len);
	for (i = 0; i < len; i++) {
		ensure((text[i] == '\n') == (out->text[i] == '\n'));
		lines += text[i] == '\n';
	}
	lines += !len || text[len - 1] != '\n';
	ensure(out->user_lines == lines);
	/* what follows is on lines of its own */
	if (out->len > len && len && text[len - 1] != '\n')
		ensure(out->text[len] == '\n');
}

static void check_aliases(const struct lowered *out)
{
	char definition[64];
	const char *line;
	unsigned int n;
	size_t i;

	for (i = 0; i < out->nr_aliases; i++) {
		const struct lowered_alias *a = &out->aliases[i];

		ensure(a->user_line >= 1 && a->user_column >= 1);
		ensure(a->user_line <= out->user_lines);
		ensure(a->line > out->user_lines);
		line = out->text;
		for (n = 1; n < a->line; n++) {
			line = memchr(line, '\n', out->text + out->len - line);
			ensure(line);
			line++;
		}
		snprintf(definition, sizeof(definition), "probe %s = ", a->name);
		ensure(!strncmp(line, definition, strlen(definition)));
		ensure(a->column == strlen(definition) + 1);
	}
}

/*
 * What has been lowered has nothing more to lower.  Where something like our
 * notation is left, and be it in a comment, that is for tests with scripts that
 * make sense.
 */
static void check_again(const struct lowered *out,
			const struct lower_options *opt, FILE *err)
{
	static const char *const left[] = {
		"$thread", "$current", "$timestamp", "$pmu",
		"startwatch(", "startwatch ", "startwatch.", "elapsed(",
		"elapsed.", "pmu_profile", "time_ms", "runqslower",
	};
	struct lowered again;
	size_t i;

	for (i = 0; i < sizeof(left) / sizeof(*left); i++)
		if (has(out->text, out->len, left[i]))
			return;
	ensure(!lower_script("x.stp", out->text, out->len, opt, &again, err));
	ensure(again.len == out->len &&
	       !memcmp(again.text, out->text, out->len));
	ensure(!again.changed && !again.nr_aliases);
	lowered_free(&again);
}

static void try_script(const char *text, size_t len, unsigned int index)
{
	struct lower_globals globals = { 0 };
	const struct lower_options opt = {
		.index = index,
		.args = { args, sizeof(args) / sizeof(*args) },
		.facts = &facts,
		.globals = &globals,
	};
	struct lowered out;
	char *said = NULL;
	size_t said_len = 0, i;
	FILE *err = open_memstream(&said, &said_len);
	bool ours = false;
	int rc;

	ensure(err);
	lower_globals_add(&globals, text, len, &opt);
	rc = lower_script("x.stp", text, len, &opt, &out, err);
	fflush(err);
	ensure(rc == 0 || rc == -1);
	ensure(!rc == !said_len);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		ours |= has(text, len, words[i]);
	if (!rc) {
		ensure(out.text && !out.text[out.len]);
		if (!ours)
			ensure(!out.changed);
		ensure(out.changed == (out.len != len ||
				       memcmp(out.text, text, len)));
		check_lines(text, len, &out);
		check_aliases(&out);
		if (out.changed)
			check_again(&out, &opt, err);
		lowered_free(&out);
	} else {
		for (i = 0; i < sizeof(refused) / sizeof(*refused); i++)
			ours |= has(text, len, refused[i]);
		ensure(ours);
		ensure(!strncmp(said, "x.stp:", strlen("x.stp:")));
		ensure(said[said_len - 1] == '\n');
	}
	lower_globals_free(&globals);
	fclose(err);
	free(said);
}

static void try_event(const char *text)
{
	struct event ev;
	char why[200] = "";
	struct event_profile p;

	if (event_resolve(text, NULL, &ev, why, sizeof(why))) {
		ensure(*why && !strchr(why, '\n'));
	} else {
		ensure(ev.name);
		event_free(&ev);
	}
	if (event_profile_split(text, &p, why, sizeof(why))) {
		ensure(*why && !strchr(why, '\n'));
	} else {
		ensure(p.event && p.period);
		ensure(p.precise >= -1 && p.precise <= 3);
		ensure(p.random <= INT64_MAX - p.period);
		ensure(p.random <= INT64_MAX - p.long_period);
		free(p.event);
	}
}

static void try_point(const char *text)
{
	const struct lower_options opt = {
		.args = { args, sizeof(args) / sizeof(*args) },
		.facts = &facts,
	};
	char *said = NULL;
	size_t said_len = 0, i;
	bool ours = false;
	FILE *err = open_memstream(&said, &said_len);
	char *point;

	ensure(err);
	point = lower_point(text, &opt, err);
	fflush(err);
	ensure(!point == !!said_len);
	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		ours |= has(text, strlen(text), words[i]);
	if (!ours)
		ensure(!strcmp(point, text));
	free(point);
	fclose(err);
	free(said);
}

/*
 * Points and events are short: the lines of a script, and what is in quotes on
 * them.  The first few will do: the names that are near an unknown one take time.
 */
static void try_lines(char *text)
{
	char *line, *part, *rest, *more;
	int n = 0;

	for (line = strtok_r(text, "\n", &rest); line && n < 4;
	     line = strtok_r(NULL, "\n", &rest)) {
		try_point(line);
		if (strlen(line) < 100) {
			try_event(line);
			n++;
		}
		for (part = strtok_r(line, "\"", &more); part;
		     part = strtok_r(NULL, "\"", &more)) {
			if (strlen(part) < 100) {
				try_event(part);
				n++;
			}
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* as a string, on the heap, where one byte too far is noticed */
	char *text = malloc(size + 1);

	ensure(text);
	memcpy(text, data, size);
	text[size] = '\0';
	try_script((const char *)data, size, 0);
	try_script((const char *)data, size, 3);
	try_lines(text);
	free(text);
	executions_add();
	return 0;
}
