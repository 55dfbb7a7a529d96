/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The binary files of precise process accounting, read and checked.
 */
#ifndef STAPWATCH_PPA_FILES_H
#define STAPWATCH_PPA_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ppa/abi.h"
#include "base/buf.h"

struct ppa_cpu_row {
	uint64_t v[PPA_NR_SYSTEM_VALUES];
};

/* What the files said at a moment. */
struct ppa_snapshot {
	uint64_t hz;
	uint64_t now;
	struct ppa_cpu_row *cpus;
	size_t nr_cpus;
	struct ppa_thread *threads;	/* in the order of ppa_by_identity() */
	size_t nr_threads;
	uint64_t threads_lost;	/* that found no room so far */
	struct ppa_syscall *calls;	/* in the order of their numbers */
	size_t nr_calls;
	uint64_t calls_lost;
	struct ppa_lock *locks;	/* in the order of ppa_by_lock_record(), each
				 * once */
	size_t nr_locks;
	struct ppa_competitors *competitors;	/* by thread, as those are */
	size_t nr_competitors;
	bool has_competitors;	/* the session keeps them */
};

/* What not every session has a file of. */
enum ppa_extra { PPA_NO_EXTRA, PPA_EXTRA_SYSCALLS, PPA_EXTRA_LOCKS,
		 PPA_EXTRA_COMPETITORS };

/** ppa_parse_system - what a rawsysppa is; false after what is wrong in WHY */
bool ppa_parse_system(const char *data, size_t len, struct ppa_snapshot *s,
		      struct buf *why);

/** ppa_parse_threads - what a rawthreads is; the same */
bool ppa_parse_threads(const char *data, size_t len, struct ppa_snapshot *s,
		       struct buf *why);

/**
 * ppa_files_any - the directory of any module that has them, to be freed; or NULL
 * @extra: its file among them
 */
char *ppa_files_any(enum ppa_extra extra);

/** ppa_parse_syscalls - what a rawsyscalls is; the same */
bool ppa_parse_syscalls(const char *data, size_t len, struct ppa_snapshot *s,
			struct buf *why);

/** ppa_snapshot_syscalls - the file of system calls; as ppa_snapshot_read() */
bool ppa_snapshot_syscalls(const char *dir, struct ppa_snapshot *s,
			   struct buf *why);

/** ppa_parse_locks - what a rawlocks is; the same */
bool ppa_parse_locks(const char *data, size_t len, struct ppa_snapshot *s,
		     struct buf *why);

/** ppa_snapshot_locks - that file, and the threads' names; as ppa_snapshot_read() */
bool ppa_snapshot_locks(const char *dir, struct ppa_snapshot *s,
			struct buf *why);

/** ppa_parse_competitors - what a rawcompetitors is; the same */
bool ppa_parse_competitors(const char *data, size_t len, struct ppa_snapshot *s,
			   struct buf *why);

/**
 * ppa_snapshot_competitors - that file, if there is one, and those of
 * ppa_snapshot_read(); as that
 */
bool ppa_snapshot_competitors(const char *dir, struct ppa_snapshot *s,
			      struct buf *why);

/** ppa_competitors_of - a thread's; NULL: it has none */
const struct ppa_competitors *
ppa_competitors_of(const struct ppa_snapshot *s, const struct ppa_thread *t);

/** ppa_thread_of - a thread that has this number, or had it last; NULL: none is known */
const struct ppa_thread *ppa_thread_of(const struct ppa_snapshot *s,
				       uint32_t tid);

/**
 * ppa_by_lock - compare two records of locks, for qsort() and bsearch()
 *
 * Those of one lock stand together.
 */
int ppa_by_lock(const void *a, const void *b);

/** ppa_by_lock_record - the same, of records that were begun at different times, too */
int ppa_by_lock_record(const void *a, const void *b);

/**
 * ppa_merge_locks - make one of records that are the same by @by, and stand together
 *
 * Return: how many there are then.
 */
size_t ppa_merge_locks(struct ppa_lock *locks, size_t nr,
		       int (*by)(const void *, const void *));

/** ppa_same_lock - whether two are of one lock */
bool ppa_same_lock(const struct ppa_lock *a, const struct ppa_lock *b);

/**
 * ppa_snapshot_read - both files of a directory
 * @why: what is wrong, if it is: a line without its end
 */
bool ppa_snapshot_read(const char *dir, struct ppa_snapshot *s,
		       struct buf *why);
void ppa_snapshot_free(struct ppa_snapshot *s);

/**
 * ppa_by_identity - compare two threads, for qsort() and bsearch()
 *
 * Two that had one number one after the other are two, where the file tells.
 */
int ppa_by_identity(const void *a, const void *b);

#define PPA_COMM sizeof((struct ppa_thread) { 0 }.comm)

/** ppa_name - a name of PPA_COMM bytes, which may have no end; to be freed */
char *ppa_name(const char *comm);

#endif
