/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * usage: mutate COUNT SEED[:NUMBER] FILE...
 * COUNT inputs, each one of the files with a few mutations, go through
 * LLVMFuzzerTestOneInput(), which says how many they were; the files themselves go
 * first.  The same seed gives the same inputs anywhere, and the inputs of a seed are
 * numbered from 0: `mutate 1 SEED:NUMBER FILE...' is one of them.  When a sanitizer, a
 * signal or the alarm ends the program, that is said of the one at work, and it is
 * written to ./mutant.  One that is there at two alarms, a minute apart, is a hang.
 */
#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
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

/* Where there is a sanitizer. */
void __sanitizer_set_death_callback(void (*callback)(void))
	__attribute__((weak));

static uint64_t state;
static struct text *files, now;
static int nr_files;
static unsigned long volatile nr_now;
static uint64_t seed, number;	/* of the one at work */
static bool is_mutant;		/* not one of the files */

/* Inputs of seeds and numbers next to each other have nothing in common. */
static void seed_input(void)
{
	state = seed * 0x9e3779b97f4a7c15ULL + number;
	state = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ULL;
	state = (state ^ state >> 27) * 0x94d049bb133111ebULL;
	state = (state ^ state >> 31) | 1;
}

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

/* Something like a token, after the place *AT. */
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

	switch (draw(10)) {
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
	case 8:
		/* a field of 32 bits */
		for (from = at & ~3ul; from < now.len && from < (at | 3) + 1; from++)
			now.s[from] = draw(256);
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
	if (is_mutant)
		fprintf(stderr, "mutate: it is in ./mutant, and again by: mutate 1 %" PRIu64 ":%" PRIu64 " FILE...\n",
			seed, number);
}

static void on_death(int sig)
{
	write_mutant();
	/* what it came of comes again */
	signal(sig, SIG_DFL);
}

/* It costs an input nothing. */
static void on_alarm(int sig)
{
	static const char said[] = "mutate: it hangs\n";
	static unsigned long before;

	(void)sig;
	alarm(60);
	if (before != nr_now) {
		before = nr_now;
		return;
	}
	if (write(STDERR_FILENO, said, sizeof(said) - 1) < 0)
		_exit(2);
	abort();
}

static void watch(void)
{
	static const int deaths[] = { SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE };
	size_t i;

	if (__sanitizer_set_death_callback)
		__sanitizer_set_death_callback(write_mutant);
	/* a sanitizer has handlers of its own for the others */
	for (i = 0; i < (__sanitizer_set_death_callback ? 1 :
			 sizeof(deaths) / sizeof(*deaths)); i++)
		signal(deaths[i], on_death);
	signal(SIGALRM, on_alarm);
	alarm(60);
}

static void run_now(void)
{
	/* of its own size, so that a sanitizer sees the end */
	uint8_t *exact = malloc(now.len);

	nr_now++;
	if (now.len)
		memcpy(exact, now.s, now.len);
	LLVMFuzzerTestOneInput(exact, now.len);
	free(exact);
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
	char *end;

	if (argc < 4) {
		fprintf(stderr, "usage: mutate COUNT SEED[:NUMBER] FILE...\n");
		return 2;
	}
	count = strtoul(argv[1], NULL, 10);
	seed = strtoull(argv[2], &end, 10);
	number = *end == ':' ? strtoull(end + 1, NULL, 10) : 0;
	/* for who says it in the end */
	setenv("FUZZ_SEED", argv[2], 1);
	nr_files = argc - 3;
	files = malloc(nr_files * sizeof(*files));
	if (!files)
		return 1;
	for (i = 0; i < (unsigned long)nr_files; i++)
		if (read_text(argv[3 + i], &files[i]))
			return 1;
	watch();
	for (i = 0; i < (unsigned long)nr_files; i++) {
		begin_with(&files[i]);
		run_now();
	}
	is_mutant = true;
	for (i = 0; i < count; i++, number++) {
		seed_input();
		begin_with(&files[draw(nr_files)]);
		/* few of them are what comes far */
		n = 1 + draw(1 + draw(12));
		for (k = 0; k < n; k++)
			mutate();
		run_now();
	}
	free(files);
	return 0;
}
