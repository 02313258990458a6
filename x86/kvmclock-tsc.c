// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmclock while the guest moves its TSC, by IA32_TSC_ADJUST or by IA32_TSC itself: the hypervisor has
 * to write the page anew before the guest goes on, since the clock is the TSC's distance from a value
 * in the page. It must go on as if nothing had been, on the CPU that was moved and on the others.
 *
 * A hypervisor that leaves the page as it is lets the clock jump by the amount; one that computes a
 * negative distance as a large one lets it jump by centuries (T8).
 *
 * How far the clock may have gone is known by TSC - IA32_TSC_ADJUST, which no write moves; so
 * IA32_TSC_ADJUST is needed.
 *
 * Arguments: budget-ms=N.
 */
#include "kvmclocktest.h"
#include "libcflat.h"
#include "tsctest.h"
#include <arch/msr.h>
#include <arch/tsc.h>

static void by_adjust(void);
static void by_tsc(void);
static void cross_cpu(void);

static const s64 second = 1, minus_second = -1, hour = 3600, minus_hour = -3600;

#define BY(name_, seconds_, fn_, story_)                                                          \
	{                                                                                         \
		.name = name_, .run = fn_, .guards = "T8", .subject = &seconds_, .story = story_, \
	}

static const struct check adjust_amounts[] = {
	BY("second", second, by_adjust, "by a second"),
	BY("minus-second", minus_second, by_adjust, "back by a second"),
	BY("hour", hour, by_adjust, "by an hour"),
	BY("minus-hour", minus_hour, by_adjust, "back by an hour, to before the start"),
};

static const struct check tsc_amounts[] = {
	BY("second", second, by_tsc, "by a second"),
	BY("minus-second", minus_second, by_tsc, "back by a second"),
	BY("hour", hour, by_tsc, "by an hour"),
	BY("minus-hour", minus_hour, by_tsc, "back by an hour, to before the start"),
};

static const struct check checks[] = {
	{ "adjust", .checks = adjust_amounts, .nr_checks = ARRAY_SIZE(adjust_amounts) },
	{ "tsc", .checks = tsc_amounts, .nr_checks = ARRAY_SIZE(tsc_amounts) },
	{ "cross-cpu", cross_cpu, .guards = "T8",
	  .story = "one CPU's TSC is moved, and all CPUs' clocks remain one" },
};

#define READS  200
#define ROUNDS 20
/* What two clocks of a machine may be apart: IA-PC HPET specification 1.0a, 2.4.1. */
#define CLOCKS_PPM 500
#define PPM	   1000000UL

/* False after report_skip(). */
static bool offered(void)
{
	if (tsc_adjust_offered())
		return true;
	report_skip("CPUID offers no IA32_TSC_ADJUST");
	return false;
}

/*
 * What kvmclock may have gone on by, in ns, where so many ticks passed at most: a hypervisor that
 * computes the page anew by the host's clock may correct it by what the two clocks went apart since
 * the last time, which is as far back as the clock's beginning.
 */
static u64 most_ns(u64 ticks, u64 clock_ns)
{
	u64 ns = ticks_to_ns(ticks, clock_hz());

	return ns + (ns + clock_ns) / PPM * CLOCKS_PPM + NSEC_PER_USEC;
}

/* Reads the clock many times after the TSC was moved: on it goes, and as TSC - IA32_TSC_ADJUST does. */
static bool expect_clock_goes_on(u64 first_ns, u64 first_unmoved, const char *when)
{
	u64 last_ns = first_ns;
	struct spin_bound budget;

	spin_start(&budget, report_budget_ns() / ROUNDS);
	for (int i = 0; i < READS && (i == 0 || spin_poll(&budget)); i++) {
		u64 now_ns = pvclock_read_ns();
		u64 most = most_ns(tsc_unmoved() - first_unmoved, first_ns);

		if (!report_expect(now_ns >= last_ns, "%s, kvmclock went back from %lu to %lu ns",
				   when, last_ns, now_ns) ||
		    !report_expect(now_ns - first_ns <= most,
				   "%s, kvmclock went from %lu to %lu ns, while no more than %lu "
				   "passed",
				   when, first_ns, now_ns, most))
			return false;
		last_ns = now_ns;
	}
	return true;
}

static void check_kvmclock(u32 msr)
{
	u64 adjust, ticks, unmoved, now_ns;
	bool right = true;

	if (!offered() || !kvmclock_open())
		return;
	adjust = tsc_adjust();
	ticks = *(const s64 *)report_subject() * clock_hz();
	for (int round = 0; right && round < ROUNDS; round++) {
		unmoved = tsc_unmoved();
		now_ns = pvclock_read_ns();
		if (msr == MSR_IA32_TSC)
			wrmsr(msr, rdtsc_ordered() + ticks);
		else
			wrmsr(msr, adjust + ticks);
		right = expect_clock_goes_on(now_ns, unmoved, "with the TSC moved");
		unmoved = tsc_unmoved();
		now_ns = pvclock_read_ns();
		wrmsr(MSR_IA32_TSC_ADJUST, adjust);
		right = right && expect_clock_goes_on(now_ns, unmoved, "with the TSC put back");
	}
	kvmclock_close();
}

static void by_adjust(void)
{
	check_kvmclock(MSR_IA32_TSC_ADJUST);
}

static void by_tsc(void)
{
	check_kvmclock(MSR_IA32_TSC);
}

static void read_clock_here(void *now_ns)
{
	*(u64 *)now_ns = pvclock_read_ns();
}

static bool expect_clocks_agree(const char *when)
{
	struct spin_bound budget;
	bool right = true;

	spin_start(&budget, report_budget_ns() / 3);
	for (int i = 0; right && i < READS && (i == 0 || spin_poll(&budget)); i++) {
		for (int cpu = 1; right && cpu < smp_count(); cpu++) {
			u64 before_ns = pvclock_read_ns(), after_ns, now_ns;

			on_cpu(cpu, read_clock_here, &now_ns);
			after_ns = pvclock_read_ns();
			right = report_expect(before_ns <= now_ns && now_ns <= after_ns,
					      "%s, CPU %d's kvmclock is at %lu ns, between %lu and "
					      "%lu on CPU 0",
					      when, cpu, now_ns, before_ns, after_ns);
		}
	}
	return right;
}

/* Without the stable flag nothing is promised across CPUs. */
static void cross_cpu(void)
{
	u64 adjust;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	if (!offered() || !kvmclock_open_stable())
		return;
	adjust = tsc_adjust();
	if (expect_clocks_agree("at first")) {
		wrmsr(MSR_IA32_TSC_ADJUST, adjust + clock_hz());
		expect_clocks_agree("with CPU 0's TSC moved");
		wrmsr(MSR_IA32_TSC_ADJUST, adjust);
		expect_clocks_agree("with CPU 0's TSC put back");
	}
	kvmclock_close();
}

int main(void)
{
	return report_run("kvmclock-tsc", checks, ARRAY_SIZE(checks));
}
