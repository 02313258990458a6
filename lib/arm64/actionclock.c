// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters of the generic timer for tests of host actions (Arm ARM D12.1), and what ID registers
 * and CNTFRQ_EL0 say about time.
 */
#include "actionclock.h"
#include "clock.h"
#include "smp.h"
#include <arch/pmu.h>
#include <arch/sysreg.h>
#include <arch/timer.h>

static bool always(const char **why)
{
	return true;
}

static const struct action_clock cntvct = {
	.name = "cntvct",
	.policy = "counter",
	.open = always,
	.read = cntvct_el0,
	.hz = clock_hz,
	.reference_hz = clock_hz,
};

static const struct action_clock cntpct = {
	.name = "cntpct",
	.policy = "counter",
	.open = always,
	.read = cntpct_el0,
	.hz = clock_hz,
	.reference_hz = clock_hz,
};

const struct action_clock *const action_clocks[] = { &cntvct, &cntpct };
const size_t nr_action_clocks = ARRAY_SIZE(action_clocks);

size_t action_constants(struct action_constant *constants)
{
	size_t n = 0;

	constants[n++] = (struct action_constant){ "CNTFRQ_EL0", cntfrq_el0() };
	constants[n++] = (struct action_constant){ "CNTKCTL_EL1", cntkctl_el1() };
	constants[n++] = (struct action_constant){ "ID_AA64MMFR0_EL1", id_aa64mmfr0_el1() };
	constants[n++] = (struct action_constant){ "ID_AA64DFR0_EL1", id_aa64dfr0_el1() };
	if (pmu_version() == PMU_NONE)
		return n;
	constants[n++] = (struct action_constant){ "PMCR_EL0", pmcr_el0() };
	constants[n++] = (struct action_constant){ "PMCCFILTR_EL0", pmccfiltr_el0() };
	constants[n++] = (struct action_constant){ "PMCEID0_EL0", pmceid0_el0() };
	return n;
}

static u64 cntkctl_before[MAX_CPUS];

/* The event stream's bit: nobody waits for it here. */
void action_constants_disturb(void)
{
	cntkctl_before[smp_id()] = cntkctl_el1();
	set_cntkctl_el1(cntkctl_before[smp_id()] ^ CNTKCTL_EVNTI);
}

void action_constants_restore(void)
{
	set_cntkctl_el1(cntkctl_before[smp_id()]);
}
