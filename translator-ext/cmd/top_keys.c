/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys; top_keys.h says what is wanted of them. */
#include "cmd/top_keys.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define LEAST_DELAY 0.01
#define MOST_DELAY 86400
#define REST 50	/* ms; over a slow line the bytes of one key come apart */

static struct termios was;
/* who was stopped goes on with a terminal that the shell has set anew */
static volatile sig_atomic_t resumed;

static void on_resume(int sig)
{
	(void)sig;
	resumed = 1;
}

/* Restores the terminal, and lets the signal end us. */
static void on_death(int sig)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &was);
	raise(sig);
}

/* All signals without a handler that would end us. */
static void care_for_deaths(void)
{
	static const int harmless[] = {
		SIGKILL, SIGSTOP, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD,
		SIGURG, SIGWINCH,
	};
	const struct sigaction act = {
		.sa_handler = on_death,
		.sa_flags = SA_RESETHAND | SA_NODEFER,
	};
	struct sigaction is;
	size_t i;
	int sig;

	for (sig = 1; sig < NSIG; sig++) {
		for (i = 0; i < sizeof(harmless) / sizeof(*harmless); i++)
			if (sig == harmless[i])
				break;
		if (i == sizeof(harmless) / sizeof(*harmless) &&
		    !sigaction(sig, NULL, &is) && is.sa_handler == SIG_DFL)
			sigaction(sig, &act, NULL);
	}
}

static void take(void)
{
	struct termios now = was;

	now.c_lflag &= ~(ICANON | ECHO);
	now.c_cc[VMIN] = 0;
	now.c_cc[VTIME] = 0;
	tcsetattr(STDIN_FILENO, TCSANOW, &now);
}

void top_keys_begin(struct top_keys *k)
{
	struct sigaction act = { .sa_handler = on_resume };

	/* in the background the terminal is another's */
	k->on = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
		tcgetpgrp(STDIN_FILENO) == getpgrp() &&
		!tcgetattr(STDIN_FILENO, &was);
	if (!k->on)
		return;
	sigaction(SIGCONT, &act, NULL);
	care_for_deaths();
	take();
}

void top_keys_end(struct top_keys *k)
{
	if (k->on)
		tcsetattr(STDIN_FILENO, TCSANOW, &was);
	k->on = false;
}

/* Keys that are more than a byte, as terminals send them. */
enum { KEY_UP = 256, KEY_DOWN, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END,
       KEY_OTHER };

#define ESCAPE '\033'
#define BACKSPACE 0x7f

static void scroll_up(struct top_keys *k, size_t rows)
{
	k->first -= rows < k->first ? rows : k->first;
}

static void scroll_down(struct top_keys *k, size_t rows)
{
	k->first += rows;
	if (k->first > k->last)
		k->first = k->last;
}

static void scroll(struct top_keys *k, int key)
{
	const size_t page = k->page > 1 ? k->page : 1;

	switch (key) {
	case 'k':
	case KEY_UP:
		scroll_up(k, 1);
		break;
	case KEY_PAGE_UP:
		scroll_up(k, page);
		break;
	case 'j':
	case KEY_DOWN:
		scroll_down(k, 1);
		break;
	case KEY_PAGE_DOWN:
		scroll_down(k, page);
		break;
	case KEY_HOME:
		k->first = 0;
		break;
	case KEY_END:
		k->first = k->last;
		break;
	}
}

static void filter(struct top_keys *k)
{
	k->typing = false;
	k->filtered = true;
	k->first = 0;
}

/* One character back, which in UTF-8 may be some bytes. */
static void rub_out(char *s)
{
	size_t len = strlen(s);

	while (len && ((unsigned char)s[--len] & 0xc0) == 0x80)
		;
	s[len] = '\0';
}

static void type(struct top_keys *k, int key)
{
	const size_t len = strlen(k->typed);

	if (key == '\r' || key == '\n')
		filter(k);
	else if (key == BACKSPACE || key == '\b')
		rub_out(k->typed);
	else if (key >= ' ' && key < 256 && len + 1 < sizeof(k->typed))
		memcpy(k->typed + len, (char []){ key, '\0' }, 2);
}

static void press(struct top_keys *k, int key)
{
	if (key == ESCAPE) {
		*k->typed = '\0';
		filter(k);
		return;
	}
	if (k->typing) {
		type(k, key);
		return;
	}
	switch (key) {
	case '/':
		k->typing = true;
		*k->typed = '\0';
		break;
	case 'q':
		k->stop = true;
		break;
	case 'n':
		k->sort = TOP_BY_NAME;
		break;
	case 'v':
		k->sort = TOP_BY_VALUE;
		break;
	case 'r':
		k->sort = TOP_BY_RATE;
		break;
	case ' ':
		k->paused = !k->paused;
		break;
	case '+':
		k->delay = k->delay / 2 > LEAST_DELAY ? k->delay / 2 :
							LEAST_DELAY;
		break;
	case '-':
		k->delay = k->delay * 2 < MOST_DELAY ? k->delay * 2 :
						       MOST_DELAY;
		break;
	case '?':
	case 'h':
		k->help = !k->help;
		break;
	default:
		scroll(k, key);
	}
}

/* ESC [ N ~, ESC [ C or ESC O C; @text begins after the first two. */
static int key_of(const char *text, size_t len)
{
	static const struct {
		const char *text;
		int key;
	} keys[] = {
		{ "A", KEY_UP }, { "B", KEY_DOWN }, { "H", KEY_HOME },
		{ "F", KEY_END }, { "1~", KEY_HOME }, { "7~", KEY_HOME },
		{ "4~", KEY_END }, { "8~", KEY_END }, { "5~", KEY_PAGE_UP },
		{ "6~", KEY_PAGE_DOWN },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (len == strlen(keys[i].text) &&
		    !memcmp(text, keys[i].text, len))
			return keys[i].key;
	return KEY_OTHER;
}

/* The first key of a text that is not empty; returns how many bytes it takes. */
static size_t take_key(const char *text, size_t len, int *key)
{
	size_t end = 2;

	*key = (unsigned char)*text;
	if (len < 3 || *text != ESCAPE || (text[1] != '[' && text[1] != 'O'))
		return 1;
	while (end + 1 < len && (text[end] < '@' || text[end] > '~'))
		end++;
	*key = key_of(text + 2, end - 1);
	return end + 1;
}

/* Obeys all keys that can be read. */
static void press_all(struct top_keys *k, struct pollfd *fd)
{
	char text[256];
	ssize_t len = read(STDIN_FILENO, text, sizeof(text) / 2), more;
	size_t at = 0;
	int key;

	if (len <= 0) {
		/* nobody presses any more */
		if (fd->revents & (POLLHUP | POLLERR))
			k->stop = true;
		return;
	}
	if (*text == ESCAPE && len < 3 && poll(fd, 1, REST) > 0) {
		more = read(STDIN_FILENO, text + len, sizeof(text) / 2);
		len += more > 0 ? more : 0;
	}
	while (at < (size_t)len && !k->stop) {
		at += take_key(text + at, len - at, &key);
		press(k, key);
	}
}

static void sleep_for(double seconds)
{
	struct timespec ts = {
		.tv_sec = seconds,
		.tv_nsec = (seconds - (time_t)seconds) * 1e9,
	};

	/* SIGWINCH cuts it short, to be redrawn by what it has */
	nanosleep(&ts, NULL);
}

void top_keys_wait(struct top_keys *k, double seconds)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	/* not before the time */
	const int ms = seconds > 1e6 ? 1000000000 : seconds * 1000 + 0.999;

	if (!k->on) {
		sleep_for(seconds);
		return;
	}
	if (resumed) {
		resumed = 0;
		take();
	}
	if (poll(&fd, 1, k->paused ? -1 : ms) > 0)
		press_all(k, &fd);
}

const char *top_keys_below(struct top_keys *k)
{
	if (k->typing) {
		snprintf(k->below, sizeof(k->below),
			 "names with: %s   (Enter; Esc: all)", k->typed);
		return k->below;
	}
	if (k->help)
		return "n, v, r: by name, value, rate   /: filter names   Esc: all   space: pause   "
		       "arrows, j, k, PgUp, PgDn, Home, End: scroll   +, -: faster, slower   q: quit";
	if (k->paused)
		return "paused; space goes on";
	return NULL;
}
