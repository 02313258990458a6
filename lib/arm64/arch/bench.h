/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop of a benchmark (bench.h): the operation, SUBS, B.HS. Where an operation is one
 * instruction, each turn takes three: under icount its figure is 3.
 */
#ifndef ARCH_BENCH_H
#define ARCH_BENCH_H

#include "types.h"
#include <arch/sysreg.h>

/*
 * Defines void function(u64 n), which executes the instructions n times, or not at all. They may use
 * x0 to x3, which an HVC leaves unknown (SMC Calling Convention, Arm DEN 0028), and find in x4 what
 * value was at the start: an operand.
 */
#define BENCH_LOOP_WITH(function, instructions, value)                      \
	static void function(u64 n)                                         \
	{                                                                   \
		register u64 x4 __asm__("x4") = (value);                    \
                                                                            \
		__asm__ volatile("subs %0, %0, #1\n\t"                      \
				 "b.lo 2f\n"                                \
				 "1:\n\t" instructions "\n\t"               \
				 "subs %0, %0, #1\n\t"                      \
				 "b.hs 1b\n"                                \
				 "2:"                                       \
				 : "+r"(n), "+r"(x4)                        \
				 :                                          \
				 : "x0", "x1", "x2", "x3", "cc", "memory"); \
	}

#define BENCH_LOOP(function, instructions) BENCH_LOOP_WITH(function, instructions, 0)

/* A read of a system register; a write of value, which is looked up once. 3 instructions a turn. */
#define BENCH_MRS(function, reg) BENCH_LOOP(function, "mrs x0, " SYSREG_STRING(reg))
#define BENCH_MSR(function, reg, value) \
	BENCH_LOOP_WITH(function, "msr " SYSREG_STRING(reg) ", x4", value)

/*
 * A call by the SMC Calling Convention, instruction "hvc #0" or "smc #0": 4 instructions a turn. Up to
 * version 1.0 of it a call may change x4 to x17 as well as x0 to x3.
 */
#define BENCH_CALL(function, instruction, id)                                                    \
	static void function(u64 n)                                                              \
	{                                                                                        \
		__asm__ volatile("subs %0, %0, #1\n\t"                                           \
				 "b.lo 2f\n"                                                     \
				 "1:\tmov w0, %w1\n\t" instruction "\n\t"                        \
				 "subs %0, %0, #1\n\t"                                           \
				 "b.hs 1b\n"                                                     \
				 "2:"                                                            \
				 : "+r"(n)                                                       \
				 : "r"(id)                                                       \
				 : "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",   \
				   "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "cc", \
				   "memory");                                                    \
	}

#endif
