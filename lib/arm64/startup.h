/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the start-up code's assembly and C parts share with one another, and with nobody else.
 */
#ifndef ARM64_STARTUP_H
#define ARM64_STARTUP_H

/* A CPU's two stacks: for exceptions, and for the rest. */
#define EXCEPTION_STACK_SIZE 8192
#define STACK_SIZE	     16384

/* struct secondary_start */
#define SECONDARY_MMU		  0
#define SECONDARY_STACK		  32
#define SECONDARY_EXCEPTION_STACK 40
#define SECONDARY_EL		  48
#define SECONDARY_PERCPU	  56

/* struct exception_frame */
#define FRAME_SP     248
#define FRAME_PC     256
#define FRAME_PSTATE 264
#define FRAME_ESR    272
#define FRAME_FAR    280
#define FRAME_VECTOR 288
#define FRAME_SIZE   304

/* SCTLR_EL1 (and SCTLR_EL2 with E2H) with everything off: the bits that are RES1 in Armv8.0. */
#define SCTLR_RES1 0x30d00800

/* PSTATE for EL1 on SP_EL0, with D, A, I and F masked. */
#define PSTATE_EL1T_MASKED 0x3c4

#ifndef __ASSEMBLY__

#include "types.h"

/* The registers that turn translation on, in the order in which mmu_enable loads them. */
struct mmu_registers {
	u64 mair;
	u64 tcr;
	u64 ttbr0;
	u64 sctlr;
};

/*
 * What a CPU needs that comes out of PSCI CPU_ON. It is read with the MMU and caches off, so the
 * CPU that fills it in cleans it to memory.
 */
struct secondary_start {
	struct mmu_registers mmu;
	u64 stack_end;
	u64 exception_stack_end;
	u64 el; /* the exception level at which to go on: 1 or 2 */
	u64 percpu;
};

_Static_assert(offsetof(struct secondary_start, mmu) == SECONDARY_MMU, "start.S");
_Static_assert(offsetof(struct secondary_start, stack_end) == SECONDARY_STACK, "start.S");
_Static_assert(offsetof(struct secondary_start, exception_stack_end) == SECONDARY_EXCEPTION_STACK,
	       "start.S");
_Static_assert(offsetof(struct secondary_start, el) == SECONDARY_EL, "start.S");
_Static_assert(offsetof(struct secondary_start, percpu) == SECONDARY_PERCPU, "start.S");

/* start.S */
extern char _start[], _end[];
extern char boot_exception_guard[], boot_exception_stack_end[];
extern char boot_stack_guard[], boot_stack_end[];
void secondary_entry(void);

/*
 * From EL2 with E2H to EL1, translation and stack staying as they are. hcr: what HCR_EL2 gets beside
 * RW and E2H. What comes to EL2 from then on runs on the stack that ends there, or where it is NULL
 * on the one that EL1 uses for its exceptions, so nothing may come.
 */
void el2_drop(u64 hcr, void *el2_stack_end);

/* vectors.S */
extern char exception_vectors[];

/* Called from start.S: with the MMU off, then with it on. */
const struct mmu_registers *mmu_build(uintptr_t dtb);
const struct mmu_registers *mmu_registers(void);
NORETURN void start_c(uintptr_t dtb, u64 boot_el);
NORETURN void secondary_start_c(uintptr_t percpu);

/* init.c's helpers, one a module */
void exception_init_cpu(void);
void percpu_init_boot(void);
void clock_init(void);
void memory_init(void);

#endif
#endif
