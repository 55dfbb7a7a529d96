/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: mutate COUNT SEED FILE...
 * COUNT inputs, each one of the files with a few mutations, go through
 * LLVMFuzzerTestOneInput(); the files themselves go first.  The same seed gives
 * the same inputs anywhere.  The one at work is written to ./mutant when a sanitizer,
 * abort() or the alarm ends the program; one that takes a minute is a hang.
 */
#include <ctype.h>
#include <sanitizer/common_interface_defs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LONGEST 65536

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What such inputs are made of, up to a NULL. */
extern const char *const mutate_words[];

struct text {
	char s[LONGEST];
	size_t len;
};

static uint64_t state;
static struct text *files, now;
static int nr_files;

/* xorshift64* */
static uint64_t draw(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return below ? (state * 0x2545f4914f6cdd1dULL >> 33) % below : 0;
}

static int read_text(const char *path, struct text *t)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		perror(path);
		return -1;
	}
	t->len = fread(t->s, 1, sizeof(t->s), f);
	fclose(f);
	return 0;
}

/* COUNT bytes at AT make way for LEN others. */
static void replace(size_t at, size_t count, const char *s, size_t len)
{
	static char copy[LONGEST];

	if (now.len - count + len > LONGEST)
		return;
	/* S may point into what moves */
	memcpy(copy, s, len);
	memmove(now.s + at + len, now.s + at + count, now.len - at - count);
	memcpy(now.s + at, copy, len);
	now.len += len - count;
}

static int is_word(char c)
{
	return isalnum((unsigned char)c) || strchr("_$@", c);
}

/* Something like a token, behind the place *AT. */
static size_t token(size_t *at)
{
	size_t end;

	while (*at < now.len && isspace((unsigned char)now.s[*at]))
		++*at;
	for (end = *at; end < now.len && now.s[end] && is_word(now.s[end]); end++)
		;
	return end > *at ? end - *at : *at < now.len;
}

static void mutate(void)
{
	const struct text *other = &files[draw(nr_files)];
	size_t at = draw(now.len + 1), to = draw(now.len + 1), len, len2, from;
	const char *word;
	size_t nr = 0;

	switch (draw(9)) {
	case 0:
		if (at < now.len)
			now.s[at] ^= 1 << draw(8);
		break;
	case 1:
		if (at < now.len)
			now.s[at] = draw(256);
		break;
	case 2:
		len = token(&at);
		replace(at, len, "", 0);
		break;
	case 3:
		len = token(&at);
		replace(at, 0, now.s + at, len);
		break;
	case 4:
		/* two tokens change places, the later one first */
		if (at > to) {
			from = at;
			at = to;
			to = from;
		}
		len = token(&at);
		if (to < at + len)
			to = at + len;
		len2 = token(&to);
		if (len < 128 && len2 < 128) {
			char a[128], b[128];

			memcpy(a, now.s + at, len);
			memcpy(b, now.s + to, len2);
			replace(to, len2, a, len);
			replace(at, len, b, len2);
		}
		break;
	case 5:
		from = draw(other->len + 1);
		len = draw(other->len - from + 1) % 300;
		replace(at, 0, other->s + from, len);
		break;
	case 6:
		/* the head of this one and the tail of another */
		from = draw(other->len + 1);
		replace(at, now.len - at, other->s + from, other->len - from);
		break;
	case 7:
		if (!draw(4))
			now.len = at;
		break;
	default:
		while (mutate_words[nr])
			nr++;
		word = mutate_words[draw(nr)];
		replace(at, 0, word, strlen(word));
	}
}

static void write_mutant(void)
{
	FILE *f = fopen("mutant", "w");

	if (!f || fwrite(now.s, 1, now.len, f) != now.len || fclose(f))
		perror("mutant");
}

static void on_abort(int sig)
{
	(void)sig;
	write_mutant();
}

static void on_alarm(int sig)
{
	static const char said[] = "mutate: it hangs\n";

	(void)sig;
	if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
		_exit(2);
	abort();
}

static void run_now(void)
{
	/* of its own size, so that a sanitizer sees the end */
	uint8_t *exact = malloc(now.len);

	alarm(60);
	if (now.len)
		memcpy(exact, now.s, now.len);
	LLVMFuzzerTestOneInput(exact, now.len);
	free(exact);
	alarm(0);
}

/* A text has room for the longest: what it holds is copied, no more. */
static void begin_with(const struct text *t)
{
	memcpy(now.s, t->s, t->len);
	now.len = t->len;
}

int main(int argc, char **argv)
{
	unsigned long count, i, k, n;

	if (argc < 4) {
		fprintf(stderr, "usage: mutate COUNT SEED FILE...\n");
		return 2;
	}
	count = strtoul(argv[1], NULL, 10);
	state = strtoull(argv[2], NULL, 10) | 1;
	nr_files = argc - 3;
	files = malloc(nr_files * sizeof(*files));
	if (!files)
		return 1;
	for (i = 0; i < (unsigned long)nr_files; i++)
		if (read_text(argv[3 + i], &files[i]))
			return 1;
	signal(SIGALRM, on_alarm);
	signal(SIGABRT, on_abort);
	__sanitizer_set_death_callback(write_mutant);
	for (i = 0; i < (unsigned long)nr_files; i++) {
		begin_with(&files[i]);
		run_now();
	}
	for (i = 0; i < count; i++) {
		begin_with(&files[draw(nr_files)]);
		n = 1 + draw(12);
		for (k = 0; k < n; k++)
			mutate();
		run_now();
	}
	free(files);
	printf("%lu inputs\n", count);
	return 0;
}
