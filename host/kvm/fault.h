/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults on purpose: what a machine can be told by --fault to do wrong, so that it shows whether the
 * suite would notice. Each is a row of one table with the check that has to fail; what it does is in
 * fault_*.c, called at the seams of fault_hooks.h. The runner knows the table too.
 */
#ifndef KVM_FAULT_H
#define KVM_FAULT_H

#include <stdio.h>
#include "arch.h"
#include "types.h"
#include "util/error.h"

/* The architecture whose machines this VMM runs. */
#if defined(__x86_64__)
#define VMM_ARCH ARCH_X86_64
#else
#define VMM_ARCH ARCH_ARM64
#endif

enum fault_id {
	/* Both architectures: fault.c */
	FAULT_PAUSED,
	FAULT_EXIT_SLOW,

	/* x86_64, an MSR answered wrongly: x86/fault_msr.c */
	FAULT_DEADLINE_EARLY,
	FAULT_DEADLINE_LATE,
	FAULT_DEADLINE_LOST,
	FAULT_DEADLINE_LOST_NEAR,
	FAULT_DEADLINE_DOUBLED,
	FAULT_DEADLINE_HELD,
	FAULT_DEADLINE_OTHER_VALUE,
	FAULT_DEADLINE_KEPT,
	FAULT_DEADLINE_ZERO_IGNORED,
	FAULT_DEADLINE_BY_HOST_TSC,
	FAULT_TSC_WRITE_IGNORED,
	FAULT_TSC_WRITE_KEEPS_ADJUST,
	FAULT_TSC_ADJUST_MOVES_NOTHING,
	FAULT_TSC_ADJUST_OF_VCPU1,
	FAULT_TSC_MSR_AHEAD,

	/* x86_64, kvmclock's page: x86/fault_pvclock.c */
	FAULT_KVMCLOCK_EMPTY,
	FAULT_KVMCLOCK_ODD,
	FAULT_KVMCLOCK_RATE,
	FAULT_KVMCLOCK_STABLE_LIE,
	FAULT_KVMCLOCK_STALE,

	/* x86_64, CPUID: x86/fault_cpuid.c */
	FAULT_CPUID_TSC_KHZ,
	FAULT_CPUID_VCPU1_NO_DEADLINE,
	FAULT_CPUID_VCPU1_INVARIANT,

	/* x86_64, while the guest runs: x86/fault_run.c */
	FAULT_TSC_JUMP,
	FAULT_TSC_SKEW,
	FAULT_TSC_RATE,
	FAULT_LAPIC_STORM,

	/* arm64, the devicetree: arm64/fault_devicetree.c */
	FAULT_DT_TIMER_PPI,
	FAULT_DT_CLOCK_FREQUENCY,
	FAULT_DT_PMU_PPI,

	/* arm64, while the guest runs: arm64/fault_run.c */
	FAULT_CNTVCT_JUMP,
	FAULT_COUNTERS_JUMP,
	FAULT_CNTVCT_RATE,
	FAULT_COUNTERS_RATE,
	FAULT_PMCCNTR_JUMP,

	/* At save, restore, pause and reset, x86_64: x86/fault_state.c */
	FAULT_RESTORE_NO_DEADLINE,
	FAULT_RESTORE_NO_APIC_COUNT,
	FAULT_RESTORE_NO_IRR,
	FAULT_RESTORE_NO_TSC,
	FAULT_RESTORE_NO_KVMCLOCK,
	FAULT_RESTORE_OTHER_TSC_ADJUST,
	FAULT_RESTORE_OTHER_CPUID,
	FAULT_RESTORE_DEADLINE_BEFORE_LAPIC,
	FAULT_RESTORE_DEADLINE_BEFORE_TSC,
	FAULT_RESTORE_KVMCLOCK_LATE,
	FAULT_RESTORE_TSC_SKEW,
	FAULT_RESTORE_TSC_STALE,
	FAULT_RESTORE_TWICE_NO_DEADLINE,
	FAULT_RESTORE_YOUNG_NO_TSC,
	FAULT_PAUSE_HIDDEN_X86,
	FAULT_RESET_KEEPS_TSC,
	FAULT_RESET_KEEPS_TSC_ADJUST,
	FAULT_RESET_KEEPS_LAPIC,

	/* The same, arm64: arm64/fault_state.c */
	FAULT_RESTORE_NO_VTIMER,
	FAULT_RESTORE_NO_PTIMER,
	FAULT_RESTORE_TIMER_EARLY,
	FAULT_RESTORE_TIMER_LATE,
	FAULT_RESTORE_NO_CNTKCTL,
	FAULT_RESTORE_NO_PMU,
	FAULT_RESTORE_NO_PMCCNTR,
	FAULT_RESTORE_NO_COUNTERS,
	FAULT_RESTORE_SKEW,
	FAULT_RESTORE_COUNTERS_LATE,
	FAULT_RESTORE_COUNTERS_STALE,
	FAULT_RESTORE_TWICE_NO_VTIMER,
	FAULT_RESTORE_YOUNG_NO_COUNTERS,
	FAULT_PAUSE_HIDDEN_ARM,
	FAULT_RESET_TIMER_ON,
	FAULT_RESET_PMU_ON,

	FAULT_COUNT
};

/* How it is brought about; detection.md explains the letters. */
enum fault_mechanism {
	FAULT_BY_STATE,	      /* a: state set by the VMM while the vCPUs stand still */
	FAULT_BY_MSR,	      /* b: KVM_X86_SET_MSR_FILTER, and the VMM answers */
	FAULT_BY_DESCRIPTION, /* c: devicetree, CPUID, a page that the VMM writes */
};

struct fault {
	const char *name;
	unsigned int archs; /* bit set of enum arch */
	enum fault_mechanism mechanism;
	const char *guards; /* ids of the catalogue, with a blank between them; "" for none */
	const char *check;  /* TEST.CHECK that has to fail; NULL: none may */
	const char *unit;   /* of its argument; NULL: it has none */
	s64 standard;	    /* the argument where none is given */
	const char *what;
};

/* In the order of enum fault_id. */
extern const struct fault faults[FAULT_COUNT];

/* Those that a machine is to have. */
struct fault_set {
	bool restoring; /* the machine is one that is restored */
	bool on[FAULT_COUNT];
	s64 arg[FAULT_COUNT];
};

/*
 * "NAME" or "NAME=NUMBER" into the set, which may be NULL where it is only to be checked. -1 with err
 * where there is no such fault for this architecture.
 */
int fault_set_add(struct fault_set *set, enum arch arch, const char *request, struct error *err);

/*
 * One line a fault, its columns with blanks between them and "-" for nothing: name, architectures,
 * mechanism, argument (NUMBER:UNIT, the standard one), check, ids with commas; the rest is what it does.
 */
void fault_list(FILE *out);

#endif
