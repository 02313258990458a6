/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * PMCR_EL0's bits and the event counters: P and C reset what they name and nothing else, LC and D
 * do what the manual says and no more (Arm ARM, PMCR_EL0); events that software causes itself are
 * counted to the last one, retired instructions within the few around the loop, and CPU_CYCLES is
 * what the cycle counter counts.
 *
 * A hypervisor whose PMCR_EL0.P takes the cycle counter along fails p (P4); one that lets LC be
 * cleared on a CPU without AArch32, or forgets it, fails lc (P2); one that does not start or stop
 * its host's counter with PMCNTENSET_EL0, or counts its own work, fails event.
 */
#include "libcflat.h"
#include "pmutest.h"
#include <arch/cpu.h>
#include <arch/timer.h>

static void pmcr_c(void);
static void pmcr_p(void);
static void pmcr_p_counting(void);
static void pmcr_lc(void);
static void pmcr_lc_kept(void);
static void pmcr_d(void);
static void pmcr_d_lc(void);
static void event_read_back(void);
static void event_sw_incr(void);
static void event_stopped(void);
static void event_carry(void);
static void event_instructions(void);
static void event_cycles(void);

static const struct check pmcr[] = {
	{ "c", pmcr_c, .story = "C sets the cycle counter to 0, no event counter, and reads as 0" },
	{ "p", pmcr_p, .guards = "P4",
	  .story = "P sets the event counters to 0, not the cycle counter, and reads as 0" },
	{ "p-while-counting", pmcr_p_counting, .guards = "P4",
	  .story = "P leaves the cycle counter alone while it counts, too" },
	{ "lc", pmcr_lc, .guards = "P2",
	  .story = "LC is 1 for ever without AArch32, else what was written" },
	{ "lc-not-lost", pmcr_lc_kept, .guards = "P2",
	  .story = "LC stays 1 through the writes of P, C and E" },
	{ "d", pmcr_d, .story = "D without LC counts every 64th cycle" },
	{ "d-with-lc", pmcr_d_lc, .story = "D with LC changes nothing" },
};

static const struct check event[] = {
	{ "read-back", event_read_back,
	  .story = "Every event counter and its type keep what is written, each its own" },
	{ "sw-incr", event_sw_incr,
	  .story = "Every write of PMSWINC_EL0 counts once, in the counters whose bits are set" },
	{ "stopped", event_stopped,
	  .story = "PMSWINC_EL0 counts nowhere while PMCR_EL0.E or PMCNTENSET_EL0 is off" },
	{ "carry", event_carry,
	  .story = "The 2^32nd event sets the counter's own overflow flag and no other" },
	{ "instructions", event_instructions,
	  .story = "INST_RETIRED is the instructions of a loop, and the few around it" },
	{ "cpu-cycles", event_cycles,
	  .story = "CPU_CYCLES goes on by as much as PMCCNTR_EL0 does" },
};

static const struct check checks[] = {
	{ "pmcr", .checks = pmcr, .nr_checks = ARRAY_SIZE(pmcr) },
	{ "event", .checks = event, .nr_checks = ARRAY_SIZE(event) },
};

#define ROUNDS 20

/* ---- PMCR -------------------------------------------------------------------------------------- */

#define EVENT_VALUE 0x1234

/* Event counter 0, which stands still; 0 where there is none. */
static u64 event_value(void)
{
	set_pmselr_el0(0);
	return pmcr_n() ? pmxevcntr_el0() : 0;
}

static void prepare_values(void)
{
	set_pmccntr_el0(PMU_BEYOND);
	set_pmselr_el0(0);
	if (pmcr_n())
		set_pmxevcntr_el0(EVENT_VALUE);
}

static void expect_reads_zero(u64 bits)
{
	report_expect(!(pmcr_el0() & bits), "PMCR_EL0 reads as %#lx: P and C read as 0",
		      pmcr_el0());
}

static void pmcr_c(void)
{
	u64 cycles, events;

	if (!pmu_open_reliable())
		return;
	prepare_values();
	set_pmcr_el0(PMCR_LC | PMCR_C);
	cycles = pmccntr_el0();
	events = event_value();
	report_expect(!cycles, "PMCCNTR_EL0 is %#lx after C was written, not 0", cycles);
	report_expect(!pmcr_n() || events == EVENT_VALUE,
		      "event counter 0 was %#x, and %#lx after C was written", EVENT_VALUE, events);
	expect_reads_zero(PMCR_C | PMCR_P);
	pmu_close();
}

static void pmcr_p(void)
{
	u64 cycles, events;

	if (!pmu_open_reliable())
		return;
	prepare_values();
	set_pmcr_el0(PMCR_LC | PMCR_P);
	cycles = pmccntr_el0();
	events = event_value();
	report_expect(cycles == PMU_BEYOND, "PMCCNTR_EL0 was %#lx, and %#lx after P was written",
		      PMU_BEYOND, cycles);
	report_expect(!events, "event counter 0 is %#lx after P was written, not 0", events);
	expect_reads_zero(PMCR_C | PMCR_P);
	pmu_close();
}

static void pmcr_p_counting(void)
{
	u64 since_ticks;

	if (!pmu_open_counting())
		return;
	since_ticks = cntvct_el0();
	set_pmccntr_el0(PMU_BEYOND);
	pmu_work(PMU_WINDOW);
	set_pmcr_el0(PMCR_E | PMCR_LC | PMCR_P);
	pmu_expect_from(PMU_BEYOND, PMU_WORK_LEAST(PMU_WINDOW), since_ticks,
			"P written while it counts");
	pmu_close();
}

/* ID_AA64PFR0_EL1.EL0 is 2 where EL0 can be AArch32; no higher level can where EL0 cannot. */
static bool has_aarch32(void)
{
	return ID_FIELD(id_aa64pfr0_el1(), 0) == 2;
}

static void pmcr_lc(void)
{
	if (!pmu_open_reliable())
		return;
	set_pmcr_el0(PMCR_LC);
	report_expect(pmcr_el0() & PMCR_LC, "LC was set and reads as 0");
	set_pmcr_el0(0);
	if (has_aarch32())
		report_expect(!(pmcr_el0() & PMCR_LC), "LC was cleared and reads as 1");
	else
		report_expect(pmcr_el0() & PMCR_LC,
			      "LC was cleared and reads as 0: without AArch32 it is always 1");
	report_info("AArch32 at EL0: %s", has_aarch32() ? "yes" : "no");
	pmu_close();
}

static void pmcr_lc_kept(void)
{
	static const u32 writes[] = { PMCR_P, PMCR_C, PMCR_E, PMCR_E | PMCR_C, PMCR_D, PMCR_DP };

	if (!pmu_open_reliable())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(writes); i++) {
		set_pmcr_el0(writes[i] | PMCR_LC);
		report_expect(pmcr_el0() & PMCR_LC, "%#x was written, and LC reads as 0",
			      writes[i] | (u32)PMCR_LC);
	}
	pmu_close();
}

/*
 * Undivided, every round counts what the work takes; divided by 64, the
 * quietest round counts less than that, and every round a 64th of it.
 */
static void pmcr_d(void)
{
	u64 least = UINT64_MAX;
	struct spin_bound budget;
	u64 rounds = 0;

	if (!pmu_open_counting())
		return;
	set_pmcr_el0(PMCR_E | PMCR_D);
	if ((pmcr_el0() & PMCR_LC) || !(pmcr_el0() & PMCR_D)) {
		report_skip("PMCR_EL0.LC is always 1, or D always 0, on this CPU");
		pmu_close();
		return;
	}
	spin_start(&budget, report_budget_ns() / 4);
	do {
		least = MIN(least, pmu_cycles_of_work(PMU_WINDOW));
		rounds++;
	} while (rounds < ROUNDS && spin_poll(&budget));
	report_info("%lu cycles with D over work that takes %lu at least, the least of %lu rounds",
		    least, PMU_WORK_LEAST(PMU_WINDOW), rounds);
	report_expect(least < PMU_WORK_LEAST(PMU_WINDOW),
		      "%lu cycles or more in each of %lu rounds: D divides nothing", least, rounds);
	report_expect(least >= PMU_WORK_LEAST(PMU_WINDOW) / 64 - 1,
		      "%lu cycles with D, over work that takes %lu at least: divided by more than "
		      "64",
		      least, PMU_WORK_LEAST(PMU_WINDOW));
	pmu_close();
}

static void pmcr_d_lc(void)
{
	if (!pmu_open_counting())
		return;
	set_pmcr_el0(PMCR_E | PMCR_LC | PMCR_D);
	pmu_expect_counts("with D and LC");
	pmu_close();
}

/* ---- event counters ---------------------------------------------------------------------------- */

#define INCREMENTS     1000
#define CYCLES_WINDOWS 200
#define AROUND	       64 /* instructions between two reads of a counter, besides the loop: fewer */

/* Ready to count this event with counter 0 to count - 1. false after report_skip(). */
static bool open_events(int event, const char *name, int count)
{
	if (!pmu_version())
		return pmu_open();
	if (pmcr_n() < count) {
		report_skip("needs %d event counters, PMCR_EL0.N is %d", count, pmcr_n());
		return false;
	}
	if (!pmu_has_event(event)) {
		report_skip("no event %s (PMCEID0_EL0 bit %d is 0)", name, event);
		return false;
	}
	if (!pmu_open_reliable())
		return false;
	for (int counter = 0; counter < pmcr_n(); counter++) {
		set_pmselr_el0(counter);
		set_pmxevtyper_el0(event | pmu_filter_here());
		set_pmxevcntr_el0(0);
	}
	return true;
}

static void enable_events(void)
{
	set_pmcntenset_el0(BIT(pmcr_n()) - 1);
	set_pmcr_el0(PMCR_E | PMCR_LC);
}

static u64 event_count(int counter)
{
	set_pmselr_el0(counter);
	return pmxevcntr_el0();
}

static void event_read_back(void)
{
	if (!open_events(PMU_EVENT_SW_INCR, "SW_INCR", 1))
		return;
	for (int counter = 0; counter < pmcr_n(); counter++) {
		set_pmselr_el0(counter);
		set_pmxevcntr_el0(0xfffffff0 - counter);
		set_pmxevtyper_el0(counter % 2 ? PMU_EVENT_CPU_CYCLES : PMU_EVENT_SW_INCR);
	}
	for (int counter = 0; counter < pmcr_n(); counter++) {
		u64 type = counter % 2 ? PMU_EVENT_CPU_CYCLES : PMU_EVENT_SW_INCR;

		report_expect(event_count(counter) == 0xfffffff0 - counter,
			      "%#x was written to event counter %d and %#lx read",
			      0xfffffff0 - counter, counter, event_count(counter));
		report_expect(pmxevtyper_el0() == type,
			      "%#lx was written as event counter %d's type and %#lx read", type,
			      counter, pmxevtyper_el0());
	}
	pmu_close();
}

/* Counter i by bit i: each in every write whose number has that bit. */
static void event_sw_incr(void)
{
	u64 expected[PMCR_N_MASK] = { 0 };
	u64 all;

	if (!open_events(PMU_EVENT_SW_INCR, "SW_INCR", 1))
		return;
	all = BIT(pmcr_n()) - 1;
	enable_events();
	for (u64 i = 0; i < INCREMENTS; i++) {
		set_pmswinc_el0(i & all);
		for (int counter = 0; counter < pmcr_n(); counter++)
			expected[counter] += i >> counter & 1;
	}
	for (int counter = 0; counter < pmcr_n(); counter++)
		report_expect(event_count(counter) == expected[counter],
			      "event counter %d is %lu after %lu writes of PMSWINC_EL0", counter,
			      event_count(counter), expected[counter]);
	report_info("%d writes of PMSWINC_EL0, %d event counters", INCREMENTS, pmcr_n());
	pmu_close();
}

static void expect_no_event(const char *when)
{
	set_pmswinc_el0(1);
	report_expect(!event_count(0), "a write of PMSWINC_EL0 was counted %s", when);
}

static void event_stopped(void)
{
	if (!open_events(PMU_EVENT_SW_INCR, "SW_INCR", 1))
		return;
	set_pmcr_el0(PMCR_E | PMCR_LC);
	expect_no_event("with PMCNTENSET_EL0 bit 0 clear");
	set_pmcntenset_el0(BIT(0));
	set_pmcr_el0(PMCR_LC);
	expect_no_event("with PMCR_EL0.E clear");
	set_pmcr_el0(PMCR_E | PMCR_LC);
	set_pmswinc_el0(1);
	report_expect(event_count(0) == 1, "event counter 0 is %lu after one event, all enabled",
		      event_count(0));
	pmu_close();
}

/*
 * The counter itself has 64 bits with FEAT_PMUv3p5, else 32; its flag is set by the carry out of bit
 * 31 in either case, PMCR_EL0.LP being 0.
 */
static void event_carry(void)
{
	u64 last;

	if (!open_events(PMU_EVENT_SW_INCR, "SW_INCR", 1))
		return;
	last = pmcr_n() - 1;
	set_pmselr_el0(last);
	set_pmxevcntr_el0(UINT32_MAX - 1);
	enable_events();
	set_pmswinc_el0(BIT(last));
	report_expect(event_count(last) == UINT32_MAX, "event counter %lu is %#lx, not %#x", last,
		      event_count(last), UINT32_MAX);
	report_expect(!pmovsset_el0(), "PMOVSSET_EL0 is %#lx before the carry", pmovsset_el0());
	set_pmswinc_el0(BIT(last));
	report_expect((u32)event_count(last) == 0, "event counter %lu is %#lx after the carry",
		      last, event_count(last));
	report_expect(pmovsset_el0() == BIT(last),
		      "PMOVSSET_EL0 is %#lx after event counter %lu's carry", pmovsset_el0(), last);
	set_pmovsclr_el0(BIT(last));
	report_expect(!pmovsset_el0(), "PMOVSSET_EL0 is %#lx after PMOVSCLR_EL0", pmovsset_el0());
	pmu_close();
}

/*
 * No fewer than the loop has, ever; and in the quietest round hardly more: what a hypervisor or a
 * firmware retires while the counter is not stopped for it would be counted in every round.
 */
static void event_instructions(void)
{
	u64 loop = PMU_WINDOW * PMU_WORK_INSTRUCTIONS;
	u64 least = UINT64_MAX, most = 0;
	struct spin_bound budget;
	u64 daif, rounds = 0;

	if (!open_events(PMU_EVENT_INST_RETIRED, "INST_RETIRED", 1))
		return;
	enable_events();
	set_pmselr_el0(0);
	spin_start(&budget, report_budget_ns() / 4);
	daif = irq_save();
	do {
		u64 before = pmxevcntr_el0();

		pmu_work(PMU_WINDOW);
		before = (u32)(pmxevcntr_el0() - before);
		least = MIN(least, before);
		most = MAX(most, before);
		rounds++;
	} while (rounds < ROUNDS && spin_poll(&budget));
	irq_restore(daif);
	report_info("%lu to %lu instructions in %lu rounds of %lu", least, most, rounds, loop);
	report_expect(least >= loop, "%lu instructions counted, over a loop of %lu", least, loop);
	report_expect(least < loop + AROUND,
		      "%lu instructions or more in each of %lu rounds, over a loop of %lu", least,
		      rounds, loop);
	pmu_close();
}

/* Both counters, one read between two of the other. */
struct cycles_look {
	u64 before, after; /* PMCCNTR_EL0 */
	u32 events;	   /* event counters may have 32 bits */
};

static struct cycles_look cycles_look(void)
{
	struct cycles_look l;

	l.before = pmccntr_el0();
	l.events = pmxevcntr_el0();
	l.after = pmccntr_el0();
	return l;
}

/*
 * Each window for itself: an emulator need not stop and start the two at the same instant whenever
 * the exception level changes, and its thread may be held up in between, so that they drift apart
 * in the long run and some windows disagree. What counts something else disagrees in all of them. A
 * window of more cycles than 32 bits hold says nothing.
 */
static void event_cycles(void)
{
	u64 windows = 0, wide = 0, apart = 0, cycles = 0, events = 0;
	struct spin_bound budget;

	if (!open_events(PMU_EVENT_CPU_CYCLES, "CPU_CYCLES", 1))
		return;
	set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
	enable_events();
	set_pmselr_el0(0);
	spin_start(&budget, report_budget_ns() / 4);
	do {
		struct cycles_look first = cycles_look(), last;
		u32 between;

		pmu_work(PMU_WINDOW / 10);
		last = cycles_look();
		between = last.events - first.events;
		windows++;
		if (last.after - first.before > UINT32_MAX) {
			wide++;
			continue;
		}
		apart += between < last.before - first.after || between > last.after - first.before;
		cycles += last.before - first.after;
		events += between;
	} while (windows < CYCLES_WINDOWS && spin_poll(&budget));
	report_info("%lu CPU_CYCLES in %lu windows of %lu cycles or more together, %lu disagree",
		    events, windows - wide, cycles, apart);
	if (windows == wide)
		report_error("none of %lu windows is short enough to judge", windows);
	report_expect(apart <= (windows - wide) / 2,
		      "CPU_CYCLES is not what PMCCNTR_EL0 has in %lu of %lu windows", apart,
		      windows - wide);
	pmu_close();
}

int main(void)
{
	return report_run("pmu-control", checks, ARRAY_SIZE(checks));
}
