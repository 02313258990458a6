// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The cycle counter, found in any state, made to count, and judged: pmutest.h.
 */
#include "libcflat.h"
#include "pmutest.h"
#include <arch/cpu.h>
#include <arch/el0.h>
#include <arch/timer.h>

#define SELF_CHECK_WINDOWS 50

/* ---- work -------------------------------------------------------------------------------------- */

/* PMU_WORK_INSTRUCTIONS has its length. */
void pmu_work(u64 multiplications)
{
	u64 product = 1;

	if (!multiplications)
		return;
	__asm__ volatile("1: mul %0, %0, %2\n\t"
			 "subs %1, %1, #1\n\t"
			 "b.ne 1b"
			 : "+r"(product), "+r"(multiplications)
			 : "r"(0x5851f42d4c957f2dULL)
			 : "cc", "memory");
}

u64 pmu_work_at_el0(void *arg)
{
	pmu_work(*(const u64 *)arg);
	return 0;
}

u64 pmu_most_cycles(u64 ticks)
{
	return mul_div_u64(ticks + 1, PMU_MOST_PER_NS * NSEC_PER_SEC, clock_hz()) + 1;
}

/* ---- on and off -------------------------------------------------------------------------------- */

static struct {
	u64 pmcr, enabled, interrupts, flags, filter, selected, user, cycles;
} found[MAX_CPUS];

static const char *const obstacles[] = {
	[PMU_NO_OBSTACLE] = ("all enables that this level can see are set: it is the hypervisor's "
			     "or the firmware's MDCR_EL2, MDCR_EL3 or PMU driver"),
	[PMU_PMCR_E] = "PMCR_EL0.E is 0",
	[PMU_CNTENSET] = "PMCNTENSET_EL0 bit 31 is 0",
	[PMU_FILTERED_P] = "PMCCFILTR_EL0.P is 1: EL1 is not counted",
	[PMU_FILTERED_NSK] = "PMCCFILTR_EL0.NSK differs from P: Non-secure EL1 is not counted",
	[PMU_FILTERED_NSH] = "PMCCFILTR_EL0.NSH is 0: EL2 is not counted",
	[PMU_MDCR_HPMD] = "MDCR_EL2.HPMD and PMCR_EL0.DP are 1: EL2 is not counted",
	[PMU_MDCR_HCCD] = "MDCR_EL2.HCCD is 1: EL2's cycles are not counted",
};

u64 pmu_filter_here(void)
{
	return current_el() == 2 ? PMU_FILTER_NSH : 0;
}

/* Arm ARM, PMCCFILTR_EL0. NSK and NSU are RES0 without EL3, so that they change nothing. */
bool pmu_filter_counts(u64 filter, int el)
{
	bool nsk = cpu_has_el3() && (filter & PMU_FILTER_NSK);
	bool nsu = cpu_has_el3() && (filter & PMU_FILTER_NSU);

	switch (el) {
	case 0:
		return !!(filter & PMU_FILTER_U) == nsu;
	case 1:
		return !!(filter & PMU_FILTER_P) == nsk;
	default:
		return filter & PMU_FILTER_NSH;
	}
}

static void all_off(void)
{
	set_pmcr_el0(PMCR_LC);
	set_pmcntenclr_el0(UINT32_MAX);
	set_pmintenclr_el1(UINT32_MAX);
	set_pmovsclr_el0(UINT32_MAX);
	set_pmuserenr_el0(0);
}

bool pmu_open(void)
{
	int cpu = smp_id();

	if (!pmu_version()) {
		report_skip("no PMU (ID_AA64DFR0_EL1.PMUVer is %lu)",
			    ID_FIELD(id_aa64dfr0_el1(), 8));
		return false;
	}
	found[cpu].pmcr = pmcr_el0();
	found[cpu].enabled = pmcntenset_el0();
	found[cpu].interrupts = pmintenset_el1();
	found[cpu].flags = pmovsset_el0();
	found[cpu].filter = pmccfiltr_el0();
	found[cpu].selected = pmselr_el0();
	found[cpu].user = pmuserenr_el0();
	found[cpu].cycles = pmccntr_el0();
	all_off();
	set_pmccfiltr_el0(pmu_filter_here());
	return true;
}

void pmu_close(void)
{
	int cpu = smp_id();

	all_off();
	set_pmccfiltr_el0(found[cpu].filter);
	set_pmccntr_el0(found[cpu].cycles);
	set_pmselr_el0(found[cpu].selected);
	set_pmuserenr_el0(found[cpu].user);
	set_pmovsset_el0(found[cpu].flags);
	set_pmintenset_el1(found[cpu].interrupts);
	set_pmcntenset_el0(found[cpu].enabled);
	set_pmcr_el0(found[cpu].pmcr & ~(PMCR_P | PMCR_C));
}

void pmu_enable_cycles(void)
{
	set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
	set_pmcr_el0(PMCR_E | PMCR_LC);
}

enum pmu_obstacle pmu_obstacle(void)
{
	u64 filter = pmccfiltr_el0();

	if (!(pmcr_el0() & PMCR_E))
		return PMU_PMCR_E;
	if (!(pmcntenset_el0() & PMU_CYCLE_COUNTER_BIT))
		return PMU_CNTENSET;
	if (!pmu_filter_counts(filter, current_el())) {
		if (current_el() == 2)
			return PMU_FILTERED_NSH;
		return filter & PMU_FILTER_P ? PMU_FILTERED_P : PMU_FILTERED_NSK;
	}
	if (current_el() == 2) {
		u64 mdcr = mdcr_el2();

		if (pmu_version() >= PMU_V3P1 && (mdcr & MDCR_HPMD) && (pmcr_el0() & PMCR_DP))
			return PMU_MDCR_HPMD;
		if (pmu_version() >= PMU_V3P5 && (mdcr & MDCR_HCCD))
			return PMU_MDCR_HCCD;
	}
	return PMU_NO_OBSTACLE;
}

const char *pmu_obstacle_text(enum pmu_obstacle obstacle)
{
	return obstacles[obstacle];
}

/* ---- counting ---------------------------------------------------------------------------------- */

u64 pmu_cycles_of_work(u64 multiplications)
{
	u64 daif = irq_save();
	u64 before = pmccntr_el0();

	pmu_work(multiplications);
	before = pmccntr_el0() - before;
	irq_restore(daif);
	return before;
}

u64 pmu_cycles_of_work_at_el0(u64 multiplications, bool *raised)
{
	u64 daif = irq_save();
	u64 before = pmccntr_el0();
	struct exception caught;
	u64 value;

	*raised = el0_try(pmu_work_at_el0, &multiplications, &value, &caught);
	before = pmccntr_el0() - before;
	irq_restore(daif);
	return before;
}

u64 pmu_rate_hz(void (*run)(u64 n), u64 n)
{
	u64 ticks = cntvct_el0();
	u64 cycles = pmccntr_el0();

	run(n);
	cycles = pmccntr_el0() - cycles;
	ticks = cntvct_el0() - ticks;
	return mul_div_u64(cycles, clock_hz(), ticks + 1);
}

/*
 * The time of the counted window, at least and at most, in ticks, each end of which is known as
 * far as two reads of CNTVCT_EL0 around it tell.
 */
static void sample_rate(struct pmu_samples *s, u64 cycles, u64 least_ticks, u64 most_ticks)
{
	u64 high = least_ticks ? mul_div_u64(cycles + 1, clock_hz(), least_ticks) : UINT64_MAX;
	u64 low = mul_div_u64(cycles ? cycles - 1 : 0, clock_hz(), most_ticks);
	u64 middle = high == UINT64_MAX ? low : low + (high - low) / 2;

	s->slowest_hz = MIN(s->slowest_hz, middle);
	s->fastest_hz = MAX(s->fastest_hz, middle);
	s->common_low_hz = MAX(s->common_low_hz, low);
	s->common_high_hz = MIN(s->common_high_hz, high);
}

static void sample_window(struct pmu_samples *s, u64 multiplications)
{
	u64 ticks[4];
	u64 first, last, cycles, least, most;

	ticks[0] = cntvct_el0();
	first = pmccntr_el0();
	ticks[1] = cntvct_el0();
	pmu_work(multiplications);
	ticks[2] = cntvct_el0();
	last = pmccntr_el0();
	ticks[3] = cntvct_el0();
	cycles = last - first;
	least = ticks[2] - ticks[1];
	most = ticks[3] - ticks[0] + 1;
	s->windows++;
	if ((s64)cycles < 0) {
		s->backwards++;
		return;
	}
	s->zeros += cycles == 0;
	s->too_few += cycles != 0 && cycles < PMU_WORK_LEAST(multiplications);
	s->too_many += cycles > pmu_most_cycles(most);
	s->least = MIN(s->least, cycles);
	s->most = MAX(s->most, cycles);
	sample_rate(s, cycles, least ? least - 1 : 0, most);
}

void pmu_sample(struct pmu_samples *s, u64 windows, u64 multiplications, u64 budget_ns)
{
	u64 daif = irq_save();
	struct spin_bound budget;

	*s = (struct pmu_samples){
		.least = UINT64_MAX,
		.slowest_hz = UINT64_MAX,
		.common_high_hz = UINT64_MAX,
	};
	s->obstacle = pmu_obstacle();
	spin_start(&budget, budget_ns);
	do
		sample_window(s, multiplications);
	while (s->windows < windows && spin_poll(&budget));
	irq_restore(daif);
}

bool pmu_judge_samples(const struct pmu_samples *s, int cpu)
{
	bool right;

	report_info("CPU %d: %lu windows of %lu to %lu cycles, %lu zero, %lu to %lu kHz by "
		    "CNTVCT_EL0",
		    cpu, s->windows, s->least, s->most, s->zeros, s->slowest_hz / 1000,
		    s->fastest_hz / 1000);
	right = report_expect(!s->zeros,
			      "CPU %d: PMCCNTR_EL0 stood still in %lu of %lu windows: %s", cpu,
			      s->zeros, s->windows, pmu_obstacle_text(s->obstacle));
	right &= report_expect(!s->backwards,
			       "CPU %d: PMCCNTR_EL0 went backwards in %lu of %lu "
			       "windows",
			       cpu, s->backwards, s->windows);
	right &= report_expect(!s->too_few,
			       "CPU %d: PMCCNTR_EL0 counted less than the work takes "
			       "in %lu of %lu windows, %lu cycles at least",
			       cpu, s->too_few, s->windows, s->least);
	right &= report_expect(!s->too_many,
			       "CPU %d: PMCCNTR_EL0 counted more than %d cycles a ns "
			       "in %lu of %lu windows, %lu cycles at most",
			       cpu, PMU_MOST_PER_NS, s->too_many, s->windows, s->most);
	return right;
}

/* ---- expectations ------------------------------------------------------------------------------- */

void pmu_expect_stopped(enum pmu_obstacle obstacle)
{
	enum pmu_obstacle named = pmu_obstacle();
	u64 cycles = pmu_cycles_of_work(PMU_WINDOW);

	report_expect(!cycles, "counted %lu cycles although %s", cycles,
		      pmu_obstacle_text(obstacle));
	if (named != obstacle)
		report_error("the cause is that %s, but it was taken to be that %s",
			     pmu_obstacle_text(obstacle), pmu_obstacle_text(named));
}

void pmu_expect_counts(const char *when)
{
	u64 cycles = pmu_cycles_of_work(PMU_WINDOW);

	report_expect(cycles >= PMU_WORK_LEAST(PMU_WINDOW),
		      "%lu cycles %s, over work that takes %lu at least: %s", cycles, when,
		      PMU_WORK_LEAST(PMU_WINDOW), pmu_obstacle_text(pmu_obstacle()));
}

void pmu_expect_from(u64 from, u64 at_least, u64 since_ticks, const char *what)
{
	u64 now = pmccntr_el0();
	u64 most = pmu_most_cycles(cntvct_el0() - since_ticks);

	report_expect(now - from >= at_least && now - from <= most,
		      "%s: PMCCNTR_EL0 went from %#lx to %#lx, not on by %lu to %lu", what, from,
		      now, at_least, most);
}

/* ---- the self-check ---------------------------------------------------------------------------- */

static bool samples_right(const struct pmu_samples *s)
{
	return !s->zeros && !s->backwards && !s->too_few && !s->too_many;
}

const char *pmu_unreliable(void)
{
	static bool done;
	static const char *reason;
	struct pmu_samples s;

	if (done)
		return reason;
	done = true;
	if (!pmu_open())
		return reason = "no PMU";
	pmu_enable_cycles();
	pmu_sample(&s, SELF_CHECK_WINDOWS, PMU_WINDOW / 10, report_budget_ns() / 10);
	if (s.zeros)
		reason = "it counted nothing over some of the work";
	else if (!samples_right(&s))
		reason = "it counted backwards, too little or too much";
	pmu_close();
	return reason;
}

bool pmu_open_reliable(void)
{
	const char *reason;

	if (!pmu_version())
		return pmu_open();
	reason = pmu_unreliable();
	if (reason) {
		report_skip("the cycle counter is not reliable (check pmu.reliable): %s", reason);
		return false;
	}
	return pmu_open();
}

bool pmu_open_counting(void)
{
	if (!pmu_open_reliable())
		return false;
	pmu_enable_cycles();
	return true;
}
