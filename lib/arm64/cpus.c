// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The CPUs: each one's own data, starting them by PSCI CPU_ON, waking them by SGI. The portable
 * side is lib/smp.c.
 */
#include "alloc.h"
#include "panic.h"
#include "smp.h"
#include "stdio.h"
#include "startup.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/gic.h>
#include <arch/percpu.h>
#include <arch/psci.h>
#include <arch/sysreg.h>

static struct percpu percpus[MAX_CPUS];

struct percpu *percpu_of(int id)
{
	return &percpus[id];
}

static void set_this_cpu(struct percpu *cpu)
{
	if (current_el() == 2)
		write_sysreg(cpu, tpidr_el2);
	else
		write_sysreg(cpu, tpidr_el1);
}

void percpu_init_boot(void)
{
	struct percpu *cpu = &percpus[0];

	cpu->mpidr = mpidr_el1() & MPIDR_AFFINITY_MASK;
	cpu->stack = (uintptr_t)boot_exception_guard;
	cpu->stack_end = (uintptr_t)boot_stack_end;
	set_this_cpu(cpu);
}

int smp_id(void)
{
	return this_cpu()->id;
}

int arch_smp_probe(void)
{
	return machine()->nr_cpus;
}

/* To memory, for a reader whose caches are off. */
static void clean_to_memory(const void *start, size_t size)
{
	size_t line = 4UL << (read_sysreg(ctr_el0) >> 16 & 0xf); /* DminLine, in words */
	uintptr_t end = (uintptr_t)start + size;

	for (uintptr_t at = ALIGN_DOWN((uintptr_t)start, line); at < end; at += line)
		__asm__ volatile("dc cvac, %0" ::"r"(at) : "memory");
	dsb_sy();
}

bool arch_smp_start_cpu(int id)
{
	struct percpu *cpu = &percpus[id];
	struct secondary_start *start = alloc(sizeof(*start));
	s64 err;

	cpu->id = id;
	cpu->mpidr = machine()->cpu_mpidr[id];
	/* One piece: the lower part is for exceptions. */
	cpu->stack = (uintptr_t)alloc_aligned(EXCEPTION_STACK_SIZE + STACK_SIZE, 16);
	cpu->stack_end = cpu->stack + EXCEPTION_STACK_SIZE + STACK_SIZE;
	*start = (struct secondary_start){
		.mmu = *mmu_registers(),
		.stack_end = cpu->stack_end,
		.exception_stack_end = cpu->stack + EXCEPTION_STACK_SIZE,
		.el = current_el(),
		.percpu = (uintptr_t)cpu,
	};
	clean_to_memory(start, sizeof(*start));
	err = psci_cpu_on(cpu->mpidr, (uintptr_t)secondary_entry, (uintptr_t)start);
	if (err)
		printf("# PSCI CPU_ON of MPIDR %#lx: %s\n", cpu->mpidr, psci_error(err));
	return err == PSCI_SUCCESS;
}

void secondary_start_c(uintptr_t percpu)
{
	struct percpu *cpu = (struct percpu *)percpu;

	set_this_cpu(cpu);
	exception_init_cpu();
	gic_init_cpu();
	smp_secondary_loop(cpu->id);
}

void arch_smp_kick(int cpu)
{
	gic_send_sgi(cpu, GIC_SGI_KICK);
}

/*
 * WFI ends on a pending interrupt whether or not it is masked: with interrupts masked from the
 * look at *work on, a kick that comes in between is still pending when WFI begins.
 */
void arch_smp_idle(const u32 *work)
{
	u64 daif = irq_save();

	if (!READ_ONCE(*work)) {
		dsb_sy();
		wfi();
	}
	irq_enable();
	isb(); /* here it is taken */
	irq_restore(daif);
}
