/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a thread's time went: by precise accounting, and by what the kernel counts itself.
 *
 *	blocked		for all but a signal that stops it; sum_sleep_runtime of
 *			/proc/PID/sched, which has that neither
 *	io		disk and page; the delays for block I/O of taskstats
 *	served		the same; what the module of disk/ was busy for
 *	ready		woken and preempted; the second number of /proc/PID/schedstat
 *	cpu		user, system, interrupt and softirq; the first one
 *	reclaim		memory.pressure of its cgroup, where nobody else is
 *
 * The thread is stopped while another one reads: only that part of its time goes on.
 */
#ifndef GUEST_MEASURES_H
#define GUEST_MEASURES_H

#include <err.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/genetlink.h>
#include <linux/taskstats.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ppa/abi.h"

enum measure {
	M_BLOCKED,
	M_IO,
	M_SERVED,
	M_READY,
	M_CPU,
	M_RECLAIM,
	M_UNKNOWN,	/* of the kernel: 0 */
	NR_MEASURES
};

static const char *const measure_name[] = {
	"blocked", "io", "served", "ready", "cpu", "reclaim", "unknown"
};

/* All in nanoseconds. */
struct measures {
	uint64_t ns[NR_MEASURES];
};

/* ---- taskstats, by a netlink family that has a number for now */

struct measures_ask {
	struct nlmsghdr n;
	struct genlmsghdr g;
	struct nlattr a;
	char value[64];
};

static int measures_netlink = -1, measures_family;

static struct nlattr *measures_attr(void *from, int len, int type)
{
	struct nlattr *a = from;

	while (len >= (int)sizeof(*a) && a->nla_len >= sizeof(*a)) {
		if ((a->nla_type & NLA_TYPE_MASK) == type)
			return a;
		len -= NLA_ALIGN(a->nla_len);
		a = (struct nlattr *)((char *)a + NLA_ALIGN(a->nla_len));
	}
	errx(1, "netlink: no attribute %d", type);
}

/* The attributes of the answer; their length is left in LEN. */
static void *measures_asked(int family, int command, int type, const void *value,
			    int size, int *len)
{
	static char answer[4096];
	struct nlmsghdr *n = (struct nlmsghdr *)answer;
	struct measures_ask ask = {
		.n = { .nlmsg_type = family, .nlmsg_flags = NLM_F_REQUEST,
		       .nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN) +
				    NLA_ALIGN(NLA_HDRLEN + size) },
		.g = { .cmd = command, .version = 1 },
		.a = { .nla_type = type, .nla_len = NLA_HDRLEN + size },
	};

	if (measures_netlink < 0)
		measures_netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC,
					  NETLINK_GENERIC);
	memcpy(ask.value, value, size);
	if (send(measures_netlink, &ask, ask.n.nlmsg_len, 0) < 0 ||
	    recv(measures_netlink, answer, sizeof(answer), 0) < 0 ||
	    n->nlmsg_type == NLMSG_ERROR)
		errx(1, "netlink: family %d, command %d", family, command);
	*len = n->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	return answer + NLMSG_LENGTH(GENL_HDRLEN);
}

static uint64_t measures_blkio(pid_t tid)
{
	struct nlattr *a;
	void *attrs;
	int len;

	if (!measures_family) {
		attrs = measures_asked(GENL_ID_CTRL, CTRL_CMD_GETFAMILY,
				       CTRL_ATTR_FAMILY_NAME, TASKSTATS_GENL_NAME,
				       sizeof(TASKSTATS_GENL_NAME), &len);
		a = measures_attr(attrs, len, CTRL_ATTR_FAMILY_ID);
		measures_family = *(uint16_t *)(a + 1);
	}
	attrs = measures_asked(measures_family, TASKSTATS_CMD_GET,
			       TASKSTATS_CMD_ATTR_PID, &tid, sizeof(tid), &len);
	a = measures_attr(attrs, len, TASKSTATS_TYPE_AGGR_PID);
	a = measures_attr(a + 1, a->nla_len - NLA_HDRLEN, TASKSTATS_TYPE_STATS);
	return ((struct taskstats *)(a + 1))->blkio_delay_total;
}

/* ---- what the kernel counts */

/* The number after KEY in the first line that begins with LINE, in units of ONE nanosecond;
 * 0 where there is none. */
static double measures_in(const char *path, const char *line, const char *key,
			  double one)
{
	char text[256];
	const char *at = NULL;
	double value = 0;
	FILE *f = fopen(path, "re");

	if (!f)
		err(1, "%s", path);
	while (!at && fgets(text, sizeof(text), f))
		if (!strncmp(text, line, strlen(line)))
			at = strstr(text, key);
	if (at) {
		at += strlen(key);
		value = strtod(at + strspn(at, " :"), NULL);
	}
	fclose(f);
	return value * one;
}

/* All that the disk was busy for; 0: there is none. */
static uint64_t measures_served(void)
{
	static const char path[] = "/sys/module/disk/parameters/served_us";

	return access(path, R_OK) ? 0 : measures_in(path, "", "", 1e3);
}

static void measures_kernel(pid_t tid, const char *pressure, struct measures *m)
{
	unsigned long long cpu, ready;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", tid);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%llu %llu", &cpu, &ready) != 2)
		err(1, "%s", path);
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/sched", tid);
	*m = (struct measures) { .ns = {
		[M_BLOCKED] = measures_in(path, "", "sum_sleep_runtime", 1e6),
		[M_IO] = measures_blkio(tid),
		[M_SERVED] = measures_served(),
		[M_READY] = ready,
		[M_CPU] = cpu,
		[M_RECLAIM] = pressure ? measures_in(pressure, "some", "total=", 1e3) :
					   0,
	} };
}

/* ---- what ppa does */

static const struct ppa_thread *measures_thread(pid_t tid, double *tick_ns)
{
	static union {
		struct ppa_header h;
		char bytes[1 << 20];
	} file;
	const struct ppa_thread *t;
	ssize_t size = 0, n, at;
	glob_t g;
	int fd;

	if (glob("/proc/systemtap/*/ppa/rawthreads", 0, NULL, &g))
		errx(1, "no session");
	fd = open(g.gl_pathv[0], O_RDONLY | O_CLOEXEC);
	globfree(&g);
	while ((n = read(fd, file.bytes + size, sizeof(file) - size)) > 0)
		size += n;
	close(fd);
	*tick_ns = 1e9 / file.h.tick_hz;
	for (at = file.h.offset; at + (ssize_t)sizeof(*t) <= size;
	     at += file.h.stride) {
		t = (const struct ppa_thread *)(file.bytes + at);
		if (t->tid == (uint32_t)tid && !(t->flags & PPA_ENDED))
			return t;
	}
	errx(1, "thread %d has no record", tid);
}

static void measures_ppa(pid_t tid, struct measures *m)
{
	double ns;
	const struct ppa_thread *t = measures_thread(tid, &ns);
	uint64_t ticks[NR_MEASURES] = { 0 };
	unsigned int i;

	for (i = PPA_PART_DISK; i < PPA_PART_NOT_ACCOUNTED; i++)
		ticks[M_BLOCKED] += t->parts[i];
	ticks[M_BLOCKED] -= t->parts[PPA_PART_STOPPED];
	ticks[M_IO] = t->parts[PPA_PART_DISK] + t->parts[PPA_PART_PAGE];
	ticks[M_SERVED] = ticks[M_IO];
	ticks[M_READY] = t->parts[PPA_PART_WOKEN] + t->parts[PPA_PART_PREEMPTED];
	ticks[M_CPU] = t->parts[PPA_PART_USER] + t->parts[PPA_PART_SYSTEM] +
		       t->parts[PPA_PART_INT] + t->parts[PPA_PART_SOFT];
	ticks[M_RECLAIM] = t->parts[PPA_PART_RECLAIM];
	ticks[M_UNKNOWN] = t->parts[PPA_PART_UNKNOWN] +
			   t->parts[PPA_PART_NOT_ACCOUNTED];
	for (i = 0; i < NR_MEASURES; i++)
		m->ns[i] = ticks[i] * ns;
}

/* ---- both */

/* Of TID, which has been stopped since the disk had served for SERVED. */
static void measures_say(const char *name, pid_t tid, const char *pressure,
			 uint64_t served)
{
	struct measures ppa, kernel;
	unsigned int i, switches;
	char path[64];

	measures_ppa(tid, &ppa);
	measures_kernel(tid, pressure, &kernel);
	kernel.ns[M_SERVED] -= served;
	snprintf(path, sizeof(path), "/proc/%d/sched", tid);
	switches = measures_in(path, "", "nr_switches", 1);
	for (i = 0; i < NR_MEASURES; i++)
		printf("measured %s %s %llu %llu %u\n", name, measure_name[i],
		       (unsigned long long)ppa.ns[i],
		       (unsigned long long)kernel.ns[i], switches);
}

#endif
