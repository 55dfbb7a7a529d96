/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The idle loop; idle.h says what is wanted of it. */
#include "report/names/idle.h"

#include <stddef.h>
#include <string.h>

/* Of x86_64 and arm64: the loop, and how it waits. */
static const char *const names[] = {
	"acpi_idle_do_entry", "acpi_idle_enter",
	"acpi_processor_ffh_cstate_enter", "acpi_safe_halt",
	"arch_cpu_idle", "arch_cpu_idle_enter", "arch_cpu_idle_exit",
	"cpu_do_idle", "cpu_idle_poll", "cpu_startup_entry",
	"cpuidle_enter", "cpuidle_enter_state", "default_enter_idle",
	"default_idle", "default_idle_call", "do_idle", "intel_idle",
	"intel_idle_hlt", "intel_idle_ibrs", "intel_idle_irq",
	"intel_idle_xstate", "mwait_idle", "native_safe_halt", "poll_idle",
	"psci_cpu_suspend_enter", "psci_enter_idle_state",
	"pv_native_safe_halt", "tdx_halt", "tdx_safe_halt", "xen_safe_halt",
};

bool is_idle_function(const char *name)
{
	/* the compiler's own version of it: intel_idle.constprop.0 */
	const size_t len = strcspn(name, ".");
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (strlen(names[i]) == len && !strncmp(names[i], name, len))
			return true;
	return false;
}
