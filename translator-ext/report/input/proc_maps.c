/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes and their maps; proc_maps.h says what is wanted of it. */
#include "report/input/proc_maps.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "report/input/map_tree.h"

struct space {
	uint32_t maps;		/* a tree */
	uint32_t nothing;	/* the image of what is not mapped */
	uint32_t users;		/* processes */
	bool kept;		/* samples refer to it */
};

struct process {
	uint32_t space;		/* plus 1; 0: not seen yet */
	struct jit_dump *jit;	/* or NULL */
	bool jit_over;		/* that was another program */
	bool has_threads;	/* others than the first were seen */
};

/* A space as others know it. */
struct view {
	uint32_t space;
	uint32_t process;	/* whose jit is meant, */
	uint32_t jit;		/* ... in this state; plus 1; 0: none is */
};

struct thread {
	uint32_t comm;		/* plus 1; 0: not known */
};

struct procs {
	struct images *images;
	struct intern *texts;
	uint32_t trace;
	uint32_t kernel;	/* its image */
	struct intern pids;
	struct process *processes;
	size_t size_processes;
	struct intern tids;
	struct thread *threads;
	size_t size_threads;
	struct space *spaces;
	size_t nr_spaces, size_spaces;
	uint32_t *free_spaces;
	size_t nr_free, size_free;
	struct intern views;
	struct map_nodes nodes;
	uint32_t *modules;	/* trees, as one followed the other; the last one grows */
	size_t nr_modules, size_modules;
	bool modules_kept;	/* samples refer to the last one */
};

static void add_modules(struct procs *p, uint32_t tree)
{
	p->modules = array_room(p->modules, &p->size_modules,
				p->nr_modules + 1, sizeof(*p->modules));
	p->modules[p->nr_modules++] = tree;
	p->modules_kept = false;
}

struct procs *procs_new(struct images *images, struct intern *texts,
			uint32_t trace, const struct sw_trace_head *head)
{
	struct procs *p = xmalloc(sizeof(*p));

	*p = (struct procs) {
		.images = images,
		.texts = texts,
		.trace = trace,
		.kernel = image_of_kernel(images, trace, head),
	};
	add_modules(p, 0);
	return p;
}

void procs_free(struct procs *p)
{
	size_t i;

	free(p->spaces);
	free(p->free_spaces);
	free(p->modules);
	map_nodes_free(&p->nodes);
	for (i = 0; i < p->pids.nr; i++)
		jit_dump_free(p->processes[i].jit);
	free(p->processes);
	free(p->threads);
	intern_free(&p->pids);
	intern_free(&p->tids);
	intern_free(&p->views);
	free(p);
}

/* ---- spaces */

static uint32_t new_space(struct procs *p, uint32_t pid)
{
	uint32_t nr;

	if (p->nr_free) {
		nr = p->free_spaces[--p->nr_free];
	} else {
		nr = p->nr_spaces++;
		p->spaces = array_room(p->spaces, &p->size_spaces,
				       p->nr_spaces, sizeof(*p->spaces));
	}
	p->spaces[nr] = (struct space) {
		.nothing = image_of_nothing(p->images, p->trace, pid),
		.users = 1,
	};
	return nr;
}

static void leave_space(struct procs *p, uint32_t nr)
{
	struct space *s = &p->spaces[nr];

	if (--s->users || s->kept)
		return;
	map_tree_drop(&p->nodes, s->maps);
	p->free_spaces = array_room(p->free_spaces, &p->size_free,
				    p->nr_free + 1, sizeof(*p->free_spaces));
	p->free_spaces[p->nr_free++] = nr;
}

static const struct map *find_map(const struct procs *p, uint32_t maps,
				  uint64_t addr)
{
	const struct map *m = map_tree_find(&p->nodes, maps, addr);

	return m && m->addr <= addr ? m : NULL;
}

static bool is_vacant(const struct procs *p, uint32_t maps, const struct map *m)
{
	const struct map *old = map_tree_find(&p->nodes, maps, m->addr);

	return !old || old->addr >= m->end;
}

/* Whether all of it means already what it says. */
static bool is_there(const struct procs *p, uint32_t maps, const struct map *m)
{
	const struct map *old = find_map(p, maps, m->addr);

	return old && old->end >= m->end && old->image == m->image &&
	       old->offset + (m->addr - old->addr) == m->offset;
}

/* ---- processes */

static struct process *process_of(struct procs *p, uint32_t pid)
{
	const uint32_t nr = intern(&p->pids, &pid, sizeof(pid));

	p->processes = array_room(p->processes, &p->size_processes, nr + 1,
				  sizeof(*p->processes));
	if (!p->processes[nr].space)
		p->processes[nr].space = new_space(p, pid) + 1;
	return &p->processes[nr];
}

static struct thread *thread_of(struct procs *p, uint32_t tid)
{
	const uint32_t nr = intern(&p->tids, &tid, sizeof(tid));

	p->threads = array_room(p->threads, &p->size_threads, nr + 1,
				sizeof(*p->threads));
	return &p->threads[nr];
}

static void set_space(struct procs *p, uint32_t pid, uint32_t space)
{
	struct process *proc = process_of(p, pid);

	leave_space(p, proc->space - 1);
	proc->space = space + 1;
}

/* A space of the process's own, which has what it had. */
static uint32_t split_space(struct procs *p, uint32_t pid)
{
	const uint32_t old = process_of(p, pid)->space - 1;
	const uint32_t nr = new_space(p, pid);

	p->spaces[nr].maps = map_tree_copy(&p->nodes, p->spaces[old].maps);
	set_space(p, pid, nr);
	return nr;
}

/* Who writes such a file maps it, so that it is known of; once is enough. */
static void set_jit(struct procs *p, const struct sw_trace_mmap *r)
{
	struct process *proc = process_of(p, r->pid);

	if (!proc->jit)
		proc->jit = jit_dump_read(r->path, r->pid, p->texts);
}

static void on_mmap(struct procs *p, const struct sw_trace_mmap *r)
{
	uint32_t nr = process_of(p, r->pid)->space - 1;
	struct space *s = &p->spaces[nr];
	struct map m = {
		.addr = r->addr,
		.end = r->addr + r->len,
		.image = image_of_map(p->images, p->trace, r),
	};

	if (jit_dump_is(r->path))
		set_jit(p, r);
	m.offset = p->images->all[m.image].kind == IMAGE_JIT ? r->addr :
							       r->offset;
	if (m.end <= m.addr || is_there(p, s->maps, &m))
		return;
	if (s->users > 1 || (s->kept && !is_vacant(p, s->maps, &m)))
		nr = split_space(p, r->pid);
	s = &p->spaces[nr];
	s->maps = map_tree_put(&p->nodes, s->maps, &m);
}

static void on_comm(struct procs *p, const struct sw_trace_comm *r)
{
	struct process *proc = process_of(p, r->pid);

	thread_of(p, r->tid)->comm = intern_string(p->texts, r->comm) + 1;
	proc->has_threads |= r->tid != r->pid;
	if (!(r->flags & SW_TRACE_COMM_EXEC))
		return;
	set_space(p, r->pid, new_space(p, r->pid));
	proc->has_threads = false;
	proc->jit_over = proc->jit;
}

static void on_fork(struct procs *p, const struct sw_trace_fork *r)
{
	const uint32_t comm = thread_of(p, r->parent_tid)->comm;
	uint32_t space;

	thread_of(p, r->tid)->comm = comm;
	if (r->pid == r->parent_pid) {
		process_of(p, r->pid)->has_threads = true;
		return;
	}
	space = process_of(p, r->parent_pid)->space - 1;
	p->spaces[space].users++;
	set_space(p, r->pid, space);
	process_of(p, r->pid)->has_threads = false;
}

/* Of several threads the first may end before the others do. */
static void on_end(struct procs *p, const struct sw_trace_exit *r)
{
	if (r->pid == r->tid && !process_of(p, r->pid)->has_threads)
		set_space(p, r->pid, new_space(p, r->pid));
}

static void on_module(struct procs *p, const struct sw_trace_module *r)
{
	const struct map m = {
		.addr = r->addr,
		.end = r->addr + r->len,
		.offset = r->addr,
		.image = image_of_module(p->images, p->trace, r),
	};
	uint32_t *tree = &p->modules[p->nr_modules - 1];

	if (m.end <= m.addr || is_there(p, *tree, &m))
		return;
	if (p->modules_kept && !is_vacant(p, *tree, &m)) {
		add_modules(p, map_tree_copy(&p->nodes, *tree));
		tree = &p->modules[p->nr_modules - 1];
	}
	*tree = map_tree_put(&p->nodes, *tree, &m);
}

void procs_record(struct procs *p, const struct sw_trace_record *r)
{
	switch (r->type) {
	case SW_TRACE_COMM:
		on_comm(p, (const void *)r);
		break;
	case SW_TRACE_FORK:
		on_fork(p, (const void *)r);
		break;
	case SW_TRACE_EXIT:
		on_end(p, (const void *)r);
		break;
	case SW_TRACE_MMAP:
		on_mmap(p, (const void *)r);
		break;
	case SW_TRACE_MODULE:
		on_module(p, (const void *)r);
		break;
	}
}

uint32_t procs_comm(struct procs *p, uint32_t pid, uint32_t tid)
{
	uint32_t comm = thread_of(p, tid)->comm;

	if (!comm)
		comm = thread_of(p, pid)->comm;
	if (comm)
		return comm - 1;
	return intern_string(p->texts, tid ? "[unknown]" : "swapper");
}

uint32_t procs_space(struct procs *p, uint32_t pid, uint64_t time)
{
	const struct process *proc = process_of(p, pid);
	struct view v = { .space = proc->space - 1 };

	p->spaces[v.space].kept = true;
	if (proc->jit && !proc->jit_over) {
		v.process = proc - p->processes;
		v.jit = jit_dump_state(proc->jit, time) + 1;
	}
	return intern(&p->views, &v, sizeof(v));
}

uint32_t procs_modules(struct procs *p)
{
	p->modules_kept = true;
	return p->nr_modules - 1;
}

/* An address of memory without a file is that of a function, if there is one. */
static void find_jit(const struct procs *p, const struct view *v,
		     const struct map *m, uint64_t *offset)
{
	if (v && v->jit && m && p->images->all[m->image].kind == IMAGE_JIT)
		jit_dump_find(p->processes[v->process].jit, v->jit - 1, *offset,
			      offset);
}

uint32_t procs_find(struct procs *p, uint32_t space, bool kernel, uint64_t ip,
		    uint64_t *offset)
{
	const struct view *v = kernel ? NULL : p->views.keys[space].key;
	const struct space *s = v ? &p->spaces[v->space] : NULL;
	const struct map *m = find_map(p, s ? s->maps : p->modules[space], ip);

	*offset = m ? m->offset + (ip - m->addr) : ip;
	find_jit(p, v, m, offset);
	if (m)
		return m->image;
	return s ? s->nothing : p->kernel;
}

const struct jit_dump *procs_jit(const struct procs *p, uint32_t pid)
{
	uint32_t nr;

	return intern_find(&p->pids, &pid, sizeof(pid), &nr) ?
		p->processes[nr].jit : NULL;
}
