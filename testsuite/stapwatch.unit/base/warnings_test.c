/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Warnings: in the order of what they are about, each once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/warnings.h"
#include "test.h"

typedef void print_fn(struct warnings *w, const char *command, FILE *out);

static void test_print(const char *name, print_fn *print, struct warnings *w,
		       const char *want)
{
	char *said = NULL;
	size_t len;
	FILE *f = open_memstream(&said, &len);

	print(w, "try", f);
	fclose(f);
	TEST(name, !strcmp(said, want));
	free(said);
}

static void test_said(const char *name, struct warnings *w, const char *want)
{
	test_print(name, warnings_print, w, want);
}

static void test_numbers(const char *name, struct warnings *w, const char *want)
{
	test_print(name, warnings_print_numbers, w, want);
}

static void add(struct warnings *w, enum warning_of of, double share,
		const char *text)
{
	warnings_add(w, of, share, "%s", text);
}

int main(void)
{
	struct warnings w = { 0 };

	TEST("half of all", warnings_share(1, 2) == 0.5);
	TEST("of what nobody knows", warnings_share(0, 0) == 1);
	TEST("more than all", warnings_share(3, 2) == 1);
	test_said("none", &w, "");
	add(&w, WARNING_HINT, 1, "hint");
	add(&w, WARNING_NAMES, 0.9, "many names");
	add(&w, WARNING_NUMBERS, 0.1, "few numbers");
	add(&w, WARNING_NAMES, 0.2, "few names");
	add(&w, WARNING_NUMBERS, 1, "all numbers");
	test_said("by what they are about, then by how much", &w,
		  "try: all numbers\ntry: few numbers\ntry: many names\ntry: few names\ntry: hint\n");
	test_said("none is left", &w, "");
	add(&w, WARNING_NUMBERS, 0.5, "b");
	add(&w, WARNING_NUMBERS, 0.5, "a");
	add(&w, WARNING_NUMBERS, 0.5, "c");
	test_said("of as much, in the order in which they came", &w,
		  "try: b\ntry: a\ntry: c\n");
	add(&w, WARNING_HINT, 0, "alike");
	add(&w, WARNING_NUMBERS, 0, "other");
	add(&w, WARNING_NUMBERS, 0.5, "alike");
	add(&w, WARNING_NUMBERS, 0.5, "alike");
	test_said("those that are alike once, as the worst of them", &w,
		  "try: alike\ntry: other\n");
	w.samples = 1000;
	add(&w, WARNING_NAMES, 0.5, "a name");
	add(&w, WARNING_NUMBERS, 0.5, "a number");
	add(&w, WARNING_NUMBERS, 0.6, "more of a number");
	warnings_note(&w, WARNING_NUMBERS, 3, 1000, "few of a number");
	warnings_note(&w, WARNING_NAMES, 400, 1000, "many of a name");
	test_numbers("numbers alone", &w, "try: more of a number\ntry: a number\n");
	test_numbers("numbers are told once", &w, "");
	test_said("then what they are of, and how many notes are left out", &w,
		  "try: a name\ntry: many of a name\ntry: 1 notes on at most 3 of 1000 samples; -v shows them\n");
	test_said("nothing of it is left", &w, "");
	return !!test_failures;
}
