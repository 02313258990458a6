/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generic timer's two counters, as far as a guest can judge them without the host doing
 * anything: CNTVCT_EL0 and CNTPCT_EL0 never run backwards, neither on one CPU nor from one to the
 * next; they are one counter, a constant apart, the same constant on all CPUs; their timers compare
 * all the bits that the architecture promises; and they run at CNTFRQ_EL0 by the host's own clock.
 *
 * A hypervisor that gives each vCPU another offset fails cross-cpu and offset; one that emulates
 * CNTPCT_EL0 from the wrong timer's state fails bracket (A11); one that applies CNTVOFF_EL2 to the
 * EL2 virtual counter fails offset at EL2 (A7); a host whose counter misreads at a roll-over of its
 * low bits fails monotonic (A21).
 *
 * Arguments: reads=N, handovers=N, window-ms=N, budget-ms=N, el=2; virtual-time: the guest's time
 * is not the host's, so that frequency by the host's clock is skipped.
 */
#include "countertest.h"
#include "libcflat.h"
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/timer.h>

static void width_virtual(void);
static void width_physical(void);
static void monotonic_cntvct(void);
static void monotonic_cntpct(void);
static void monotonic_cntvctss(void);
static void monotonic_cntpctss(void);
static void cross_cpu_cntvct_2(void);
static void cross_cpu_cntvct_4(void);
static void cross_cpu_cntpct_2(void);
static void cross_cpu_cntpct_4(void);
static void cross_cpu_cntvctss_2(void);
static void cross_cpu_cntpctss_2(void);
static void bracket_cntvct_by_cntpct(void);
static void bracket_cntpct_by_cntvct(void);
static void bracket_cntvctss(void);
static void bracket_cntpctss(void);
static void offset_all_cpus(void);
static void offset_cntvoff(void);
static void frequency_all_cpus(void);
static void frequency_devicetree(void);
static void frequency_cntvct(void);
static void frequency_cntpct(void);

/* First: what the other checks take for a counter's width is found here. */
static const struct check width[] = {
	{ "virtual", width_virtual, .guards = "A20",
	  .story = "CNTV_CVAL_EL0 is compared in at least 56 bits, and at least 40 years" },
	{ "physical", width_physical, .guards = "A20",
	  .story = "CNTP_CVAL_EL0 is compared in at least 56 bits, and at least 40 years" },
};

static const struct check monotonic[] = {
	{ "cntvct", monotonic_cntvct, .guards = "A21",
	  .story = "CNTVCT_EL0 never gives less than before on the same CPU" },
	{ "cntpct", monotonic_cntpct, .guards = "A21",
	  .story = "CNTPCT_EL0 never gives less than before on the same CPU" },
	{ "cntvctss", monotonic_cntvctss, .guards = "A21",
	  .story = "CNTVCTSS_EL0 never gives less than before on the same CPU" },
	{ "cntpctss", monotonic_cntpctss, .guards = "A21",
	  .story = "CNTPCTSS_EL0 never gives less than before on the same CPU" },
};

static const struct check cross_cpu[] = {
	{ "cntvct-2", cross_cpu_cntvct_2, .guards = "A21",
	  .story = "CNTVCT_EL0 never gives less than another CPU gave before, 2 CPUs" },
	{ "cntvct-4", cross_cpu_cntvct_4, .guards = "A21", .story = "the same, 4 CPUs" },
	{ "cntpct-2", cross_cpu_cntpct_2, .guards = "A11 A21",
	  .story = "CNTPCT_EL0 never gives less than another CPU gave before, 2 CPUs" },
	{ "cntpct-4", cross_cpu_cntpct_4, .guards = "A11 A21", .story = "the same, 4 CPUs" },
	{ "cntvctss-2", cross_cpu_cntvctss_2, .guards = "A21",
	  .story = "CNTVCTSS_EL0 needs no ISB to be ordered from CPU to CPU" },
	{ "cntpctss-2", cross_cpu_cntpctss_2, .guards = "A21",
	  .story = "CNTPCTSS_EL0 needs no ISB to be ordered from CPU to CPU" },
};

static const struct check bracket[] = {
	{ "cntvct-by-cntpct", bracket_cntvct_by_cntpct, .guards = "A7 A11",
	  .story = "CNTVCT_EL0, read between two CNTPCT_EL0, is a constant apart from them" },
	{ "cntpct-by-cntvct", bracket_cntpct_by_cntvct, .guards = "A7 A11",
	  .story = "CNTPCT_EL0, read between two CNTVCT_EL0, is a constant apart from them" },
	{ "cntvctss-by-cntvct", bracket_cntvctss, .guards = "A11",
	  .story = "CNTVCTSS_EL0 is CNTVCT_EL0" },
	{ "cntpctss-by-cntpct", bracket_cntpctss, .guards = "A11",
	  .story = "CNTPCTSS_EL0 is CNTPCT_EL0, both emulated or both not" },
	{ "offset", offset_all_cpus, .guards = "A7 A11 A14",
	  .story = "CNTPCT_EL0 minus CNTVCT_EL0 is one constant on all CPUs; at EL2 it is 0" },
	{ "cntvoff", offset_cntvoff, .guards = "A7",
	  .story = "at EL2 CNTVCT_EL0 lies between two CNTPCT_EL0, whatever CNTVOFF_EL2 is" },
};

static const struct check frequency[] = {
	{ "cntfrq-all-cpus", frequency_all_cpus, .guards = "A15",
	  .story = "CNTFRQ_EL0 is set, and the same on all CPUs" },
	{ "devicetree", frequency_devicetree,
	  .story = "the devicetree's clock-frequency agrees with CNTFRQ_EL0" },
	{ "cntvct", frequency_cntvct, .guards = "A15",
	  .story = "CNTVCT_EL0 runs at CNTFRQ_EL0 by the host's clock" },
	{ "cntpct", frequency_cntpct, .guards = "A15",
	  .story = "CNTPCT_EL0 runs at CNTFRQ_EL0 by the host's clock" },
};

static const struct check checks[] = {
	{ "width", .checks = width, .nr_checks = ARRAY_SIZE(width) },
	{ "monotonic", .checks = monotonic, .nr_checks = ARRAY_SIZE(monotonic) },
	{ "cross-cpu", .checks = cross_cpu, .nr_checks = ARRAY_SIZE(cross_cpu) },
	{ "bracket", .checks = bracket, .nr_checks = ARRAY_SIZE(bracket) },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

/* Arm ARM, "The system counter": 56 to 64 bits, and no roll-over within 40 years. */
#define WIDTH_MIN	 56
#define ROLLOVER_MIN_SEC (40ULL * 365 * 24 * 3600)

/*
 * The shortest distance of which a compare value is tried: it must not be reached while that is
 * done, not even by a vCPU that does not run for minutes.
 */
#define WIDTH_PROBE_SEC 3600

/*
 * CLOCK_MONOTONIC_RAW is as good as the host kernel's calibration of its own counter, some 100 ppm;
 * an emulator's counter follows CLOCK_MONOTONIC, which NTP slews by up to 500 ppm (adjtimex(2)).
 */
#define TOLERANCE_PPM 600

#define OFFSET_BRACKETS 10000

/* ---- the counters ------------------------------------------------------------------------------ */

static struct counter_ops cntvct = { "CNTVCT_EL0", cntvct_el0, UINT64_MAX, 0 };
static struct counter_ops cntpct = { "CNTPCT_EL0", cntpct_el0, UINT64_MAX, 0 };
static struct counter_ops cntvctss = { "CNTVCTSS_EL0", cntvctss_el0, UINT64_MAX, 0 };
static struct counter_ops cntpctss = { "CNTPCTSS_EL0", cntpctss_el0, UINT64_MAX, 0 };

/* False after report_skip(). */
static bool have_ecv(void)
{
	if (cpu_has_ecv())
		return true;
	report_skip("the CPU has no FEAT_ECV (ID_AA64MMFR0_EL1.ECV is 0)");
	return false;
}

/* ---- width ------------------------------------------------------------------------------------- */

/* Whether the timer's condition is met for this compare value; its interrupt stays masked. */
static bool condition_met(const struct timer_ops *timer, u64 cval)
{
	bool met;

	timer->set_cval(cval);
	timer->set_ctl(TIMER_CTL_ENABLE | TIMER_CTL_IMASK);
	met = timer->ctl() & TIMER_CTL_ISTATUS;
	timer->set_ctl(0);
	return met;
}

/*
 * A compare value 2^bit ahead is not reached yet, unless bits from there on are not compared. A
 * comparison of all 64 bits cannot be told from a counter whose upper bits happen to be 0, and need
 * not be: nothing depends on them.
 */
static int compared_bits(const struct timer_ops *timer)
{
	int bit = 0;

	while (BIT(bit) < clock_hz() * WIDTH_PROBE_SEC)
		bit++;
	for (; bit < 64; bit++) {
		u64 now = timer->count();

		if (now + BIT(bit) > now && condition_met(timer, now + BIT(bit)))
			break;
	}
	return bit;
}

static void set_mask(struct counter_ops *counter, int bits)
{
	counter->mask = bits < 64 ? BIT(bits) - 1 : UINT64_MAX;
}

static u64 seconds_to_rollover(int bits)
{
	return bits < 64 ? BIT(bits) / clock_hz() : UINT64_MAX / clock_hz();
}

static int check_width(const struct timer_ops *timer)
{
	int bits = compared_bits(timer);
	u64 now = timer->count();

	report_expect(bits >= WIDTH_MIN,
		      "the %s takes a compare value 2^%d ticks ahead for reached at count 0x%lx: "
		      "fewer than %d bits",
		      timer->name, bits, now, WIDTH_MIN);
	report_expect(seconds_to_rollover(bits) >= ROLLOVER_MIN_SEC,
		      "%d bits at %lu Hz roll over within %lu s, that is within 40 years", bits,
		      clock_hz(), seconds_to_rollover(bits));
	report_expect(condition_met(timer, now), "the %s does not take its count 0x%lx for reached",
		      timer->name, now);
	report_info("%s: %d bits compared, count 0x%lx", timer->name, bits, now);
	return bits;
}

static void width_virtual(void)
{
	int bits = check_width(&virtual_timer);

	set_mask(&cntvct, bits);
	set_mask(&cntvctss, bits);
}

static void width_physical(void)
{
	int bits = check_width(&physical_timer);

	set_mask(&cntpct, bits);
	set_mask(&cntpctss, bits);
}

/* ---- monotonic, cross-cpu ---------------------------------------------------------------------- */

static void monotonic_cntvct(void)
{
	counter_check_monotonic(&cntvct);
}

static void monotonic_cntpct(void)
{
	counter_check_monotonic(&cntpct);
}

static void monotonic_cntvctss(void)
{
	if (have_ecv())
		counter_check_monotonic(&cntvctss);
}

static void monotonic_cntpctss(void)
{
	if (have_ecv())
		counter_check_monotonic(&cntpctss);
}

static void cross_cpu_cntvct_2(void)
{
	counter_check_cross_cpu(&cntvct, 2);
}

static void cross_cpu_cntvct_4(void)
{
	counter_check_cross_cpu(&cntvct, 4);
}

static void cross_cpu_cntpct_2(void)
{
	counter_check_cross_cpu(&cntpct, 2);
}

static void cross_cpu_cntpct_4(void)
{
	counter_check_cross_cpu(&cntpct, 4);
}

static void cross_cpu_cntvctss_2(void)
{
	if (have_ecv())
		counter_check_cross_cpu(&cntvctss, 2);
}

static void cross_cpu_cntpctss_2(void)
{
	if (have_ecv())
		counter_check_cross_cpu(&cntpctss, 2);
}

/* ---- bracket ----------------------------------------------------------------------------------- */

static void bracket_cntvct_by_cntpct(void)
{
	counter_check_bracket(&cntpct, &cntvct, 0);
}

static void bracket_cntpct_by_cntvct(void)
{
	counter_check_bracket(&cntvct, &cntpct, 0);
}

static void bracket_cntvctss(void)
{
	if (have_ecv())
		counter_check_bracket(&cntvct, &cntvctss, 0);
}

static void bracket_cntpctss(void)
{
	if (have_ecv())
		counter_check_bracket(&cntpct, &cntpctss, 0);
}

/* Where CNTPCT_EL0 minus CNTVCT_EL0 lies, by all brackets of one CPU. */
struct offset {
	s64 low, high; /* low > high: no one offset agrees with all of them */
	u64 brackets;
};

static void offset_narrow(struct offset *o, s64 low, s64 high)
{
	o->low = MAX(o->low, low);
	o->high = MIN(o->high, high);
}

/* P V P V: each counter is bracketed by the other in the same four reads. */
static void measure_offset(void *arg)
{
	struct offset *o = (struct offset *)arg + smp_id();
	struct spin_bound budget;

	*o = (struct offset){ INT64_MIN, INT64_MAX, 0 };
	spin_start(&budget, report_budget_ns() / 5);
	while (o->brackets < OFFSET_BRACKETS && spin_poll(&budget)) {
		u64 p1 = cntpct_el0();
		u64 v1 = cntvct_el0();
		u64 p2 = cntpct_el0();
		u64 v2 = cntvct_el0();

		offset_narrow(o, p1 - v1, p2 - v1);
		offset_narrow(o, p2 - v2, p2 - v1);
		o->brackets += 2;
	}
}

/* The same on all CPUs, and during all of the measurement. */
static void offset_all_cpus(void)
{
	static struct offset offsets[MAX_CPUS];
	struct offset all = { INT64_MIN, INT64_MAX, 0 };

	report_info("at first CNTPCT_EL0 is 0x%lx, CNTVCT_EL0 is 0x%lx", cntpct_el0(),
		    cntvct_el0());
	on_all_cpus(measure_offset, offsets);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		const struct offset *o = &offsets[cpu];

		report_expect(o->low <= o->high,
			      "CPU %d: no constant is CNTPCT_EL0 - CNTVCT_EL0 in all of %lu "
			      "brackets: at least %ld, at most %ld",
			      cpu, o->brackets, o->low, o->high);
		report_expect(o->low <= all.high && o->high >= all.low,
			      "CPU %d has CNTPCT_EL0 - CNTVCT_EL0 in [%ld, %ld], the CPUs before "
			      "it in [%ld, %ld]",
			      cpu, o->low, o->high, all.low, all.high);
		offset_narrow(&all, o->low, o->high);
		all.brackets += o->brackets;
	}
	if (current_el() == 2)
		report_expect(all.low <= 0 && all.high >= 0,
			      "at EL2 CNTVCT_EL0 has no offset, but CNTPCT_EL0 - CNTVCT_EL0 is in "
			      "[%ld, %ld]",
			      all.low, all.high);
	report_info("CNTPCT_EL0 - CNTVCT_EL0 is in [%ld, %ld] ticks, by %lu brackets on %d CPUs",
		    all.low, all.high, all.brackets, smp_count());
}

/*
 * No loop that goes by the clock while the offset is set: it is by CNTVCT_EL0, which would jump if
 * the offset were applied to it.
 */
static void offset_cntvoff(void)
{
	u64 old, before, between, after;
	bool lies_between = true;

	if (current_el() != 2) {
		report_skip("CNTVOFF_EL2 is not EL%d's to set", current_el());
		return;
	}
	old = cntvoff_el2();
	for (int i = 0; i < OFFSET_BRACKETS && lies_between; i++) {
		set_cntvoff_el2(i % 2 ? -(1ULL << 40) : 1ULL << 40);
		before = cntpct_el0();
		between = cntvct_el0();
		after = cntpct_el0();
		lies_between = before <= between && between <= after;
	}
	set_cntvoff_el2(old);
	report_expect(lies_between, "CNTVCT_EL0 is 0x%lx between CNTPCT_EL0 0x%lx and 0x%lx",
		      between, before, after);
}

/* ---- frequency --------------------------------------------------------------------------------- */

static void read_cntfrq(void *arg)
{
	((u64 *)arg)[smp_id()] = cntfrq_el0();
}

static void frequency_all_cpus(void)
{
	static u64 hz[MAX_CPUS];

	on_all_cpus(read_cntfrq, hz);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		report_expect(hz[cpu] != 0, "CNTFRQ_EL0 is 0 on CPU %d", cpu);
		report_expect(hz[cpu] == hz[0], "CNTFRQ_EL0 is %lu on CPU %d and %lu on CPU 0",
			      hz[cpu], cpu, hz[0]);
	}
	report_info("CNTFRQ_EL0 is %lu on %d CPUs", hz[0], smp_count());
}

static void frequency_devicetree(void)
{
	u64 hz = machine()->timer_clock_hz;

	if (!hz) {
		report_skip("the devicetree's timer has no clock-frequency");
		return;
	}
	if (!cntfrq_el0()) {
		report_skip("CNTFRQ_EL0 is 0: nothing to compare with");
		return;
	}
	report_expect(hz == cntfrq_el0(), "the devicetree says %lu Hz, CNTFRQ_EL0 %lu Hz", hz,
		      cntfrq_el0());
}

static void check_frequency(const struct counter_ops *counter)
{
	struct hz_interval measured;

	if (counter_measure_hz(counter, counter_window_ns(), &measured))
		counter_judge_hz(clock_hz_source(), clock_hz(), TOLERANCE_PPM, &measured);
}

static void frequency_cntvct(void)
{
	check_frequency(&cntvct);
}

static void frequency_cntpct(void)
{
	check_frequency(&cntpct);
}

int main(void)
{
	cntvct.hz = cntpct.hz = cntvctss.hz = cntpctss.hz = clock_hz();
	return report_run("counter", checks, ARRAY_SIZE(checks));
}
