/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that portable code needs: the x86_64 side.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "types.h"

/* In every spin loop: under icount only PAUSE hands the CPU over. */
static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
}

#endif
