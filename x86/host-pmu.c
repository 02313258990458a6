// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A cycle counter of the PMU of a running guest while the host acts: the first of those that pmu.c
 * judges which counts here. It is enabled before; afterwards it still counts and has gone on from its
 * value, on every CPU, without any write.
 *
 * A hypervisor that does not create its counters anew when MSRs are restored leaves them standing until
 * the guest touches them.
 *
 * None of the machines that this was developed on has an x86 PMU: there it is skipped. Arguments:
 * actions=NAME,NAME… (default all), hold-ms=N: how long the guest is held.
 */
#include "libcflat.h"
#include "hostpmutest.h"
#include <arch/pmu.h>

#define WORK_LOOPS 100000

static struct pmu_counter *pmu;

static void start(u64 value)
{
	pmu_reset(pmu);
	pmu_write(pmu, value);
	pmu_start(pmu, true, false);
}

static void stop(void)
{
	pmu_reset(pmu);
}

static u64 read(void)
{
	return pmu_read(pmu);
}

/* A loop that no compiler shortens: more cycles than turns. */
static void work(void)
{
	for (volatile int i = 0; i < WORK_LOOPS; i++)
		;
}

static const char *diagnosis(void)
{
	return pmu_diagnose(pmu);
}

static bool counts(struct pmu_counter *counter, const char **why)
{
	u64 before;

	if (!counter->probe(counter, why))
		return false;
	pmu = counter;
	start(0);
	before = read();
	work();
	*why = "no counter counts: see the test pmu";
	return read() != before;
}

static const struct cycle_counter *find(void)
{
	static struct pmu_counter *const all[] = { &pmu_fixed_1, &pmu_general_0, &pmu_amd_0 };
	static struct cycle_counter counter = {
		.start = start,
		.stop = stop,
		.read = read,
		.work = work,
		.work_least = WORK_LOOPS,
		.diagnosis = diagnosis,
	};
	const char *why = "";

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (!counts(all[i], &why))
			continue;
		stop();
		counter.name = pmu->name;
		counter.mask = pmu_mask(pmu);
		counter.value = pmu_full_width(pmu) ? counter.mask / 4 : INT32_MAX;
		return &counter;
	}
	report_skip("%s", why);
	return NULL;
}

int main(void)
{
	return host_pmu_report_run("host-pmu", find);
}
