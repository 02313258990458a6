// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PSCI calls by the SMC calling convention (Arm DEN 0028): function in w0, arguments from x1 on.
 */
#include "types.h"
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/psci.h>

/* Up to version 1.0 of the convention a call may change x4 to x17 as well as x0 to x3. */
#define SMCCC_CALL(instruction, x0, x1, x2, x3)                                                  \
	__asm__ volatile(instruction                                                             \
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3)::"x4", "x5", "x6", "x7", "x8", \
			   "x9", "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory")

s64 psci_call(u32 function, u64 arg1, u64 arg2, u64 arg3)
{
	enum psci_method method = machine()->psci_method;
	/* No function call from here on: it would change the registers. */
	register u64 x0 __asm__("x0") = function;
	register u64 x1 __asm__("x1") = arg1;
	register u64 x2 __asm__("x2") = arg2;
	register u64 x3 __asm__("x3") = arg3;

	if (method == PSCI_SMC)
		SMCCC_CALL("smc #0", x0, x1, x2, x3);
	else if (method == PSCI_HVC && current_el() == 1) /* from EL2 it would come back to us */
		SMCCC_CALL("hvc #0", x0, x1, x2, x3);
	else
		return PSCI_NOT_SUPPORTED;
	return x0;
}

u32 psci_version(void)
{
	s64 version;

	if (machine()->psci_version_min < 2) /* 0.1 has no such call */
		return machine()->psci_version_min;
	version = (s32)psci_call(PSCI_VERSION, 0, 0, 0);
	return version < 0 ? 0 : version;
}

s64 psci_cpu_on(u64 mpidr, uintptr_t entry, u64 context)
{
	return (s32)psci_call(machine()->psci_cpu_on, mpidr, entry, context);
}

/* PSCI 0.1's function ids for these are not looked for. */
s64 psci_cpu_off(void)
{
	if (machine()->psci_version_min < 2)
		return PSCI_NOT_SUPPORTED;
	return (s32)psci_call(PSCI_CPU_OFF, 0, 0, 0);
}

s64 psci_affinity_info(u64 mpidr)
{
	if (machine()->psci_version_min < 2)
		return PSCI_NOT_SUPPORTED;
	return (s32)psci_call(PSCI_AFFINITY_INFO, mpidr, 0, 0);
}

const char *psci_error(s64 error)
{
	/* DEN 0022, "Return error codes" */
	static const char *const names[] = {
		"SUCCESS",    "NOT_SUPPORTED",	 "INVALID_PARAMETERS", "DENIED",
		"ALREADY_ON", "ON_PENDING",	 "INTERNAL_FAILURE",   "NOT_PRESENT",
		"DISABLED",   "INVALID_ADDRESS",
	};

	if (error > 0 || -error >= (s64)ARRAY_SIZE(names))
		return "unknown PSCI error";
	return names[-error];
}
