/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What events mean, for events.exp: each line of standard input is an action,
 * a PMU and a text, with tabs between; what comes of it is one line of output.
 * \xNN in the text is that byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event/event_notation.h"

#define WHY_SIZE 400

static const char *const notations[] = {
	"table", "native", "perf", "raw", "derived"
};

static void unescape(char *s)
{
	char *to = s;
	unsigned int byte;

	while (*s) {
		if (!strncmp(s, "\\x", 2) && sscanf(s + 2, "%2x", &byte) == 1) {
			*to++ = byte;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/* What is zero is not shown. */
static void show_number(const char *key, unsigned long long value)
{
	if (value)
		printf(" %s=%#llx", key, value);
}

static void show_flag(const char *key, bool value)
{
	if (value)
		printf(" -%s", key);
}

static void show_attr(const struct event_attr *a)
{
	printf(" type=%u config=%#llx", a->type, (unsigned long long)a->config);
	show_number("config1", a->config1);
	show_number("config2", a->config2);
	show_number("config3", a->config3);
	show_number("config4", a->config4);
	show_flag("user", a->exclude_user);
	show_flag("kernel", a->exclude_kernel);
	show_flag("hv", a->exclude_hv);
	show_flag("idle", a->exclude_idle);
	show_flag("host", a->exclude_host);
	show_flag("guest", a->exclude_guest);
	show_number("precise", a->precise_ip);
	show_number("sample", a->sample_type);
}

static void resolve(const char *pmu, const char *text, bool with_text)
{
	char why[WHY_SIZE] = "";
	struct event ev;

	if (event_resolve(text, *pmu ? pmu : NULL, &ev, why, sizeof(why))) {
		printf("error: %s\n", why);
		return;
	}
	if (strcmp(ev.name, text))
		printf("name is %s: ", ev.name);
	printf("%s %s", notations[ev.notation],
	       ev.table_name ? ev.table_name : "-");
	if (ev.derived)
		printf(" %u * %s / %s", ev.derived->scale,
		       ev.derived->numerator, ev.derived->denominator);
	else
		show_attr(&ev.attr);
	if (with_text)
		printf(" (%s)", ev.text ? ev.text : "");
	putchar('\n');
	event_free(&ev);
}

static void split(const char *text)
{
	char why[WHY_SIZE] = "";
	struct event_profile p;

	if (event_profile_split(text, &p, why, sizeof(why))) {
		printf("error: %s\n", why);
		return;
	}
	printf("%s %llu%s", p.event, (unsigned long long)p.period,
	       p.freq ? " hz" : "");
	if (p.precise >= 0)
		printf(" precise %d", p.precise);
	if (p.random)
		printf(" random 0x%llx", (unsigned long long)p.random);
	if (p.long_period)
		printf(" long %llu", (unsigned long long)p.long_period);
	putchar('\n');
	free(p.event);
}

/* Nothing may come of these but an end. */
static void mutate(const char *text, unsigned long long seed)
{
	static const char bytes[] = ":/,=.[]_-0x9ukpr \xff\x01";
	char why[WHY_SIZE], copy[256];
	struct event_profile p;
	unsigned int i, cuts;
	struct event ev;

	for (i = 0; i < 500; i++) {
		snprintf(copy, sizeof(copy), "%s", text);
		for (cuts = 0; cuts < 3 && *copy; cuts++) {
			seed = seed * 6364136223846793005ULL + 1;
			copy[(seed >> 33) % strlen(copy)] =
				bytes[(seed >> 40) % (sizeof(bytes) - 1)];
		}
		if (!event_resolve(copy, i & 1 ? "skx" : NULL, &ev, why,
				   sizeof(why)))
			event_free(&ev);
		if (!event_profile_split(copy, &p, why, sizeof(why)))
			free(p.event);
	}
	puts("done");
}

static void act(const char *action, const char *pmu, char *text)
{
	struct event ev;
	char one[1];

	unescape(text);
	if (!strcmp(action, "resolve"))
		resolve(pmu, text, false);
	else if (!strcmp(action, "text"))
		resolve(pmu, text, true);
	else if (!strcmp(action, "split"))
		split(text);
	else if (!strcmp(action, "mutate"))
		mutate(text, strlen(text));
	else if (!strcmp(action, "tiny"))
		printf("%d %d\n", event_resolve(text, NULL, &ev, one, 1),
		       one[0]);
	else
		puts("no such action");
}

int main(int argc, char **argv)
{
	char line[4096];
	char *pmu, *text;

	if (argc > 1)
		event_sysfs_root(argv[1]);
	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		pmu = strchr(line, '\t');
		text = pmu ? strchr(pmu + 1, '\t') : NULL;
		if (!text)
			return 2;
		*pmu++ = '\0';
		*text++ = '\0';
		act(line, pmu, text);
	}
	return 0;
}
