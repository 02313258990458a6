/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What each CPU has for itself, reached through the GS base.
 */
#ifndef ARCH_PERCPU_H
#define ARCH_PERCPU_H

#include "types.h"

#define CPU_NMI_STACK_SIZE 4096
#define CPU_STACK_SIZE	   16384

struct exception {
	int vector; /* NO_EXCEPTION, or 0 to 255 */
	u64 error_code;
	u64 cr2; /* of a page fault; else as it was */
	u64 rip;
};

struct exception_catch;

/* 64-bit TSS: SDM vol. 3, 8.7. */
struct tss {
	u32 reserved0;
	u64 rsp[3];
	u64 reserved1;
	u64 ist[7];
	u64 reserved2;
	u16 reserved3;
	u16 iomap_base;
} __attribute__((packed));

struct cpu {
	struct cpu *self; /* %gs:0 */
	u32 id;
	u32 apic_id;
	uintptr_t stack;     /* lowest address */
	uintptr_t stack_top; /* secondary_entry64 in start.S loads it */
	u32 started;
	/* Written by exception_dispatch() for the fix-up and catch of arch/exception.h. */
	struct exception exception;
	struct exception_catch *catch;
	/* Whole stacks for NMI, double fault, machine check: whatever RSP was, they can report. */
	struct tss tss __attribute__((aligned(16)));
	u8 ist_stacks[3][CPU_NMI_STACK_SIZE] __attribute__((aligned(16)));
};

static inline struct cpu *this_cpu(void)
{
	struct cpu *cpu;

	__asm__ volatile("movq %%gs:0, %0" : "=r"(cpu));
	return cpu;
}

/* The structure of CPU id; NULL where it never started. */
struct cpu *cpu_of(int id);

#endif
