/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys; top_keys.h says what is wanted of them. */
#include "cmd/top_keys.h"

#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define LEAST_DELAY 0.01
#define MOST_DELAY 86400

static struct termios was;
/* who was stopped goes on with a terminal that the shell has set anew */
static volatile sig_atomic_t resumed;

static void on_resume(int sig)
{
	(void)sig;
	resumed = 1;
}

/* Whatever ends us leaves the terminal as it was, and is what ends us all the same. */
static void on_death(int sig)
{
	tcsetattr(STDIN_FILENO, TCSANOW, &was);
	raise(sig);
}

/* All signals that nobody cares for yet, and that would end us if they came. */
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

static void press(struct top_keys *k, char key)
{
	switch (key) {
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

void top_keys_wait(struct top_keys *k)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int ms = k->delay > 1e6 ? 1000000000 : k->delay * 1000;
	char key;

	if (!k->on) {
		sleep_for(k->delay);
		return;
	}
	if (resumed) {
		resumed = 0;
		take();
	}
	if (poll(&fd, 1, k->paused ? -1 : ms) <= 0)
		return;
	/* nobody presses any more */
	if (read(STDIN_FILENO, &key, 1) == 1)
		press(k, key);
	else if (fd.revents & (POLLHUP | POLLERR))
		k->stop = true;
}

const char *top_keys_line(const struct top_keys *k)
{
	if (k->help)
		return "q: quit   n, v, r: by name, value, rate   space: pause   +, -: faster, slower   ?: no help";
	if (k->paused)
		return "paused; space goes on";
	return NULL;
}
