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
static struct secondary_start *starts[MAX_CPUS]; /* NULL: never started */

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

static struct secondary_start *prepare_cpu(int id)
{
	struct percpu *cpu = &percpus[id];

	if (starts[id])
		return starts[id];
	starts[id] = alloc(sizeof(*starts[id]));
	cpu->id = id;
	cpu->mpidr = machine()->cpu_mpidr[id];
	/* One piece: the lower part is for exceptions. */
	cpu->stack = (uintptr_t)alloc_aligned(EXCEPTION_STACK_SIZE + STACK_SIZE, 16);
	cpu->stack_end = cpu->stack + EXCEPTION_STACK_SIZE + STACK_SIZE;
	*starts[id] = (struct secondary_start){
		.mmu = *mmu_registers(),
		.stack_end = cpu->stack_end,
		.exception_stack_end = cpu->stack + EXCEPTION_STACK_SIZE,
		.el = current_el(),
		.percpu = (uintptr_t)cpu,
	};
	clean_to_memory(starts[id], sizeof(*starts[id]));
	return starts[id];
}

bool arch_smp_start_cpu(int id)
{
	struct percpu *cpu = &percpus[id];
	struct secondary_start *start = prepare_cpu(id);
	s64 err;

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

/* DEN 0022, CPU_OFF: the next start is as the first one was. */
void arch_smp_stop_self(void)
{
	u64 daif = irq_save();
	s64 err = psci_cpu_off();

	irq_restore(daif);
	printf("# PSCI CPU_OFF on CPU %d: %s\n", smp_id(), psci_error(err));
}

bool arch_smp_has_stopped(int cpu)
{
	return psci_affinity_info(percpus[cpu].mpidr) == PSCI_AFFINITY_OFF;
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
