// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Page tables beyond the first ones of start.S: protection of the image's own pages, and devices
 * above 4 GiB.
 */
#include "alloc.h"
#include "panic.h"
#include "startup.h"
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/mmu.h>
#include <arch/msr.h>

#define PTE_PRESENT  BIT(0)
#define PTE_WRITABLE BIT(1)
#define PTE_USER     BIT(2)
#define PTE_NX	     BIT(63)

#define GIB	   (1ULL << 30)
#define LARGE_PAGE (2ULL << 20)

static u64 page_flags(uintptr_t page, u64 nx)
{
	if (page == 0 || page == (uintptr_t)boot_stack_guard)
		return 0;
	if (page < (uintptr_t)image_start || page >= (uintptr_t)image_end)
		return PTE_PRESENT | PTE_WRITABLE | nx;
	if (page < (uintptr_t)text_end)
		return PTE_PRESENT;
	if (page < (uintptr_t)rodata_end)
		return PTE_PRESENT | nx;
	return PTE_PRESENT | PTE_WRITABLE | nx;
}

/* The 2 MiB pages that hold the image, and page 0, become 4 KiB pages. */
void mmu_protect_image(void)
{
	u64 nx = cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_NX ? PTE_NX : 0;

	if (nx) {
		boot_efer |= EFER_NXE;
		wrmsr(MSR_IA32_EFER, rdmsr(MSR_IA32_EFER) | EFER_NXE);
	}
	for (uintptr_t large = 0; large < (uintptr_t)image_end; large += LARGE_PAGE) {
		u64 *table = alloc_pages(1);

		for (int i = 0; i < 512; i++) {
			uintptr_t page = large + i * PAGE_SIZE;
			u64 flags = page_flags(page, nx);

			table[i] = flags ? page | flags | PTE_USER : 0;
		}
		boot_pd[0][large / LARGE_PAGE] = (u64)table | PTE_TABLE;
	}
	write_cr3(read_cr3());
}

uintptr_t mmu_map_device(u64 start, u64 size)
{
	u64 end = start + size;

	if (end < start || end > 512 * GIB)
		panic("device memory 0x%lx+0x%lx is above 512 GiB, which lib/x86/mmu.c does not "
		      "map",
		      start, size);
	for (u64 gib = start / GIB; gib <= (end - 1) / GIB; gib++) {
		u64 *directory;

		if (boot_pdpt[gib])
			continue;
		directory = alloc_pages(1);
		for (u64 i = 0; i < 512; i++)
			directory[i] = (gib * GIB + i * LARGE_PAGE) | PTE_LARGE | PTE_UNCACHED;
		boot_pdpt[gib] = (u64)directory | PTE_TABLE;
	}
	return start;
}
