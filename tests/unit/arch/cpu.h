/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libcflat wants of an architecture, for the unit tests: interrupts are a flag of the thread,
 * and what a CPU does while it waits is the test's to choose.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "../../../lib/types.h"

/* support_cpu.c */
extern void (*unit_relax)(void);
extern __thread bool unit_irqs_on;

static inline void cpu_relax(void)
{
	if (unit_relax)
		unit_relax();
}

static inline void irq_enable(void)
{
	unit_irqs_on = true;
}

static inline void irq_disable(void)
{
	unit_irqs_on = false;
}

static inline bool irq_save(void)
{
	bool on = unit_irqs_on;

	unit_irqs_on = false;
	return on;
}

static inline void irq_restore(bool on)
{
	unit_irqs_on = on;
}

#endif
