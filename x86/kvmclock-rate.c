// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmclock against the TSC that it is made of, and against the host's clock: it is what mul and shift
 * make of the TSC, stays so however often its page is computed anew, and runs as fast as it says.
 *
 * A hypervisor that computes the page from another clock each time, or keeps a frequency of the TSC
 * that its own clock has left behind, makes it step: residual (K3, K8). One that rounds or mistakes
 * the TSC's frequency fails frequency (K10).
 *
 * Arguments: window-ms=N, of the residual (3000) and of the host's clock (200); budget-ms=N.
 */
#include "countertest.h"
#include "kvmclocktest.h"
#include "libcflat.h"
#include <arch/lapic_timer.h>
#include <arch/tsc.h>
#include <arch/tsc_hz.h>

static void bracket_by_tsc(void);
static void bracket_tsc(void);
static void residual_quiet(void);
static void residual_rewritten(void);
static void residual_snapshots(void);
static void frequency_all_cpus(void);
static void frequency_cpuid(void);
static void frequency_measured(void);
static void frequency_clock(void);

static const struct check bracket[] = {
	{ "by-tsc", bracket_by_tsc, .guards = "K3",
	  .story = "between two reads of the TSC, scaled, it keeps its difference to them" },
	{ "tsc", bracket_tsc, .guards = "K3",
	  .story = "the TSC, scaled, keeps its difference between two reads of it" },
};

static const struct check residual[] = {
	{ "quiet", residual_quiet, .guards = "K3 K8",
	  .story = "over the window the clock stays what the first page made of the TSC" },
	{ "rewritten", residual_rewritten, .guards = "K3",
	  .story = "writing the MSR anew gives the same clock: a gratuitous step shows" },
	{ "snapshots", residual_snapshots, .guards = "K3",
	  .story = "a new look at the host's clock moves it by no more than the rates differ" },
};

static const struct check frequency[] = {
	{ "same-on-all-cpus", frequency_all_cpus, .guards = "T2",
	  .story = "mul and shift are the same on all CPUs" },
	{ "cpuid", frequency_cpuid, .guards = "K10",
	  .story = "mul and shift say what CPUID says of the TSC" },
	{ "tsc-measured", frequency_measured, .guards = "K10",
	  .story = "the TSC runs as mul and shift say, by the host's clock" },
	{ "clock-measured", frequency_clock, .guards = "K8",
	  .story = "the clock runs at 1 GHz, by the host's clock" },
};

static const struct check checks[] = {
	{ "bracket", .checks = bracket, .nr_checks = ARRAY_SIZE(bracket) },
	{ "residual", .checks = residual, .nr_checks = ARRAY_SIZE(residual) },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

#define WINDOW_DEFAULT_MS 3000
#define SHORT_WINDOW_NS	  (500 * NSEC_PER_MSEC)
#define SAMPLE_NS	  (10 * NSEC_PER_MSEC)
#define TOLERANCE_PPM	  300

static const struct counter_ops kvmclock = { "kvmclock", pvclock_read_ns, UINT64_MAX,
					     NSEC_PER_SEC };
static struct counter_ops tsc = { "RDTSC", clock_ticks, UINT64_MAX, 0 };

/* The page as it was at one instant, for the TSC in nanoseconds. */
static struct pvclock_vcpu_time_info scale;

static u64 read_tsc_as_ns(void)
{
	return pvclock_at(&scale, rdtsc_ordered());
}

static const struct counter_ops tsc_as_ns = { "TSC in ns", read_tsc_as_ns, UINT64_MAX,
					      NSEC_PER_SEC };

/* ---- bracket ----------------------------------------------------------------------------------- */

/* 2 ns: both roundings. */
static void check_bracket(const struct counter_ops *outer, const struct counter_ops *inner)
{
	if (!kvmclock_open_stable())
		return;
	if (report_expect(pvclock_copy(&scale), "the page could not be read"))
		counter_check_bracket(outer, inner, 2);
	kvmclock_close();
}

static void bracket_by_tsc(void)
{
	check_bracket(&tsc_as_ns, &kvmclock);
}

static void bracket_tsc(void)
{
	check_bracket(&kvmclock, &tsc_as_ns);
}

/* ---- residual ---------------------------------------------------------------------------------- */

struct residual {
	struct pvclock_vcpu_time_info first, last;
	u64 samples, updates;
	s64 largest_step_ns; /* with its sign */
	u64 step_after_ns;   /* of the largest: since when the page before had been computed */
	s64 residual_ns;     /* at the end */
	bool unstable;
};

static u64 magnitude(s64 value)
{
	return value < 0 ? -(u64)value : value;
}

/*
 * What a clock may be moved by when it is looked up after elapsed_ns: KVM scales the TSC by a
 * frequency in whole kHz, and so does Linux its own clock; both may be off by one. 2 ns are the
 * roundings of two pages.
 */
static u64 allowed_ns(const struct pvclock_vcpu_time_info *page, u64 elapsed_ns)
{
	u64 khz = MAX(pvclock_tsc_hz(page) / 1000, 1UL);

	return elapsed_ns * 2 / khz + 2;
}

static bool residual_start(struct residual *r)
{
	*r = (struct residual){ 0 };
	if (!report_expect(pvclock_copy(&r->first), "the page could not be read"))
		return false;
	r->last = r->first;
	return true;
}

/* No bracket is needed: both pages make nanoseconds of the same TSC value. */
static bool residual_sample(struct residual *r)
{
	struct pvclock_vcpu_time_info now;
	s64 step_ns;
	u64 tsc;

	if (!report_expect(pvclock_copy_with_tsc(&now, &tsc), "the page could not be read"))
		return false;
	r->samples++;
	if (!(now.flags & PVCLOCK_TSC_STABLE))
		r->unstable = true;
	step_ns = pvclock_at(&now, tsc) - pvclock_at(&r->last, tsc);
	r->residual_ns = pvclock_at(&now, tsc) - pvclock_at(&r->first, tsc);
	if (now.version != r->last.version) {
		r->updates++;
		if (magnitude(step_ns) > magnitude(r->largest_step_ns)) {
			r->largest_step_ns = step_ns;
			r->step_after_ns =
				ticks_to_ns(tsc - r->last.tsc_timestamp, pvclock_tsc_hz(&now));
		}
		r->last = now;
	}
	return true;
}

/* In all: since the first page was computed, with the roundings of each update. */
static void residual_judge(const struct residual *r, u64 window_ns)
{
	u64 since_ns =
		ticks_to_ns(rdtsc_ordered() - r->first.tsc_timestamp, pvclock_tsc_hz(&r->first));
	u64 step_allowed_ns = allowed_ns(&r->first, r->step_after_ns);
	u64 allowed_in_all_ns = allowed_ns(&r->first, since_ns) + 2 * r->updates;

	report_info("%lu looks in %lu ms, %lu updates; largest step %ld ns, at the end %ld ns off "
		    "the first page",
		    r->samples, window_ns / NSEC_PER_MSEC, r->updates, r->largest_step_ns,
		    r->residual_ns);
	report_expect(!r->unstable, "the stable flag was taken away meanwhile");
	report_expect(magnitude(r->largest_step_ns) <= step_allowed_ns,
		      "an update moved the clock by %ld ns; %lu are allowed for the %lu us since "
		      "it was last computed",
		      r->largest_step_ns, step_allowed_ns, r->step_after_ns / NSEC_PER_USEC);
	report_expect(magnitude(r->residual_ns) <= allowed_in_all_ns,
		      "after %lu ms the clock is %ld ns off what the first page made of the TSC; "
		      "%lu are allowed",
		      window_ns / NSEC_PER_MSEC, r->residual_ns, allowed_in_all_ns);
}

static void check_residual(u64 window_ns, bool (*disturb)(void))
{
	struct residual r;
	u64 start_ns, elapsed_ns = 0;

	if (!residual_start(&r))
		return;
	start_ns = pvclock_read_ns();
	while (elapsed_ns < window_ns && r.samples <= window_ns / SAMPLE_NS) {
		lapic_timer_sleep_ns(SAMPLE_NS);
		if (disturb && !report_expect(disturb(), "writing the MSR raises an exception"))
			return;
		if (!residual_sample(&r))
			return;
		elapsed_ns = pvclock_read_ns() - start_ns;
	}
	residual_judge(&r, elapsed_ns);
}

static void residual_quiet(void)
{
	if (!kvmclock_open_stable())
		return;
	check_residual(args_u64("window-ms", WINDOW_DEFAULT_MS) * NSEC_PER_MSEC, NULL);
	kvmclock_close();
}

static void residual_rewritten(void)
{
	if (!kvmclock_open_stable())
		return;
	check_residual(SHORT_WINDOW_NS, pvclock_enable);
	kvmclock_close();
}

static void residual_snapshots(void)
{
	if (!kvmclock_open_stable())
		return;
	if (!pvclock_old_offered()) {
		kvmclock_close();
		report_skip("CPUID does not offer MSR_KVM_SYSTEM_TIME");
		return;
	}
	check_residual(SHORT_WINDOW_NS, kvmclock_take_snapshot);
	kvmclock_close();
}

/* ---- frequency --------------------------------------------------------------------------------- */

static void frequency_all_cpus(void)
{
	const struct pvclock_vcpu_time_info *first = pvclock_page_of(0);

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	if (!kvmclock_open())
		return;
	for (int cpu = 1; cpu < smp_count(); cpu++) {
		const struct pvclock_vcpu_time_info *p = pvclock_page_of(cpu);

		report_expect(p->tsc_to_system_mul == first->tsc_to_system_mul &&
				      p->tsc_shift == first->tsc_shift,
			      "CPU 0 has mul 0x%x, shift %d, CPU %d mul 0x%x, shift %d",
			      first->tsc_to_system_mul, first->tsc_shift, cpu, p->tsc_to_system_mul,
			      p->tsc_shift);
	}
	kvmclock_close();
}

/* CPUID rounds to whole kHz, KVM's own frequency is one: one kHz, and one for mul's rounding. */
static void frequency_cpuid(void)
{
	u64 hz, cpuid_hz = tsc_hz_cpuid_15();

	if (!cpuid_hz)
		cpuid_hz = tsc_hz_hypervisor_leaf();
	if (!cpuid_hz) {
		report_skip("CPUID tells no frequency of the TSC");
		return;
	}
	if (!kvmclock_open())
		return;
	hz = pvclock_tsc_hz(pvclock_page());
	report_info("%lu Hz by mul and shift, %lu Hz by CPUID", hz, cpuid_hz);
	report_expect(hz + 2000 >= cpuid_hz && cpuid_hz + 2000 >= hz,
		      "%lu Hz by mul and shift, %lu Hz by CPUID", hz, cpuid_hz);
	kvmclock_close();
}

static void check_measured(const struct counter_ops *counter, bool of_clock)
{
	struct hz_interval measured;
	u64 hz;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (!kvmclock_open())
		return;
	hz = of_clock ? NSEC_PER_SEC : pvclock_tsc_hz(pvclock_page());
	if (counter_measure_hz(counter, counter_window_ns(), &measured))
		counter_judge_hz(of_clock ? "kvmclock" : "mul and shift", hz, TOLERANCE_PPM,
				 &measured);
	kvmclock_close();
}

static void frequency_measured(void)
{
	check_measured(&tsc, false);
}

static void frequency_clock(void)
{
	check_measured(&kvmclock, true);
}

int main(void)
{
	tsc.hz = clock_hz();
	return report_run("kvmclock-rate", checks, ARRAY_SIZE(checks));
}
