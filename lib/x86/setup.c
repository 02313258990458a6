// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From start.S to main(): the order in which the parts of lib/x86 come up.
 */
#include "libcflat.h"
#include "startup.h"
#include <arch/acpi.h>
#include <arch/apic.h>

/*
 * The largest usable range above the image, and there only up to the first ACPI table: qboot puts
 * tables into memory that the loader's map calls usable. Nothing from 3 GiB, which is uncached.
 */
static void memory_init(void)
{
	u64 limit = MIN(acpi.lowest_table, 3ULL << 30);
	u64 best_start = 0, best_end = 0;

	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		u64 start = MAX(boot_info.ranges[i].start, (u64)image_end);
		u64 end = MIN(boot_info.ranges[i].end, limit);

		if (end > start && end - start > best_end - best_start) {
			best_start = start;
			best_end = end;
		}
	}
	if (!best_end)
		panic("no usable memory above the image (0x%lx) and below 0x%lx: boot protocol "
		      "%s%s%s",
		      (uintptr_t)image_end, limit, boot_info.protocol,
		      boot_info.problem ? ", " : "", boot_info.problem ? boot_info.problem : "");
	alloc_init(ALIGN_UP(best_start, PAGE_SIZE), ALIGN_DOWN(best_end, PAGE_SIZE));
}

/* Log lines: they explain what may be missing later, such as CPUs. */
static void tell_problems(void)
{
	if (boot_info.problem)
		printf("boot: %s\n", boot_info.problem);
	if (acpi.problem)
		printf("acpi: %s\n", acpi.problem);
	if (!acpi.has_madt)
		printf("acpi: no MADT, so only the boot CPU is known\n");
}

void x86_start(u32 boot_protocol, u32 info)
{
	cpus_init_boot_cpu();
	com1_init();
	vmm_init();
	boot_info_read(boot_protocol, info);
	acpi_init();
	memory_init();
	args_init(boot_info.cmdline);
	mmu_protect_image();
	/*
	 * The 8259 before the local APIC stops listening to it: a timer's request that firmware left
	 * pending is withdrawn then, and not served later by whoever enables interrupts first. (QEMU's
	 * TCG makes a #GP with error code -14 of it, do_interrupt64() of vector -1.)
	 */
	interrupt_controllers_mask();
	apic_init();
	tell_problems();
	smp_start();
	main();
	arch_stop();
}
