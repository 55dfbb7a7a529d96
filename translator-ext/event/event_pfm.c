/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libpfm4's names of native events: skx::MEM_LOAD_RETIRED:L3_MISS:u.
 */
#include "event/event_notation.h"

#ifdef HAVE_LIBPFM

#include <perfmon/pfmlib_perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define LONGEST_NAME	256	/* of an event with its umask, in a list */

const char event_pfm_missing[] = "";

/*
 * What the user's environment makes libpfm4 do at its start, it shall not do
 * here: it prints.  And it shall know the events of machines other than this.
 */
static int initialize(void)
{
	static const struct {
		const char *name;
		const char *value;	/* NULL: not to be set */
	} vars[] = {
		{ "LIBPFM_ENCODE_INACTIVE", "1" },
		{ "LIBPFM_VERBOSE", NULL },
		{ "LIBPFM_DEBUG", NULL },
		{ "LIBPFM_DEBUG_STDOUT", NULL },
	};
	char *saved[sizeof(vars) / sizeof(vars[0])];
	const char *was;
	size_t i;
	int rc;

	for (i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
		was = getenv(vars[i].name);
		saved[i] = was ? xstrdup(was) : NULL;
		if (vars[i].value)
			setenv(vars[i].name, vars[i].value, 1);
		else
			unsetenv(vars[i].name);
	}
	rc = pfm_initialize();
	/* stap runs in this environment too */
	for (i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
		if (saved[i])
			setenv(vars[i].name, saved[i], 1);
		else
			unsetenv(vars[i].name);
		free(saved[i]);
	}
	return rc;
}

static bool start(void)
{
	static bool tried, works;

	if (!tried) {
		tried = true;
		works = initialize() == PFM_SUCCESS;
	}
	return works;
}

static bool get_pmu(int i, pfm_pmu_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_pmu_info(i, info) == PFM_SUCCESS;
}

static bool get_event(int idx, pfm_event_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_event_info(idx, PFM_OS_PERF_EVENT_EXT, info) ==
	       PFM_SUCCESS;
}

static bool get_attr(int idx, int i, pfm_event_attr_info_t *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	return pfm_get_event_attr_info(idx, i, PFM_OS_PERF_EVENT_EXT, info) ==
	       PFM_SUCCESS;
}

static bool find_pmu(const char *name, pfm_pmu_info_t *info)
{
	int i;

	pfm_for_all_pmus(i)
		if (get_pmu(i, info) && !strcasecmp(info->name, name))
			return true;
	return false;
}

/* perf's events come by names of perf's; see event_perf.c */
static bool is_listed(const pfm_pmu_info_t *info, const char *pmu)
{
	if (pmu)
		return !strcasecmp(info->name, pmu);
	return info->is_present && info->type != PFM_PMU_TYPE_OS_GENERIC;
}

int event_pfm_known(const char *pmu, struct buf *why)
{
	pfm_pmu_info_t info;
	struct suggest s;
	int i;

	if (!start()) {
		buf_puts(why, "libpfm4 does not start, so no PMU but this"
			 " machine's is known");
		return -1;
	}
	if (find_pmu(pmu, &info))
		return 0;
	buf_puts(why, "PMU ");
	event_quote(why, pmu, strlen(pmu));
	buf_puts(why, " is not known");
	suggest_begin(&s, pmu, strlen(pmu));
	pfm_for_all_pmus(i)
		if (get_pmu(i, &info))
			suggest_offer(&s, "", info.name, 0);
	suggest_end(&s, why);
	return -1;
}

/* The events of the PMUs that are listed, one by one; { .idx = -1 } at first. */
struct walk {
	int next;		/* the number of the next PMU */
	int idx;		/* of this one's next event, or -1 */
	pfm_pmu_info_t pmu;
	pfm_event_info_t event;
};

static bool walk(struct walk *w, const char *pmu)
{
	int idx;

	if (!start())
		return false;
	for (;;) {
		while (w->idx == -1) {
			if (w->next == PFM_PMU_MAX)
				return false;
			if (get_pmu(w->next++, &w->pmu) &&
			    is_listed(&w->pmu, pmu))
				w->idx = w->pmu.first_event;
		}
		idx = w->idx;
		w->idx = pfm_get_event_next(idx);
		if (get_event(idx, &w->event))
			return true;
	}
}

void event_pfm_offer(struct suggest *s, const char *pmu, bool whole)
{
	struct walk w = { .idx = -1 };
	struct buf prefix = { 0 };

	while (walk(&w, pmu)) {
		prefix.len = 0;
		buf_printf(&prefix, "%s%s", whole ? w.pmu.name : "",
			   whole ? "::" : "");
		suggest_offer(s, prefix.s, w.event.name, 1);
	}
	free(prefix.s);
}

/* libpfm4 is given nothing that is not in any of its names. */
static bool may_be_native(const char *text)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		"0123456789_:.=-";

	return text[0] != ':' && !text[strspn(text, letters)];
}

static int encode(const char *text, struct perf_event_attr *attr, char **whole,
		  pfm_perf_encode_arg_t *arg)
{
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	memset(arg, 0, sizeof(*arg));
	arg->attr = attr;
	arg->fstr = whole;
	arg->size = sizeof(*arg);
	arg->cpu = -1;
	return pfm_get_os_event_encoding(text, PFM_PLM0 | PFM_PLM3 | PFM_PLMH,
					 PFM_OS_PERF_EVENT_EXT, arg);
}

/* Which PMU an event is of decides what its numbers mean. */
static void take_attr(const struct perf_event_attr *from, int idx,
		      const char *whole, struct event_attr *to)
{
	pfm_event_info_t event;
	pfm_pmu_info_t info;
	const char *ldlat;

	*to = (struct event_attr) {
		.type = from->type,
		.config = from->config,
		.config1 = from->config1,
		.config2 = from->config2,
		.exclude_user = from->exclude_user,
		.exclude_kernel = from->exclude_kernel,
		.exclude_hv = from->exclude_hv,
		.exclude_idle = from->exclude_idle,
		.exclude_host = from->exclude_host,
		.exclude_guest = from->exclude_guest,
		.precise_ip = from->precise_ip,
		.sample_type = from->sample_type,
	};
	/* only the machine that has it could know of a number of its own */
	if (get_event(idx, &event) && get_pmu(event.pmu, &info) &&
	    info.type == PFM_PMU_TYPE_CORE && !info.is_present)
		to->type = PERF_TYPE_RAW;
	ldlat = whole ? strstr(whole, ":ldlat=") : NULL;
	if (ldlat && strtoul(ldlat + strlen(":ldlat="), NULL, 0))
		to->sample_type |= PERF_SAMPLE_ADDR | PERF_SAMPLE_WEIGHT |
				   PERF_SAMPLE_DATA_SRC;
}

static bool find_attr(const pfm_event_info_t *event, const char *name,
		      size_t len, pfm_event_attr_info_t *attr)
{
	int i;

	for (i = 0; i < event->nattrs; i++)
		if (get_attr(event->idx, i, attr) &&
		    !strncasecmp(attr->name, name, len) && !attr->name[len])
			return true;
	return false;
}

/* The pieces after an event's name; NULL if there is no further one. */
static const char *next_piece(const char *at, size_t *len)
{
	at += strcspn(at, ":.");
	if (!*at)
		return NULL;
	at++;
	*len = strcspn(at, ":.");
	return at;
}

static const char *event_part(const char *text)
{
	const char *prefix = strstr(text, "::");

	return prefix ? prefix + 2 : text;
}

/* A line of description: the event's, and those of its umasks. */
static char *describe(const pfm_event_info_t *event, const char *text)
{
	const char *piece = event_part(text);
	pfm_event_attr_info_t attr;
	struct buf out = { 0 };
	size_t len;

	buf_puts(&out, event->desc ? event->desc : "");
	while ((piece = next_piece(piece, &len)))
		if (find_attr(event, piece, len, &attr) &&
		    attr.type == PFM_ATTR_UMASK && attr.desc)
			buf_printf(&out, "; %s", attr.desc);
	return buf_take(&out);
}

static void offer_attrs(struct suggest *s, const pfm_event_info_t *event)
{
	pfm_event_attr_info_t attr;
	int i;

	for (i = 0; i < event->nattrs; i++)
		if (get_attr(event->idx, i, &attr))
			suggest_offer(s, "", attr.name, 0);
}

static void list_umasks(const pfm_event_info_t *event, struct buf *why)
{
	pfm_event_attr_info_t attr;
	int i, nr = 0;

	for (i = 0; i < event->nattrs && nr < SUGGEST_MAX; i++)
		if (get_attr(event->idx, i, &attr) &&
		    attr.type == PFM_ATTR_UMASK)
			buf_printf(why, "%s%s", nr++ ? ", " : ": ", attr.name);
}

/* The event is there, but libpfm4 says no to what stands after it. */
static void say_wrong(const char *text, int rc, struct buf *why)
{
	const char *piece = event_part(text);
	size_t name_len = piece - text + strcspn(piece, ":.");
	pfm_event_attr_info_t attr;
	pfm_event_info_t event;
	struct suggest s;
	size_t len, equals;
	char *name = xstrndup(text, name_len);
	bool known = get_event(pfm_find_event(name), &event);

	free(name);
	while (known && (piece = next_piece(piece, &len))) {
		equals = strcspn(piece, "=");
		if (find_attr(&event, piece, equals < len ? equals : len,
			      &attr))
			continue;
		event_quote(why, text, name_len);
		buf_puts(why, " has no umask or modifier ");
		event_quote(why, piece, len);
		suggest_begin(&s, piece, len);
		offer_attrs(&s, &event);
		suggest_end(&s, why);
		return;
	}
	if (known && rc == PFM_ERR_UMASK) {
		event_quote(why, text, strlen(text));
		buf_puts(why, " wants a umask");
		list_umasks(&event, why);
		return;
	}
	buf_puts(why, "libpfm4 cannot encode ");
	event_quote(why, text, strlen(text));
	buf_printf(why, ": %s", pfm_strerror(rc));
	if (rc == PFM_ERR_NOTSUPP)
		buf_puts(why, ", as only the machine that has this PMU knows"
			 " its number");
}

/* perf's attr has more than an event's meaning; that is the probe's to say. */
static int check_rest(const struct perf_event_attr *attr,
		      const pfm_perf_encode_arg_t *arg, struct buf *why)
{
	const char *what = NULL;

	if (attr->sample_period)
		what = "period= and freq= are not part of an event;"
		       " pmu_profile(\"EVENT:PERIOD\") takes it";
	else if (arg->cpu != -1)
		what = "cpu= is not part of an event; it is counted on each"
		       " CPU";
	else if (attr->pinned || attr->exclusive || arg->flags)
		what = "how an event is scheduled is not part of it;"
		       " pinned and excl do not apply";
	if (!what)
		return 0;
	buf_puts(why, what);
	return -1;
}

static enum event_found try(const char *text, struct event *ev,
			    struct buf *why)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg;
	pfm_event_info_t event;
	char *whole = NULL;
	int rc = encode(text, &attr, &whole, &arg);

	if (rc == PFM_ERR_NOTFOUND)
		return EVENT_NOT_MINE;
	if (rc != PFM_SUCCESS) {
		say_wrong(text, rc, why);
		return EVENT_WRONG;
	}
	ev->notation = EVENT_PFM;
	take_attr(&attr, arg.idx, whole, &ev->attr);
	free(whole);
	if (check_rest(&attr, &arg, why))
		return EVENT_WRONG;
	/* it leaves guests out of its own accord; other notations do not */
	if (attr.type < PERF_TYPE_RAW && !attr.precise_ip &&
	    !strstr(text, ":mh"))
		ev->attr.exclude_guest = false;
	if (get_event(arg.idx, &event))
		ev->text = describe(&event, text);
	return EVENT_FOUND;
}

enum event_found event_pfm(const char *text, const char *pmu,
			   struct event *ev, struct buf *why)
{
	const char *native = strstr(text, "::");
	struct buf name = { 0 };
	enum event_found found;

	if (!may_be_native(text) || !start())
		return EVENT_NOT_MINE;
	if (native) {
		buf_add(&name, text, native - text);
		found = event_pfm_known(name.s, why) ? EVENT_WRONG :
			try(text, ev, why);
	} else if (pmu) {
		buf_printf(&name, "%s::%s", pmu, text);
		found = try(name.s, ev, why);
		if (found == EVENT_NOT_MINE) {
			/* what libpfm4 has for every machine */
			name.len = 0;
			buf_printf(&name, "perf::%s", text);
			found = try(name.s, ev, why);
		}
	} else {
		found = try(text, ev, why);
	}
	free(name.s);
	return found;
}

struct each {
	void (*call)(void *arg, const char *name, const char *text,
		     const struct event_attr *attr);
	void *arg;
};

static void call_one(const struct each *each, const char *name,
		     const pfm_event_info_t *event)
{
	struct perf_event_attr perf_attr;
	pfm_perf_encode_arg_t arg;
	struct event_attr attr;
	char *whole = NULL;
	char *text = describe(event, name);
	bool ok = encode(name, &perf_attr, &whole, &arg) == PFM_SUCCESS;

	if (ok)
		take_attr(&perf_attr, arg.idx, whole, &attr);
	each->call(each->arg, name, text, ok ? &attr : NULL);
	free(whole);
	free(text);
}

static void each_umask(const struct each *each, const char *pmu,
		       const pfm_event_info_t *event)
{
	pfm_event_attr_info_t attr;
	struct buf name = { 0 };
	bool any = false;
	int i;

	for (i = 0; i < event->nattrs; i++) {
		if (!get_attr(event->idx, i, &attr) ||
		    attr.type != PFM_ATTR_UMASK)
			continue;
		any = true;
		name.len = 0;
		buf_printf(&name, "%s::%s:%s", pmu, event->name, attr.name);
		call_one(each, name.s, event);
	}
	if (!any) {
		buf_printf(&name, "%s::%s", pmu, event->name);
		call_one(each, name.s, event);
	}
	free(name.s);
}

void event_pfm_each(const char *pmu,
		    void (*call)(void *arg, const char *name, const char *text,
				 const struct event_attr *attr), void *arg)
{
	const struct each each = { call, arg };
	struct walk w = { .idx = -1 };

	while (walk(&w, pmu))
		each_umask(&each, w.pmu.name, &w.event);
}

#else /* no libpfm4 */

#include <string.h>

const char event_pfm_missing[] =
	"; this build has no libpfm4, and so no native names";

int event_pfm_known(const char *pmu, struct buf *why)
{
	buf_puts(why, "PMU ");
	event_quote(why, pmu, strlen(pmu));
	buf_puts(why, " is not known");
	buf_puts(why, event_pfm_missing);
	return -1;
}

void event_pfm_offer(struct suggest *s, const char *pmu, bool whole)
{
	(void)s;
	(void)pmu;
	(void)whole;
}

enum event_found event_pfm(const char *text, const char *pmu,
			   struct event *ev, struct buf *why)
{
	(void)text;
	(void)pmu;
	(void)ev;
	(void)why;
	return EVENT_NOT_MINE;
}

void event_pfm_each(const char *pmu,
		    void (*call)(void *arg, const char *name, const char *text,
				 const struct event_attr *attr), void *arg)
{
	(void)pmu;
	(void)call;
	(void)arg;
}

#endif
