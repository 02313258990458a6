// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that attacks its VMM, as its argument mode= says: ports, memory-mapped registers and MSRs
 * with values that no driver would write. What a mode's story calls "survived" ends with a check
 * that the machine still works; the rest has to end the guest in a clear verdict. For the suite's own
 * tests of host/kvm; under QEMU a VMM's own mode says that there is nothing to attack.
 */
#include "libcflat.h"
#include "misbehave.h"
#include "vmm_interface.h"
#include <arch/cpuid.h>
#include <arch/exception.h>
#include <arch/io.h>
#include <arch/mmu.h>
#include <arch/msr.h>

#define COM1_SCRATCH 0x3ff
/* fw_cfg (QEMU's docs/specs/fw_cfg.rst): selector, data, and where a DMA address would go. */
#define FW_CFG_SELECTOR 0x510
#define FW_CFG_DATA	0x511
#define FW_CFG_DMA_HIGH 0x514
#define FW_CFG_DMA_LOW	0x518

#define PAST_MEMORY	 0xb0000000u /* above any test's RAM, below the devices */
#define EXITS_PER_CPU	 500
#define STRING_IO_BYTES	 512
#define MSRS_PER_WINDOW	 0x1000
#define BULK_LENGTH_WILD 0xffffffffu

static u8 io_buffer[STRING_IO_BYTES];

/* The console's UART answers, and so do clock and fw_cfg where they are. */
static void expect_alive(void)
{
	u64 start_ns = clock_ns();

	for (int pattern = 0; pattern < 256; pattern += 85) {
		outb(COM1_SCRATCH, pattern);
		report_expect(inb(COM1_SCRATCH) == pattern,
			      "COM1's scratch register lost what was written: 0x%x", pattern);
	}
	report_expect(clock_ns() >= start_ns, "the clock went back");
}

/* The bulk console's first port, or 0 after a SKIP. */
static u16 bulk_port(void)
{
	u32 base = cpuid_hypervisor_base(VMM_CPUID_SIGNATURE);
	u16 port = base ? cpuid(base + 1).eax : 0;

	if (!port)
		report_skip("this is not host/kvm with a bulk console: nothing to attack");
	return port;
}

/* ---- survived ----------------------------------------------------------------------------------- */

static void string_io(u16 port)
{
	void *at = io_buffer;
	size_t count = sizeof(io_buffer);

	__asm__ volatile("rep insb" : "+D"(at), "+c"(count) : "d"(port) : "memory");
	at = io_buffer;
	count = sizeof(io_buffer);
	__asm__ volatile("rep outsb" : "+S"(at), "+c"(count) : "d"(port) : "memory");
}

/* Reads all over the ports, aligned and not; string I/O to one that nobody has. */
static void run_ports(void)
{
	for (u32 port = 0; port < 65536; port += 32) {
		inl(port);
		inw(port + 13);
		inb(port + 31);
	}
	string_io(0x2f0);
	expect_alive();
}

/* Every item, read past its end; DMA addresses that would harm if anybody took them. */
static void run_fw_cfg(void)
{
	for (u32 item = 0; item < 65536; item += 257) {
		outw(FW_CFG_SELECTOR, item);
		for (int i = 0; i < 16; i++)
			inb(FW_CFG_DATA);
	}
	outl(FW_CFG_DMA_HIGH, 0xffffffff);
	outl(FW_CFG_DMA_LOW, 0xffffffff);
	outl(FW_CFG_DMA_HIGH, 0);
	outl(FW_CFG_DMA_LOW, __builtin_bswap32(PAST_MEMORY));
	expect_alive();
}

/* Addresses of clocks and pages that are nowhere: KVM refuses or ignores them. */
static void run_msrs(void)
{
	static const u32 windows[] = { 0x0, 0x40000000, 0x4b564d00, 0xc0000000, 0xc0010000 };
	static const u64 values[] = { PAST_MEMORY | 1, ~0ULL, 0x7fffffffffff0001ULL };
	static const u32 pages[] = { MSR_KVM_WALL_CLOCK_NEW, MSR_KVM_SYSTEM_TIME_NEW, 0x4b564d02,
				     0x4b564d03, 0x4b564d04 };
	u64 value;

	for (size_t w = 0; w < ARRAY_SIZE(windows); w++) {
		for (u32 i = 0; i < MSRS_PER_WINDOW; i++)
			rdmsr_safe(windows[w] + i, &value);
	}
	for (size_t p = 0; p < ARRAY_SIZE(pages); p++) {
		for (size_t v = 0; v < ARRAY_SIZE(values); v++)
			wrmsr_safe(pages[p], values[v]);
		wrmsr_safe(pages[p], 0);
	}
	expect_alive();
}

static void read_uart(void *arg)
{
	for (int i = 0; i < EXITS_PER_CPU; i++)
		inb(COM1_SCRATCH);
}

static void run_exit_storm(void)
{
	on_all_cpus(read_uart, NULL);
	expect_alive();
}

/* The registers in pieces, and lengths of 0; the console's own buffer is put back. */
static void run_bulk_edges(void)
{
	u16 port = bulk_port();
	u32 address;

	if (!port)
		return;
	address = inl(port + BULK_CONSOLE_ADDRESS);
	outl(port + BULK_CONSOLE_LENGTH, 0);
	outb(port + BULK_CONSOLE_LENGTH + 1, 0xff);
	outw(port + BULK_CONSOLE_ADDRESS + 2, 0xffff);
	inl(port + BULK_CONSOLE_LENGTH);
	inb(port + BULK_CONSOLE_SIZE - 1);
	outl(port + BULK_CONSOLE_ADDRESS, PAST_MEMORY);
	outl(port + BULK_CONSOLE_LENGTH, 0);
	outl(port + BULK_CONSOLE_ADDRESS, address);
	report_expect(inl(port + BULK_CONSOLE_ADDRESS) == address,
		      "the bulk console's address register lost 0x%x", address);
	expect_alive();
}

/* ---- the end of the guest ----------------------------------------------------------------------- */

static void bulk_print(u32 address, u32 length)
{
	u16 port = bulk_port();

	if (!port)
		return;
	outl(port + BULK_CONSOLE_ADDRESS, address);
	outl(port + BULK_CONSOLE_LENGTH, length);
	spin_until(false, NSEC_PER_SEC);
	report_fail("a buffer of %u bytes at 0x%x was taken", length, address);
}

static void run_bulk_past(void)
{
	bulk_print(PAST_MEMORY, 1);
}

static void run_bulk_wrap(void)
{
	bulk_print(0xfffffff0, BULK_CONSOLE_LENGTH_MAX);
}

static void run_bulk_long(void)
{
	bulk_print((u32)(uintptr_t)io_buffer, BULK_LENGTH_WILD);
}

static void run_mmio_wild(void)
{
	mmu_map_device(PAST_MEMORY, PAGE_SIZE);
	*(volatile u64 *)(uintptr_t)PAST_MEMORY = 1;
	report_error("a write to where nothing is went by unnoticed");
}

/* Code where no memory is: KVM would have to emulate what it cannot read. */
static void run_code_nowhere(void)
{
	mmu_map_device(PAST_MEMORY, PAGE_SIZE);
	((void (*)(void))(uintptr_t)PAST_MEMORY)();
}

static void run_page_tables_nowhere(void)
{
	__asm__ volatile("mov %0, %%cr3; nop" ::"r"((u64)PAST_MEMORY) : "memory");
}

static void run_descriptors(void)
{
	struct {
		u16 limit;
		u64 base;
	} __attribute__((packed)) table = { 0xffff, PAST_MEMORY - 8 };

	__asm__ volatile("lgdt %0; lidt %0; mov %1, %%ds; int3" ::"m"(table), "r"(0xfff8));
}

static void loop_for_ever(void *arg)
{
	for (;;)
		inb(COM1_SCRATCH);
}

static void run_exit_loop(void)
{
	on_all_cpus(loop_for_ever, NULL);
}

static const struct misbehaviour modes[] = {
	{ "ports", "reads all over the ports, string I/O: survived", run_ports, false },
	{ "fw-cfg", "all fw_cfg items past their ends, wild DMA addresses: survived", run_fw_cfg,
	  false },
	{ "msrs", "MSRs of five windows, clock pages that are nowhere: survived", run_msrs, false },
	{ "exit-storm", "every vCPU exits as fast as it can: survived", run_exit_storm, false },
	{ "bulk-edges", "the bulk console's registers in pieces: survived", run_bulk_edges, false },
	{ "bulk-past", "a bulk buffer that is nowhere: ERROR", run_bulk_past, false },
	{ "bulk-wrap", "a bulk buffer around the end of all addresses: ERROR", run_bulk_wrap,
	  false },
	{ "bulk-long", "a bulk buffer of 4 GiB: ERROR", run_bulk_long, false },
	{ "mmio-wild", "a write to where nothing is: ERROR", run_mmio_wild, false },
	{ "code-nowhere", "executes where no memory is: ERROR", run_code_nowhere, false },
	{ "page-tables-nowhere", "page tables where no memory is: ERROR or TIMEOUT",
	  run_page_tables_nowhere, false },
	{ "descriptors", "GDT and IDT behind the end of memory: ERROR or TIMEOUT", run_descriptors,
	  false },
	{ "exit-loop", "every vCPU exits for ever: TIMEOUT", run_exit_loop, false },
};

int main(void)
{
	return misbehave_run("hostile", modes, ARRAY_SIZE(modes));
}
