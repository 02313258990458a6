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

/* PSTATE.DAIF, to be given back to irq_restore(). */
static inline u64 irq_save(void)
{
	u64 daif;

	__asm__ volatile("mrs %0, daif" : "=r"(daif)::"memory");
	irq_disable();
	return daif;
}

static inline void irq_restore(u64 daif)
{
	__asm__ volatile("msr daif, %0" ::"r"(daif) : "memory");
}

static inline void wfi(void)
{
	__asm__ volatile("wfi" ::: "memory");
}

static inline void wfe(void)
{
	__asm__ volatile("wfe" ::: "memory");
}

/* Sets this CPU's event register, so that the next WFE clears it and does not wait. */
static inline void sevl(void)
{
	__asm__ volatile("sevl" ::: "memory");
}

static inline void isb(void)
{
	__asm__ volatile("isb" ::: "memory");
}

/* Data barriers: "sy" the whole system, "ish" all CPUs; st orders only stores. */
static inline void dsb_sy(void)
{
	__asm__ volatile("dsb sy" ::: "memory");
}

static inline void dsb_ishst(void)
{
	__asm__ volatile("dsb ishst" ::: "memory");
}

#endif
