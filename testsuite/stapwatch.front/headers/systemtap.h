/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the runtime takes from SystemTap, as far as a compiler must know it: so a
 * header is tried alone, without a script, a module and stap.  Nothing more of the
 * kernel is included here than these declarations need.
 */
#include <linux/types.h>

/* messages, and what a handler prints */
__printf(1, 2) void _stp_warn(const char *fmt, ...);
__printf(1, 2) void _stp_error(const char *fmt, ...);
void _stp_print(const char *text);
void _stp_printf(const char *fmt, ...);
void *_stp_reserve_bytes(int bytes);
void _stp_print_flush(void);
bool _stp_print_trylock_irqsave(unsigned long *flags);
void _stp_print_unlock_irqrestore(unsigned long *flags);

/* the context of the handler that runs */
struct context;
struct context *_stp_runtime_get_context(void);

/* what modules cannot link to */
unsigned long test_kallsyms_lookup_name(const char *name);
#define kallsyms_lookup_name(name) test_kallsyms_lookup_name(name)
#define ibt_wrapper(type, call) (call)
#define void_ibt_wrapper(call) (call)

#ifndef STAPCONF_GET_KRETPROBE
#define get_kretprobe(instance) ((instance)->rp)
#endif

/* how a module ends */
static void _stp_cleanup_and_exit(int send_exit)
{
}

/* its directory in /proc, which the runtime declares once more */
struct proc_dir_entry;
static struct proc_dir_entry *_stp_procfs_module_dir;
static int _stp_mkdir_proc_module(void)
{
	return 0;
}
