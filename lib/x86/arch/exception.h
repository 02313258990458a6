/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions. One that nobody waits for ends the image with a report of all registers. A test
 * waits for one in two ways:
 *
 *	if (rdmsr_safe(MSR_IA32_TSC_ADJUST, &value) == VECTOR_GP)	one instruction (arch/msr.h)
 *
 *	vector = exception_catch(function, argument, &exception);	whatever the function does
 *
 * and a third, exception_set_handler(), for what it wants to handle itself.
 */
#ifndef ARCH_EXCEPTION_H
#define ARCH_EXCEPTION_H

#include "types.h"
#include <arch/percpu.h>

#define NO_EXCEPTION (-1)

/* SDM vol. 3, table 6-1. */
#define VECTOR_DE  0
#define VECTOR_DB  1
#define VECTOR_NMI 2
#define VECTOR_BP  3
#define VECTOR_OF  4
#define VECTOR_BR  5
#define VECTOR_UD  6
#define VECTOR_NM  7
#define VECTOR_DF  8
#define VECTOR_TS  10
#define VECTOR_NP  11
#define VECTOR_SS  12
#define VECTOR_GP  13
#define VECTOR_PF  14
#define VECTOR_MF  16
#define VECTOR_AC  17
#define VECTOR_MC  18
#define VECTOR_XM  19
#define VECTOR_VE  20
#define VECTOR_CP  21

#define NR_EXCEPTION_VECTORS 32

/* As vectors.S leaves it on the stack. */
struct exception_frame {
	u64 r15, r14, r13, r12, r11, r10, r9, r8;
	u64 rdi, rsi, rbp, rbx, rdx, rcx, rax;
	u64 vector, error_code;
	u64 rip, cs, rflags, rsp, ss;
};

/* "#GP general protection"; "interrupt" above 31. */
const char *exception_name(int vector);

/*
 * Calls fn(arg) and returns the vector of the exception that ended it, or NO_EXCEPTION. Only
 * registers and the interrupt flag are put back: what fn did to memory and to control registers
 * stays. NMI, double fault and machine check are not caught. May be nested. e may be NULL.
 */
int exception_catch(void (*fn)(void *arg), void *arg, struct exception *e);

/* fn returns true when it has handled it; NULL takes the handler away. Vectors 0 to 31. */
void exception_set_handler(int vector, bool (*fn)(struct exception_frame *frame));

/*
 * For inline assembly: one instruction behind which execution goes on if it faults. Between
 * exception_clear() and exception_taken() the fault is noted for this CPU. A trap (#BP, #OF) is
 * found by the address behind it.
 */
#define EXCEPTION_FIXUP(instruction)              \
	"771: " instruction "\n"                  \
	"772:\n"                                  \
	".pushsection .exception_fixups, \"a\"\n" \
	".quad 771b, 772b\n"                      \
	".popsection\n"

static inline void exception_clear(void)
{
	this_cpu()->exception.vector = NO_EXCEPTION;
	__asm__ volatile("" ::: "memory");
}

/* The vector, or NO_EXCEPTION. */
static inline int exception_taken(void)
{
	__asm__ volatile("" ::: "memory");
	return this_cpu()->exception.vector;
}

/* ASM_SAFE("ud2"): the vector that the instruction raised. For more than that write a function. */
#define ASM_SAFE(instruction)                                               \
	({                                                                  \
		exception_clear();                                          \
		__asm__ volatile(EXCEPTION_FIXUP(instruction)::: "memory"); \
		exception_taken();                                          \
	})

#endif
