/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PSCI (Arm DEN 0022): firmware calls for CPUs and power, by HVC or SMC as the devicetree says.
 */
#ifndef ARCH_PSCI_H
#define ARCH_PSCI_H

#include "types.h"

enum psci_method {
	PSCI_NONE,
	PSCI_HVC,
	PSCI_SMC,
};

/* Function ids of PSCI 0.2 and later; those of 0.1 are properties of its devicetree node. */
#define PSCI_VERSION	   0x84000000
#define PSCI_CPU_OFF	   0x84000002
#define PSCI_CPU_ON	   0xc4000003
#define PSCI_AFFINITY_INFO 0xc4000004
#define PSCI_SYSTEM_OFF	   0x84000008
#define PSCI_SYSTEM_RESET  0x84000009
#define PSCI_FEATURES	   0x8400000a

/* What PSCI_AFFINITY_INFO answers. */
#define PSCI_AFFINITY_ON  0
#define PSCI_AFFINITY_OFF 1

#define PSCI_SUCCESS	   0
#define PSCI_NOT_SUPPORTED -1

/* One call; PSCI_NOT_SUPPORTED where there is no PSCI that can be called from this level. */
s64 psci_call(u32 function, u64 arg1, u64 arg2, u64 arg3);

/* Major version in bits 31:16, minor in 15:0; 0 where there is none. */
u32 psci_version(void);

/* Starts the CPU with these affinity fields at entry (physical) with x0 = context; PSCI error. */
s64 psci_cpu_on(u64 mpidr, uintptr_t entry, u64 context);

/* Turns the calling CPU off, with interrupts masked; returns only an error. */
s64 psci_cpu_off(void);

/* Whether that CPU is on: PSCI_AFFINITY_ON, _OFF, or 2 while it is coming up; PSCI error. */
s64 psci_affinity_info(u64 mpidr);

/* The name of a PSCI error: "ALREADY_ON". */
const char *psci_error(s64 error);

#endif
