/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who may read what a session shows in /proc: the owner alone, unless the script's
 * options name a group or everybody.
 *
 * A mode alone is not enough.  Every mount of procfs shows these files, so that the
 * root of a container that shares our user namespace would pass for their owner.
 *
 *   sw_access_of()	any context
 *   sw_may_open()	processes, when they open a file
 */
#ifndef STAPWATCH_BASE_ACCESS_H
#define STAPWATCH_BASE_ACCESS_H

#include "base/compat.h"
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/fs.h>
#include <linux/proc_fs.h>
#include <linux/stat.h>
#include <linux/uidgid.h>

struct sw_access {
	umode_t mode;		/* for reading: 0400, 0440, 0444 */
	kuid_t uid;
	kgid_t gid;
};

/**
 * sw_access_of - what a script's options say
 * @mode: permissions, of which those to read count
 * @uid: the owner
 * @gid: a group that may read; 0: none
 */
static struct sw_access sw_access_of(s64 mode, s64 uid, s64 gid)
{
	return (struct sw_access) {
		.mode = (mode & 0444) | 0400 | (gid ? 0040 : 0),
		.uid = make_kuid(&init_user_ns, uid),
		.gid = make_kgid(&init_user_ns, gid),
	};
}

/* A directory that those who may read can enter. */
static umode_t sw_access_dir(const struct sw_access *a)
{
	return a->mode | a->mode >> 2;
}

static void
sw_access_give(const struct sw_access *a, struct proc_dir_entry *entry)
{
	if (entry)
		proc_set_user(entry, a->uid, a->gid);
}

/**
 * sw_may_open - may who opens a file do so, by more than its mode?
 * @a: whose file it is
 * @file: as it is opened
 *
 * To read, a process that is not of those whom the options name has to have
 * CAP_PERFMON or CAP_SYS_ADMIN, and to write CAP_SYS_ADMIN: those of the machine,
 * not of a user namespace.
 *
 * Return: 0 or -EPERM.
 */
static int sw_may_open(const struct sw_access *a, const struct file *file)
{
	if (file->f_mode & FMODE_WRITE)
		return capable(CAP_SYS_ADMIN) ? 0 : -EPERM;
	if (a->mode & 0004)
		return 0;
	if ((a->mode & 0040) && !gid_eq(a->gid, GLOBAL_ROOT_GID) &&
	    in_egroup_p(a->gid))
		return 0;
	if (!uid_eq(a->uid, GLOBAL_ROOT_UID) && uid_eq(a->uid, current_fsuid()))
		return 0;
	return perfmon_capable() ? 0 : -EPERM;
}

#endif
