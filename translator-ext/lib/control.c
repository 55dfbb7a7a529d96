/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets, targets and readings of a script's session; stapwatch.h says what there is. */
#define _FILE_OFFSET_BITS 64	/* an event's word */
#include "lib/map.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "control/abi.h"

_Static_assert(sizeof(struct sw_control_step) == 64, "no padding");
_Static_assert(sizeof(struct sw_control_call) == 32, "no padding");
_Static_assert((int)STAPWATCH_PRESET == SW_CONTROL_PRESET &&
	       (int)STAPWATCH_FIND == SW_CONTROL_FIND &&
	       (int)STAPWATCH_CGROUP == SW_CONTROL_CGROUP &&
	       STAPWATCH_STOPPED == SW_CONTROL_STOPPED, "the module's numbers");

/* So many steps are handed over in one call. */
#define STEPS 64

struct stapwatch_control {
	int fd;
};

static struct stapwatch_control *control_new(int fd)
{
	struct stapwatch_control *c = malloc(sizeof(*c));

	if (c)
		c->fd = fd;
	else
		map_fail(ENOMEM, "out of memory");
	return c;
}

struct stapwatch_control *stapwatch_control_open(const char *path)
{
	struct stapwatch_control *c;
	int fd;

	if (!path) {
		map_fail(EINVAL, "control: no path");
		return NULL;
	}
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		map_fail(errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	c = control_new(fd);
	if (!c)
		close(fd);
	return c;
}

struct stapwatch_control *stapwatch_control_of(int fd)
{
	return control_new(fd);
}

void stapwatch_control_close(struct stapwatch_control *c)
{
	if (!c)
		return;
	close(c->fd);
	free(c);
}

int stapwatch_control_fd(const struct stapwatch_control *c)
{
	return c->fd;
}

/* A call that has failed. */
static int fail(int err)
{
	return map_fail(err, "control: %s",
			err == ESHUTDOWN ? "the script has ended, or has not begun" :
			err == ENODATA ? "no value at the moment" :
			err == ENOTTY ? "that is no file of control" :
			strerror(err));
}

/* Where the file has gone proc answers EIO to a reading, and ENOTTY to all else. */
static bool is_over(const struct stapwatch_control *c, int err)
{
	int64_t count;

	return err == EIO || (err == ENOTTY &&
			      pread(c->fd, &count, sizeof(count), 0) < 0 &&
			      errno == EIO);
}

static void step_to(const struct stapwatch_step *s, struct sw_control_step *to)
{
	*to = (struct sw_control_step) {
		.what = s->what,
		.target = s->target,
		.flags = s->flags,
		.id = s->id,
		.value = s->value,
		.event = s->event,
		.name = (uintptr_t)s->name,
		.text = (uintptr_t)s->text,
		.name_size = s->name ? strlen(s->name) : 0,
		.text_size = s->text ? strlen(s->text) : 0,
	};
}

static void step_from(const struct sw_control_step *from, struct stapwatch_step *s)
{
	s->error = from->error;
	s->value = from->value;
	s->event = from->event;
}

/* Numbers that do not fit, and what is left for later members. */
static bool is_wrong(const struct stapwatch_step *s)
{
	return (unsigned int)s->what > UINT16_MAX ||
	       (unsigned int)s->target > UINT16_MAX ||
	       s->reserved[0] || s->reserved[1];
}

/* Up to STEPS of them.  Return: how many are done, or -1. */
static int run_some(struct stapwatch_control *c, struct stapwatch_step *steps,
		    size_t nr)
{
	struct sw_control_step some[STEPS];
	char why[256] = "";
	struct sw_control_call call = {
		.version = SW_CONTROL_VERSION,
		.step_size = sizeof(*some),
		.steps = (uintptr_t)some,
		.why = (uintptr_t)why,
		.why_size = sizeof(why),
	};
	int done = 0, err;
	uint32_t i;

	for (; call.nr < nr && !is_wrong(&steps[call.nr]); call.nr++)
		step_to(&steps[call.nr], &some[call.nr]);
	if (call.nr)
		done = ioctl(c->fd, SW_CONTROL_RUN, &call);
	if (done < 0) {
		err = errno;
		steps->error = is_over(c, err) ? ESHUTDOWN : err;
		return fail(steps->error);
	}
	for (i = 0; i < call.nr && i <= (uint32_t)done; i++)
		step_from(&some[i], &steps[i]);
	if ((uint32_t)done == nr)
		return done;
	if ((uint32_t)done == call.nr)
		steps[done].error = EINVAL;
	why[sizeof(why) - 1] = '\0';
	if (*why)
		map_fail(steps[done].error, "control: %s", why);
	else
		fail(steps[done].error);
	return done;
}

int stapwatch_control_run(struct stapwatch_control *c, struct stapwatch_step *steps,
			  size_t nr)
{
	size_t i, part;
	int done;

	for (i = 0; i < nr; i++)
		steps[i].error = 0;
	for (i = 0; i < nr; i += part) {
		part = nr - i < STEPS ? nr - i : STEPS;
		done = run_some(c, steps + i, part);
		if (done < 0)
			return i ? (int)i : -1;
		if ((size_t)done < part)
			return i + done;
	}
	return nr;
}

static int run_one(struct stapwatch_control *c, struct stapwatch_step *s)
{
	const int done = stapwatch_control_run(c, s, 1);

	if (done == 1)
		return s->error ? fail(s->error) : 0;
	return -1;
}

int stapwatch_control_make_set(struct stapwatch_control *c, const char *name,
			       const char *events)
{
	return run_one(c, &(struct stapwatch_step) {
		.what = STAPWATCH_MAKE_SET,
		.name = name,
		.text = events,
	});
}

int stapwatch_control_find(struct stapwatch_control *c, const char *set,
			   const char *event, uint64_t *word)
{
	struct stapwatch_step s = {
		.what = STAPWATCH_FIND,
		.name = set,
		.text = event,
	};
	const int rc = run_one(c, &s);

	if (!rc)
		*word = s.event;
	return rc;
}

int stapwatch_control_attach(struct stapwatch_control *c,
			     enum stapwatch_target target, int64_t id,
			     unsigned int flags)
{
	return run_one(c, &(struct stapwatch_step) {
		.what = STAPWATCH_ATTACH,
		.target = target,
		.id = id,
		.flags = flags,
	});
}

int stapwatch_control_detach(struct stapwatch_control *c,
			     enum stapwatch_target target, int64_t id)
{
	return run_one(c, &(struct stapwatch_step) {
		.what = STAPWATCH_DETACH,
		.target = target,
		.id = id,
	});
}

int stapwatch_control_start(struct stapwatch_control *c,
			    enum stapwatch_target target, int64_t id)
{
	return run_one(c, &(struct stapwatch_step) {
		.what = STAPWATCH_START,
		.target = target,
		.id = id,
	});
}

int stapwatch_control_stop(struct stapwatch_control *c,
			   enum stapwatch_target target, int64_t id)
{
	return run_one(c, &(struct stapwatch_step) {
		.what = STAPWATCH_STOP,
		.target = target,
		.id = id,
	});
}

int stapwatch_control_read(struct stapwatch_control *c, uint64_t event,
			   enum stapwatch_target target, int64_t id,
			   int64_t *value)
{
	struct stapwatch_step s = {
		.what = STAPWATCH_READ,
		.target = target,
		.id = id,
		.event = event,
	};
	const int rc = run_one(c, &s);

	if (!rc)
		*value = s.value;
	return rc;
}

int stapwatch_control_count(struct stapwatch_control *c, uint64_t event,
			    int64_t value, uint64_t *counter)
{
	struct stapwatch_step s = {
		.what = STAPWATCH_COUNT,
		.event = event,
		.value = value,
	};
	const int rc = run_one(c, &s);

	if (!rc)
		*counter = s.event;
	return rc;
}

int stapwatch_control_preset(struct stapwatch_control *c, uint64_t counter,
			     int64_t value)
{
	return run_one(c, &(struct stapwatch_step) {
		.what = STAPWATCH_PRESET,
		.event = counter,
		.value = value,
	});
}

int stapwatch_control_self(struct stapwatch_control *c, uint64_t event,
			   int64_t *value)
{
	int64_t count;
	const ssize_t n = pread(c->fd, &count, sizeof(count), event);

	if (n < 0)
		return fail(errno == EIO ? ESHUTDOWN : errno);
	if (n != sizeof(count))
		return fail(EINVAL);
	*value = count;
	return 0;
}
