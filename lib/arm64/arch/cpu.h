/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that portable code needs: the arm64 side.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "types.h"

/* In every spin loop: under icount only YIELD hands the CPU over. */
static inline void cpu_relax(void)
{
	__asm__ volatile("yield" ::: "memory");
}

static inline void irq_enable(void)
{
	__asm__ volatile("msr daifclr, #2" ::: "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("msr daifset, #2" ::: "memory");
}

#endif
