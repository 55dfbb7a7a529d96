/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/report_follow.h"

#include <stddef.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull

/* Of the time reports take one part in so many. */
#define SHARE 5

static volatile sig_atomic_t asked_to_end;

static void on_signal(int sig)
{
	(void)sig;
	asked_to_end = 1;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static uint64_t size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

void follow_begin(struct follow *f, const char *path)
{
	const struct sigaction act = { .sa_handler = on_signal };
	sigset_t both;

	*f = (struct follow) {
		.path = path,
		.screen = isatty(STDOUT_FILENO),
	};
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	/* they come while we wait; what is being printed is printed to its end */
	sigemptyset(&both);
	sigaddset(&both, SIGINT);
	sigaddset(&both, SIGTERM);
	sigprocmask(SIG_BLOCK, &both, &f->open);
}

static void wait_ns(const struct follow *f, uint64_t ns)
{
	const struct timespec t = {
		.tv_sec = ns / SECOND, .tv_nsec = ns % SECOND
	};

	pselect(0, NULL, NULL, NULL, &t, &f->open);
}

bool follow_next(struct follow *f)
{
	const uint64_t took = f->ns ? now_ns() - f->ns : 0;
	const uint64_t pause = took * SHARE > SECOND ? took * SHARE : SECOND;
	uint64_t size = 0;
	bool last = false;

	if (f->ns)
		wait_ns(f, pause);
	for (;; wait_ns(f, SECOND)) {
		size = size_of(f->path);
		f->grown = size && size != f->size;
		last = asked_to_end || (f->ended && !f->grown);
		if (last || f->grown)
			break;
	}
	f->size = size;
	f->ns = now_ns();
	return last;
}

const char *follow_head(struct follow *f)
{
	const char *head = f->screen ? "\033[H\033[2J" : f->again ? "\n" : "";

	f->again = true;
	return head;
}
