/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directories of precise accounting's files: one for each thread.
 *
 * Neither a fork nor an exit can wait for procfs.  A work item looks some times a
 * second whether threads came or went, and makes and takes away directories: a
 * thread that lives shorter has none.
 *
 * All of this is sleepable; one at a time.
 */
#ifndef STAPWATCH_PPA_DIRS_H
#define STAPWATCH_PPA_DIRS_H

#include "base/work.h"
#include "ppa/lock_age.h"
#include "ppa/proc.h"
#include "ppa/proc_competitors.h"
#include "ppa/proc_locks.h"
#include "ppa/proc_syscalls.h"
#include <linux/workqueue.h>
#include <linux/xarray.h>

#define PPA_LOOK_MS 200

struct ppa_dir {
	struct proc_dir_entry *entry;
	unsigned int pass;
};

static struct {
	struct proc_dir_entry *dir;
	struct xarray dirs;		/* by thread number */
	unsigned int pass;
	int changes;			/* ppa.changes, at the last pass */
	bool works;
} ppa_files;

static bool ppa_file_make(const char *name, struct proc_dir_entry *dir,
			  const struct proc_ops *ops, void *data)
{
	umode_t mode = ppa_access.mode |
		       (ops->proc_write ? S_IWUSR : 0);
	struct proc_dir_entry *e = proc_create_data(name, mode, dir, ops, data);

	sw_access_give(&ppa_access, e);
	return e;
}

static struct proc_dir_entry *
ppa_mkdir(const char *name, struct proc_dir_entry *parent)
{
	struct proc_dir_entry *e =
		proc_mkdir_mode(name, sw_access_dir(&ppa_access), parent);

	sw_access_give(&ppa_access, e);
	return e;
}

/* Returns false where there is no memory: later perhaps there is. */
static bool ppa_dir_make(pid_t tid)
{
	struct ppa_dir *d = kzalloc(sizeof(*d), GFP_KERNEL);
	void *data = (void *)(long)tid;
	char name[16];

	if (!d)
		return false;
	snprintf(name, sizeof(name), "%d", tid);
	d->pass = ppa_files.pass;
	d->entry = ppa_mkdir(name, ppa_files.dir);
	if (!d->entry ||
	    !ppa_file_make("ppa", d->entry, &ppa_text_ops, data) ||
	    !ppa_file_make("rawppa", d->entry, &ppa_raw_ops, data) ||
	    !ppa_file_make("ppactl", d->entry, &ppa_control_ops, data) ||
	    xa_is_err(xa_store(&ppa_files.dirs, tid, d, GFP_KERNEL))) {
		proc_remove(d->entry);
		kfree(d);
		return false;
	}
	return true;
}

/*
 * Let there be a directory for each thread that was there at the last look, and for
 * no other: what lives shorter would cost more for its directory than for its
 * accounting.
 */
static void ppa_dirs_look(void)
{
	int changes = atomic_read(&ppa.changes), i;
	struct ppa_dir *d;
	struct ppa_rec *r;
	unsigned long tid;
	bool all = true;

	if (changes == ppa_files.changes)
		return;
	ppa_files.pass++;
	for (i = 0; i < ppa.max; i++) {
		r = ppa_rec_at(i);
		cond_resched();
		if (!READ_ONCE(r->task))
			continue;
		tid = READ_ONCE(r->tid);
		d = xa_load(&ppa_files.dirs, tid);
		if (d)
			d->pass = ppa_files.pass;
		else if (tid)
			all &= r->looked && ppa_dir_make(tid);
		r->looked = true;
	}
	xa_for_each(&ppa_files.dirs, tid, d) {
		cond_resched();
		if (d->pass == ppa_files.pass)
			continue;
		xa_erase(&ppa_files.dirs, tid);
		proc_remove(d->entry);
		kfree(d);
	}
	if (all)
		ppa_files.changes = changes;
}

static void ppa_look_work(struct work_struct *work);
static DECLARE_DELAYED_WORK(ppa_look, ppa_look_work);

static void ppa_look_work(struct work_struct *work)
{
	ppa_dirs_look();
	ppa_locks_age();
	mutex_lock(&ppa.lock);
	/* on CPUs that have come */
	if (ppa.expiring)
		ppa_expire_start();
	mutex_unlock(&ppa.lock);
	sw_work_delay(&ppa_look, msecs_to_jiffies(PPA_LOOK_MS));
}

/* SystemTap's, whose definitions come after a script's C. */
static int _stp_mkdir_proc_module(void);
static struct proc_dir_entry *_stp_procfs_module_dir;

static int ppa_files_start(struct sw_access access)
{
	if (sw_works_start(&ppa_files.works))
		return -ENOMEM;
	ppa_access = access;
	xa_init(&ppa_files.dirs);
	ppa_files.changes = atomic_read(&ppa.changes) - 1;
	if (!_stp_mkdir_proc_module())
		ppa_files.dir = ppa_mkdir("ppa", _stp_procfs_module_dir);
	if (!ppa_files.dir ||
	    !ppa_file_make("ppa", ppa_files.dir, &ppa_control_ops, NULL) ||
	    !ppa_file_make("rawsysppa", ppa_files.dir, &ppa_system_ops, NULL) ||
	    !ppa_file_make("rawthreads", ppa_files.dir, &ppa_threads_ops,
			   NULL) ||
	    (ppa.calls &&
	     !ppa_file_make("rawsyscalls", ppa_files.dir, &ppa_syscalls_ops,
			    NULL)) ||
	    (ppa_locks.rows &&
	     !ppa_file_make("rawlocks", ppa_files.dir, &ppa_locks_ops, NULL)) ||
	    (ppa.competing_at &&
	     !ppa_file_make("rawcompetitors", ppa_files.dir,
			    &ppa_competitors_ops, NULL))) {
		_stp_error("stapwatch: cannot make ppa's files in /proc\n");
		return -ENOMEM;
	}
	ppa_dirs_look();
	ppa_dirs_look();
	sw_work_delay(&ppa_look, msecs_to_jiffies(PPA_LOOK_MS));
	return 0;
}

static void ppa_files_end(void)
{
	struct ppa_dir *d;
	unsigned long tid;

	if (!ppa_files.dir) {
		sw_works_stop(&ppa_files.works);
		return;
	}
	cancel_delayed_work_sync(&ppa_look);
	sw_works_stop(&ppa_files.works);
	/* waits for who is within a file's operations */
	proc_remove(ppa_files.dir);
	ppa_files.dir = NULL;
	xa_for_each(&ppa_files.dirs, tid, d)
		kfree(d);
	xa_destroy(&ppa_files.dirs);
}

#endif
