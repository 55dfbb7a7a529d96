// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Takes NMIs that come from outside and hands each to whoever has set
 * nmi_mark_hook.  A module of its own, since a handler can only be taken away
 * where sleeping is allowed.
 */
#include <linux/module.h>
#include <linux/nmi.h>
#include <asm/nmi.h>

void (*nmi_mark_hook)(struct pt_regs *regs);
EXPORT_SYMBOL_GPL(nmi_mark_hook);

static int nmi_mark(unsigned int type, struct pt_regs *regs)
{
	void (*hook)(struct pt_regs *regs) = READ_ONCE(nmi_mark_hook);

	if (hook)
		hook(regs);
	return NMI_HANDLED;
}

static int __init nmi_mark_init(void)
{
	return register_nmi_handler(NMI_LOCAL, nmi_mark, 0, "nmi_mark");
}

static void __exit nmi_mark_exit(void)
{
	unregister_nmi_handler(NMI_LOCAL, "nmi_mark");
}

module_init(nmi_mark_init);
module_exit(nmi_mark_exit);
MODULE_DESCRIPTION("Hands NMIs to a test");
MODULE_LICENSE("GPL");
