// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hyper-V's reference time (TLFS 6.0b, 12.4 and 12.5): a counter of 100 ns in an MSR, and a page that
 * says how to make the same of the TSC without leaving the guest. The two are one clock: monotonic,
 * the same on all CPUs, and as fast as the page and the frequency MSRs say.
 *
 * A hypervisor that computes the two from different clocks fails bracket (K16); one that rewrites the
 * page without a new sequence, or from another clock each time, fails tsc-page/through-updates; one
 * that goes on writing to a page that was taken back fails left-alone; one that tells another
 * frequency than it scales by fails frequency.
 *
 * Arguments: budget-ms=N; reads=N, handovers=N, window-ms=N.
 */
#include "countertest.h"
#include "kvmclocktest.h"
#include "libcflat.h"
#include <arch/cpuid.h>
#include <arch/hyperv.h>
#include <arch/lapic_timer.h>
#include <arch/msr.h>

static void ref_count_monotonic(void);
static void ref_count_cross_cpu(void);
static void ref_count_read_only(void);
static void page_filled(void);
static void page_monotonic(void);
static void page_cross_cpu(void);
static void page_through_updates(void);
static void page_left_alone(void);
static void bracket_page(void);
static void bracket_ref_count(void);
static void frequency_tsc(void);
static void frequency_apic(void);
static void frequency_kvmclock(void);
static void frequency_host(void);

static const struct check ref_count[] = {
	{ "monotonic", ref_count_monotonic,
	  .story = "HV_X64_MSR_TIME_REF_COUNT never gives less than before on a CPU" },
	{ "cross-cpu", ref_count_cross_cpu, .story = "nor less than another CPU's gave" },
	{ "read-only", ref_count_read_only, .story = "a write of it raises #GP" },
};

static const struct check tsc_page[] = {
	{ "filled", page_filled, .story = "enabled, the page is valid, and the MSR reads back" },
	{ "monotonic", page_monotonic, .story = "the time by the page never goes back on a CPU" },
	{ "cross-cpu", page_cross_cpu, .story = "nor from one CPU to the next" },
	{ "through-updates", page_through_updates, .guards = "K16",
	  .story = "nor when the hypervisor looks at the host's clock anew, page valid or not" },
	{ "left-alone", page_left_alone, .story = "a page that was taken back is written no more" },
};

static const struct check bracket[] = {
	{ "page", bracket_page, .guards = "K16",
	  .story = "the time by the page keeps its difference to two reads of the MSR around it" },
	{ "ref-count", bracket_ref_count, .guards = "K16",
	  .story = "the MSR keeps its difference to two times by the page around it" },
};

static const struct check frequency[] = {
	{ "tsc-msr", frequency_tsc,
	  .story = "HV_X64_MSR_TSC_FREQUENCY is what the page's scale says" },
	{ "apic-msr", frequency_apic,
	  .story = "HV_X64_MSR_APIC_FREQUENCY is the rate of the local APIC's timer" },
	{ "kvmclock", frequency_kvmclock, .story = "the page's scale is kvmclock's mul and shift" },
	{ "host", frequency_host, .story = "10 MHz by the host's clock" },
};

static const struct check checks[] = {
	{ "ref-count", .checks = ref_count, .nr_checks = ARRAY_SIZE(ref_count) },
	{ "tsc-page", .checks = tsc_page, .nr_checks = ARRAY_SIZE(tsc_page) },
	{ "bracket", .checks = bracket, .nr_checks = ARRAY_SIZE(bracket) },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

#define UPDATES	      200
#define TOLERANCE_PPM 300

static const struct counter_ops by_msr = { "TIME_REF_COUNT", hv_time_ref_count_read, UINT64_MAX,
					   HV_HZ };
static const struct counter_ops by_page = { "TSC page", hv_reference_tsc_read, UINT64_MAX, HV_HZ };

static bool have(u32 feature, const char *what)
{
	if (hv_features().eax & feature)
		return true;
	report_skip("Hyper-V's %s is not offered (CPUID 0x40000003 EAX)", what);
	return false;
}

static bool have_ref_count(void)
{
	return have(HV_TIME_REF_COUNT, "reference counter");
}

static bool have_two_cpus(void)
{
	if (smp_count() >= 2)
		return true;
	report_skip("needs 2 CPUs, 1 is up");
	return false;
}

/* false after a verdict. */
static bool open_page(void)
{
	if (!have(HV_REFERENCE_TSC, "reference TSC page"))
		return false;
	if (!hv_reference_tsc_enable()) {
		report_fail("the reference TSC page is offered, but writing its MSR raises an "
			    "exception");
		return false;
	}
	return true;
}

/* ---- the counter ------------------------------------------------------------------------------- */

static void ref_count_monotonic(void)
{
	if (have_ref_count())
		counter_check_monotonic(&by_msr);
}

static void ref_count_cross_cpu(void)
{
	if (have_two_cpus() && have_ref_count())
		counter_check_cross_cpu(&by_msr, 2);
}

static void ref_count_read_only(void)
{
	u64 before, after;

	if (!have_ref_count())
		return;
	before = hv_time_ref_count_read();
	report_expect(wrmsr_safe(MSR_HV_TIME_REF_COUNT, 0) == VECTOR_GP,
		      "a write of HV_X64_MSR_TIME_REF_COUNT raises no exception");
	after = hv_time_ref_count_read();
	report_expect(after >= before, "it went from %lu to %lu over the write", before, after);
}

/* ---- the page ---------------------------------------------------------------------------------- */

static void page_filled(void)
{
	struct hv_reference_tsc copy = { 0 };
	u64 value = 0;

	if (!open_page())
		return;
	rdmsr_safe(MSR_HV_REFERENCE_TSC, &value);
	report_expect(value == ((u64)hv_reference_tsc_page() | HV_PAGE_ENABLE),
		      "HV_X64_MSR_REFERENCE_TSC reads as 0x%lx", value);
	if (report_expect(hv_reference_tsc_copy(&copy), "the page's sequence is 0: not valid"))
		report_info("sequence %u, scale 0x%lx, offset %ld: the TSC has %lu Hz",
			    copy.sequence, copy.scale, copy.offset, hv_reference_tsc_hz(&copy));
	hv_reference_tsc_disable();
}

static void page_monotonic(void)
{
	if (!open_page())
		return;
	counter_check_monotonic(&by_page);
	hv_reference_tsc_disable();
}

static void page_cross_cpu(void)
{
	if (!have_two_cpus() || !open_page())
		return;
	counter_check_cross_cpu(&by_page, 2);
	hv_reference_tsc_disable();
}

/* What makes KVM look at the host's clock: kvmclock's former MSR number and back. */
static bool have_updates(void)
{
	if (pvclock_offered() && pvclock_old_offered())
		return true;
	report_skip("nothing here makes the hypervisor compute the page anew: that takes both of "
		    "kvmclock's MSRs");
	return false;
}

/*
 * KVM gives the page up when kvmclock's former number is used, and computes it again only when it is
 * enabled again.
 */
static bool update_page(bool valid)
{
	if (!valid)
		return pvclock_enable_old();
	return pvclock_enable() && hv_reference_tsc_enable();
}

static void page_through_updates(void)
{
	struct spin_bound budget;
	u64 n = 0, last, backwards = 0, most = 0, invalid = 0;

	if (!have_updates() || !open_page())
		return;
	last = hv_reference_tsc_read();
	spin_start(&budget, report_budget_ns());
	do {
		u64 now;

		if (!report_expect(update_page(n % 2), "writing an MSR raises an exception"))
			break;
		if (READ_ONCE(hv_reference_tsc_page()->sequence) == 0)
			invalid++;
		now = hv_reference_tsc_read();
		if (now < last) {
			backwards++;
			most = MAX(most, last - now);
		}
		last = now;
	} while (++n < UPDATES && spin_poll(&budget));
	pvclock_enable();
	pvclock_disable();
	hv_reference_tsc_disable();
	report_info("%lu updates, the page was not valid after %lu of them", n, invalid);
	report_expect(!backwards, "the time went back %lu of %lu times, by up to %lu00 ns",
		      backwards, n, most);
}

static void page_left_alone(void)
{
	struct hv_reference_tsc *page = hv_reference_tsc_page();
	const u8 *bytes = (const u8 *)page;
	bool zero = true;

	if (!have_updates() || !open_page())
		return;
	hv_reference_tsc_disable();
	memset(page, 0, sizeof(*page));
	for (int i = 0; i < 10; i++)
		report_expect(kvmclock_take_snapshot(),
			      "writing kvmclock's MSR raises an exception");
	lapic_timer_sleep_ns(KVMCLOCK_DELAYED_NS);
	pvclock_disable();
	for (size_t i = 0; i < sizeof(*page); i++)
		zero = zero && !READ_ONCE(bytes[i]);
	report_expect(zero, "the page was written after its MSR had been set to 0");
}

/* ---- bracket ----------------------------------------------------------------------------------- */

/* Two roundings to whole units: one unit. */
static void check_bracket(const struct counter_ops *outer, const struct counter_ops *inner)
{
	struct hv_reference_tsc copy;

	if (!open_page())
		return;
	if (report_expect(hv_reference_tsc_copy(&copy), "the page's sequence is 0: not valid"))
		counter_check_bracket(outer, inner, 1);
	hv_reference_tsc_disable();
}

static void bracket_page(void)
{
	check_bracket(&by_msr, &by_page);
}

static void bracket_ref_count(void)
{
	check_bracket(&by_page, &by_msr);
}

/* ---- frequency --------------------------------------------------------------------------------- */

static bool have_frequencies(void)
{
	struct cpuid features = hv_features();

	if (features.eax & HV_FREQUENCIES && features.edx & HV_EDX_FREQUENCIES)
		return true;
	report_skip("Hyper-V's frequency MSRs are not offered (CPUID 0x40000003 EAX bit 11, EDX "
		    "bit 8)");
	return false;
}

/* KVM computes both from a frequency in whole kHz: one kHz, and one for the scale's rounding. */
static void judge_same(u64 a_hz, const char *a, u64 b_hz, const char *b)
{
	report_info("%lu Hz by %s, %lu Hz by %s", a_hz, a, b_hz, b);
	report_expect(a_hz + 2000 >= b_hz && b_hz + 2000 >= a_hz, "%lu Hz by %s, %lu Hz by %s",
		      a_hz, a, b_hz, b);
}

static void frequency_tsc(void)
{
	struct hv_reference_tsc copy;
	u64 hz = 0;

	if (!have_frequencies() || !open_page())
		return;
	if (report_expect(hv_reference_tsc_copy(&copy), "the page's sequence is 0: not valid") &&
	    report_expect(rdmsr_safe(MSR_HV_TSC_FREQUENCY, &hz) == NO_EXCEPTION,
			  "HV_X64_MSR_TSC_FREQUENCY cannot be read"))
		judge_same(hz, "HV_X64_MSR_TSC_FREQUENCY", hv_reference_tsc_hz(&copy),
			   "the page's scale");
	hv_reference_tsc_disable();
}

static void frequency_apic(void)
{
	u64 hz = 0, low_hz, high_hz;

	if (!have_frequencies())
		return;
	if (!report_expect(rdmsr_safe(MSR_HV_APIC_FREQUENCY, &hz) == NO_EXCEPTION,
			   "HV_X64_MSR_APIC_FREQUENCY cannot be read"))
		return;
	if (!lapic_timer_hz(&low_hz, &high_hz)) {
		report_error("the local APIC timer's rate could not be measured; see lapic-timer");
		return;
	}
	report_info("%lu Hz by the MSR, %lu to %lu Hz measured", hz, low_hz, high_hz);
	report_expect(hz >= low_hz - low_hz / 1000000 * TOLERANCE_PPM &&
			      hz <= high_hz + high_hz / 1000000 * TOLERANCE_PPM,
		      "%lu Hz by the MSR, %lu to %lu Hz measured", hz, low_hz, high_hz);
}

static void frequency_kvmclock(void)
{
	struct hv_reference_tsc copy;
	u64 hz;

	if (!pvclock_offered()) {
		report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
		return;
	}
	if (!open_page())
		return;
	if (report_expect(hv_reference_tsc_copy(&copy), "the page's sequence is 0: not valid") &&
	    report_expect(pvclock_enable(),
			  "writing MSR_KVM_SYSTEM_TIME_NEW raises an exception")) {
		hz = pvclock_tsc_hz(pvclock_page());
		pvclock_disable();
		judge_same(hz, "kvmclock", hv_reference_tsc_hz(&copy), "the page's scale");
	}
	hv_reference_tsc_disable();
}

static void frequency_host(void)
{
	struct hz_interval measured;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (have_ref_count() && counter_measure_hz(&by_msr, counter_window_ns(), &measured))
		counter_judge_hz("TIME_REF_COUNT", HV_HZ, TOLERANCE_PPM, &measured);
}

int main(void)
{
	return report_run("hv-clock", checks, ARRAY_SIZE(checks));
}
