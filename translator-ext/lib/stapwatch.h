/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libstapwatch: maps of counters, read live and without a system call, and
 * written by user programs; and messages of scripts.  See libstapwatch(3).
 *
 * What fails returns -1 or NULL and sets errno; stapwatch_error() has the
 * message.  A struct stapwatch is for one thread at a time; a struct
 * stapwatch_map may be shared, with the one rule of stapwatch_map_adjust().
 * A path that is NULL is EINVAL, as is the name of what is to be made.  Else only the
 * functions that close take NULL.
 */
#ifndef STAPWATCH_H
#define STAPWATCH_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum stapwatch_kind {
	STAPWATCH_COUNTER,
	STAPWATCH_HIST,
};

enum stapwatch_state {
	STAPWATCH_LIVE,
	STAPWATCH_ENDED,	/* nothing changes any more */
};

struct stapwatch_instance {
	uint32_t number;	/* constant for its name */
	enum stapwatch_kind kind;
	const char *name;
};

#define STAPWATCH_HIST_BUCKETS 496

struct stapwatch_hist {
	uint64_t buckets[STAPWATCH_HIST_BUCKETS];
	uint64_t count;		/* of all buckets */
	int64_t sum;		/* of the values in them */
	uint64_t negative;	/* values that are in no bucket */
	uint64_t max;		/* the highest value; 0: that, or not known */
};

struct stapwatch;
struct stapwatch_map;

/**
 * stapwatch_error - what the calling thread's last failure was
 *
 * Return: one line without its end; valid until the next failure
 */
const char *stapwatch_error(void);

/* ---- reading */

/**
 * stapwatch_open - attach to a map
 * @path: of the map; the file of its names is beside it
 *
 * Return: the map, for stapwatch_close(); NULL if there is none, if any field
 * of its header does not fit the others or the file (errno EINVAL), or if an
 * update of it does not come to its end (EBUSY)
 */
struct stapwatch *stapwatch_open(const char *path);

/** stapwatch_close - detach; NULL is nothing to do */
void stapwatch_close(struct stapwatch *sw);

/**
 * stapwatch_refresh - see whether instances have come or gone
 *
 * Makes no system call if none has.  The instances of before are replaced only
 * by a whole new list: when this fails they stay, and so do their counters.
 *
 * Return: 0 if all is as it was, 1 if there is a new list; -1, with EBUSY if
 * an update does not come to its end, as when its writer has died in it
 */
int stapwatch_refresh(struct stapwatch *sw);

/** stapwatch_state - whether the map still has its writer */
enum stapwatch_state stapwatch_state(const struct stapwatch *sw);

/** stapwatch_nr_cpus - the highest CPU number, plus 1 */
uint32_t stapwatch_nr_cpus(const struct stapwatch *sw);

/** stapwatch_session - a number that another writer's map does not have */
uint64_t stapwatch_session(const struct stapwatch *sw);

/** stapwatch_nr - how many instances there are */
size_t stapwatch_nr(const struct stapwatch *sw);

/**
 * stapwatch_instance - one of them
 * @i: below stapwatch_nr(); they are in the order of their numbers
 *
 * Return: valid until stapwatch_refresh() returns 1; NULL if @i is too high
 */
const struct stapwatch_instance *stapwatch_instance(const struct stapwatch *sw,
						    size_t i);

/** stapwatch_find - the instance of that name, or NULL */
const struct stapwatch_instance *stapwatch_find(const struct stapwatch *sw,
						const char *name);

/**
 * stapwatch_read - a counter's value
 * @number: of the instance
 * @sum: the sum of all CPUs
 *
 * Return: 0; -1, with ENOENT if there is no such counter, EBUSY if an update of
 * it does not come to its end
 */
int stapwatch_read(const struct stapwatch *sw, uint32_t number, int64_t *sum);

/**
 * stapwatch_read_cpus - a counter's value on each CPU
 * @values: stapwatch_nr_cpus() of them
 *
 * Return: as stapwatch_read()
 */
int stapwatch_read_cpus(const struct stapwatch *sw, uint32_t number,
			int64_t *values);

/**
 * stapwatch_read_all - the values of all counters
 * @sums: stapwatch_nr() of them, in the order of stapwatch_instance(); 0 where
 *	that is a histogram
 *
 * Many times faster than stapwatch_read() of each.
 *
 * Return: 0; -1, with EBUSY as of stapwatch_read()
 */
int stapwatch_read_all(const struct stapwatch *sw, int64_t *sums);

/**
 * stapwatch_read_hist - a histogram, of all CPUs together
 *
 * Each of its counters is exact; one value's may be read before and after it is
 * recorded.
 *
 * Return: as stapwatch_read()
 */
int stapwatch_read_hist(const struct stapwatch *sw, uint32_t number,
			struct stapwatch_hist *hist);

/**
 * stapwatch_read_hist_cpu - the same of one CPU; it can be added to others
 *
 * Return: as stapwatch_read(); EINVAL if there is no such CPU
 */
int stapwatch_read_hist_cpu(const struct stapwatch *sw, uint32_t number,
			    uint32_t cpu, struct stapwatch_hist *hist);

/** stapwatch_hist_bucket - the bucket that counts @value */
unsigned int stapwatch_hist_bucket(uint64_t value);

/** stapwatch_hist_low - the least value that @bucket counts */
uint64_t stapwatch_hist_low(unsigned int bucket);

/** stapwatch_hist_high - the greatest value that @bucket counts */
uint64_t stapwatch_hist_high(unsigned int bucket);

/**
 * stapwatch_hist_quantile - the value that a share of all is not above
 * @q: from 0 to 1, to the billionth
 *
 * The smallest such value, as stathist_quantile() of a script has it: of N values
 * the one of rank q * N, rounded up.
 *
 * Return: the middle of that value's bucket, no more than 6.25 % beside it; 0
 * if the buckets are empty
 */
uint64_t stapwatch_hist_quantile(const struct stapwatch_hist *hist, double q);

/* ---- writing */

/**
 * stapwatch_map_create - begin a map in a file
 * @path: of the map, not called `names'.  The file of its names is made beside
 *	it, by its session: there can be other maps.  What stood there is
 *	replaced, and stays as it was for those who read it.
 * @nr_cpus: how many CPUs, threads or whatever else counts by itself; up to
 *	65536
 * @capacity: how many counters to make room for at a time
 *
 * A child of fork() has the same map: it may write for CPUs that its parent
 * leaves to it, in instances from before the fork().  Its stapwatch_map_close()
 * detaches the child only.  So make a map after daemon(3), not before.
 *
 * Return: the map, for stapwatch_map_close(), or NULL
 */
struct stapwatch_map *stapwatch_map_create(const char *path, uint32_t nr_cpus,
					   uint32_t capacity);

/**
 * stapwatch_map_add - have a counter of that name
 *
 * The same name gets the same number again, even after stapwatch_map_del(), and
 * goes on from its value.
 *
 * Return: the instance's number, or -1: ENOSPC without room, EEXIST if the name
 * is a histogram's, EPERM in a child of the process that made the map
 */
int64_t stapwatch_map_add(struct stapwatch_map *map, const char *name);

/** stapwatch_map_add_hist - the same, of a histogram */
int64_t stapwatch_map_add_hist(struct stapwatch_map *map, const char *name);

/**
 * stapwatch_map_del - hide an instance from readers
 *
 * Its number stays its name's.  All other names are written anew, and read anew
 * by readers.
 *
 * Return: 0, or -1: ENOENT if there is none, EPERM as of stapwatch_map_add()
 */
int stapwatch_map_del(struct stapwatch_map *map, uint32_t number);

/**
 * stapwatch_map_adjust - add to a counter
 * @number: of a counter, from stapwatch_map_add(); a hidden one goes on
 *	counting
 * @cpu: below the map's number of CPUs.  No two threads may write to one CPU's
 *	counters at the same time.
 * @delta: what to add
 *
 * Makes no system call and takes no lock.
 *
 * Return: 0, or -1: EINVAL if there is no such counter or CPU
 */
int stapwatch_map_adjust(struct stapwatch_map *map, uint32_t number,
			 uint32_t cpu, int64_t delta);

/**
 * stapwatch_map_record - count a value in a histogram
 * @number: from stapwatch_map_add_hist()
 *
 * Return: 0, or -1: EINVAL if there is no such histogram or CPU
 */
int stapwatch_map_record(struct stapwatch_map *map, uint32_t number,
			 uint32_t cpu, int64_t value);

/**
 * stapwatch_map_close - tell readers that it has ended; NULL is nothing to do
 *
 * The files stay.
 */
void stapwatch_map_close(struct stapwatch_map *map);

/* ---- messages */

/* What a handler has sent by stapwatch_notify(). */
struct stapwatch_message {
	uint64_t ns;		/* when, by CLOCK_MONOTONIC */
	int64_t value;		/* what the script said */
	uint64_t ip;		/* where its probe hit; 0: at no place */
	uint32_t pid;
	uint32_t tid;
	uint32_t cpu;
	const char *set;	/* that was active there; "": none */
	const char *event;	/* that overflowed; "": none */
	/* all that have overflowed on the CPU since its last message of one, a line each */
	const char *overflowed;
};

struct stapwatch_messages;

/**
 * stapwatch_messages_open - attach to a script's messages
 * @path: /proc/systemtap/MODULE/messages
 *
 * A message goes to one reader: who opens the file twice shares them.
 *
 * Return: what stapwatch_messages_close() takes, or NULL
 */
struct stapwatch_messages *stapwatch_messages_open(const char *path);

/** stapwatch_messages_close - detach; NULL is nothing to do */
void stapwatch_messages_close(struct stapwatch_messages *m);

/**
 * stapwatch_messages_fd - for a poll() of one's own
 *
 * It is readable when there are messages, beside those that
 * stapwatch_messages_read() has not handed over yet; so read until that returns 0
 * before the next poll().
 */
int stapwatch_messages_fd(const struct stapwatch_messages *m);

/**
 * stapwatch_messages_wait - wait for a message
 * @timeout_ms: as that of poll(): -1 waits for ever, 0 not at all
 *
 * Return: 1 if there is something to read, which can be that the script has ended; 0
 * if the time is over, or a signal came; -1
 */
int stapwatch_messages_wait(struct stapwatch_messages *m, int timeout_ms);

/**
 * stapwatch_messages_read - take a message, the oldest first
 * @message: its names are valid until the next call
 *
 * Does not wait.
 *
 * Return: 1; 0 if there is none just now; -1: ESHUTDOWN when the script has ended,
 * EINVAL if the file is none of messages
 */
int stapwatch_messages_read(struct stapwatch_messages *m,
			    struct stapwatch_message *message);

/**
 * stapwatch_messages_lost - how many messages of the session were lost
 *
 * Return: the number, as of the last one that was read
 */
uint64_t stapwatch_messages_lost(const struct stapwatch_messages *m);

/* ---- sets and targets of a script's session */

/* What a step does, and the members of struct stapwatch_step that it takes or fills in. */
enum stapwatch_do {
	STAPWATCH_NOTHING,
	STAPWATCH_MAKE_SET,	/* name, text: its events; value: its number */
	STAPWATCH_DELETE_SET,	/* name */
	STAPWATCH_SET_EVERY,	/* name, text: as pmu_set_every() */
	STAPWATCH_SET_PLACE,	/* name, value: as pmu_set_place() */
	STAPWATCH_SWITCH,	/* name: the set that this CPU is to go on with */
	STAPWATCH_FIND,		/* name: of the set; text: the event; event: its word */
	STAPWATCH_ATTACH,	/* target, id, flags */
	STAPWATCH_DETACH,	/* target, id */
	STAPWATCH_START,	/* target, id or name */
	STAPWATCH_STOP,		/* target, id or name */
	STAPWATCH_READ,		/* target, id, event; value: its count */
	STAPWATCH_REFRESH,	/* value: how many CPUs have not answered in time */
	STAPWATCH_COUNT,	/* event, value: where it begins; event: the counter's word */
	STAPWATCH_PRESET,	/* event: a counter's word, or 0: of all; value */
};

enum stapwatch_target {
	STAPWATCH_ALL,		/* CPUs; to start and stop: all sets of the session's own */
	STAPWATCH_CPU,
	STAPWATCH_SET,		/* to start and stop, by stapwatch_control_run() */
	STAPWATCH_THREAD,	/* 0: the calling one */
	STAPWATCH_PROCESS,	/* 0: the calling one */
	STAPWATCH_TREE,		/* a process and what it has made; to read */
	STAPWATCH_SESSION,	/* all that it is attached to; to start, stop, read */
	STAPWATCH_CGROUP,	/* a descriptor of its directory, of version 2 */
};

/* To STAPWATCH_ATTACH: nothing is counted until STAPWATCH_START. */
#define STAPWATCH_STOPPED 1

struct stapwatch_step {
	enum stapwatch_do what;
	enum stapwatch_target target;
	int64_t id;
	unsigned int flags;
	int error;		/* out: an errno; ENODATA: there is no value just now */
	const char *name;
	const char *text;
	uint64_t event;
	int64_t value;
	uint64_t reserved[2];	/* 0 */
};

struct stapwatch_control;

/**
 * stapwatch_control_open - begin a session of one's own in that of a script
 * @path: /proc/systemtap/MODULE/control, of a script that calls stapwatch_control()
 *
 * The session owns the sets that it makes, and its targets.  They go when its last
 * descriptor is closed, and when the script ends.  Threads may share it.
 *
 * Return: what stapwatch_control_close() takes, or NULL: EACCES or EPERM without
 * CAP_SYS_ADMIN, EUSERS where there are as many as -G control_sessions=N says
 */
struct stapwatch_control *stapwatch_control_open(const char *path);

/**
 * stapwatch_control_of - the same by a descriptor that another process has passed on
 * @fd: as of stapwatch_control_fd(); it is closed by stapwatch_control_close()
 */
struct stapwatch_control *stapwatch_control_of(int fd);

/** stapwatch_control_close - close this descriptor; NULL does nothing */
void stapwatch_control_close(struct stapwatch_control *c);

/** stapwatch_control_fd - its descriptor, which can be passed on */
int stapwatch_control_fd(const struct stapwatch_control *c);

/**
 * stapwatch_control_run - have steps done, one after the other
 * @steps: up to 64 are done in one system call
 *
 * The first step that fails is the last one, and stapwatch_error() says why.  A reading
 * that has no value just now does not count as failed: its error is ENODATA.
 *
 * Return: how many were done: @nr, or the place of the one that failed, which has its
 * error; -1 where none was tried: ESHUTDOWN if the script has ended
 */
int stapwatch_control_run(struct stapwatch_control *c, struct stapwatch_step *steps,
			  size_t nr);

/**
 * stapwatch_control_make_set - make a set of events
 * @name: up to 31 characters
 * @events: as of a script's pmu_set()
 *
 * One of its own that has the name is replaced.
 *
 * Return: 0 when its counters are open, and each CPU may go on to it; -1: EINVAL,
 * also while all 16 sets are in use, EEXIST if others have a set of that name, ENODEV if
 * this machine cannot count an event of it, ETIMEDOUT, EINTR; then there is no such set
 */
int stapwatch_control_make_set(struct stapwatch_control *c, const char *name,
			       const char *events);

/**
 * stapwatch_control_find - the word by which an event is read
 * @set: the set's name; NULL: of the events that the script always counts
 * @event: its name; of a set also active_ns, runs and ran_ns
 *
 * Return: 0, or -1: ENOENT, ENODEV, EAGAIN while the set is not open
 */
int stapwatch_control_find(struct stapwatch_control *c, const char *set,
			   const char *event, uint64_t *word);

/**
 * stapwatch_control_attach - count for a thread, a process and what it makes, a cgroup
 * @flags: STAPWATCH_STOPPED, or 0
 *
 * A CPU is attached to for the session's counters.
 *
 * Return: 0, or -1: ESRCH, ENODEV (a CPU), EBUSY if it is attached to that already, ENOSPC,
 * EOPNOTSUPP where the kernel has no cgroups
 */
int stapwatch_control_attach(struct stapwatch_control *c,
			     enum stapwatch_target target, int64_t id,
			     unsigned int flags);

/**
 * stapwatch_control_detach - count for it no more; its counts can still be read
 *
 * Return: 0, or -1: ESRCH
 */
int stapwatch_control_detach(struct stapwatch_control *c,
			     enum stapwatch_target target, int64_t id);

/**
 * stapwatch_control_start - start counting for a target again
 *
 * Return: 0, or -1: ESRCH if the session is not attached to it
 */
int stapwatch_control_start(struct stapwatch_control *c,
			    enum stapwatch_target target, int64_t id);

/**
 * stapwatch_control_stop - stop counting for a target
 *
 * Its counts stand still for all who are attached to it, until the session starts it
 * again, or detaches.
 *
 * Return: as stapwatch_control_start()
 */
int stapwatch_control_stop(struct stapwatch_control *c,
			   enum stapwatch_target target, int64_t id);

/**
 * stapwatch_control_read - a count
 * @event: from stapwatch_control_find()
 *
 * A thread's counts go on from one attachment to the next: take differences.
 *
 * Return: 0, or -1: ENODATA if there is no right value just now, ENOENT if the set is
 * there no more, ENODEV if there is no such CPU, ESRCH
 */
int stapwatch_control_read(struct stapwatch_control *c, uint64_t event,
			   enum stapwatch_target target, int64_t id,
			   int64_t *value);

/**
 * stapwatch_control_count - have a counter of the session's own
 * @event: from stapwatch_control_find()
 * @value: where it begins
 * @counter: its word, for stapwatch_control_read() of STAPWATCH_SESSION
 *
 * It counts what all those count that the session is attached to, also later, from one
 * attachment to the next.  A session has 32; each event has one, which begins anew.
 *
 * Return: 0, or -1: ENOENT, ENOSPC
 */
int stapwatch_control_count(struct stapwatch_control *c, uint64_t event,
			    int64_t value, uint64_t *counter);

/**
 * stapwatch_control_preset - have a counter go on from a value
 * @counter: from stapwatch_control_count(); 0: all of the session's
 *
 * Return: 0, or -1: ENOENT
 */
int stapwatch_control_preset(struct stapwatch_control *c, uint64_t counter,
			     int64_t value);

/**
 * stapwatch_control_self - a count of the calling thread, to which somebody is attached
 *
 * The cheapest system call that there is for it.
 *
 * Return: as stapwatch_control_read()
 */
int stapwatch_control_self(struct stapwatch_control *c, uint64_t event,
			   int64_t *value);

/* ---- a script that a program starts */

struct stapwatch_script;

/**
 * stapwatch_script_start - run a command that begins a script, until that has begun
 * @module: the script's module, which calls stapwatch_control()
 * @argv: the command's words, and NULL, as "stapwatch", "-m", module, "mine.stp"
 * @timeout_ms: -1: wait as long as it takes
 *
 * The command has this program's standard files, and none of its others.  The script ends
 * by stapwatch_script_stop(), with this program, however that ends, and by exec().
 *
 * Return: what stapwatch_script_stop() takes, or NULL: ENOENT if there is no such command,
 * ECANCELED if it has ended, EEXIST if there is such a module, ETIMEDOUT, EACCES, EINVAL
 */
struct stapwatch_script *stapwatch_script_start(const char *module,
						const char *const argv[],
						int timeout_ms);

/** stapwatch_script_control - the path for stapwatch_control_open() */
const char *stapwatch_script_control(const struct stapwatch_script *s);

/**
 * stapwatch_script_stop - end the script, and wait until the command has
 * Return: the command's status, 128 and more if a signal ended it; -1 if who waits for all
 * children has taken it
 */
int stapwatch_script_stop(struct stapwatch_script *s);

/* ---- code that a program makes */

/**
 * stapwatch_code - say that from now on there is a function that no file has
 * @code: its first byte, as it is called
 * @size: how many bytes it has
 * @name: the function's, up to 4094 bytes
 *
 * It is written to jit-PID.dump in the directory $JITDUMPDIR, or in /tmp, in the format of
 * perf's agents; the file is mapped, so a recorder of the process finds it.  What is told of
 * later has the place of what was there before: so code that moves is told of again.
 *
 * Any thread may call it.  A child of fork() has a file of its own.
 *
 * Return: 0, or -1
 */
int stapwatch_code(const void *code, size_t size, const char *name);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif

#endif
