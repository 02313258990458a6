/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a benchmark (bench.h): the operation, SUB, JAE. Where an operation is one instruction,
 * each turn takes three: under icount its figure is 3.
 */
#ifndef ARCH_BENCH_H
#define ARCH_BENCH_H

#include "types.h"

/*
 * Defines void function(u64 n), which executes the instructions n times, or not at all. They may use
 * RAX, RBX, RCX and RDX, and find in RSI what value was at the start: an operand.
 */
#define BENCH_LOOP_WITH(function, instructions, value)                          \
	static void function(u64 n)                                             \
	{                                                                       \
		u64 rsi = (value);                                              \
                                                                                \
		__asm__ volatile("subq $1, %0\n\t"                              \
				 "jb 2f\n"                                      \
				 "1:\n\t" instructions "\n\t"                   \
				 "subq $1, %0\n\t"                              \
				 "jae 1b\n"                                     \
				 "2:"                                           \
				 : "+D"(n), "+S"(rsi)                           \
				 :                                              \
				 : "rax", "rbx", "rcx", "rdx", "cc", "memory"); \
	}

#define BENCH_LOOP(function, instructions) BENCH_LOOP_WITH(function, instructions, 0)

/* The instructions of RDMSR and, of RSI, WRMSR. */
#define BENCH_ASM_RDMSR(msr) "movl $" BENCH_STRING(msr) ", %%ecx; rdmsr"
#define BENCH_ASM_WRMSR(msr)                                      \
	"movl $" BENCH_STRING(msr) ", %%ecx; movl %%esi, %%eax; " \
				   "movq %%rsi, %%rdx; shrq $32, %%rdx; wrmsr"

/* RDMSR: with its MOV 4 instructions a turn. WRMSR of value, which is looked up once: 7 a turn. */
#define BENCH_RDMSR(function, msr)	  BENCH_LOOP(function, BENCH_ASM_RDMSR(msr))
#define BENCH_WRMSR(function, msr, value) BENCH_LOOP_WITH(function, BENCH_ASM_WRMSR(msr), value)

#define BENCH_STRING(x)	 BENCH_STRING_(x)
#define BENCH_STRING_(x) #x

#endif
