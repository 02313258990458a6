// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A guest that attacks its VMM, as its argument mode= says: memory-mapped registers, firmware calls
 * and instructions that no driver would use. What a mode's story calls "survived" ends with a check
 * that the machine still works; the rest has to end the guest in a clear verdict. For the suite's own
 * tests of host/kvm; under QEMU a VMM's own mode says that there is nothing to attack.
 */
#include "libcflat.h"
#include "misbehave.h"
#include "vmm_interface.h"
#include <arch/devicetree.h>
#include <arch/mmio.h>
#include <arch/mmu.h>
#include <arch/psci.h>

#define NOWHERE		 0x20000000ul /* between the devices and RAM */
#define EXITS_PER_CPU	 500
#define CALLS		 500
#define BULK_LENGTH_WILD 0xffffffffu
/* Calls that would end the machine or take the CPU away: PSCI 0.2, 64-bit forms included. */
#define IS_PSCI(function) (((function)&0xbfffffe0u) == 0x84000000u)

/* PL011 (DDI 0183): read at any time without effect. */
#define UART_FLAGS 0x018

static uintptr_t uart(void)
{
	return machine()->uart_registers.base;
}

static void expect_alive(void)
{
	u64 start_ns = clock_ns();

	report_expect(psci_version() != 0, "PSCI does not answer any more");
	mmio_read32(uart() + UART_FLAGS);
	report_expect(clock_ns() >= start_ns, "the clock went back");
}

/* ---- survived ----------------------------------------------------------------------------------- */

/* Registers of the UART's page in all widths, reserved ones too; none is written. */
static void run_uart(void)
{
	u32 size = machine()->uart_registers.size;

	/* Not the data register at 0, which takes input away. */
	for (u32 offset = 8; offset < size; offset = offset < 0x50 ? offset + 8 : offset + 0x98) {
		volatile u8 *at = (volatile u8 *)(uart() + offset);

		(void)*(volatile u64 *)at;
		(void)*(volatile u32 *)(at + 4);
		(void)*(volatile u16 *)(at + 2);
		(void)*(at + 7);
	}
	expect_alive();
}

/* Function ids of all owners by HVC, with pointers to nowhere: NOT_SUPPORTED, or harmless. */
static void run_calls(void)
{
	u32 function = 0x80000000u;

	for (int i = 0; i < CALLS; i++) {
		function = function * 1664525u + 1013904223u;
		if (!IS_PSCI(function))
			psci_call(function, NOWHERE, ~0ull, 1ull << 63);
	}
	expect_alive();
}

/* CPUs that are not there, the own one, and one that is on. */
static void run_cpu_on(void)
{
	static const u64 targets[] = { 0, 0xffffff, 0xff00ffffff, ~0ull };

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++)
		report_expect(psci_call(PSCI_CPU_ON, targets[i], NOWHERE, 0) < 0,
			      "CPU_ON of CPU 0x%lx was taken", targets[i]);
	expect_alive();
}

static void read_uart(void *arg)
{
	for (int i = 0; i < EXITS_PER_CPU; i++)
		mmio_read32(uart() + UART_FLAGS);
}

static void run_exit_storm(void)
{
	on_all_cpus(read_uart, NULL);
	expect_alive();
}

/* A second CPU that starts where no memory is. */
static void run_cpu_on_nowhere(void)
{
	if (smp_count() < 2 || !cpu_stop(1)) {
		report_skip("no second CPU that can be stopped");
		return;
	}
	report_expect(psci_cpu_on(machine()->cpu_mpidr[1], NOWHERE, 0) == PSCI_SUCCESS,
		      "CPU_ON was refused");
	spin_until(false, NSEC_PER_SEC / 10);
	expect_alive();
}

/* ---- the end of the guest ----------------------------------------------------------------------- */

static void bulk_print(u64 address, u32 length)
{
	const struct address_range *bulk = &machine()->bulk_console;

	if (!bulk->size) {
		report_skip("this is not host/kvm with a bulk console: nothing to attack");
		return;
	}
	mmio_write64(bulk->base + BULK_CONSOLE_ADDRESS, address);
	mmio_write32(bulk->base + BULK_CONSOLE_LENGTH, length);
	spin_until(false, NSEC_PER_SEC);
	report_fail("a buffer of %u bytes at 0x%lx was taken", length, address);
}

static void run_bulk_past(void)
{
	bulk_print(NOWHERE, 1);
}

static void run_bulk_wrap(void)
{
	bulk_print(~0ul - 15, BULK_CONSOLE_LENGTH_MAX);
}

static void run_bulk_long(void)
{
	bulk_print(machine()->memory[0].base, BULK_LENGTH_WILD);
}

static void run_mmio_wild(void)
{
	mmu_map_device(NOWHERE, PAGE_SIZE);
	*(volatile u64 *)NOWHERE = 1;
	report_error("a write to where nothing is went by unnoticed");
}

/* A pair of registers: the trap does not say which (Arm ARM, ESR_ELx.ISS, ISV 0). */
static void run_mmio_pair(void)
{
	u64 a, b;

	__asm__ volatile("ldp %0, %1, [%2]" : "=&r"(a), "=&r"(b) : "r"(uart()) : "memory");
	report_skip("the UART took a load of a pair: 0x%lx, 0x%lx", a, b);
}

/* The MMU off, so that nothing of the image's own maps stops the fetch. */
static void run_code_nowhere(void)
{
	__asm__ volatile("mrs x1, sctlr_el1\n"
			 "\tbic x1, x1, #1\n"
			 "\tmsr sctlr_el1, x1\n"
			 "\tisb\n"
			 "\tbr %0" ::"r"(NOWHERE)
			 : "x1", "memory");
	__builtin_unreachable();
}

static void loop_for_ever(void *arg)
{
	for (;;)
		mmio_read32(uart() + UART_FLAGS);
}

static void run_exit_loop(void)
{
	on_all_cpus(loop_for_ever, NULL);
}

static const struct misbehaviour modes[] = {
	{ "uart", "reads all over the UART's page, in all widths: survived", run_uart, false },
	{ "calls", "firmware calls that nobody knows: survived", run_calls, false },
	{ "cpu-on", "starts CPUs that are not there or on already: survived", run_cpu_on, false },
	{ "exit-storm", "every vCPU exits as fast as it can: survived", run_exit_storm, false },
	{ "bulk-past", "a bulk buffer that is nowhere: ERROR", run_bulk_past, false },
	{ "bulk-wrap", "a bulk buffer around the end of all addresses: ERROR", run_bulk_wrap,
	  false },
	{ "bulk-long", "a bulk buffer of 4 GiB: ERROR", run_bulk_long, false },
	{ "mmio-wild", "a write to where nothing is: ERROR", run_mmio_wild, false },
	{ "mmio-pair", "a load of two registers from a device: ERROR", run_mmio_pair, false },
	{ "code-nowhere", "executes where no memory is: ERROR", run_code_nowhere, false },
	{ "cpu-on-nowhere", "starts a CPU where no memory is, which aborts for ever: survived",
	  run_cpu_on_nowhere, false },
	{ "exit-loop", "every vCPU exits for ever: TIMEOUT", run_exit_loop, false },
};

int main(void)
{
	return misbehave_run("hostile", modes, ARRAY_SIZE(modes));
}
