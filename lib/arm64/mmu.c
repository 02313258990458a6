// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The identity map: 48-bit addresses, 4 KiB granule, tables down to 2 MiB blocks, for the image
 * down to pages (Arm ARM D5.2, VMSAv8-64). mmu_build() runs before the MMU is on and before anything is known of
 * the machine: it maps the image and the devicetree. The rest follows as the devicetree names it.
 */
#include "alloc.h"
#include "panic.h"
#include "types.h"
#include "startup.h"
#include <arch/cpu.h>
#include <arch/mmu.h>
#include <arch/sysreg.h>

#define NR_TABLES	  16
#define ENTRIES_PER_TABLE 512
#define ADDRESS_BITS	  48
#define GIB		  0x40000000UL

/* Descriptors (Arm ARM D5.3). */
#define DESC_VALID	   BIT(0)
#define DESC_TABLE	   BIT(1) /* on levels 0 to 2 */
#define DESC_PAGE	   BIT(1) /* on level 3 */
#define DESC_ATTR(index)   ((u64)(index) << 2)
#define DESC_EL0	   BIT(6)
#define DESC_READ_ONLY	   BIT(7)
#define DESC_SH_INNER	   (3ULL << 8)
#define DESC_ACCESSED	   BIT(10)
#define DESC_PXN	   BIT(53)
#define DESC_UXN	   BIT(54)
#define DESC_ADDRESS(desc) ((desc)&0xfffffffff000ULL)

/* MAIR_EL1: attribute 0 normal, write-back, allocating; attribute 1 device-nGnRE. */
#define ATTR_NORMAL 0
#define ATTR_DEVICE 1
#define MAIR_VALUE  0x04ffULL

/* RAM is EL0's as well, for excursions to it (arch/el0.h). */
#define MEMORY_COMMON \
	(DESC_VALID | DESC_ATTR(ATTR_NORMAL) | DESC_EL0 | DESC_SH_INNER | DESC_ACCESSED)
#define MEMORY_CODE  (MEMORY_COMMON | DESC_READ_ONLY)
#define MEMORY_CONST (MEMORY_COMMON | DESC_READ_ONLY | DESC_UXN | DESC_PXN)
#define MEMORY_DATA  (MEMORY_COMMON | DESC_UXN | DESC_PXN)
#define DEVICE	     (DESC_VALID | DESC_ATTR(ATTR_DEVICE) | DESC_ACCESSED | DESC_UXN | DESC_PXN)

/* TCR_EL1: 48 bits by TTBR0 alone, walks cacheable and inner shareable, 4 KiB granules. */
#define TCR_T0SZ      (64 - ADDRESS_BITS)
#define TCR_IRGN0_WB  (1ULL << 8)
#define TCR_ORGN0_WB  (1ULL << 10)
#define TCR_SH0_INNER (3ULL << 12)
#define TCR_T1SZ      ((u64)(64 - ADDRESS_BITS) << 16)
#define TCR_EPD1      BIT(23)
#define TCR_TG1_4K    (2ULL << 30)
#define TCR_IPS_SHIFT 32
#define PARANGE_48    5

#define SCTLR_M	   BIT(0)
#define SCTLR_C	   BIT(2)
#define SCTLR_SA   BIT(3)
#define SCTLR_I	   BIT(12)
#define SCTLR_NTWI BIT(16)
#define SCTLR_NTWE BIT(18)

/* image.lds */
extern char __text_end[], __data_start[];

static u64 tables[NR_TABLES][ENTRIES_PER_TABLE] __attribute__((section(".noinit"), aligned(4096)));
static size_t tables_used;
static struct mmu_registers registers;

static u64 *table_new(void)
{
	u64 *table;

	if (tables_used == NR_TABLES)
		panic("the page table pool is empty (%d tables): raise NR_TABLES in "
		      "lib/arm64/mmu.c",
		      NR_TABLES);
	table = tables[tables_used++];
	for (size_t i = 0; i < ENTRIES_PER_TABLE; i++)
		WRITE_ONCE(table[i], 0);
	return table;
}

static u64 *table_below(u64 *entry)
{
	u64 *table;

	if (*entry & DESC_VALID)
		return (*entry & DESC_TABLE) ? (u64 *)DESC_ADDRESS(*entry) : NULL;
	table = table_new();
	dsb_ishst(); /* a walk that finds the table finds it empty */
	WRITE_ONCE(*entry, (u64)table | DESC_TABLE | DESC_VALID);
	return table;
}

static size_t table_index(u64 address, int level)
{
	return address >> (39 - 9 * level) & (ENTRIES_PER_TABLE - 1);
}

/* The level 1 entry (1 GiB) of an address. */
static u64 *gib_entry(u64 address)
{
	return table_below(&tables[0][table_index(address, 0)]) + table_index(address, 1);
}

static void check_same_kind(u64 address, u64 old, u64 new)
{
	if ((old ^ new) & DESC_ATTR(7))
		panic("devicetree: the 2 MiB at %#lx hold memory and a device at once", address);
}

static void map_block(u64 address, u64 desc)
{
	u64 *gib = gib_entry(address);
	u64 *blocks = table_below(gib);
	u64 *entry;

	if (!blocks) { /* a block of 1 GiB */
		check_same_kind(address, *gib, desc);
		return;
	}
	entry = &blocks[table_index(address, 2)];
	if (!(*entry & DESC_VALID))
		WRITE_ONCE(*entry, address | desc);
	else if (*entry & DESC_TABLE) /* the image's */
		check_same_kind(address, MEMORY_DATA, desc);
	else
		check_same_kind(address, *entry, desc);
}

static void check_range(u64 base, u64 size)
{
	if (base + size < base || base + size > BIT(ADDRESS_BITS))
		panic("devicetree: %#lx bytes at %#lx lie outside of %d address bits", size, base,
		      ADDRESS_BITS);
}

void mmu_map_device(u64 base, u64 size)
{
	check_range(base, size);
	for (u64 at = ALIGN_DOWN(base, MMU_BLOCK_SIZE); at < base + size; at += MMU_BLOCK_SIZE)
		map_block(at, DEVICE);
	dsb_ishst();
	isb();
}

void mmu_map_memory(u64 base, u64 size)
{
	u64 at = ALIGN_UP(base, MMU_BLOCK_SIZE);
	u64 end = ALIGN_DOWN(base + size, MMU_BLOCK_SIZE);

	check_range(base, size);
	while (at < end) {
		u64 *gib = gib_entry(at);

		if (!(at % GIB) && end - at >= GIB && !(*gib & DESC_VALID)) {
			WRITE_ONCE(*gib, at | MEMORY_DATA);
			at += GIB;
		} else {
			map_block(at, MEMORY_DATA);
			at += MMU_BLOCK_SIZE;
		}
	}
	dsb_ishst();
	isb();
}

bool mmu_is_mapped(u64 address)
{
	u64 desc;

	if (address >> ADDRESS_BITS)
		return false;
	desc = tables[0][table_index(address, 0)];
	for (int level = 1; level <= 3; level++) {
		if (!(desc & DESC_VALID))
			return false;
		if (!(desc & DESC_TABLE))
			return true;
		desc = ((u64 *)DESC_ADDRESS(desc))[table_index(address, level)];
	}
	return desc & DESC_VALID;
}

/* The end of the image's own blocks belongs to the allocator, where it is RAM. */
static u64 page_of_image(u64 address)
{
	if (address == (u64)boot_exception_guard || address == (u64)boot_stack_guard)
		return 0;
	if (address < (u64)__text_end)
		return MEMORY_CODE;
	return address < (u64)__data_start ? MEMORY_CONST : MEMORY_DATA;
}

static void map_image_block(u64 block)
{
	u64 *pages = table_below(&table_below(gib_entry(block))[table_index(block, 2)]);

	for (size_t i = 0; i < ENTRIES_PER_TABLE; i++) {
		u64 address = block + i * PAGE_SIZE;
		u64 desc = page_of_image(address);

		if (desc)
			WRITE_ONCE(pages[i], address | desc | DESC_PAGE);
	}
}

/*
 * With the MMU off: the map of the image and of the 2 MiB that the devicetree may take
 * (booting.rst), and the register values that turn it on.
 */
const struct mmu_registers *mmu_build(uintptr_t dtb)
{
	u64 pa_range = id_aa64mmfr0_el1() & 0xf;

	table_new(); /* tables[0] is the root */
	for (u64 at = (u64)_start; at < (u64)_end; at += MMU_BLOCK_SIZE)
		map_image_block(at);
	for (u64 at = ALIGN_DOWN(dtb, MMU_BLOCK_SIZE); at < dtb + MMU_BLOCK_SIZE;
	     at += MMU_BLOCK_SIZE)
		map_block(at, MEMORY_DATA);

	registers.mair = MAIR_VALUE;
	registers.tcr = TCR_T0SZ | TCR_IRGN0_WB | TCR_ORGN0_WB | TCR_SH0_INNER | TCR_T1SZ |
			TCR_EPD1 | TCR_TG1_4K | MIN(pa_range, (u64)PARANGE_48) << TCR_IPS_SHIFT;
	registers.ttbr0 = (u64)tables[0];
	registers.sctlr =
		SCTLR_RES1 | SCTLR_M | SCTLR_C | SCTLR_SA | SCTLR_I | SCTLR_NTWI | SCTLR_NTWE;
	return &registers;
}

const struct mmu_registers *mmu_registers(void)
{
	return &registers;
}
