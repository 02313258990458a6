/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every CPU has for itself. TPIDR_EL1 points to it, at EL2 TPIDR_EL2 (E2H does not redirect
 * the one to the other, and EL1's is a guest's once there is one).
 */
#ifndef ARCH_PERCPU_H
#define ARCH_PERCPU_H

#include "types.h"
#include <arch/el.h>
#include <arch/exception.h>

/* An exception_try() that is under way. */
struct exception_try_state {
	u64 sp;
	u64 pstate; /* DAIF, and M: the level and stack pointer to come back to */
	struct exception *caught;
};

struct el2host;

struct percpu {
	int id;
	u64 mpidr; /* affinity fields only */
	uintptr_t stack;
	uintptr_t stack_end;
	struct exception_try_state *try;
	const struct el2host *el2host; /* what is at EL2 while this CPU is at EL1, or NULL */
	u64 spurious_irqs;
	bool in_panic;
	uintptr_t gic_redistributor; /* GICv3: RD_base */
	u32 gic_target;		     /* GICv2: this CPU's bit in GICD_ITARGETSR */
} __attribute__((aligned(64)));

static inline struct percpu *this_cpu(void)
{
	u64 pointer;

	if (current_el() == 2)
		__asm__ volatile("mrs %0, tpidr_el2" : "=r"(pointer));
	else
		__asm__ volatile("mrs %0, tpidr_el1" : "=r"(pointer));
	return (struct percpu *)pointer;
}

/* Of CPU id, 0 to MAX_CPUS - 1. */
struct percpu *percpu_of(int id);

#endif
