// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUs: the boot CPU's own structure, the others by INIT-SIPI-SIPI (SDM vol. 3, 9.4.4), sleep and
 * wake-up for lib/smp.c, and the way to stop them all.
 */
#include "alloc.h"
#include "panic.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include "startup.h"
#include "string.h"
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/exception.h>
#include <arch/idt.h>
#include <arch/msr.h>
#include <arch/percpu.h>

_Static_assert(MAX_CPUS == MAX_CPUS_IN_GDT, "startup.h follows smp.h");
_Static_assert(offsetof(struct cpu, stack_top) == CPU_STACK_TOP, "startup.h follows percpu.h");

/* A second SIPI only where the first was not answered: emulated CPUs need no waits between. */
#define FIRST_SIPI_NS  10000000ULL
#define SECOND_SIPI_NS 1000000000ULL
#define LOW_END	       0xa0000UL

static struct cpu boot_cpu;
static struct cpu *cpus[MAX_CPUS];
static bool apic_ready;
static bool stopping;

struct cpu *cpu_of(int id)
{
	return id >= 0 && id < MAX_CPUS ? READ_ONCE(cpus[id]) : NULL;
}

int smp_id(void)
{
	return this_cpu()->id;
}

static void kick_handler(struct exception_frame *frame)
{
}

/* arch_stop() of another CPU sends it; a later test may take the vector for itself meanwhile. */
static bool nmi_handler(struct exception_frame *frame)
{
	while (READ_ONCE(stopping)) {
		irq_disable();
		cpu_halt();
	}
	return false;
}

void cpus_init_boot_cpu(void)
{
	struct cpu *cpu = &boot_cpu;

	cpu->self = cpu;
	cpu->exception.vector = NO_EXCEPTION;
	cpu->stack = (uintptr_t)boot_stack;
	cpu->stack_top = (uintptr_t)boot_stack_top;
	cpus[0] = cpu;
	wrmsr(MSR_IA32_GS_BASE, (u64)cpu);
	descriptors_init(cpu);
	descriptors_load(cpu);
}

static void add_cpu(int id, u32 apic_id)
{
	struct cpu *cpu = alloc_aligned(sizeof(*cpu), 64);

	cpu->self = cpu;
	cpu->id = id;
	cpu->apic_id = apic_id;
	cpu->exception.vector = NO_EXCEPTION;
	cpus[id] = cpu;
}

/* Number 0 is the CPU this runs on; the others follow in the MADT's order. */
int arch_smp_probe(void)
{
	u32 self = apic_id();
	int next = 1;

	boot_cpu.apic_id = self;
	apic_ready = true;
	irq_set_handler(VECTOR_KICK, kick_handler);
	exception_set_handler(VECTOR_NMI, nmi_handler);
	if (acpi.nr_cpus == 0)
		return 1;
	for (int i = 0; i < acpi.nr_cpus && next < MAX_CPUS; i++) {
		if (acpi.apic_ids[i] != self)
			add_cpu(next++, acpi.apic_ids[i]);
	}
	return next + acpi.nr_cpus_left_out;
}

/* The MADT had named it, as one that is not there. */
bool arch_smp_add_cpu(int id)
{
	static int added;

	if (added == acpi.nr_disabled)
		return false;
	add_cpu(id, acpi.disabled_apic_ids[added++]);
	return true;
}

/* The highest whole page of usable memory below 640 KiB: SIPI's vector is its page number. */
u64 low_page(void)
{
	u64 found = 0;

	for (u32 i = 0; i < boot_info.nr_ranges; i++) {
		u64 end = ALIGN_DOWN(MIN(boot_info.ranges[i].end, (u64)LOW_END), PAGE_SIZE);

		if (end >= 2 * PAGE_SIZE && end - PAGE_SIZE >= boot_info.ranges[i].start &&
		    end - PAGE_SIZE > found)
			found = end - PAGE_SIZE;
	}
	return found;
}

static bool send_sipi(struct cpu *cpu, u64 page, u64 wait_ns)
{
	apic_icr_write(cpu->apic_id, APIC_ICR_STARTUP | APIC_ICR_ASSERT | page / PAGE_SIZE);
	return spin_until(__atomic_load_n(&cpu->started, __ATOMIC_ACQUIRE), wait_ns);
}

bool arch_smp_start_cpu(int id)
{
	static u8 saved[PAGE_SIZE];
	size_t size = trampoline_end - trampoline;
	struct cpu *cpu = cpu_of(id);
	u64 page = low_page();
	bool started;

	assert(cpu && size <= PAGE_SIZE);
	if (!page)
		panic("no usable page below 640 KiB in the loader's memory map: CPU %d (APIC id "
		      "%u) "
		      "cannot be started",
		      id, cpu->apic_id);
	cpu->stack = (uintptr_t)alloc_aligned(CPU_STACK_SIZE, 4096);
	cpu->stack_top = cpu->stack + CPU_STACK_SIZE;
	descriptors_init(cpu);
	/* The page is usable, but firmware may have left tables there: put back as it was. */
	memcpy(saved, (void *)page, size);
	memcpy((void *)page, trampoline, size);
	__atomic_store_n(&secondary_cpu, cpu, __ATOMIC_RELEASE);
	apic_icr_write(cpu->apic_id, APIC_ICR_INIT | APIC_ICR_ASSERT | APIC_ICR_LEVEL);
	if (!apic_is_x2apic())
		apic_icr_write(cpu->apic_id, APIC_ICR_INIT | APIC_ICR_LEVEL);
	started = send_sipi(cpu, page, FIRST_SIPI_NS) || send_sipi(cpu, page, SECOND_SIPI_NS);
	if (started)
		memcpy((void *)page, saved, size);
	else
		__atomic_store_n(&secondary_cpu, NULL, __ATOMIC_RELEASE);
	return started;
}

void x86_start_secondary(struct cpu *cpu)
{
	wrmsr(MSR_IA32_GS_BASE, (u64)cpu);
	descriptors_load(cpu);
	apic_init();
	__atomic_store_n(&cpu->started, 1, __ATOMIC_RELEASE);
	smp_secondary_loop(cpu->id);
}

void arch_smp_kick(int id)
{
	apic_send_ipi(id, VECTOR_KICK);
}

/*
 * The kick that comes after the look at *work finds the CPU in HLT, since it was not taken before
 * STI; so none is lost.
 */
void arch_smp_idle(const u32 *work)
{
	irq_disable();
	if (!__atomic_load_n(work, __ATOMIC_ACQUIRE))
		irq_enable_and_halt();
	irq_disable();
}

bool arch_is_stack(uintptr_t address)
{
	for (int i = 0; i < MAX_CPUS; i++) {
		struct cpu *cpu = cpus[i];
		uintptr_t ist = (uintptr_t)cpu + offsetof(struct cpu, ist_stacks);

		if (!cpu)
			continue;
		if (address >= cpu->stack && address < cpu->stack_top)
			return true;
		if (address >= ist && address < ist + sizeof(cpu->ist_stacks))
			return true;
	}
	return false;
}

/* Linked and run at the same address. */
uintptr_t arch_load_offset(void)
{
	return 0;
}

const char *arch_name(void)
{
	return "x86_64";
}

/*
 * All CPUs halt for good. There is no power-off without AML that every machine understands, and
 * the runner ends the machine once it has seen the last line; only our own VMM says how by itself.
 */
void arch_stop(void)
{
	irq_disable();
	WRITE_ONCE(stopping, true);
	if (apic_ready)
		apic_icr_write(0, APIC_ICR_NMI | APIC_ICR_ASSERT | APIC_ICR_TO_OTHERS);
	vmm_power_off();
	for (;;)
		cpu_halt();
}
