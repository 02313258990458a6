/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions: what a handler sees, and three ways to survive one.
 *
 *   sysreg_read_safe() and friends    one instruction, by the table that FIXUP() fills;
 *   exception_try(fn, arg, &caught)   a whole function: it is left where the exception was raised;
 *   irq_set_handler() in arch/gic.h   interrupts.
 *
 * Any other exception is the image's end: a report with registers and backtrace.
 */
#ifndef ARCH_EXCEPTION_H
#define ARCH_EXCEPTION_H

#include "types.h"

/* As vectors.S saves it; a handler may change x, pc and pstate. */
struct exception_frame {
	u64 x[31];
	u64 sp;
	u64 pc;	    /* ELR */
	u64 pstate; /* SPSR */
	u64 esr;
	u64 far;
	u64 vector; /* 0 to 15, the order of the Arm ARM's vector table */
	u64 reserved;
};

/* What was raised. */
struct exception {
	u64 esr;
	u64 far; /* only for aborts and alignment faults */
	u64 pc;
};

/* ESR_ELx.EC (Arm ARM, ESR_EL1). */
enum exception_class {
	EC_UNKNOWN = 0x00, /* UNDEFINED instructions and registers */
	EC_WFX = 0x01,
	EC_FP_ACCESS = 0x07,
	EC_ILLEGAL_STATE = 0x0e,
	EC_SVC64 = 0x15,
	EC_HVC64 = 0x16,
	EC_SMC64 = 0x17,
	EC_SYSREG = 0x18,
	EC_INSTRUCTION_ABORT_LOWER = 0x20,
	EC_INSTRUCTION_ABORT = 0x21,
	EC_PC_ALIGNMENT = 0x22,
	EC_DATA_ABORT_LOWER = 0x24,
	EC_DATA_ABORT = 0x25,
	EC_SP_ALIGNMENT = 0x26,
	EC_SERROR = 0x2f,
	EC_BRK64 = 0x3c,
};

#define ESR_EC(esr)  ((unsigned int)((esr) >> 26) & 0x3f)
#define ESR_ISS(esr) ((unsigned int)((esr)&0x1ffffff))

/* The manual's short name of an exception class. */
const char *exception_class_name(unsigned int ec);

/*
 * Calls fn(arg). false when it returned; true when it raised a synchronous exception, which is
 * then in *caught: fn is left there, with its local work undone by nobody, and interrupts masked
 * as they were before the call. May be nested; what an interrupt handler raises is not caught.
 */
bool exception_try(void (*fn)(void *arg), void *arg, struct exception *caught);

/* true and *value, or false where the load raises an exception. */
bool mem_read32_safe(uintptr_t address, u32 *value);

/* In asm: an exception at label "from" goes on at label "to" of the same function. */
#define FIXUP(from, to)                      \
	".pushsection .fixups, \"a\"\n"      \
	".balign 4\n"                        \
	".long " #from " - ., " #to " - .\n" \
	".popsection\n"

#endif
