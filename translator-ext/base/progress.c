/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress; progress.h says what is wanted of it. */
#include "base/progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define EVERY_MS 500
#define ASK_CLOCK 1024		/* calls */

static struct {
	unsigned int calls;
	int terminal;		/* 0: not asked yet; -1: none */
	uint64_t next;
	bool shown;
} state;

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void progress(const char *what, int permille)
{
	uint64_t now;

	if (state.calls++ % ASK_CLOCK || state.terminal < 0)
		return;
	if (!state.terminal) {
		state.terminal = isatty(STDERR_FILENO) ? 1 : -1;
		state.next = now_ms() + EVERY_MS;
		return;
	}
	now = now_ms();
	if (now < state.next)
		return;
	state.next = now + EVERY_MS;
	state.shown = true;
	if (permille < 0)
		fprintf(stderr, "\r%s...\033[K", what);
	else
		fprintf(stderr, "\r%s: %d %%\033[K", what, permille / 10);
}

void progress_end(void)
{
	if (state.shown)
		fputs("\r\033[K", stderr);
	state.shown = false;
	state.calls = 0;
}
