/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Overflow of the PMU's counters: the flag in PMOVSSET_EL0 comes with the carry out of the 64th bit
 * (PMCR_EL0.LC) or the 32nd, neither sooner nor for another reason, and stays until it is cleared;
 * the interrupt is the level that the Arm ARM says (D11, "Generating overflow interrupt requests"):
 * asserted while PMCR_EL0.E, the counter's flag and its bit in PMINTENSET_EL1 are set. What is let
 * overflow n times is handled n times. After an overflow the guest runs as fast as before.
 *
 * A hypervisor gets it from its host's counter, programmed for the rest of the way. One that takes
 * 32 bits for 64 sets the flag too early or never; one that does not recompute the level when one of
 * the three bits changes loses interrupts or storms; one that keeps the first, short period after
 * an overflow interrupts its host for ever after, and the guest crawls (P3).
 */
#include "libcflat.h"
#include "pmutest.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/gic.h>
#include <arch/timer.h>

static void flag_64_bits(void);
static void flag_not_at_63_bits(void);
static void flag_32_bits(void);
static void flag_32_bits_switched(void);
static void flag_not_at_32_bits(void);
static void flag_again(void);
static void flag_by_software(void);
static void interrupt_once(void);
static void interrupt_many(void);
static void interrupt_all_cpus(void);
static void interrupt_pmintenclr(void);
static void interrupt_pmcr_e(void);
static void interrupt_counter_disabled(void);
static void interrupt_by_software(void);
static void interrupt_level(void);
static void interrupt_asserted(void);
static void interrupt_pending(void);
static void interrupt_event(void);
static void cost_after(void);

static const struct check flag[] = {
	{ "64-bits", flag_64_bits, .guards = "P1",
	  .story = "With LC the flag comes when 64 bits overflow, and not before" },
	{ "not-at-63-bits", flag_not_at_63_bits,
	  .story = "With LC a carry into bit 63 sets no flag" },
	{ "32-bits", flag_32_bits, .guards = "P2",
	  .story = "Without LC the flag comes when 32 bits overflow, and the count goes on" },
	{ "32-bits-switched", flag_32_bits_switched, .guards = "P2",
	  .story = "The same when LC is cleared while it counts, before it is written" },
	{ "not-at-32-bits", flag_not_at_32_bits, .guards = "P1 P2",
	  .story = "With LC a carry into bit 32 sets no flag" },
	{ "again", flag_again, .guards = "P3",
	  .story = "Cleared, it comes again with the next overflow and not sooner" },
	{ "by-software", flag_by_software,
	  .story = "PMOVSSET_EL0 sets it and PMOVSCLR_EL0 clears it, one counter at a time" },
};

static const struct check interrupt[] = {
	{ "once", interrupt_once, .story = "One overflow, one interrupt, never early" },
	{ "many", interrupt_many, .guards = "P3",
	  .story = "n overflows at changing distances, n interrupts" },
	{ "all-cpus", interrupt_all_cpus, .story = "n overflows on each CPU, n interrupts there" },
	{ "pmintenclr", interrupt_pmintenclr,
	  .story = "No interrupt with PMINTENCLR_EL1 written; it comes with PMINTENSET_EL1" },
	{ "pmcr-e", interrupt_pmcr_e,
	  .story = "No interrupt with PMCR_EL0.E clear; it comes when that is set" },
	{ "counter-disabled", interrupt_counter_disabled,
	  .story = "PMCNTENSET_EL0 has no part in it: a flag interrupts with its counter off" },
	{ "by-software", interrupt_by_software,
	  .story = "A flag that software sets interrupts as an overflow's does" },
	{ "level", interrupt_level,
	  .story = "A handler that takes PMINTEN away and leaves the flag is interrupted once" },
	{ "still-asserted", interrupt_asserted,
	  .story = "A handler that leaves flag and PMINTEN is interrupted again" },
	{ "pending", interrupt_pending,
	  .story = "At the GIC it is pending with the flag, and no longer when that is cleared" },
	{ "event", interrupt_event,
	  .story = "An event counter's n carries are n interrupts, with its own flag" },
};

static const struct check cost[] = {
	{ "after-overflow", cost_after, .guards = "P3",
	  .story = "The same work takes as long after an overflow as before it" },
};

static const struct check checks[] = {
	{ "flag", .checks = flag, .nr_checks = ARRAY_SIZE(flag) },
	{ "interrupt", .checks = interrupt, .nr_checks = ARRAY_SIZE(interrupt) },
	{ "cost", .checks = cost, .nr_checks = ARRAY_SIZE(cost) },
};

#define DISTANCE  50000UL /* cycles to the overflow */
#define OVERFLOWS 100
#define SETTLE_NS NSEC_PER_MSEC
/* For what the guest's own write asserts: taken with the next instructions, host threads or not. */
#define AT_ONCE_NS (50 * NSEC_PER_MSEC)
#define CYCLES_BIT PMU_CYCLE_COUNTER_BIT

/* ---- flag -------------------------------------------------------------------------------------- */

static bool flag_set(void)
{
	return pmovsset_el0() & CYCLES_BIT;
}

/*
 * Looks until the flag is there. The counter, read after the flag, must have overflowed by then:
 * bit is the highest one that counts, set before and clear after.
 */
static bool expect_overflow(u64 bit, const char *what)
{
	struct spin_bound bound;
	u64 cycles, looks = 0;
	bool set;

	spin_start(&bound, PMU_WAIT_NS);
	do {
		set = flag_set();
		cycles = pmccntr_el0();
		looks++;
	} while (!set && spin_poll(&bound));
	return report_expect(set, "%s: no overflow flag after %lu looks, PMCCNTR_EL0 is %#lx", what,
			     looks, cycles) &&
	       report_expect(!(cycles & bit), "%s: the flag is set and PMCCNTR_EL0 only %#lx", what,
			     cycles);
}

static void flag_64_bits(void)
{
	if (!pmu_open_counting())
		return;
	set_pmccntr_el0(-DISTANCE);
	expect_overflow(BIT(63), "at 64 bits");
	pmu_close();
}

/* Half of the range away: no overflow to be reached. */
static void flag_not_at_63_bits(void)
{
	if (!pmu_open_counting())
		return;
	set_pmccntr_el0(BIT(63) - DISTANCE);
	pmu_work(5 * PMU_WINDOW);
	spin_until(flag_set(), SETTLE_NS);
	report_expect(pmccntr_el0() >> 63, "PMCCNTR_EL0 has not got past 2^63: %#lx",
		      pmccntr_el0());
	report_expect(!flag_set(), "a carry into bit 63 set the overflow flag: PMCCNTR_EL0 is %#lx",
		      pmccntr_el0());
	pmu_close();
}

/* PMCR_EL0.LC clear, from before the counter is enabled or only then. */
static void check_32_bits(bool enabled_before)
{
	u64 cycles;

	if (!pmu_open_reliable())
		return;
	set_pmcr_el0(0);
	if (pmcr_el0() & PMCR_LC) {
		report_skip("PMCR_EL0.LC is always 1 on this CPU");
		pmu_close();
		return;
	}
	if (enabled_before)
		pmu_enable_cycles(); /* with LC */
	set_pmcntenset_el0(CYCLES_BIT);
	set_pmcr_el0(PMCR_E);
	set_pmccntr_el0((1UL << 32) - DISTANCE);
	expect_overflow(BIT(31), "at 32 bits");
	cycles = pmccntr_el0();
	report_expect(cycles >> 32 == 1, "PMCCNTR_EL0 is %#lx after the carry into bit 32", cycles);
	pmu_close();
}

static void flag_32_bits(void)
{
	check_32_bits(false);
}

static void flag_32_bits_switched(void)
{
	check_32_bits(true);
}

static void flag_not_at_32_bits(void)
{
	if (!pmu_open_counting())
		return;
	set_pmccntr_el0((1UL << 32) - PMU_WORK_LEAST(PMU_WINDOW));
	pmu_work(PMU_WINDOW);
	spin_until(flag_set(), SETTLE_NS);
	report_expect(pmccntr_el0() >> 32, "PMCCNTR_EL0 has not got past 2^32: %#lx",
		      pmccntr_el0());
	report_expect(!flag_set(), "a carry into bit 32 set the flag although LC is set");
	pmu_close();
}

static void flag_again(void)
{
	if (!pmu_open_counting())
		return;
	for (int i = 0; i < 3; i++) {
		set_pmccntr_el0(-DISTANCE);
		if (!expect_overflow(BIT(63), i ? "again" : "at first"))
			break;
		set_pmovsclr_el0(CYCLES_BIT);
		pmu_work(PMU_WINDOW);
		if (!report_expect(!flag_set(), "cleared, the flag came again at PMCCNTR_EL0 %#lx",
				   pmccntr_el0()))
			break;
	}
	pmu_close();
}

static void flag_by_software(void)
{
	u64 event = BIT(0);

	if (!pmu_open_reliable())
		return;
	if (!pmcr_n())
		event = 0;
	set_pmovsset_el0(CYCLES_BIT | event);
	report_expect(pmovsset_el0() == (CYCLES_BIT | event),
		      "PMOVSSET_EL0 was written %#llx and is %#lx", CYCLES_BIT | event,
		      pmovsset_el0());
	set_pmovsclr_el0(event);
	report_expect(pmovsset_el0() == CYCLES_BIT, "PMOVSSET_EL0 is %#lx, only bit 31 was kept",
		      pmovsset_el0());
	set_pmovsclr_el0(CYCLES_BIT);
	report_expect(!pmovsclr_el0(), "PMOVSCLR_EL0 reads as %#lx, all was cleared",
		      pmovsclr_el0());
	pmu_close();
}

/* ---- interrupts -------------------------------------------------------------------------------- */

/* What the handler does about the cause. */
enum remedy {
	CLEAR_FLAG,
	CLEAR_PMINTEN,
	CLEAR_FLAG_LATER, /* when "leave" interrupts have been left asserted */
};

static struct overflow_line {
	enum remedy remedy;
	u64 counter_bit;
	u64 leave;
	u64 handled;
	u64 early;	/* with the cycle counter not past its overflow */
	u64 unasserted; /* without flag, PMINTEN or E */
} __attribute__((aligned(64))) lines[MAX_CPUS];

static void overflow_interrupt(u32 intid, struct exception_frame *frame)
{
	struct overflow_line *line = &lines[smp_id()];
	u64 asserted = pmovsset_el0() & pmintenset_el1() & line->counter_bit;

	if (!asserted || !(pmcr_el0() & PMCR_E))
		line->unasserted++;
	if (line->counter_bit == CYCLES_BIT && (s64)pmccntr_el0() < 0)
		line->early++;
	if (line->remedy == CLEAR_PMINTEN)
		set_pmintenclr_el1(line->counter_bit);
	else if (line->remedy == CLEAR_FLAG || line->handled >= line->leave)
		set_pmovsclr_el0(line->counter_bit);
	__atomic_fetch_add(&line->handled, 1, __ATOMIC_RELEASE);
}

/* The PMU is open, and its interrupt enabled at the GIC, on this CPU; PSTATE.I is the caller's. */
static void open_line(struct overflow_line *line, enum remedy remedy)
{
	*line = (struct overflow_line){ .remedy = remedy, .counter_bit = CYCLES_BIT };
	irq_set_handler(machine()->pmu.intid, overflow_interrupt);
	gic_enable(machine()->pmu.intid);
}

/* false after report_skip(). */
static bool open_interrupt(enum remedy remedy)
{
	if (pmu_version() && !machine()->pmu.intid) {
		report_skip("the devicetree names no PPI for the PMU (arm,armv8-pmuv3)");
		return false;
	}
	if (!pmu_open_counting())
		return false;
	open_line(&lines[smp_id()], remedy);
	set_pmintenset_el1(CYCLES_BIT);
	return true;
}

static void close_interrupt(void)
{
	pmu_close();
	gic_disable(machine()->pmu.intid);
}

static u64 handled(const struct overflow_line *line)
{
	return __atomic_load_n(&line->handled, __ATOMIC_ACQUIRE);
}

static bool wait_handled(struct overflow_line *line, u64 n, u64 timeout_ns)
{
	u64 daif = irq_save();
	bool came;

	irq_enable();
	came = spin_until(handled(line) >= n, timeout_ns);
	irq_restore(daif);
	return came;
}

/* Waits for n interrupts, and a little for more than that. */
static void settle(struct overflow_line *line, u64 n, u64 timeout_ns)
{
	u64 daif = irq_save();

	irq_enable();
	if (!n || wait_handled(line, n, timeout_ns))
		spin_until(handled(line) > n, SETTLE_NS);
	irq_restore(daif);
}

static void judge_line(const struct overflow_line *line, u64 n, const char *when)
{
	report_expect(handled(line) == n, "CPU %ld: %lu interrupts %s, not %lu", line - lines,
		      handled(line), when, n);
	report_expect(!line->early, "CPU %ld: %lu of %lu interrupts came before the overflow",
		      line - lines, line->early, handled(line));
	report_expect(!line->unasserted,
		      "CPU %ld: %lu of %lu interrupts came without flag, PMINTEN or PMCR_EL0.E",
		      line - lines, line->unasserted, handled(line));
}

static void expect_handled(u64 n, const char *when)
{
	struct overflow_line *line = &lines[smp_id()];

	settle(line, n, PMU_WAIT_NS);
	judge_line(line, n, when);
}

static void expect_handled_at_once(u64 n, const char *when)
{
	struct overflow_line *line = &lines[smp_id()];

	settle(line, n, AT_ONCE_NS);
	judge_line(line, n, when);
}

static void interrupt_once(void)
{
	if (!open_interrupt(CLEAR_FLAG))
		return;
	set_pmccntr_el0(-DISTANCE);
	expect_handled(1, "for one overflow");
	close_interrupt();
}

/* So many overflows as the budget allows, at distances from 1 cycle to 10,000. */
static u64 overflow_often(struct overflow_line *line)
{
	struct spin_bound budget;
	u64 n = 0;

	spin_start(&budget, report_budget_ns() / 2);
	do {
		set_pmccntr_el0(-(1 + n * 997 % 10000));
		n++;
	} while (wait_handled(line, n, PMU_WAIT_NS) && n < OVERFLOWS && spin_poll(&budget));
	return n;
}

static void interrupt_many(void)
{
	u64 n;

	if (!open_interrupt(CLEAR_FLAG))
		return;
	n = overflow_often(&lines[smp_id()]);
	report_info("%lu overflows", n);
	expect_handled(n, "for as many overflows");
	close_interrupt();
}

struct overflow_cpus {
	struct smp_barrier barrier;
	u64 overflows[MAX_CPUS];
};

static void overflow_on_cpu(void *arg)
{
	struct overflow_cpus *all = arg;
	struct overflow_line *line = &lines[smp_id()];

	pmu_open();
	pmu_enable_cycles();
	open_line(line, CLEAR_FLAG);
	set_pmintenset_el1(CYCLES_BIT);
	smp_barrier_wait(&all->barrier);
	all->overflows[smp_id()] = overflow_often(line);
	settle(line, all->overflows[smp_id()], PMU_WAIT_NS);
	close_interrupt();
}

static void interrupt_all_cpus(void)
{
	static struct overflow_cpus all;
	u64 sum = 0;

	if (pmu_version() && smp_count() < 2) {
		report_skip("needs 2 CPUs, %d are up", smp_count());
		return;
	}
	if (!open_interrupt(CLEAR_FLAG)) /* decides about the skip */
		return;
	close_interrupt();
	smp_barrier_init(&all.barrier, smp_count());
	on_all_cpus(overflow_on_cpu, &all);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		judge_line(&lines[cpu], all.overflows[cpu], "for its overflows");
		sum += all.overflows[cpu];
	}
	report_info("%lu overflows on %d CPUs", sum, smp_count());
}

static void interrupt_pmintenclr(void)
{
	if (!open_interrupt(CLEAR_FLAG))
		return;
	set_pmintenclr_el1(CYCLES_BIT);
	set_pmccntr_el0(-DISTANCE);
	expect_overflow(BIT(63), "without interrupt");
	expect_handled(0, "with PMINTENSET_EL1 bit 31 clear");
	set_pmintenset_el1(CYCLES_BIT);
	expect_handled_at_once(1, "after PMINTENSET_EL1 bit 31 was set with the flag there");
	close_interrupt();
}

static void interrupt_pmcr_e(void)
{
	if (!open_interrupt(CLEAR_FLAG))
		return;
	set_pmccntr_el0(0);
	set_pmcr_el0(PMCR_LC);
	set_pmovsset_el0(CYCLES_BIT);
	expect_handled(0, "with PMCR_EL0.E clear");
	set_pmcr_el0(PMCR_LC | PMCR_E);
	expect_handled_at_once(1, "after PMCR_EL0.E was set with flag and PMINTEN there");
	close_interrupt();
}

static void interrupt_counter_disabled(void)
{
	if (!open_interrupt(CLEAR_FLAG))
		return;
	set_pmcntenclr_el0(CYCLES_BIT);
	set_pmccntr_el0(0);
	set_pmovsset_el0(CYCLES_BIT);
	expect_handled_at_once(1, "with the counter disabled and its flag set");
	close_interrupt();
}

static void interrupt_by_software(void)
{
	if (!open_interrupt(CLEAR_FLAG))
		return;
	set_pmccntr_el0(0);
	for (int i = 1; i <= 3; i++) {
		set_pmovsset_el0(CYCLES_BIT);
		expect_handled_at_once(i, "after as many writes of PMOVSSET_EL0");
	}
	close_interrupt();
}

static void interrupt_level(void)
{
	if (!open_interrupt(CLEAR_PMINTEN))
		return;
	set_pmccntr_el0(-DISTANCE);
	expect_handled(1, "with PMINTEN cleared by the handler");
	report_expect(flag_set(), "the flag went away by itself");
	set_pmintenset_el1(CYCLES_BIT);
	expect_handled_at_once(2, "after PMINTENSET_EL1 was written again, the flag still set");
	close_interrupt();
}

static void interrupt_asserted(void)
{
	if (!open_interrupt(CLEAR_FLAG_LATER))
		return;
	lines[smp_id()].leave = 5;
	set_pmccntr_el0(-DISTANCE);
	expect_handled(1 + 5, "for a flag left alone five times");
	close_interrupt();
}

static void interrupt_pending(void)
{
	u32 intid = machine()->pmu.intid;
	u64 daif = irq_save();

	if (open_interrupt(CLEAR_FLAG)) {
		report_expect(!gic_is_pending(intid), "pending before any overflow");
		set_pmccntr_el0(-DISTANCE);
		expect_overflow(BIT(63), "with interrupts masked");
		report_expect(spin_until(gic_is_pending(intid), PMU_WAIT_NS),
			      "the flag is set and interrupt %u not pending", intid);
		set_pmovsclr_el0(CYCLES_BIT);
		report_expect(spin_until(!gic_is_pending(intid), PMU_WAIT_NS),
			      "the flag is cleared and interrupt %u still pending", intid);
		irq_restore(daif);
		expect_handled(0, "of a flag cleared before interrupts were let in");
		close_interrupt();
	}
	irq_restore(daif);
}

static void interrupt_event(void)
{
	struct overflow_line *line = &lines[smp_id()];
	struct spin_bound budget;
	u64 n = 0;

	if (pmu_version() && (!pmcr_n() || !pmu_has_event(PMU_EVENT_SW_INCR))) {
		report_skip("no event counter, or no event SW_INCR (PMCEID0_EL0 bit 0)");
		return;
	}
	if (!open_interrupt(CLEAR_FLAG))
		return;
	line->counter_bit = BIT(0);
	set_pmintenclr_el1(CYCLES_BIT);
	set_pmintenset_el1(BIT(0));
	set_pmselr_el0(0);
	set_pmxevtyper_el0(PMU_EVENT_SW_INCR | pmu_filter_here());
	set_pmcntenset_el0(BIT(0));
	spin_start(&budget, report_budget_ns() / 2);
	do {
		set_pmxevcntr_el0(UINT32_MAX);
		set_pmswinc_el0(BIT(0));
		n++;
	} while (wait_handled(line, n, PMU_WAIT_NS) && n < OVERFLOWS && spin_poll(&budget));
	report_info("%lu carries of event counter 0", n);
	expect_handled(n, "for as many carries of event counter 0");
	close_interrupt();
}

/* ---- cost -------------------------------------------------------------------------------------- */

#define COST_WINDOWS 201

/*
 * P3 gave each few cycles an exit to the hypervisor: some hundred times the cost. A core's clock
 * may change in between, from its slowest to its fastest; that is a factor of less than 8.
 */
#define COST_MOST_FACTOR 8

struct cost {
	u64 ticks[COST_WINDOWS]; /* in order */
	u64 count;
};

static void cost_add(struct cost *c, u64 ticks)
{
	u64 i = c->count++;

	for (; i && c->ticks[i - 1] > ticks; i--)
		c->ticks[i] = c->ticks[i - 1];
	c->ticks[i] = ticks;
}

static void measure_cost(struct cost *c, const char *when)
{
	struct spin_bound budget;
	u64 daif = irq_save();

	c->count = 0;
	spin_start(&budget, report_budget_ns() / 4);
	do {
		u64 before_ticks = cntvct_el0();

		pmu_work(PMU_WINDOW / 10);
		cost_add(c, cntvct_el0() - before_ticks);
	} while (c->count < COST_WINDOWS && spin_poll(&budget));
	irq_restore(daif);
	report_info("%s: %lu windows of %lu, median %lu, %lu ticks", when, c->count, c->ticks[0],
		    c->ticks[c->count / 2], c->ticks[c->count - 1]);
}

static void cost_after(void)
{
	static struct cost before, after;

	if (!pmu_open_counting())
		return;
	set_pmccntr_el0(0);
	measure_cost(&before, "before");
	set_pmccntr_el0(-16UL); /* the period that P3 kept */
	expect_overflow(BIT(63), "16 cycles away");
	set_pmovsclr_el0(CYCLES_BIT);
	measure_cost(&after, "after");
	report_expect(after.ticks[after.count / 2] <=
			      COST_MOST_FACTOR * (before.ticks[before.count / 2] + 1),
		      "work took %lu ticks after an overflow, %lu before it (medians of %lu and "
		      "%lu)",
		      after.ticks[after.count / 2], before.ticks[before.count / 2], after.count,
		      before.count);
	pmu_close();
}

int main(void)
{
	return report_run("pmu-overflow", checks, ARRAY_SIZE(checks));
}
