/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that starts the script that it has a session in.
 *
 *	control_start wrong	what ends, or never begins: each line "WHAT: ERRNO: TEXT"
 *	control_start killed	start it, and be killed
 *	control_start child	start it; end while a child lives
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

#include "control.h"

#define MODULE "m"

static const char *const staprun[] = { "staprun", "./m.ko", NULL };

static void say_start(const char *what, const char *module, const char *const argv[],
		      int timeout)
{
	struct stapwatch_script *s = stapwatch_script_start(module, argv, timeout);

	say_why(what, s ? 0 : -1);
	if (s)
		printf("status %d\n", stapwatch_script_stop(s));
}

static void wrong(void)
{
	static const char *const missing[] = { "no-such-command", NULL };
	static const char *const fails[] = { "sh", "-c", "exit 3", NULL };
	static const char *const dies[] = { "sh", "-c", "kill -9 $$", NULL };
	static const char *const waits[] = { "sleep", "1000", NULL };
	static const char *const none[] = { NULL };
	struct stapwatch_script *s;

	say_start("no command", MODULE, missing, -1);
	say_start("it fails", MODULE, fails, -1);
	say_start("it is killed", MODULE, dies, -1);
	say_start("it never begins", MODULE, waits, 50);
	say_start("no word", MODULE, none, -1);
	say_start("no module", "a/b", staprun, -1);
	say_start("it begins", MODULE, staprun, -1);
	s = stapwatch_script_start(MODULE, staprun, -1);
	if (!s)
		errx(1, "%s", stapwatch_error());
	say_start("twice", MODULE, staprun, -1);
	printf("status %d\n", stapwatch_script_stop(s));
	stapwatch_script_stop(NULL);
}

static void start_and(bool child)
{
	struct stapwatch_script *s = stapwatch_script_start(MODULE, staprun, -1);
	struct stapwatch_control *c;
	uint64_t event;

	if (!s)
		errx(1, "%s", stapwatch_error());
	path = stapwatch_script_control(s);
	c = open_it();
	event = word(c, NULL, "page_faults");
	/* all that is needed has been touched then */
	say_count("not attached", c, event, STAPWATCH_THREAD, 0);
	touch(10);
	say("attach", stapwatch_control_attach(c, STAPWATCH_THREAD, 0, 0));
	touch(10);
	say_count("counts", c, event, STAPWATCH_THREAD, 0);
	fflush(stdout);
	if (child && !fork()) {
		/* which has all that there was, and ends when the script does */
		while (!access(path, F_OK))
			usleep(1000);
		_exit(0);
	}
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	if (argc < 2)
		return 2;
	if (!strcmp(argv[1], "wrong"))
		wrong();
	else
		start_and(!strcmp(argv[1], "child"));
	return 0;
}
