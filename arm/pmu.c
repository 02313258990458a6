/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The PMU's cycle counter, PMCCNTR_EL0 (Arm ARM D11, "The Performance Monitors Extension"): brought
 * up from any state it counts, on every CPU, and a zero count has a named cause; each enable stops
 * it and lets it go on; all 64 bits are kept whatever is switched; PMCR_EL0.N is the same on all
 * CPUs, and still is when a CPU has been off; and the count agrees with time: never backwards,
 * never more than any clock could do, never less than the work takes.
 *
 * A hypervisor that keeps only 32 bits when the counter is stopped fails value (P1); one that
 * resets PMCR_EL0 to the hardware's values at CPU_ON fails number (P10); one whose host has no
 * counter to give fails reliable with zeros. At EL2 nothing is counted unless NSH is set (A22).
 *
 * What is counted includes no time in the hypervisor (KVM), or all of it (an emulator whose cycles
 * are nanoseconds). So "counted" means: at least what the work takes, every time.
 *
 * pmu-filter.c has the filters by exception level, pmu-control.c PMCR_EL0's bits and the event
 * counters, pmu-overflow.c overflows and their interrupts.
*/
#include "libcflat.h"
#include "pmutest.h"
#include <arch/cpu.h>
#include <arch/timer.h>

static void check_present(void);
static void check_reliable(void);
static void check_all_cpus(void);
static void enable_nothing(void);
static void enable_pmcr_e(void);
static void enable_cntenset(void);
static void value_edges(void);
static void value_beyond_32_bits(void);
static void value_toggle_e(void);
static void value_toggle_cntenset(void);
static void value_write_counting(void);
static void value_filter_selected(void);
static void number_counters(void);
static void number_all_cpus(void);
static void number_cpu_off_on(void);
static void rate_monotonic(void);
static void rate_windows(void);

static const struct check enable[] = {
	{ "nothing", enable_nothing,
	  .story = "With nothing enabled the counter stands still, and the cause is named" },
	{ "pmcr-e", enable_pmcr_e,
	  .story = "PMCR_EL0.E alone stops the counter and lets it go on" },
	{ "cntenset", enable_cntenset,
	  .story = "PMCNTENSET_EL0 bit 31 alone stops the counter and lets it go on" },
};

static const struct check value[] = {
	{ "edges", value_edges, .guards = "P1",
	  .story = "What is written is read back while it does not count, in all 64 bits" },
	{ "beyond-32-bits", value_beyond_32_bits, .guards = "P1",
	  .story = "Counting goes on past 2^32 without losing the upper half" },
	{ "toggle-pmcr-e", value_toggle_e, .guards = "P1",
	  .story = "A value beyond 2^32 outlives PMCR_EL0.E going and coming" },
	{ "toggle-cntenset", value_toggle_cntenset, .guards = "P1",
	  .story = "A value beyond 2^32 outlives PMCNTENCLR_EL0 and PMCNTENSET_EL0" },
	{ "write-while-counting", value_write_counting,
	  .story = "A value that is written while it counts is counted on from" },
	{ "filter-by-pmselr", value_filter_selected,
	  .story = "PMXEVTYPER_EL0 is PMCCFILTR_EL0 where PMSELR_EL0 is 31" },
};

static const struct check number[] = {
	{ "counters", number_counters,
	  .story = "The counters that exist, by PMCR_EL0.N, are those that can be enabled" },
	{ "all-cpus", number_all_cpus, .guards = "P10",
	  .story = "PMCR_EL0.N, IMP, IDCODE and PMCEID0_EL0 are the same on all CPUs" },
	{ "cpu-off-on", number_cpu_off_on, .guards = "P10",
	  .story = "They are still the same on a CPU that was off, and its PMU counts" },
};

static const struct check rate[] = {
	{ "monotonic", rate_monotonic,
	  .story = "Never backwards, and no step beyond what the time at 10 GHz holds" },
	{ "windows", rate_windows,
	  .story = "Over windows of work: no fewer cycles than that takes, no more than 10 a ns" },
};

static const struct check checks[] = {
	{ "present", check_present, .story = "PMUVer is true: PMCR_EL0 is there, or is not" },
	{ "reliable", check_reliable, .guards = "A22",
	  .story = "Enabled from nothing, it counts all of the work; all else depends on that" },
	{ "all-cpus", check_all_cpus, .story = "The same on every CPU at once" },
	{ "enable", .checks = enable, .nr_checks = ARRAY_SIZE(enable) },
	{ "value", .checks = value, .nr_checks = ARRAY_SIZE(value) },
	{ "number", .checks = number, .nr_checks = ARRAY_SIZE(number) },
	{ "rate", .checks = rate, .nr_checks = ARRAY_SIZE(rate) },
};

#define WINDOWS 100
#define READS	100000

/* ---- there at all, and counting ---------------------------------------------------------------- */

static void check_present(void)
{
	u64 pmcr, implementer;

	if (!pmu_version()) {
		report_skip("no PMU (ID_AA64DFR0_EL1.PMUVer is %lu)",
			    ID_FIELD(id_aa64dfr0_el1(), 8));
		return;
	}
	if (!report_expect(sysreg_read_safe(pmcr_el0, &pmcr),
			   "ID_AA64DFR0_EL1.PMUVer is %d, but PMCR_EL0 cannot be read",
			   pmu_version()))
		return;
	implementer = pmcr >> 24;
	report_info("PMUVer %d, PMCR_EL0 %#lx: implementer %#lx, %lu event counters, "
		    "PMCEID0_EL0 %#lx; EL3 is %s",
		    pmu_version(), pmcr, implementer, pmcr >> PMCR_N_SHIFT & PMCR_N_MASK,
		    pmceid0_el0(), cpu_has_el3() ? "there" : "not there");
}

static void check_reliable(void)
{
	struct pmu_samples s;

	if (!pmu_open())
		return;
	pmu_enable_cycles();
	pmu_sample(&s, WINDOWS, PMU_WINDOW / 10, report_budget_ns() / 4);
	pmu_judge_samples(&s, smp_id());
	pmu_close();
}

struct cpu_samples {
	struct smp_barrier barrier;
	struct pmu_samples cpu[MAX_CPUS];
};

static void sample_on_cpu(void *arg)
{
	struct cpu_samples *all = arg;

	pmu_open();
	pmu_enable_cycles();
	smp_barrier_wait(&all->barrier);
	pmu_sample(&all->cpu[smp_id()], WINDOWS, PMU_WINDOW / 10, report_budget_ns() / 4);
	pmu_close();
}

static void check_all_cpus(void)
{
	struct cpu_samples *all;

	if (!pmu_version()) {
		pmu_open(); /* says so */
		return;
	}
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, %d are up", smp_count());
		return;
	}
	all = alloc(sizeof(*all));
	smp_barrier_init(&all->barrier, smp_count());
	on_all_cpus(sample_on_cpu, all);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		pmu_judge_samples(&all->cpu[cpu], cpu);
}

/* ---- enables ----------------------------------------------------------------------------------- */

static void enable_nothing(void)
{
	if (!pmu_open_reliable())
		return;
	pmu_expect_stopped(PMU_PMCR_E);
	set_pmcr_el0(PMCR_E | PMCR_LC);
	pmu_expect_stopped(PMU_CNTENSET);
	set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
	pmu_expect_counts("with all enabled");
	pmu_close();
}

static void enable_pmcr_e(void)
{
	if (!pmu_open_counting())
		return;
	pmu_expect_counts("at first");
	set_pmcr_el0(PMCR_LC);
	pmu_expect_stopped(PMU_PMCR_E);
	set_pmcr_el0(PMCR_E | PMCR_LC);
	pmu_expect_counts("with PMCR_EL0.E set again");
	pmu_close();
}

static void enable_cntenset(void)
{
	if (!pmu_open_counting())
		return;
	pmu_expect_counts("at first");
	set_pmcntenclr_el0(PMU_CYCLE_COUNTER_BIT);
	pmu_expect_stopped(PMU_CNTENSET);
	set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
	pmu_expect_counts("with PMCNTENSET_EL0 bit 31 set again");
	pmu_close();
}

/* ---- value ------------------------------------------------------------------------------------- */

static void value_edges(void)
{
	static const u64 edges[] = {
		0,
		1,
		0x7fffffff,
		0x80000000,
		0xffffffff,
		1UL << 32,
		(1UL << 32) - 2,
		(1UL << 32) + 12345,
		0x7fffffffffffffff,
		1UL << 63,
		UINT64_MAX,
	};

	if (!pmu_open_reliable())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(edges); i++) {
		u64 read;

		set_pmccntr_el0(edges[i]);
		read = pmccntr_el0();
		report_expect(read == edges[i], "%#lx was written and %#lx read", edges[i], read);
	}
	report_expect(!(pmovsset_el0() & PMU_CYCLE_COUNTER_BIT),
		      "writing the counter set its overflow flag");
	pmu_close();
}

static void value_beyond_32_bits(void)
{
	static const u64 starts[] = { 0xffffffff, (1UL << 33) - 1, (1UL << 48) - 1,
				      (1UL << 63) - 1 };

	if (!pmu_open_counting())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		u64 since_ticks = cntvct_el0();

		set_pmccntr_el0(starts[i]);
		pmu_work(PMU_WINDOW);
		pmu_expect_from(starts[i], PMU_WORK_LEAST(PMU_WINDOW), since_ticks, "past a carry");
	}
	pmu_close();
}

/* stop and go on: what was counted is kept exactly, twice over. */
static void check_toggle(void (*stop)(void), void (*go)(void), const char *what)
{
	u64 since_ticks, stopped, later;

	if (!pmu_open_counting())
		return;
	for (int round = 0; round < 2; round++) {
		since_ticks = cntvct_el0();
		set_pmccntr_el0(PMU_BEYOND);
		pmu_work(PMU_WINDOW);
		stop();
		pmu_expect_from(PMU_BEYOND, PMU_WORK_LEAST(PMU_WINDOW), since_ticks, what);
		stopped = pmccntr_el0();
		pmu_work(PMU_WINDOW);
		later = pmccntr_el0();
		report_expect(later == stopped, "%s: stopped at %#lx, then %#lx", what, stopped,
			      later);
		since_ticks = cntvct_el0();
		go();
		pmu_work(PMU_WINDOW);
		pmu_expect_from(stopped, PMU_WORK_LEAST(PMU_WINDOW), since_ticks, what);
	}
	pmu_close();
}

static void clear_e(void)
{
	set_pmcr_el0(PMCR_LC);
}

static void set_e(void)
{
	set_pmcr_el0(PMCR_E | PMCR_LC);
}

static void clear_cntenset(void)
{
	set_pmcntenclr_el0(PMU_CYCLE_COUNTER_BIT);
}

static void set_cntenset(void)
{
	set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
}

static void value_toggle_e(void)
{
	check_toggle(clear_e, set_e, "PMCR_EL0.E");
}

static void value_toggle_cntenset(void)
{
	check_toggle(clear_cntenset, set_cntenset, "PMCNTENCLR_EL0 and PMCNTENSET_EL0");
}

static void value_write_counting(void)
{
	static const u64 starts[] = { PMU_BEYOND, 0, 1UL << 62, 77777 };

	if (!pmu_open_counting())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		u64 since_ticks = cntvct_el0();

		set_pmccntr_el0(starts[i]);
		pmu_expect_from(starts[i], 0, since_ticks, "just written");
		pmu_work(PMU_WINDOW);
		pmu_expect_from(starts[i], PMU_WORK_LEAST(PMU_WINDOW), since_ticks,
				"written and counted");
	}
	pmu_close();
}

static void value_filter_selected(void)
{
	if (!pmu_open_reliable())
		return;
	set_pmselr_el0(PMU_CYCLE_COUNTER);
	set_pmxevtyper_el0(PMU_FILTER_U);
	report_expect(pmccfiltr_el0() == PMU_FILTER_U,
		      "U was written to PMXEVTYPER_EL0 and PMCCFILTR_EL0 is %#lx", pmccfiltr_el0());
	set_pmccfiltr_el0(PMU_FILTER_P);
	report_expect(pmxevtyper_el0() == PMU_FILTER_P,
		      "P was written to PMCCFILTR_EL0 and PMXEVTYPER_EL0 is %#lx",
		      pmxevtyper_el0());
	pmu_close();
}

/* ---- number ------------------------------------------------------------------------------------ */

/* All ones can be written; what has no counter reads as 0. */
static void number_counters(void)
{
	u64 expected = PMU_CYCLE_COUNTER_BIT;
	u64 enabled, interrupts, flags;

	if (!pmu_open_reliable())
		return;
	expected |= BIT(pmcr_n()) - 1;
	set_pmcntenset_el0(UINT32_MAX);
	enabled = pmcntenset_el0();
	set_pmcntenclr_el0(UINT32_MAX);
	set_pmovsset_el0(UINT32_MAX);
	flags = pmovsset_el0();
	set_pmovsclr_el0(UINT32_MAX);
	set_pmintenset_el1(UINT32_MAX);
	interrupts = pmintenset_el1();
	set_pmintenclr_el1(UINT32_MAX);
	report_expect(enabled == expected, "PMCNTENSET_EL0 keeps %#lx, with %d event counters",
		      enabled, pmcr_n());
	report_expect(interrupts == expected, "PMINTENSET_EL1 keeps %#lx, with %d event counters",
		      interrupts, pmcr_n());
	report_expect(flags == expected, "PMOVSSET_EL0 keeps %#lx, with %d event counters", flags,
		      pmcr_n());
	report_expect(!pmcntenset_el0() && !pmintenset_el1() && !pmovsset_el0(),
		      "cleared, they are %#lx, %#lx and %#lx, not 0", pmcntenset_el0(),
		      pmintenset_el1(), pmovsset_el0());
	pmu_close();
}

struct identity {
	u64 pmcr; /* N, IMP and IDCODE */
	u64 pmceid0;
	u64 version;
};

static void read_identity(void *arg)
{
	struct identity *id = (struct identity *)arg + smp_id();

	id->pmcr = pmcr_el0() & 0xfffff800;
	id->pmceid0 = pmceid0_el0();
	id->version = pmu_version();
}

static bool expect_identity(const struct identity *id, const struct identity *of_cpu_0, int cpu,
			    const char *when)
{
	return report_expect(id->pmcr == of_cpu_0->pmcr && id->pmceid0 == of_cpu_0->pmceid0 &&
				     id->version == of_cpu_0->version,
			     "CPU %d%s: PMCR_EL0 %#lx, PMCEID0_EL0 %#lx, PMUVer %lu; CPU 0 has "
			     "%#lx, %#lx, %lu",
			     cpu, when, id->pmcr, id->pmceid0, id->version, of_cpu_0->pmcr,
			     of_cpu_0->pmceid0, of_cpu_0->version);
}

/* A PMU and two CPUs; false after a skip. */
static bool have_two_pmus(void)
{
	if (!pmu_version())
		return pmu_open();
	if (smp_count() >= 2)
		return true;
	report_skip("needs 2 CPUs, %d are up", smp_count());
	return false;
}

static void number_all_cpus(void)
{
	static struct identity ids[MAX_CPUS];

	if (!have_two_pmus())
		return;
	on_all_cpus(read_identity, ids);
	for (int cpu = 1; cpu < smp_count(); cpu++)
		expect_identity(&ids[cpu], &ids[0], cpu, "");
	report_info("%lu event counters on %d CPUs", ids[0].pmcr >> PMCR_N_SHIFT & PMCR_N_MASK,
		    smp_count());
}

static void sample_alone(void *arg)
{
	pmu_open();
	pmu_enable_cycles();
	pmu_sample(arg, WINDOWS / 4, PMU_WINDOW / 10, report_budget_ns() / 10);
	pmu_close();
}

static void number_cpu_off_on(void)
{
	static struct identity ids[MAX_CPUS];
	struct pmu_samples s;
	int cpu = smp_count() - 1;

	if (!have_two_pmus())
		return;
	if (!cpu_stop(cpu)) {
		report_skip("firmware does not stop CPU %d (PSCI CPU_OFF)", cpu);
		return;
	}
	if (!cpu_start(cpu)) {
		report_error("CPU %d does not come up again after PSCI CPU_OFF", cpu);
		return;
	}
	read_identity(ids);
	on_cpu(cpu, read_identity, ids);
	expect_identity(&ids[cpu], &ids[0], cpu, ", which was off");
	if (pmu_unreliable())
		return;
	on_cpu(cpu, sample_alone, &s);
	pmu_judge_samples(&s, cpu);
}

/* ---- rate -------------------------------------------------------------------------------------- */

static void rate_monotonic(void)
{
	u64 backwards = 0, steps = 0, stood = 0, largest = 0, beyond = 0, reads = 0;
	struct spin_bound budget;
	u64 last, last_ticks;

	if (!pmu_open_counting())
		return;
	spin_start(&budget, report_budget_ns() / 2);
	last_ticks = cntvct_el0();
	last = pmccntr_el0();
	while (reads < READS && spin_poll(&budget)) {
		u64 before_ticks = cntvct_el0();
		u64 now = pmccntr_el0();
		u64 most = pmu_most_cycles(cntvct_el0() - last_ticks);

		reads++;
		backwards += (s64)(now - last) < 0;
		steps += (s64)(now - last) > 0;
		stood += now == last;
		beyond += (s64)(now - last) > 0 && now - last > most;
		if ((s64)(now - last) > 0)
			largest = MAX(largest, now - last);
		last = now;
		last_ticks = before_ticks;
	}
	pmu_close();
	report_info("%lu reads: %lu steps forward, %lu without one, the largest %lu cycles", reads,
		    steps, stood, largest);
	report_expect(!backwards, "%lu of %lu reads went backwards", backwards, reads);
	report_expect(!beyond, "%lu of %lu steps were more than %d cycles a ns, the largest %lu",
		      beyond, reads, PMU_MOST_PER_NS, largest);
	report_expect(steps, "%lu reads show no step forward", reads);
}

static void rate_windows(void)
{
	struct pmu_samples s;

	if (!pmu_open_counting())
		return;
	pmu_sample(&s, WINDOWS, PMU_WINDOW * 2, report_budget_ns());
	pmu_judge_samples(&s, smp_id());
	if (s.common_low_hz <= s.common_high_hz)
		report_info("one rate fits all windows: %lu to %lu Hz", s.common_low_hz,
			    s.common_high_hz);
	else
		report_info("no one rate fits all windows: the clock changed, or part of the time "
			    "was not counted");
	pmu_close();
}

int main(void)
{
	return report_run("pmu", checks, ARRAY_SIZE(checks));
}
