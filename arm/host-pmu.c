// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * PMCCNTR_EL0 of a running guest while the host acts. It is enabled before, with PMCR_EL0.C and .P
 * written in the course of that; afterwards it still counts and has gone on from its value, on every
 * CPU, without any write.
 *
 * A hypervisor that does not create its counters anew when registers are restored leaves them at 0
 * until the guest touches them (P5); one that saves a stale value, or that takes C and P for state
 * and replays them, sets them back (P7).
 *
 * Arguments: actions=NAME,NAME… (default all), hold-ms=N: how long the guest is held; budget-ms=N.
 */
#include "libcflat.h"
#include "hostpmutest.h"
#include "pmutest.h"

static void start(u64 value)
{
	if (!pmu_open())
		return;
	set_pmcr_el0(PMCR_LC | PMCR_C | PMCR_P);
	set_pmccntr_el0(value);
	pmu_enable_cycles();
}

static void work(void)
{
	pmu_work(PMU_WINDOW);
}

static const char *diagnosis(void)
{
	return pmu_obstacle_text(pmu_obstacle());
}

static const struct cycle_counter *find(void)
{
	static const struct cycle_counter counter = {
		.name = "PMCCNTR_EL0",
		.start = start,
		.stop = pmu_close,
		.read = pmccntr_el0,
		.mask = UINT64_MAX,
		.value = PMU_BEYOND,
		.work = work,
		.work_least = PMU_WORK_LEAST(PMU_WINDOW),
		.diagnosis = diagnosis,
	};

	if (!pmu_open_reliable())
		return NULL;
	pmu_close();
	return &counter;
}

int main(void)
{
	return host_pmu_report_run("host-pmu", find);
}
