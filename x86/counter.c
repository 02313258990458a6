// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time-stamp counter, as far as a guest can judge it without the host doing anything: it never
 * runs backwards, neither on one CPU nor from one to the next; it has all its 64 bits and is the
 * same counter by each instruction that reads it; other clocks run beside it at one constant rate;
 * and it runs at the frequency that CPUID and kvmclock advertise, by the host's own clock.
 *
 * A hypervisor that gives each vCPU another offset fails cross-cpu; one that scales it wrongly or
 * restores it with another frequency fails rate, bracket or frequency.
 *
 * Arguments: reads=N, handovers=N, window-ms=N, budget-ms=N; virtual-time: the guest's time is not
 * the host's, so that frequency is skipped.
 */
#include "countertest.h"
#include "libcflat.h"
#include <arch/cpuid.h>
#include <arch/msr.h>
#include <arch/pvclock.h>
#include <arch/refclock.h>
#include <arch/tsc.h>
#include <arch/tsc_hz.h>

static void monotonic_rdtsc(void);
static void monotonic_rdtscp(void);
static void monotonic_kvmclock(void);
static void cross_cpu_2(void);
static void cross_cpu_4(void);
static void cross_cpu_rdtscp_2(void);
static void cross_cpu_rdtscp_4(void);
static void cross_cpu_kvmclock_2(void);
static void cross_cpu_kvmclock_4(void);
static void width(void);
static void same_rdtscp(void);
static void same_msr(void);
static void bracket_kvmclock_by_tsc(void);
static void bracket_tsc_by_kvmclock(void);
static void rate_pm_timer(void);
static void rate_hpet(void);
static void rate_pit(void);
static void frequency_measured(void);
static void frequency_cpuid_15(void);
static void frequency_cpuid_16(void);
static void frequency_hypervisor_leaf(void);
static void frequency_kvmclock(void);

static const struct check monotonic[] = {
	{ "rdtsc", monotonic_rdtsc, .guards = "T7",
	  .story = "RDTSC never gives less than before on the same CPU" },
	{ "rdtscp", monotonic_rdtscp, .guards = "T7",
	  .story = "RDTSCP never gives less than before on the same CPU" },
	{ "kvmclock", monotonic_kvmclock, .guards = "K8 K19",
	  .story = "kvmclock never gives less than before on the same CPU" },
};

static const struct check cross_cpu[] = {
	{ "2", cross_cpu_2, .guards = "T2 T7",
	  .story = "RDTSC never gives less than another CPU gave before, 2 CPUs" },
	{ "4", cross_cpu_4, .guards = "T2 T7",
	  .story = "RDTSC never gives less than another CPU gave before, 4 CPUs" },
	{ "rdtscp-2", cross_cpu_rdtscp_2, .guards = "T2 T7",
	  .story = "the same by RDTSCP, 2 CPUs" },
	{ "rdtscp-4", cross_cpu_rdtscp_4, .guards = "T2 T7",
	  .story = "the same by RDTSCP, 4 CPUs" },
	{ "kvmclock-2", cross_cpu_kvmclock_2, .guards = "K19",
	  .story = "the same for kvmclock, 2 CPUs" },
	{ "kvmclock-4", cross_cpu_kvmclock_4, .guards = "K19",
	  .story = "the same for kvmclock, 4 CPUs" },
};

static const struct check same[] = {
	{ "rdtscp", same_rdtscp, .guards = "H2", .story = "RDTSCP lies between two RDTSC" },
	{ "msr", same_msr, .guards = "H1",
	  .story = "IA32_TSC, read between two RDTSC, lies between them" },
};

static const struct check bracket[] = {
	{ "kvmclock-by-tsc", bracket_kvmclock_by_tsc, .guards = "K3 K7",
	  .story = "kvmclock, read between two TSC reads, keeps its difference to them" },
	{ "tsc-by-kvmclock", bracket_tsc_by_kvmclock, .guards = "K3 K7",
	  .story = "the TSC, read between two kvmclock reads, keeps its difference to them" },
};

static const struct check rate[] = {
	{ "pm-timer", rate_pm_timer, .guards = "T5 T7",
	  .story = "one rate by the PM timer fits all brackets" },
	{ "hpet", rate_hpet, .guards = "T5 T7", .story = "one rate by the HPET fits all brackets" },
	{ "pit", rate_pit, .guards = "T5 T7", .story = "one rate by the PIT fits all brackets" },
};

static const struct check frequency[] = {
	{ "measured", frequency_measured, .guards = "T5",
	  .story = "one frequency by the host's clock fits all stamps" },
	{ "cpuid-0x15", frequency_cpuid_15, .guards = "T5",
	  .story = "the TSC runs as CPUID 0x15 says" },
	{ "cpuid-0x16", frequency_cpuid_16, .guards = "T5",
	  .story = "the TSC runs as CPUID 0x16 says" },
	{ "cpuid-0x40000010", frequency_hypervisor_leaf, .guards = "T5 H2",
	  .story = "the TSC runs as the hypervisor's timing leaf says" },
	{ "kvmclock", frequency_kvmclock, .guards = "K3 K10",
	  .story = "the TSC runs as kvmclock's mul and shift say" },
};

static const struct check checks[] = {
	{ "monotonic", .checks = monotonic, .nr_checks = ARRAY_SIZE(monotonic) },
	{ "cross-cpu", .checks = cross_cpu, .nr_checks = ARRAY_SIZE(cross_cpu) },
	{ "width", width, .guards = "T7",
	  .story = "no bit of the TSC is stuck, and none is missing" },
	{ "same", .checks = same, .nr_checks = ARRAY_SIZE(same) },
	{ "bracket", .checks = bracket, .nr_checks = ARRAY_SIZE(bracket) },
	{ "rate", .checks = rate, .nr_checks = ARRAY_SIZE(rate) },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

#define BRACKETS       10000
#define RATE_WINDOW_NS 100000000UL
/* PIT channel 0 runs out after 54.9 ms; being descheduled within is found out and tried again. */
#define PIT_WINDOW_NS 20000000UL
#define PIT_ATTEMPTS  5

/*
 * What a source leaves open. The host's CLOCK_MONOTONIC_RAW is itself as good as the host kernel's
 * calibration of its counter, some 100 ppm. Leaf 16H is the specification's figure in whole MHz
 * and is not meant to tell the time by (SDM vol. 2, CPUID).
 */
#define TOLERANCE_PPM	       300
#define TOLERANCE_CPUID_16_PPM 10000

/* ---- the counters ------------------------------------------------------------------------------ */

static struct counter_ops tsc = { "RDTSC", clock_ticks, UINT64_MAX, 0 };
static struct counter_ops tsc_by_rdtscp = { "RDTSCP", rdtscp_ordered, UINT64_MAX, 0 };
static const struct counter_ops kvmclock = { "kvmclock", pvclock_read_ns, UINT64_MAX,
					     NSEC_PER_SEC };

/* kvmclock as it was at one instant, for the TSC in nanoseconds. */
static struct pvclock_vcpu_time_info scale;

static u64 read_tsc_as_ns(void)
{
	return pvclock_at(&scale, rdtsc_ordered());
}

static const struct counter_ops tsc_as_ns = { "TSC in ns", read_tsc_as_ns, UINT64_MAX,
					      NSEC_PER_SEC };

/* False after report_skip(). */
static bool have_rdtscp(void)
{
	if (cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_RDTSCP)
		return true;
	report_skip("CPUID offers no RDTSCP");
	return false;
}

static bool offer_kvmclock(void)
{
	if (pvclock_offered())
		return true;
	report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
	return false;
}

static void enable_kvmclock_here(void *failed)
{
	if (!pvclock_enable() || pvclock_page()->version == 0)
		__atomic_store_n((u32 *)failed, 1, __ATOMIC_RELAXED);
}

static void disable_kvmclock_here(void *arg)
{
	pvclock_disable();
}

/* On all CPUs; false after a verdict. Each user ends with on_all_cpus(disable_kvmclock_here). */
static bool enable_kvmclock(void)
{
	u32 failed = 0;

	if (!offer_kvmclock())
		return false;
	on_all_cpus(enable_kvmclock_here, &failed);
	return report_expect(
		!failed, "MSR_KVM_SYSTEM_TIME_NEW is offered, but writing it raises #GP or gives "
			 "no time");
}

/* ---- monotonic, cross-cpu ---------------------------------------------------------------------- */

static void monotonic_rdtsc(void)
{
	counter_check_monotonic(&tsc);
}

static void monotonic_rdtscp(void)
{
	if (have_rdtscp())
		counter_check_monotonic(&tsc_by_rdtscp);
}

static void monotonic_kvmclock(void)
{
	if (!enable_kvmclock())
		return;
	counter_check_monotonic(&kvmclock);
	on_all_cpus(disable_kvmclock_here, NULL);
}

static void cross_cpu_2(void)
{
	counter_check_cross_cpu(&tsc, 2);
}

static void cross_cpu_4(void)
{
	counter_check_cross_cpu(&tsc, 4);
}

static void cross_cpu_rdtscp_2(void)
{
	if (have_rdtscp())
		counter_check_cross_cpu(&tsc_by_rdtscp, 2);
}

static void cross_cpu_rdtscp_4(void)
{
	if (have_rdtscp())
		counter_check_cross_cpu(&tsc_by_rdtscp, 4);
}

static void cross_cpu_kvmclock(int cpus)
{
	/* Before anything is enabled and noted as passed: a SKIP stands alone. */
	if (smp_count() < cpus) {
		report_skip("needs %d CPUs, %d are up", cpus, smp_count());
		return;
	}
	if (!enable_kvmclock())
		return;
	counter_check_cross_cpu(&kvmclock, cpus);
	on_all_cpus(disable_kvmclock_here, NULL);
}

static void cross_cpu_kvmclock_2(void)
{
	cross_cpu_kvmclock(2);
}

static void cross_cpu_kvmclock_4(void)
{
	cross_cpu_kvmclock(4);
}

/* ---- width, same ------------------------------------------------------------------------------- */

static int highest_bit(u64 value)
{
	return value ? 63 - __builtin_clzll(value) : -1;
}

/*
 * Bits that change are not stuck; those above the highest that is set cannot be told from here, as
 * long as the counter is not written. All bits that a window of this length must change, did.
 */
static void width(void)
{
	u64 start = rdtsc_ordered(), last = start, changed = 0, now = start;
	struct spin_bound bound;

	spin_start(&bound, report_budget_ns() / 10);
	do {
		now = rdtsc_ordered();
		changed |= now ^ last;
		last = now;
	} while (spin_poll(&bound));
	report_expect(now > start, "the TSC went from 0x%lx to 0x%lx", start, now);
	/* Bits below the highest of the distance travelled have all turned over on the way. */
	for (int bit = 4; bit < highest_bit(now - start); bit++)
		report_expect(changed & BIT(bit),
			      "bit %d of the TSC did not change while it went "
			      "from 0x%lx to 0x%lx",
			      bit, start, now);
	report_info("the TSC is at 0x%lx: bit %d is the highest that is set, of 64", now,
		    highest_bit(now));
}

/* Absolute, all 64 bits: the same counter, not one like it. */
static void check_same(const char *name, u64 (*read)(void))
{
	u64 before, between, after, tightest = UINT64_MAX;

	for (int i = 0; i < BRACKETS; i++) {
		before = rdtsc_ordered();
		between = read();
		after = rdtsc_ordered();
		tightest = MIN(tightest, after - before);
		if (!report_expect(before <= between && between <= after,
				   "%s gives 0x%lx between RDTSC's 0x%lx and 0x%lx", name, between,
				   before, after))
			return;
	}
	report_info("%s between two RDTSC: %d brackets, tightest %lu ticks", name, BRACKETS,
		    tightest);
}

static void same_rdtscp(void)
{
	if (have_rdtscp())
		check_same("RDTSCP", rdtscp_ordered);
}

static u64 read_msr_tsc(void)
{
	return rdmsr(MSR_IA32_TSC);
}

static void same_msr(void)
{
	u64 value;

	if (rdmsr_safe(MSR_IA32_TSC, &value) != NO_EXCEPTION)
		report_fail("RDMSR of IA32_TSC raises an exception");
	else
		check_same("IA32_TSC", read_msr_tsc);
}

/* ---- bracket ----------------------------------------------------------------------------------- */

/*
 * Only where the hypervisor promises that its clock is the TSC, scaled: without the flag it may
 * follow another clock of the host and drift against the TSC. 2 ns: both roundings.
 */
static void bracket_kvmclock(const struct counter_ops *outer, const struct counter_ops *inner)
{
	if (!offer_kvmclock())
		return;
	if (!pvclock_enable() || !pvclock_copy(&scale)) {
		report_fail("MSR_KVM_SYSTEM_TIME_NEW is offered, but gives no time");
		return;
	}
	if (!(scale.flags & PVCLOCK_TSC_STABLE))
		report_skip("kvmclock is not marked as stable against the TSC");
	else
		counter_check_bracket(outer, inner, 2);
	pvclock_disable();
}

static void bracket_kvmclock_by_tsc(void)
{
	bracket_kvmclock(&tsc_as_ns, &kvmclock);
}

static void bracket_tsc_by_kvmclock(void)
{
	bracket_kvmclock(&kvmclock, &tsc_as_ns);
}

/* ---- rate -------------------------------------------------------------------------------------- */

static void check_rate(struct refclock *clock, u64 window_ns)
{
	struct hz_interval interval;
	struct counter_ops reference;
	const char *why;

	if (!clock->probe(&why)) {
		report_skip("%s", why);
		return;
	}
	reference = (struct counter_ops){ clock->name, clock->read, clock->mask, clock->hz };
	counter_check_rate(&tsc, &reference, window_ns, &interval);
}

static void rate_pm_timer(void)
{
	check_rate(&refclock_pm_timer, RATE_WINDOW_NS);
}

static void rate_hpet(void)
{
	check_rate(&refclock_hpet, RATE_WINDOW_NS);
}

/* It counts only once through: several windows of its own length instead of one long one. */
static void rate_pit(void)
{
	struct hz_interval all = { 0, UINT64_MAX, 0 }, one;
	const char *why;
	int windows = 0;

	if (!refclock_pit.probe(&why)) {
		report_skip("%s", why);
		return;
	}
	for (int i = 0; i < PIT_ATTEMPTS; i++) {
		if (!refclock_measure_tsc(&refclock_pit, PIT_WINDOW_NS, &one.low, &one.high))
			continue;
		windows++;
		if (!report_expect(one.low <= all.high && one.high >= all.low,
				   "window %d gives %lu to %lu Hz, the former %lu to %lu Hz",
				   windows, one.low, one.high, all.low, all.high))
			return;
		all.low = MAX(all.low, one.low);
		all.high = MIN(all.high, one.high);
	}
	if (windows < 2)
		report_error("in %d attempts this CPU was not run for more than 35 ms or the PIT "
			     "stood still",
			     PIT_ATTEMPTS);
	report_info("RDTSC by pit: %lu to %lu Hz in %d windows of %lu ms", all.low, all.high,
		    windows, PIT_WINDOW_NS / NSEC_PER_MSEC);
}

/* ---- frequency --------------------------------------------------------------------------------- */

/* Measured once, for all sources; *measured is good where it returns true. */
static bool measure_once(struct hz_interval *measured)
{
	static struct hz_interval interval;
	static bool tried;

	if (interval.high == 0 && tried) {
		report_error("the frequency could not be measured: see frequency/measured");
		return false;
	}
	tried = true;
	if (interval.high == 0 && !counter_measure_hz(&tsc, counter_window_ns(), &interval)) {
		interval.high = 0;
		return false;
	}
	*measured = interval;
	return true;
}

static void frequency_measured(void)
{
	struct hz_interval measured;

	if (!measure_once(&measured))
		return;
	report_info("TSC: %lu to %lu Hz over %lu ms of the host's clock; this image uses %lu Hz "
		    "(%s)",
		    measured.low, measured.high, (measured.window_ns / NSEC_PER_MSEC), clock_hz(),
		    clock_hz_source());
}

static void check_advertised(const char *source, u64 hz, u64 tolerance_ppm)
{
	struct hz_interval measured;

	if (!hz)
		report_skip("%s advertises no frequency", source);
	else if (args_has("virtual-time"))
		report_skip("virtual time: the host's clock says nothing about this guest's");
	else if (measure_once(&measured))
		counter_judge_hz(source, hz, tolerance_ppm, &measured);
}

static void frequency_cpuid_15(void)
{
	check_advertised("CPUID 0x15", tsc_hz_cpuid_15(), TOLERANCE_PPM);
}

static void frequency_cpuid_16(void)
{
	check_advertised("CPUID 0x16", tsc_hz_cpuid_16(), TOLERANCE_CPUID_16_PPM);
}

static void frequency_hypervisor_leaf(void)
{
	check_advertised("CPUID 0x40000010", tsc_hz_hypervisor_leaf(), TOLERANCE_PPM);
}

static void frequency_kvmclock(void)
{
	check_advertised("kvmclock", tsc_hz_pvclock(), TOLERANCE_PPM);
}

int main(void)
{
	tsc.hz = clock_hz();
	tsc_by_rdtscp.hz = clock_hz();
	return report_run("counter", checks, ARRAY_SIZE(checks));
}
