/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose cycles PMCCNTR_EL0 counts: PMCCFILTR_EL0's filter bits for EL0, EL1 and EL2, what MDCR_EL2
 * takes out of EL2's, and what PMUSERENR_EL0 lets EL0 see (Arm ARM, PMCCFILTR_EL0 and D11,
 * "Prohibiting event and cycle counting").
 *
 * The same work is done at the image's level and at EL0 under each filter. Of a level that is
 * counted every round counts at least what the work takes; of one that is not, the quietest of
 * several rounds counts less, or less than that beyond the way to EL0 and back, which is the
 * image's own level. (An emulator may count time in which it was not run.)
 *
 * A hypervisor that mixes up the bits for its host's and its guest's levels, or forgets them when it
 * programs the host's counter anew, counts the wrong share. At EL2 nothing is counted unless NSH is
 * set, and EL1's bits mean nothing (A22).
 */
#include "libcflat.h"
#include "pmutest.h"
#include <arch/cpu.h>
#include <arch/el0.h>

static void filter_bits(void);
static void mdcr_hpmd(void);
static void mdcr_hpmd_dp(void);
static void mdcr_hccd(void);
static void el0_denied(void);
static void el0_syndrome(void);
static void el0_cr(void);
static void el0_en(void);

/* What is changed in PMCCFILTR_EL0 against "count here and at EL0". */
#define BITS(bits) (&(const u64){ bits })

static const struct check filter[] = {
	{ "none", filter_bits, .subject = BITS(0), .guards = "A22",
	  .story = "Nothing is filtered: both levels count" },
	{ "p", filter_bits, .subject = BITS(PMU_FILTER_P),
	  .story = "P takes out EL1, not EL0 and not EL2" },
	{ "nsk", filter_bits, .subject = BITS(PMU_FILTER_NSK),
	  .story = "NSK alone does as P; nothing without EL3" },
	{ "p-nsk", filter_bits, .subject = BITS(PMU_FILTER_P | PMU_FILTER_NSK),
	  .story = "P and NSK together take out nothing; without EL3 P takes out EL1" },
	{ "u", filter_bits, .subject = BITS(PMU_FILTER_U),
	  .story = "U takes out EL0 and no other level" },
	{ "nsu", filter_bits, .subject = BITS(PMU_FILTER_NSU),
	  .story = "NSU alone does as U; nothing without EL3" },
	{ "u-nsu", filter_bits, .subject = BITS(PMU_FILTER_U | PMU_FILTER_NSU),
	  .story = "U and NSU together take out nothing; without EL3 U takes out EL0" },
	{ "p-u", filter_bits, .subject = BITS(PMU_FILTER_P | PMU_FILTER_U),
	  .story = "P and U leave EL2 alone" },
	{ "nsh", filter_bits, .subject = BITS(PMU_FILTER_NSH), .guards = "A22",
	  .story = "NSH decides about EL2 and about no other level" },
	{ "m", filter_bits, .subject = BITS(PMU_FILTER_M), .story = "M is about EL3 alone" },
};

static const struct check mdcr[] = {
	{ "hpmd", mdcr_hpmd, .story = "MDCR_EL2.HPMD without PMCR_EL0.DP leaves the cycles alone" },
	{ "hpmd-dp", mdcr_hpmd_dp,
	  .story = "MDCR_EL2.HPMD with PMCR_EL0.DP takes out EL2's cycles" },
	{ "hccd", mdcr_hccd, .story = "MDCR_EL2.HCCD takes out EL2's cycles" },
};

static const struct check el0[] = {
	{ "denied", el0_denied, .story = "EL0 cannot read PMCCNTR_EL0 with PMUSERENR_EL0 0" },
	{ "syndrome", el0_syndrome,
	  .story = "What PMUSERENR_EL0 keeps from EL0 is reported as a trapped system register" },
	{ "cr", el0_cr, .story = "EL0 reads a moving PMCCNTR_EL0 with PMUSERENR_EL0.CR" },
	{ "en", el0_en, .story = "EL0 reads a moving PMCCNTR_EL0 with PMUSERENR_EL0.EN" },
};

static const struct check checks[] = {
	{ "filter", .checks = filter, .nr_checks = ARRAY_SIZE(filter) },
	{ "mdcr", .checks = mdcr, .nr_checks = ARRAY_SIZE(mdcr) },
	{ "el0", .checks = el0, .nr_checks = ARRAY_SIZE(el0) },
};

#define ROUNDS 20
#define WAYS   5

/* ---- filters ----------------------------------------------------------------------------------- */

/* Cycles counted over work at one level, the least of several rounds each. */
struct share {
	u64 least;
	u64 way;	/* of no work: what the way to EL0 and back counts */
	u64 unfiltered; /* with nothing filtered */
	u64 rounds;
	bool raised;
};

/* At EL0 the work is to outweigh the way there, which costs an emulator of emulators a lot. */
static u64 work_at(int el)
{
	return el ? PMU_WINDOW : 5 * PMU_WINDOW;
}

static u64 cycles_at(int el, u64 multiplications, bool *raised)
{
	if (el)
		return pmu_cycles_of_work(multiplications);
	return pmu_cycles_of_work_at_el0(multiplications, raised);
}

static u64 least_of(u64 rounds, int el, u64 multiplications, bool *raised)
{
	u64 least = UINT64_MAX;

	for (u64 i = 0; i < rounds && !*raised; i++)
		least = MIN(least, cycles_at(el, multiplications, raised));
	return least;
}

/* More than the way alone counts, and so much more that the work must have been counted. */
static bool shows_work(const struct share *s, int el)
{
	return s->least >= s->way && s->least - s->way >= PMU_WORK_LEAST(work_at(el));
}

/* Until a round shows that the work is not counted, if it is not to be. */
static struct share measure_share(int el, bool counts)
{
	struct share s = { .least = UINT64_MAX };
	u64 filter = pmccfiltr_el0();
	struct spin_bound budget;

	spin_start(&budget, report_budget_ns() / 4);
	s.way = least_of(WAYS, el, 0, &s.raised);
	do {
		s.least = MIN(s.least, cycles_at(el, work_at(el), &s.raised));
		s.rounds++;
	} while (!s.raised && s.rounds < ROUNDS && spin_poll(&budget) &&
		 (counts || shows_work(&s, el)));
	set_pmccfiltr_el0(pmu_filter_here());
	s.unfiltered = least_of(WAYS, el, work_at(el), &s.raised);
	set_pmccfiltr_el0(filter);
	return s;
}

static void judge_share(int el, u64 filter)
{
	bool counts = pmu_filter_counts(filter, el);
	struct share s = measure_share(el, counts);
	u64 least = PMU_WORK_LEAST(work_at(el));

	if (s.raised) {
		report_error("the work at EL0 ended in an exception");
		return;
	}
	report_info("EL%d: %lu of %lu cycles with PMCCFILTR_EL0 %#lx, the least of %lu rounds, %lu "
		    "without work",
		    el, s.least, s.unfiltered, filter, s.rounds, s.way);
	if (counts)
		report_expect(s.least >= least,
			      "PMCCFILTR_EL0 %#lx has EL%d counted, but only %lu cycles were, over "
			      "work that takes %lu at least",
			      filter, el, s.least, least);
	else
		report_expect(!shows_work(&s, el),
			      "PMCCFILTR_EL0 %#lx takes out EL%d, but %lu cycles or more were "
			      "counted in each of %lu rounds, and only %lu without work, which "
			      "takes %lu at least",
			      filter, el, s.least, s.rounds, s.way, least);
}

/* For the obstacle that a filter is to this level, by the bits that were changed. */
static void judge_named(u64 filter)
{
	bool named = pmu_obstacle() == PMU_NO_OBSTACLE;

	if (named != pmu_filter_counts(filter, current_el()))
		report_error("PMCCFILTR_EL0 is %#lx, and the cause is taken to be that %s", filter,
			     pmu_obstacle_text(pmu_obstacle()));
}

static void filter_bits(void)
{
	const u64 *bits = report_subject();
	u64 filter = pmu_filter_here() ^ *bits;

	if (!pmu_open_counting())
		return;
	set_pmccfiltr_el0(filter);
	judge_named(filter);
	judge_share(current_el(), filter);
	judge_share(0, filter);
	pmu_close();
}

/* ---- MDCR_EL2 ---------------------------------------------------------------------------------- */

/* false after a skip; else the counter counts and *kept is to be put back. */
static bool open_mdcr(int version, const char *feature, u64 *kept)
{
	if (pmu_version() && current_el() != 2) {
		report_skip("MDCR_EL2 cannot be reached from EL%d", current_el());
		return false;
	}
	if (pmu_version() && pmu_version() < version) {
		report_skip("no %s (PMUVer is %d, %d or more is needed)", feature, pmu_version(),
			    version);
		return false;
	}
	if (!pmu_open_counting())
		return false;
	*kept = mdcr_el2();
	return true;
}

static void close_mdcr(u64 kept)
{
	set_mdcr_el2(kept);
	pmu_expect_counts("with MDCR_EL2 put back");
	pmu_close();
}

static void mdcr_hpmd(void)
{
	u64 kept;

	if (!open_mdcr(PMU_V3P1, "FEAT_PMUv3p1", &kept))
		return;
	set_mdcr_el2(kept | MDCR_HPMD);
	pmu_expect_counts("with MDCR_EL2.HPMD and without PMCR_EL0.DP");
	close_mdcr(kept);
}

static void mdcr_hpmd_dp(void)
{
	u64 kept;

	if (!open_mdcr(PMU_V3P1, "FEAT_PMUv3p1", &kept))
		return;
	set_pmcr_el0(PMCR_E | PMCR_LC | PMCR_DP);
	pmu_expect_counts("with PMCR_EL0.DP alone");
	set_mdcr_el2(kept | MDCR_HPMD);
	pmu_expect_stopped(PMU_MDCR_HPMD);
	close_mdcr(kept);
}

static void mdcr_hccd(void)
{
	u64 kept;

	if (!open_mdcr(PMU_V3P5, "FEAT_PMUv3p5", &kept))
		return;
	set_mdcr_el2(kept | MDCR_HCCD);
	pmu_expect_stopped(PMU_MDCR_HCCD);
	close_mdcr(kept);
}

/* ---- EL0 --------------------------------------------------------------------------------------- */

/* At EL0: how far the counter goes over the work. */
static u64 count_at_el0(void *arg)
{
	u64 before = pmccntr_el0();

	pmu_work(*(const u64 *)arg);
	return pmccntr_el0() - before;
}

static u64 read_enables_at_el0(void *arg)
{
	return pmcntenset_el0();
}

/* What came of a read at EL0, tried so many times. */
struct el0_reads {
	u64 rounds;
	u64 denied;
	u64 trapped; /* of these, as the manual says */
	u64 too_few; /* cycles, where it counted */
	struct exception
		other; /* the last one that was raised, not as the manual says, if any was */
};

/*
 * The counter is started anew before each round: what a hypervisor's host has to do for that is
 * when it may forget what EL0 may do.
 */
static struct el0_reads read_at_el0(u64 (*fn)(void *arg), u64 userenr)
{
	struct el0_reads r = { 0 };
	u64 work = PMU_WINDOW / 10;

	set_pmuserenr_el0(userenr);
	for (; r.rounds < ROUNDS; r.rounds++) {
		struct exception caught;
		u64 value;
		u64 daif = irq_save();

		set_pmcntenclr_el0(PMU_CYCLE_COUNTER_BIT);
		set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
		if (!el0_try(fn, &work, &value, &caught)) {
			r.too_few += fn == count_at_el0 && value < PMU_WORK_LEAST(work);
		} else {
			r.denied++;
			if (ESR_EC(caught.esr) == EC_SYSREG)
				r.trapped++;
			if (ESR_EC(caught.esr) != EC_SYSREG || userenr)
				r.other = caught;
		}
		irq_restore(daif);
	}
	return r;
}

/*
 * In most rounds: where a hypervisor's trap does not work, it depends on what its host did last
 * whether the read is denied, and the verdict is to be the same each time.
 */
static void el0_denied(void)
{
	struct el0_reads r;

	if (!pmu_open_counting())
		return;
	r = read_at_el0(count_at_el0, 0);
	report_expect(r.denied > r.rounds / 2,
		      "EL0 read PMCCNTR_EL0 with PMUSERENR_EL0 0 in %lu of %lu rounds",
		      r.rounds - r.denied, r.rounds);
	pmu_close();
}

/* Not of PMCCNTR_EL0, so that this can be judged where that can be read. */
static void el0_syndrome(void)
{
	struct el0_reads r;

	if (!pmu_open_counting())
		return;
	r = read_at_el0(read_enables_at_el0, 0);
	report_expect(r.denied == r.rounds,
		      "EL0 read PMCNTENSET_EL0 with PMUSERENR_EL0 0 in %lu of %lu rounds",
		      r.rounds - r.denied, r.rounds);
	report_expect(r.trapped >= r.denied / 2,
		      "EL0's read of PMCNTENSET_EL0 raised \"%s\" (ESR %#lx) in %lu of %lu rounds, "
		      "not \"%s\"",
		      exception_class_name(ESR_EC(r.other.esr)), r.other.esr, r.denied - r.trapped,
		      r.rounds, exception_class_name(EC_SYSREG));
	pmu_close();
}

static void check_el0_reads(u64 userenr, const char *bit)
{
	struct el0_reads r;

	if (!pmu_open_counting())
		return;
	r = read_at_el0(count_at_el0, userenr);
	report_expect(!r.denied,
		      "EL0 could not read PMCCNTR_EL0 with PMUSERENR_EL0.%s in %lu of %lu rounds: "
		      "\"%s\" (ESR %#lx)",
		      bit, r.denied, r.rounds, exception_class_name(ESR_EC(r.other.esr)),
		      r.other.esr);
	report_expect(!r.too_few, "EL0 saw less cycles than its work takes in %lu of %lu rounds",
		      r.too_few, r.rounds);
	pmu_close();
}

static void el0_cr(void)
{
	check_el0_reads(PMUSERENR_CR, "CR");
}

static void el0_en(void)
{
	check_el0_reads(PMUSERENR_EN, "EN");
}

int main(void)
{
	return report_run("pmu-filter", checks, ARRAY_SIZE(checks));
}
