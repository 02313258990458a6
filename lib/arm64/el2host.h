/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image as its own hypervisor. An image that runs at EL2 (argument el=2, CPU with VHE) goes on
 * at EL1 by el2host_enter(), on the same stack and in the same translation; EL2 stays behind it and
 * answers what it traps. Nothing traps but what struct el2host asks for.
 *
 * Exceptions to EL2 save all general-purpose registers on a stack of EL2's own (vectors.S). Accesses
 * to system registers go to the table's handler for the register, and the instruction is skipped. A
 * trap that nobody handles ends the image with its syndrome.
 */
#ifndef EL2HOST_H
#define EL2HOST_H

#include "types.h"
#include <arch/sysreg.h>

/* A trapped MSR or MRS. At EL2 EL1's own registers have names of their own: SCTLR_EL12. */
struct el2_access {
	u32 sysreg; /* SYSREG_ID() */
	bool is_write;
	u64 value; /* written; or, to be filled in, what is read */
};

/* One register, by its encoding as in the manual: SYSREG_ID(3, 0, 1, 0, 0) is SCTLR_EL1. */
#define SYSREG_ID(op0, op1, crn, crm, op2) \
	((u32)(op0) << 20 | (op2) << 17 | (op1) << 14 | (crn) << 10 | (crm) << 1)

struct el2_register {
	u32 sysreg;
	void (*access)(struct el2_access *access); /* at EL2, with all interrupts masked */
};

struct el2host {
	u64 hcr; /* bits of HCR_EL2 beside RW and E2H: what traps */
	/* At EL2, on each CPU before it enters: other registers, such as CNTHCTL_EL2. Or NULL. */
	void (*setup)(void);
	const struct el2_register *registers;
	size_t nr_registers;
};

/* From EL2 to EL1 for good, on this CPU. Not from an interrupt handler; host stays in use. */
void el2host_enter(const struct el2host *host);

/* Whether this CPU runs at EL1 under an el2host. */
bool el2host_active(void);

/*
 * From EL1 under an el2host: fn(arg) at EL2, on its exception stack, with all interrupts masked.
 * Returns what it returned.
 */
u64 el2host_call(u64 (*fn)(u64 arg), u64 arg);

/* In el2host_call(): other bits in place of the struct's hcr. */
void el2host_set_hcr(u64 bits);
#define HCR_TVM BIT(26) /* EL1's writes of the translation registers (SCTLR_EL1, ...) trap */

/* EL1's registers from EL2 with E2H set (Arm ARM D8.8): not known to assemblers as of Armv8.0. */
#define SCTLR_EL12 S3_5_C1_C0_0

/*
 * For exception.c: a synchronous exception from EL1 or EL0 to EL2. false where it is none of ours.
 */
bool el2host_handle(struct exception_frame *frame);

#endif
