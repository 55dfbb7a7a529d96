/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting stap: the arguments and files that it gets. */
#define _GNU_SOURCE	/* memfd_create() */
#include "stap/run.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/shown.h"
#include "config.h"
#include "stap/child.h"
#include "stap/diag.h"
#include "stap/facts.h"
#include "stap/find.h"
#include "stap/tapsets.h"
#include "stap/uncounted.h"

/* The kernel's limit for one argument, with its NUL. */
#define ARG_LIMIT (32 * 4096)
#define RANDOM "XXXXXX"

struct run {
	const struct options *opts;
	const struct script_list *list;
	char **user;		/* the user's arguments as stap gets them */
	const struct script *filed;	/* the script that goes by a file */
	char *dir;		/* where that is */
	char *path;
	int in;			/* the script that goes by stdin, or -1 */
};

/* What stap is to get of a script. */
static const char *stap_text(const struct script *s, size_t *len)
{
	*len = s->lowered.changed ? s->lowered.len : s->len;
	return s->lowered.changed ? s->lowered.text : s->text;
}

static bool is_too_long(const struct script *s)
{
	return s->at.offset + s->lowered.len + 1 > ARG_LIMIT;
}

/* An option's value, in an argument of its own or after -vge. */
static void set_value(struct run *r, const struct arg_ref *at,
		      const char *value)
{
	struct buf b = { 0 };

	buf_add(&b, r->opts->argv[at->arg], at->offset);
	buf_puts(&b, value);
	free(r->user[at->arg]);
	r->user[at->arg] = buf_take(&b);
}

/* -e and its value go, but not the options that are in one argument with it. */
static void drop_text(struct run *r, const struct arg_ref *at)
{
	int arg = at->arg;
	size_t len = at->offset;

	if (!len) {
		free(r->user[arg]);
		r->user[arg--] = NULL;
		len = strlen(r->user[arg]);
	}
	if (len > strlen("-e")) {
		r->user[arg][len - 1] = '\0';
		return;
	}
	free(r->user[arg]);
	r->user[arg] = NULL;
}

static int write_fully(int fd, const char *s, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, s, len);
		if (n < 0 && errno != EINTR)
			return -1;
		if (n > 0) {
			s += n;
			len -= n;
		}
	}
	return 0;
}

/* With --build-as it is another user who reads the script. */
static int give_to(const char *user, const char *dir, int fd)
{
	const struct passwd *pw = user ? getpwnam(user) : NULL;

	if (!pw)
		return 0;
	return fchown(fd, pw->pw_uid, pw->pw_gid) ||
	       chown(dir, pw->pw_uid, pw->pw_gid);
}

static int write_file(struct run *r, const struct script *s)
{
	const char *tmp = getenv("TMPDIR"), *base = "input", *text;
	struct buf b = { 0 };
	size_t len;
	int fd, err;

	buf_printf(&b, "%s/stapwatch.%s", tmp && *tmp ? tmp : "/tmp", RANDOM);
	if (!mkdtemp(b.s)) {
		shown_line(stderr, "stapwatch: %s: %s; TMPDIR may name another directory",
			   b.s, strerror(errno));
		free(b.s);
		return -1;
	}
	r->filed = s;
	r->dir = xstrdup(b.s);
	if (s->kind == SCRIPT_FILE)
		base = strrchr(s->name, '/') ? strrchr(s->name, '/') + 1 :
					       s->name;
	buf_printf(&b, "/%s", base);
	r->path = buf_take(&b);
	text = stap_text(s, &len);
	fd = open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	err = fd < 0 || write_fully(fd, text, len) ||
	      give_to(r->opts->build_as, r->dir, fd);
	if (err)
		shown_line(stderr, "stapwatch: %s: %s; TMPDIR may name another directory",
			   r->path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return err ? -1 : 0;
}

/* All of it at once, so that nobody has to stay to write. */
static int write_stdin(struct run *r, const struct script *s)
{
	const char *text;
	size_t len;

	text = stap_text(s, &len);
	r->in = memfd_create("stapwatch", MFD_CLOEXEC);
	if (r->in < 0 || write_fully(r->in, text, len) ||
	    lseek(r->in, 0, SEEK_SET)) {
		shown_line(stderr, "stapwatch: script for stdin: %s",
			   strerror(errno));
		return -1;
	}
	return 0;
}

static int place_script(struct run *r, const struct script *s)
{
	if (s->unread || !(s->lowered.changed || s->consumed))
		return 0;
	switch (s->kind) {
	case SCRIPT_FILE:
		if (write_file(r, s))
			return -1;
		set_value(r, &s->at, r->path);
		return 0;
	case SCRIPT_STDIN:
		return write_stdin(r, s);
	case SCRIPT_TEXT:
		if (is_too_long(s)) {
			drop_text(r, &s->at);
			return write_file(r, s);
		}
		break;
	case SCRIPT_EXTRA:
		if (is_too_long(s)) {
			shown_line(stderr, "stapwatch: -E: the script becomes %zu bytes long, and an argument ends at %d; give it as FILE or -e",
				   s->lowered.len, ARG_LIMIT - 1);
			return -1;
		}
		break;
	}
	set_value(r, &s->at, s->lowered.text);
	return 0;
}

/* The whole of stap's arguments. */
static char **stap_argv(const struct run *r, bool filtered)
{
	const struct options *opts = r->opts;
	char **argv = xmalloc((opts->argc + 6) * sizeof(*argv));
	const char *dir = tapsets_option();
	int n = 0;

	argv[n++] = "stap";
	if (dir) {
		argv[n++] = "-I";
		argv[n++] = (char *)dir;
	}
	/* behind a pipe it would not see the terminal */
	if (filtered && child_has_colors() && !opts->color_fixed &&
	    !opts->color.arg)
		argv[n++] = "--color=always";
	for (int i = 1; i <= opts->argc; i++) {
		if (i == opts->operand && r->filed &&
		    r->filed->kind == SCRIPT_TEXT)
			argv[n++] = r->path;
		if (i < opts->argc && r->user[i])
			argv[n++] = r->user[i];
	}
	argv[n] = NULL;
	return argv;
}

static int become_stap(const struct run *r, const char *path)
{
	char **argv = stap_argv(r, false);

	if (r->in >= 0)
		dup2(r->in, STDIN_FILENO);
	execv(path, argv);
	shown_line(stderr, "stapwatch: %s: %s", path, strerror(errno));
	free(argv);
	return RUN_CANNOT;
}

static struct diag_file diag_file(const struct run *r, const struct script *s)
{
	struct diag_file f = {
		.stap_name = s->name,
		.name = s->name,
		.text = s->text,
		.len = s->len,
		.lowered = &s->lowered,
	};

	if (s == r->filed) {
		f.stap_name = r->path;
		f.random = strlen(r->dir) - strlen(RANDOM);
	}
	return f;
}

static bool has_pmu(const struct script_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct script *s = &list->scripts[i];

		if (!s->unread && uncounted_may_be(s->text, s->len))
			return true;
	}
	return false;
}

static int run_filtered(struct run *r, const char *path)
{
	struct diag_file *files =
		xmalloc(r->list->nr * sizeof(*files));
	struct child child = {
		.path = path,
		.argv = stap_argv(r, true),
		.in = r->in,
		.ours = r->opts->ours,
	};
	size_t nr = 0;
	int status;

	for (size_t i = 0; i < r->list->nr; i++) {
		const struct script *s = &r->list->scripts[i];

		if (!s->unread && (s->lowered.changed || s == r->filed))
			files[nr++] = diag_file(r, s);
	}
	child.err = diag_new(files, nr, false);
	if (r->opts->output)
		diag_name_output(child.err, r->opts->output);
	if (has_pmu(r->list))
		diag_explain_pmu(child.err);
	/* a parse tree says of which file it is */
	if (r->opts->last_pass == 1)
		child.out = diag_new(files, nr, true);
	status = child_run(&child);
	diag_free(child.err);
	diag_free(child.out);
	free(child.argv);
	free(files);
	return status;
}

static void clean_up(struct run *r)
{
	if (r->path)
		unlink(r->path);
	if (r->dir)
		rmdir(r->dir);
	if (r->in >= 0)
		close(r->in);
	for (int i = 0; i < r->opts->argc; i++)
		free(r->user[i]);
	free(r->user);
	free(r->path);
	free(r->dir);
}

/* Has stap something of ours to do? */
static bool is_lowered(const struct script_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct script *s = &list->scripts[i];

		if (!s->unread &&
		    (s->lowered.changed ||
		     (s->kind == SCRIPT_FILE && s->consumed)))
			return true;
	}
	return false;
}

/* One that fits, where it makes modules for a kernel that is known here. */
static char *find_fitting(const struct options *opts)
{
	struct facts f;
	char *path;

	facts_find(opts, &f);
	path = find_our_stap(f.release && opts->last_pass >= 4 &&
			     !opts->point.arg && !opts->other_runtime &&
			     !strcmp(opts->runtime ?: "kernel", "kernel"),
			     f.release);
	facts_free(&f);
	return path;
}

int run_stap(const struct options *opts, const struct script_list *list,
	     const char *point)
{
	struct run r = { .opts = opts, .list = list, .in = -1 };
	const bool lowered = opts->ours || is_lowered(list);
	const bool filtered = lowered || has_pmu(list);
	char *path = lowered ? find_fitting(opts) : find_stap();
	int status = 1, err = 0;

	if (!path)
		return RUN_NO_STAP;
	fflush(NULL);
	r.user = xmalloc(opts->argc * sizeof(*r.user));
	for (int i = 0; i < opts->argc; i++)
		r.user[i] = xstrdup(opts->argv[i]);
	if (point)
		set_value(&r, &opts->point, point);
	if (filtered && opts->color.arg && child_has_colors())
		set_value(&r, &opts->color, "always");
	if (filtered)
		child_hold_signals();
	for (size_t i = 0; !err && i < list->nr; i++)
		err = place_script(&r, &list->scripts[i]);
	if (!err)
		status = filtered ? run_filtered(&r, path) :
				    become_stap(&r, path);
	clean_up(&r);
	free(path);
	return filtered && !err ? child_end(status) : status;
}
