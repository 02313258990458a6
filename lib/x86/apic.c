// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Local APIC in both modes, I/O APICs and 8259s masked: SDM vol. 3, chapter 11; 82093AA and 8259A
 * data sheets.
 */
#include "args.h"
#include "panic.h"
#include "report.h"
#include "spin.h"
#include "string.h"
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/idt.h>
#include <arch/io.h>
#include <arch/mmu.h>
#include <arch/msr.h>
#include <arch/percpu.h>

#define APIC_BASE_ADDRESS (~0xfffULL & 0x000fffffffffffffULL)
#define ICR_WAIT_NS	  100000000ULL

#define IO_APIC_SELECT	0x00
#define IO_APIC_WINDOW	0x10
#define IO_APIC_VERSION 0x01
#define IO_APIC_TABLE	0x10
#define IO_APIC_MASKED	BIT(16)

#define PIC1_DATA 0x21
#define PIC2_DATA 0xa1

static bool x2apic;
static const char *unmet;
static uintptr_t xapic_base;

const char *arch_unmet(void)
{
	return unmet;
}

bool apic_is_x2apic(void)
{
	return x2apic;
}

u32 apic_read(u32 reg)
{
	if (x2apic)
		return rdmsr(MSR_IA32_X2APIC_BASE + (reg >> 4));
	return mmio_read32(xapic_base + reg);
}

void apic_write(u32 reg, u32 value)
{
	if (x2apic)
		wrmsr(MSR_IA32_X2APIC_BASE + (reg >> 4), value);
	else
		mmio_write32(xapic_base + reg, value);
}

void apic_eoi(void)
{
	apic_write(APIC_EOI, 0);
}

u32 apic_id(void)
{
	u32 id = apic_read(APIC_ID);

	return x2apic ? id : id >> 24;
}

void apic_icr_write(u32 destination_apic_id, u32 mode)
{
	u64 irqs;

	if (x2apic) {
		/* No WRMSR of the x2APIC waits for earlier stores (SDM vol. 3, 11.12.3). */
		__asm__ volatile("mfence; lfence" ::: "memory");
		wrmsr(MSR_IA32_X2APIC_BASE + (APIC_ICR >> 4),
		      (u64)destination_apic_id << 32 | mode);
		return;
	}
	/* The two halves belong together: no handler may send in between. */
	irqs = irq_save();
	spin_until_or_die(!(apic_read(APIC_ICR) & APIC_ICR_PENDING), ICR_WAIT_NS,
			  "the local APIC to send the last interrupt (ICR delivery status)");
	apic_write(APIC_ICR_HIGH, destination_apic_id << 24);
	apic_write(APIC_ICR, mode);
	irq_restore(irqs);
}

void apic_send_ipi(int cpu, u8 vector)
{
	struct cpu *target = cpu_of(cpu);

	assert(target);
	apic_icr_write(target->apic_id, APIC_ICR_FIXED | APIC_ICR_ASSERT | vector);
}

void apic_send_self_ipi(u8 vector)
{
	apic_icr_write(0, APIC_ICR_FIXED | APIC_ICR_ASSERT | APIC_ICR_TO_SELF | vector);
}

static bool apic_bit(u32 first_register, u8 vector)
{
	return apic_read(first_register + (vector / 32) * 0x10) & BIT(vector % 32);
}

bool apic_irr(u8 vector)
{
	return apic_bit(APIC_IRR, vector);
}

bool apic_isr(u8 vector)
{
	return apic_bit(APIC_ISR, vector);
}

/* On the boot CPU: the mode for all of them, from what CPUID offers and the argument asks. */
static void choose_mode(void)
{
	bool offered = cpuid(1).ecx & CPUID_1_ECX_X2APIC;
	const char *wanted = args_str("apic", "");

	if (*wanted && strcmp(wanted, "xapic") && strcmp(wanted, "x2apic"))
		panic("argument apic=%s: it is xapic or x2apic", wanted);
	if (!strcmp(wanted, "x2apic") && !offered)
		unmet = "apic=x2apic was asked for, CPUID offers no x2APIC";
	x2apic = offered && strcmp(wanted, "xapic");
}

static void enter_mode(void)
{
	u64 base = rdmsr(MSR_IA32_APIC_BASE);
	u64 disabled = base & ~(APIC_BASE_ENABLE | APIC_BASE_EXTD);

	if (x2apic) {
		if (!(base & APIC_BASE_ENABLE))
			wrmsr(MSR_IA32_APIC_BASE, disabled | APIC_BASE_ENABLE);
		if (!(base & APIC_BASE_EXTD))
			wrmsr(MSR_IA32_APIC_BASE, disabled | APIC_BASE_ENABLE | APIC_BASE_EXTD);
		return;
	}
	/* From x2APIC back to xAPIC only by way of disabled (SDM vol. 3, 11.12.5). */
	if (base & APIC_BASE_EXTD)
		wrmsr(MSR_IA32_APIC_BASE, disabled);
	if (base & APIC_BASE_EXTD || !(base & APIC_BASE_ENABLE))
		wrmsr(MSR_IA32_APIC_BASE, disabled | APIC_BASE_ENABLE);
	xapic_base = mmu_map_device(base & APIC_BASE_ADDRESS, 4096);
}

void apic_init(void)
{
	u32 max_lvt;

	if (this_cpu()->id == 0) {
		if (!(cpuid(1).edx & CPUID_1_EDX_APIC))
			panic("CPUID names no local APIC: the machine needs one");
		choose_mode();
	}
	enter_mode();
	apic_write(APIC_TPR, 0);
	apic_write(APIC_SVR, APIC_SVR_ENABLE | VECTOR_SPURIOUS);
	/* Version register, bits 16 to 23: the number of LVT entries less one. */
	max_lvt = apic_read(APIC_VERSION) >> 16 & 0xff;
	apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT0, APIC_LVT_MASKED);
	apic_write(APIC_LVT_LINT1, APIC_LVT_MASKED);
	apic_write(APIC_LVT_ERROR, APIC_LVT_MASKED);
	if (max_lvt >= 4)
		apic_write(APIC_LVT_PMC, APIC_LVT_MASKED);
	if (max_lvt >= 5)
		apic_write(APIC_LVT_THERMAL, APIC_LVT_MASKED);
}

static void io_apic_mask(uintptr_t base)
{
	u32 inputs;

	mmio_write32(base + IO_APIC_SELECT, IO_APIC_VERSION);
	inputs = (mmio_read32(base + IO_APIC_WINDOW) >> 16 & 0xff) + 1;
	for (u32 i = 0; i < inputs; i++) {
		mmio_write32(base + IO_APIC_SELECT, IO_APIC_TABLE + 2 * i);
		mmio_write32(base + IO_APIC_WINDOW, IO_APIC_MASKED);
	}
}

void interrupt_controllers_mask(void)
{
	for (int i = 0; i < acpi.nr_io_apics; i++)
		io_apic_mask(mmu_map_device(acpi.io_apics[i], 4096));
	if (acpi.has_8259) {
		outb(PIC1_DATA, 0xff);
		outb(PIC2_DATA, 0xff);
	}
}
