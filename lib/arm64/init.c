// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Start-up in C: from the first cached instruction to main(), and the end of the image.
 */
#include "libcflat.h"
#include "console.h"
#include "el2host.h"
#include "startup.h"
#include "uart.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/gic.h>
#include <arch/mmu.h>
#include <arch/percpu.h>
#include <arch/psci.h>

static int level_at_boot;
static int level_wanted = 1;

const char *arch_name(void)
{
	return "arm64";
}

int boot_el(void)
{
	return level_at_boot;
}

int wanted_el(void)
{
	return level_wanted;
}

const char *arch_unmet(void)
{
	if (current_el() == level_wanted || el2host_active())
		return NULL;
	if (level_at_boot == 1)
		return "el=2 was asked for and the image was entered at EL1";
	return "el=2 was asked for and the CPU has no VHE";
}

uintptr_t arch_load_offset(void)
{
	return (uintptr_t)_start; /* linked at 0 */
}

bool arch_is_stack(uintptr_t address)
{
	for (int cpu = 0; cpu < MAX_CPUS; cpu++) {
		const struct percpu *p = percpu_of(cpu);

		if (address >= p->stack && address < p->stack_end)
			return true;
	}
	return false;
}

void arch_stop(void)
{
	irq_disable();
	if (machine()->fdt && machine()->psci_version_min >= 2)
		psci_call(PSCI_SYSTEM_OFF, 0, 0, 0);
	for (;;)
		wfi();
}

static void choose_level(void)
{
	level_wanted = args_u64("el", 1);
	if (level_wanted != 1 && level_wanted != 2)
		panic("argument el=%d: an image runs at EL1 or at EL2", level_wanted);
	if (current_el() == 2 && level_wanted == 1)
		el2_drop(0, NULL);
}

/*
 * The order matters: without a devicetree there is no console to complain on; with a console, every
 * later step can say what is wrong.
 */
void start_c(uintptr_t dtb, u64 entered_at)
{
	level_at_boot = entered_at;
	percpu_init_boot();
	exception_init_cpu();
	if (!devicetree_find_console((const void *)dtb))
		arch_stop();
	uart_init();
	devicetree_read();
	args_init(devicetree_bootargs());
	choose_level();
	memory_init();
	clock_init();
	gic_init();
	smp_start();
	main();
	arch_stop();
}
