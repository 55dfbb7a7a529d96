/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Recorded calls of functions of programs and libraries: by uprobes of ours, in C
 * from the entry to the histogram, as the kernel's are by kretprobes.
 *
 * The kernel's probe of a return puts another address on the stack, which ends a program that
 * looks for its own there: by an exception, say.  So a function can be declared with the
 * instructions by which it returns: these are probed then, and the stack stays as it is.
 *
 * The entry and the return are two consumers of the function's uprobe.  Where one has both
 * handlers, kernels since 6.13 keep it with each call, and an array of those beyond the first.
 * dup_return_instance() gives a forked process the pointer to an array that is not in use, and
 * both processes free it.  A function by two names is enough, or two programs that record
 * it; nobody has two who has one handler each.
 *
 * Who may run what, against whom:
 *
 *   sw_call_user_entry(), sw_call_user_return(), sw_call_user_exit()	a thread on its way
 *			from user mode, on several CPUs at once; they put preemption off
 *   sw_call_user_on_exit()	the thread that ends
 *   sw_call_user_declare()	begin probes, before the session
 *   sw_call_users_begin(), _add(), _end()	sleepable, under sw_session_lock
 *
 * To open a file can take as long as its file system likes; it is a file that root
 * has named.  A uprobe wants its inode and the mount of that, so the path is held until no
 * handler runs any more: until then umount(8) finds the file system busy.  What umount -l or
 * rm takes away meanwhile stays until the path is let go.
 */
#ifndef STAPWATCH_CALL_USER_H
#define STAPWATCH_CALL_USER_H

#include "base/hooks.h"
#include "base/kernel.h"
#include "call/places.h"
#include "call/record.h"
#include "call/session.h"
#include "call/state.h"
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/preempt.h>

#ifdef CONFIG_UPROBES

#define SW_CALL_FILES 16
#define SW_CALL_PATH 512

static struct {
	char names[SW_CALL_FILES][SW_CALL_PATH];
	unsigned int nr;
} sw_call_files;

static int sw_call_user_entry(SW_UPROBE_ARGS(struct uprobe_consumer *consumer,
					     struct pt_regs *regs))
{
	struct sw_call *call = container_of(consumer, struct sw_call,
					    user.at_entry);
	struct sw_call_place *p = NULL;
	bool wanted;

	preempt_disable();
	wanted = sw_call_wanted();
	if (wanted)
		p = sw_call_place_take(call, regs);
	else
		sw_call_place_forget(call, regs);
	if (p)
		sw_call_start(call, &p->start, regs);
	preempt_enable();
	if (wanted && !p)
		atomic_long_inc(&call->user.missed);
	return 0;
}

/* A call without a place is one that was not wanted, or had none, or is the copy
 * of its parent's that a child has by fork(). */
static void sw_call_user_leave(const struct sw_call *call, unsigned long word)
{
	const u64 now = sw_tsc();
	struct sw_call_search s;

	preempt_disable();
	s = sw_call_place_find(call, word, NULL);
	if (s.place) {
		sw_call_finish(&s.place->start, now - s.place->start.tsc);
		sw_call_place_give(s.nr);
	}
	preempt_enable();
}

static int sw_call_user_return(SW_UPROBE_ARGS(struct uprobe_consumer *consumer,
					      unsigned long function,
					      struct pt_regs *regs))
{
	const struct sw_call *call = container_of(consumer, struct sw_call,
						  user.at_return);

	sw_call_user_leave(call, sw_call_user_word(regs, true));
	return 0;
}

/* An instruction that returns: the word that it takes is on the stack yet. */
static int sw_call_user_exit(SW_UPROBE_ARGS(struct uprobe_consumer *consumer,
					    struct pt_regs *regs))
{
	const struct sw_call_exit *exit =
		container_of(consumer, struct sw_call_exit, consumer);

	sw_call_user_leave(exit->call, sw_call_user_word(regs, false));
	return 0;
}

static void
sw_call_user_on_exit(void *data, struct task_struct *task, bool last)
{
	const unsigned int reach = sw_call_reach();
	unsigned int i, nr;

	for (i = 0; i < reach; i++) {
		nr = sw_call_place_nr(i);
		if (READ_ONCE(sw_call_user_table.owners[nr]) == current)
			sw_call_place_give(nr);
	}
}
SW_EXIT_WITHOUT_LAST(sw_call_user_on_exit)

static struct sw_hook sw_call_user_hook = {
	"sched_process_exit", SW_EXIT_CALLBACK(sw_call_user_on_exit)
};

/* ---- the session */

/* The first NR of them; handlers may run until sw_uprobe_sync(). */
static void
sw_call_user_exits_off(struct sw_call_user *u, struct inode *inode,
		       unsigned int nr)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		sw_uprobe_unregister(inode, u->offset + u->exits_at[i],
				     &u->exits[i].consumer,
				     u->exits[i].uprobe);
}

static int sw_call_user_exits_on(struct sw_call *call, struct inode *inode)
{
	struct sw_call_user *u = &call->user;
	unsigned int i;
	int rc = 0;

	u->exits = kcalloc(u->nr_exits, sizeof(*u->exits), GFP_KERNEL);
	if (!u->exits)
		return -ENOMEM;
	for (i = 0; i < u->nr_exits && !rc; i++) {
		struct sw_call_exit *exit = &u->exits[i];

		exit->call = call;
		exit->consumer.handler = sw_call_user_exit;
		rc = sw_uprobe_register(inode, u->offset + u->exits_at[i],
					&exit->consumer, &exit->uprobe);
	}
	if (rc)
		sw_call_user_exits_off(u, inode, i - 1);
	return rc;
}

/* What tells of its returns. */
static int sw_call_user_returns_on(struct sw_call *call, struct inode *inode)
{
	struct sw_call_user *u = &call->user;

	if (u->nr_exits)
		return sw_call_user_exits_on(call, inode);
	u->at_return.ret_handler = sw_call_user_return;
	return sw_uprobe_register(inode, u->offset, &u->at_return,
				  &u->return_uprobe);
}

static void
sw_call_user_returns_off(struct sw_call_user *u, struct inode *inode)
{
	if (u->nr_exits)
		sw_call_user_exits_off(u, inode, u->nr_exits);
	else
		sw_uprobe_unregister(inode, u->offset, &u->at_return,
				     u->return_uprobe);
}

/* No handler of it runs any more, or the last of its probes was not to be had. */
static void sw_call_user_free(struct sw_call_user *u)
{
	kfree(u->exits);
	u->exits = NULL;
	if (u->inode)
		path_put(&u->path);
	u->inode = NULL;
}

static void sw_call_users_end(void)
{
	unsigned int i;

	for (i = 0; i < sw_calls.nr; i++) {
		struct sw_call_user *u = &sw_calls.calls[i].user;

		if (!u->inode)
			continue;
		sw_uprobe_unregister(u->inode, u->offset, &u->at_entry,
				     u->uprobe);
		sw_call_user_returns_off(u, u->inode);
	}
	sw_uprobe_sync();
	for (i = 0; i < sw_calls.nr; i++)
		sw_call_user_free(&sw_calls.calls[i].user);
	sw_hooks_off(&sw_call_user_hook, 1);
	kvfree(sw_call_user_table.owners);
	kvfree(sw_call_user_table.reach);
	kvfree(sw_call_user_table.places);
	sw_call_user_table.owners = NULL;
	sw_call_user_table.reach = NULL;
	sw_call_user_table.places = NULL;
}

static int sw_call_users_begin(void)
{
	unsigned int nr = SW_CALL_PLACES;
	int rc;

	if (sw_calls.given)
		nr = roundup_pow_of_two(max_t(unsigned int, sw_calls.given,
					      SW_CALL_DEPTH));
	sw_calls.places = nr;
	sw_call_user_table.nr = nr;
	sw_call_user_table.size = sizeof(struct sw_call_place) +
				  sw_calls.nr_events * sizeof(u64);
	sw_call_user_table.owners =
		kvcalloc(nr, sizeof(*sw_call_user_table.owners), GFP_KERNEL);
	sw_call_user_table.reach =
		kvcalloc(nr / SW_CALL_GROUP, sizeof(*sw_call_user_table.reach),
			 GFP_KERNEL);
	sw_call_user_table.places =
		kvcalloc(nr, sw_call_user_table.size, GFP_KERNEL);
	if (!sw_call_user_table.owners || !sw_call_user_table.reach ||
	    !sw_call_user_table.places) {
		_stp_error("stapwatch: no memory for %u calls of programs' functions; try a smaller -G call_instances=N\n",
			   nr);
		return -ENOMEM;
	}
	sw_hooks_find(&sw_call_user_hook, 1);
	rc = sw_hook_on(&sw_call_user_hook);
	if (rc)
		_stp_error("stapwatch: the kernel does not tell of threads that end (%d), so calls of programs' functions cannot be recorded\n",
			   rc);
	return rc;
}

static int sw_call_user_probe(struct sw_call *call)
{
	struct sw_call_user *u = &call->user;
	struct inode *inode;
	int rc = kern_path(u->file, LOOKUP_FOLLOW, &u->path);

	if (rc)
		return rc;
	/* of an overlay it is another one after a write */
	inode = d_real_inode(u->path.dentry);
	u->inode = inode;
	u->at_entry.handler = sw_call_user_entry;
	rc = sw_uprobe_register(inode, u->offset, &u->at_entry, &u->uprobe);
	if (rc) {
		sw_call_user_free(u);
		return rc;
	}
	rc = sw_call_user_returns_on(call, inode);
	if (rc) {
		sw_uprobe_unregister(inode, u->offset, &u->at_entry, u->uprobe);
		sw_uprobe_sync();
		sw_call_user_free(u);
	}
	return rc;
}

static int sw_call_users_add(struct sw_call *call)
{
	const int rc = sw_call_user_probe(call);

	if (rc && !call->optional)
		_stp_error("stapwatch: calls of %s cannot be recorded: %s (%d)\n",
			   call->name,
			   rc == -ENOENT ? "there is no such file" :
			   rc == -ENOMEM ? "no memory" :
			   "the kernel does not let that place of the file be probed", rc);
	return rc;
}

static const struct sw_call_users sw_call_users = {
	sw_call_users_begin, sw_call_users_add, sw_call_users_end
};

/* ---- what begin probes declare */

/* The file's name, to keep; NULL: there is no room. */
static const char *sw_call_user_file(const char *path)
{
	char *file;
	unsigned int i;

	for (i = 0; i < sw_call_files.nr; i++)
		if (!strcmp(sw_call_files.names[i], path))
			return sw_call_files.names[i];
	if (i == SW_CALL_FILES || strlen(path) >= SW_CALL_PATH)
		return NULL;
	sw_call_files.nr++;
	file = sw_call_files.names[i];
	strcpy(file, path);
	return file;
}

/* "+DISTANCE-DISTANCE...": where the function returns.  NULL, or what is wrong. */
static const char *sw_call_user_exits(struct sw_call_user *u, const char *s,
				      const char *end)
{
	unsigned int distance;
	char sign;
	int n;

	for (; s < end; s += n) {
		n = 0;
		if (u->nr_exits == SW_CALL_EXITS ||
		    sscanf(s, "%c%x%n", &sign, &distance, &n) != 2 || !n ||
		    (sign != '+' && sign != '-') || distance > INT_MAX)
			return "stapwatch: a program's function returns in 32 places at most, each a sign and a distance";
		u->exits_at[u->nr_exits++] = sign == '-' ? -(s32)distance :
							   (s32)distance;
	}
	return NULL;
}

/* "OFFSET NAME", with where it returns after OFFSET, or a question mark: LEN characters
 * of LIST. */
static const char *
sw_call_user_add(const char *file, const char *shown, const char *list,
		 size_t len)
{
	const bool optional = len && list[len - 1] == '?';
	const unsigned int nr = sw_calls.nr;
	const char *space = strnchr(list, len, ' ');
	char name[SW_CALL_NAME + 1];
	unsigned long long offset;
	struct sw_call_user *u;
	const char *why;
	int at = 0, n;

	if (!space || sscanf(list, "%llx%n", &offset, &at) != 1 || !at ||
	    list + at > space || space + 1 + optional >= list + len)
		return "stapwatch: a program's function is an offset and a name";
	n = snprintf(name, sizeof(name), "%s:%.*s", shown,
		     (int)(list + len - optional - (space + 1)), space + 1);
	why = sw_call_add(name, n, optional);
	if (why || sw_calls.nr == nr)
		return why;
	u = &sw_calls.calls[nr].user;
	u->file = file;
	u->offset = offset;
	return sw_call_user_exits(u, list + at, space);
}

/**
 * sw_call_user_declare - functions of a file whose calls are to be recorded
 * @path: the file's
 * @shown: what stands for it in the functions' names
 * @list: "OFFSET NAME", with commas between them; after a name, ? says that the
 *	function is left out where it cannot be probed; after an offset, +DISTANCE or
 *	-DISTANCE is where the function returns
 * Context: begin probes, before the session.
 * Return: NULL, or what is wrong.
 */
static const char *
sw_call_user_declare(const char *path, const char *shown, const char *list)
{
	const char *file, *why = NULL;
	size_t len;

	if (sw_is_asked)
		return "stapwatch: call_histogram() is for begin probes";
	file = sw_call_user_file(path);
	if (!file)
		return "stapwatch: functions can be of 16 files at most, with paths of up to 511 characters";
	while (*list && !why) {
		len = strcspn(list, ",");
		why = sw_call_user_add(file, shown, list, len);
		list += len;
		list += strspn(list, ",");
	}
	sw_calls.users = &sw_call_users;
	sw_session_part = &sw_calls_part;
	return why;
}

#else

static const char *
sw_call_user_declare(const char *path, const char *shown, const char *list)
{
	return "stapwatch: this kernel has no uprobes (CONFIG_UPROBES), so calls of programs' functions cannot be recorded";
}

#endif

#endif
