/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions that portable code needs, and the control registers: the x86_64 side.
 */
#ifndef ARCH_CPU_H
#define ARCH_CPU_H

#include "types.h"

#define RFLAGS_FIXED BIT(1) /* always set */
#define RFLAGS_TF    BIT(8)
#define RFLAGS_IF    BIT(9)

#define CR4_TSD BIT(2)

/* In every spin loop: under icount only PAUSE hands the CPU over. */
static inline void cpu_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

static inline u64 read_rflags(void)
{
	u64 rflags;

	__asm__ volatile("pushfq; popq %0" : "=r"(rflags)::"memory");
	return rflags;
}

static inline void irq_enable(void)
{
	__asm__ volatile("sti" ::: "memory");
}

static inline void irq_disable(void)
{
	__asm__ volatile("cli" ::: "memory");
}

static inline bool irq_enabled(void)
{
	return read_rflags() & RFLAGS_IF;
}

/* Disables interrupts; the result goes to irq_restore(). */
static inline u64 irq_save(void)
{
	u64 rflags = read_rflags();

	irq_disable();
	return rflags;
}

/* To what irq_save() found, whatever was done since. */
static inline void irq_restore(u64 rflags)
{
	if (rflags & RFLAGS_IF)
		irq_enable();
	else
		irq_disable();
}

/* Sleeps until an interrupt; with interrupts disabled until an NMI. */
static inline void cpu_halt(void)
{
	__asm__ volatile("hlt" ::: "memory");
}

/*
 * Sleeps with interrupts enabled and leaves them so. No interrupt is taken between the two: STI
 * takes effect only after the next instruction (SDM vol. 2, STI).
 */
static inline void irq_enable_and_halt(void)
{
	__asm__ volatile("sti; hlt" ::: "memory");
}

/* Waits until all instructions before it have completed (SDM vol. 2, LFENCE). */
static inline void lfence(void)
{
	__asm__ volatile("lfence" ::: "memory");
}

/* Orders all stores before it against all memory accesses behind it (SDM vol. 2, MFENCE). */
static inline void mfence(void)
{
	__asm__ volatile("mfence" ::: "memory");
}

/* Everything before it is done before it ends (SDM vol. 3, 8.3); exits from a guest. */
static inline void cpu_serialize(void)
{
	u32 leaf = 0;

	__asm__ volatile("cpuid" : "+a"(leaf)::"rbx", "rcx", "rdx", "memory");
}

static inline u64 read_cr0(void)
{
	u64 value;

	__asm__ volatile("movq %%cr0, %0" : "=r"(value));
	return value;
}

static inline u64 read_cr2(void)
{
	u64 value;

	__asm__ volatile("movq %%cr2, %0" : "=r"(value));
	return value;
}

static inline u64 read_cr3(void)
{
	u64 value;

	__asm__ volatile("movq %%cr3, %0" : "=r"(value));
	return value;
}

static inline void write_cr3(u64 value)
{
	__asm__ volatile("movq %0, %%cr3" ::"r"(value) : "memory");
}

static inline u64 read_cr4(void)
{
	u64 value;

	__asm__ volatile("movq %%cr4, %0" : "=r"(value));
	return value;
}

static inline void write_cr4(u64 value)
{
	__asm__ volatile("movq %0, %%cr4" ::"r"(value) : "memory");
}

static inline void invlpg(uintptr_t address)
{
	__asm__ volatile("invlpg (%0)" ::"r"(address) : "memory");
}

#endif
