// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The wall clock that goes with kvmclock (Linux Documentation/virt/kvm/x86/msr.rst): a write of
 * MSR_KVM_WALL_CLOCK_NEW leaves the time of day at which kvmclock was 0. It is one instant: each
 * write has to give the same, on every CPU, and together with kvmclock it has to be the host's time
 * of day, and that of the machine's RTC.
 *
 * A hypervisor that reads its time of day and its kvmclock one after the other is off by what lies
 * between, another amount each time: spread (K9). One whose kvmclock and time of day come from
 * clocks of different rate fails host and rtc after a while (K8).
 *
 * Arguments: budget-ms=N. virtual-time: the host's clock is not this guest's, host is skipped.
 */
#include "kvmclocktest.h"
#include "libcflat.h"
#include <arch/cpu.h>
#include <arch/msr.h>
#include <arch/rtc.h>

static void filled(void);
static void spread(void);
static void all_cpus(void);
static void former_msr(void);
static void host(void);
static void rtc(void);

static const struct check checks[] = {
	{ "filled", filled, .story = "a write gives an even version and a time of day" },
	{ "spread", spread, .guards = "K9", .story = "each write gives the same instant" },
	{ "all-cpus", all_cpus, .story = "on every CPU" },
	{ "former-msr", former_msr, .story = "by MSR_KVM_WALL_CLOCK, the former number, too" },
	{ "host", host, .guards = "K8",
	  .story = "the wall clock and kvmclock together are the host's time of day" },
	{ "rtc", rtc, .guards = "K8",
	  .story = "and the RTC's, but for a time zone: a whole number of quarters of an hour" },
};

#define EPOCHS	   20
#define QUARTER_NS (900 * NSEC_PER_SEC)
/* The RTC counts seconds, and may be read just before it counts the next one. */
#define RTC_ALLOWED_NS (2 * NSEC_PER_SEC)

static struct pvclock_wall_clock wall_clock __attribute__((aligned(64)));

/* What writes gave, and when. */
struct epochs {
	u64 count;
	u64 least_ns, most_ns;
	u64 first_ns, last_ns; /* kvmclock before the first write, and after the last */
	u64 former_epoch_ns;   /* of the write before, and kvmclock before that */
	u64 former_ns;
	u64 steps; /* from one write to the next, by more than slewing accounts for */
	u64 largest_step_ns;
};

/* One write; false after #GP or nonsense. */
static bool write_once(u32 msr, u64 *epoch_ns)
{
	wall_clock = (struct pvclock_wall_clock){ 0 };
	if (!report_expect(wrmsr_safe(msr, (u64)&wall_clock) == NO_EXCEPTION,
			   "writing MSR 0x%x raises an exception", msr))
		return false;
	__asm__ volatile("" ::: "memory");
	*epoch_ns = wall_clock.sec * NSEC_PER_SEC + wall_clock.nsec;
	return report_expect(!(wall_clock.version & 1), "the version is odd (%u) at rest",
			     wall_clock.version) &&
	       report_expect(wall_clock.sec && wall_clock.nsec < NSEC_PER_SEC,
			     "a write left %u s and %u ns", wall_clock.sec, wall_clock.nsec);
}

/*
 * The time of day may be slewed by up to 500 ppm (adjtimex(2)) against the clock that kvmclock
 * follows; that may be off by two kHz of the TSC's frequency (kvmclock-rate.c). 2 ns are roundings.
 */
static u64 slew_ns(u64 elapsed_ns)
{
	u64 khz = MAX(pvclock_tsc_hz(pvclock_page()) / 1000, 1UL);

	return elapsed_ns / 2000 + elapsed_ns * 2 / khz + 2;
}

static void note_step(struct epochs *e, u64 epoch_ns)
{
	u64 apart_ns = MAX(epoch_ns, e->former_epoch_ns) - MIN(epoch_ns, e->former_epoch_ns);

	if (apart_ns <= slew_ns(e->last_ns - e->former_ns))
		return;
	e->steps++;
	e->largest_step_ns = MAX(e->largest_step_ns, apart_ns);
}

static bool take_epoch(struct epochs *e, u32 msr)
{
	u64 before_ns = pvclock_read_ns(), epoch_ns;

	if (!write_once(msr, &epoch_ns))
		return false;
	e->last_ns = pvclock_read_ns();
	if (e->count++ == 0) {
		e->first_ns = before_ns;
		e->least_ns = e->most_ns = epoch_ns;
	} else {
		note_step(e, epoch_ns);
	}
	e->least_ns = MIN(e->least_ns, epoch_ns);
	e->most_ns = MAX(e->most_ns, epoch_ns);
	e->former_epoch_ns = epoch_ns;
	e->former_ns = before_ns;
	return true;
}

static void judge_spread(const struct epochs *e)
{
	u64 elapsed_ns = e->last_ns - e->first_ns, allowed_ns = slew_ns(elapsed_ns);

	report_info("%lu writes in %lu us: spread %lu ns", e->count, elapsed_ns / NSEC_PER_USEC,
		    e->most_ns - e->least_ns);
	report_expect(!e->steps,
		      "%lu of %lu writes gave another instant than the one before, by up to %lu "
		      "ns; slewing accounts for less",
		      e->steps, e->count, e->largest_step_ns);
	report_expect(e->most_ns - e->least_ns <= allowed_ns,
		      "%lu writes in %lu us gave instants that are up to %lu ns apart; slewing "
		      "accounts for %lu",
		      e->count, elapsed_ns / NSEC_PER_USEC, e->most_ns - e->least_ns, allowed_ns);
}

/*
 * Whether the instants of two series have one in common: how far those of one series are apart is
 * spread's business.
 */
static void expect_common(const struct epochs *a, const struct epochs *b, const char *what)
{
	u64 slack_ns = slew_ns(MAX(a->last_ns, b->last_ns) - MIN(a->first_ns, b->first_ns));

	report_expect(a->least_ns <= b->most_ns + slack_ns && b->least_ns <= a->most_ns + slack_ns,
		      "%s gives %lu to %lu ns where the other gives %lu to %lu; slewing accounts "
		      "for %lu ns",
		      what, b->least_ns, b->most_ns, a->least_ns, a->most_ns, slack_ns);
}

static void filled(void)
{
	struct epochs e = { 0 };

	if (!kvmclock_open())
		return;
	if (take_epoch(&e, MSR_KVM_WALL_CLOCK_NEW))
		report_info("kvmclock was 0 at %u.%09u", wall_clock.sec, wall_clock.nsec);
	kvmclock_close();
}

static void spread(void)
{
	struct epochs e = { 0 };
	struct spin_bound budget;

	if (!kvmclock_open())
		return;
	spin_start(&budget, report_budget_ns());
	while (take_epoch(&e, MSR_KVM_WALL_CLOCK_NEW) && spin_poll(&budget))
		;
	judge_spread(&e);
	kvmclock_close();
}

static bool take_epochs(struct epochs *e)
{
	*e = (struct epochs){ 0 };
	for (int i = 0; i < EPOCHS; i++) {
		if (!take_epoch(e, MSR_KVM_WALL_CLOCK_NEW))
			return false;
	}
	return true;
}

static void epochs_here(void *epochs)
{
	take_epochs(&((struct epochs *)epochs)[smp_id()]);
}

static void all_cpus(void)
{
	static struct epochs epochs[MAX_CPUS];

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	/* Its time on each CPU is only comparable with the stable flag. */
	if (!kvmclock_open_stable())
		return;
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		on_cpu(cpu, epochs_here, epochs);
		if (epochs[cpu].count < EPOCHS)
			break;
		if (cpu)
			expect_common(&epochs[0], &epochs[cpu], "another CPU");
	}
	report_info("%d writes on each of %d CPUs", EPOCHS, smp_count());
	kvmclock_close();
}

static void former_msr(void)
{
	struct epochs e = { 0 }, former = { 0 };

	if (!pvclock_old_offered()) {
		report_skip("CPUID does not offer MSR_KVM_WALL_CLOCK");
		return;
	}
	if (!kvmclock_open())
		return;
	for (int i = 0; i < EPOCHS; i++) {
		if (!take_epoch(&e, MSR_KVM_WALL_CLOCK_NEW) ||
		    !take_epoch(&former, MSR_KVM_WALL_CLOCK))
			break;
	}
	if (former.count == EPOCHS)
		expect_common(&e, &former, "MSR_KVM_WALL_CLOCK");
	report_info("%lu writes of each", former.count);
	kvmclock_close();
}

/*
 * The host's time of day lies between the guest's before its call and after it. What the writes
 * differ by is judged elsewhere, so here the instant lies somewhere between their extremes.
 */
static void host(void)
{
	struct pvclock_vcpu_time_info page;
	struct host_stamp stamp;
	struct epochs e;
	u64 least_ns, most_ns, slack_ns;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (!pvclock_offered()) {
		report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
		return;
	}
	if (!host_stamp(&stamp) || !kvmclock_open())
		return;
	if (take_epochs(&e) && host_stamp(&stamp) &&
	    report_expect(pvclock_copy(&page), "the page could not be read")) {
		slack_ns = slew_ns(pvclock_at(&page, stamp.after_ticks) - e.first_ns);
		least_ns = e.least_ns + pvclock_at(&page, stamp.before_ticks) - slack_ns;
		most_ns = e.most_ns + pvclock_at(&page, stamp.after_ticks) + slack_ns;
		report_info("the host's time of day is %ld ns behind the guest's latest, %ld ns "
			    "ahead of its earliest",
			    (s64)(most_ns - stamp.realtime_ns),
			    (s64)(stamp.realtime_ns - least_ns));
		report_expect(stamp.realtime_ns >= least_ns && stamp.realtime_ns <= most_ns,
			      "the host's time of day, %lu ns, is not between the guest's, %lu and "
			      "%lu ns",
			      stamp.realtime_ns, least_ns, most_ns);
	}
	kvmclock_close();
}

static void rtc(void)
{
	struct rtc_time time;
	struct epochs e;
	const char *why;
	u64 now_ns, rtc_ns, apart_ns;

	if (!pvclock_offered()) {
		report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
		return;
	}
	if (!rtc_probe(&why)) {
		report_skip("%s", why);
		return;
	}
	if (!kvmclock_open())
		return;
	if (take_epochs(&e) && report_expect(rtc_read_time(&time), "the RTC gives no two times "
								   "that are the same")) {
		now_ns = e.most_ns + pvclock_read_ns();
		rtc_ns = rtc_to_unix(&time) * NSEC_PER_SEC;
		apart_ns = (now_ns - rtc_ns + QUARTER_NS / 2) % QUARTER_NS;
		report_info("the RTC is %ld ms behind",
			    (s64)(now_ns - rtc_ns) / (s64)NSEC_PER_MSEC);
		report_expect(apart_ns + RTC_ALLOWED_NS >= QUARTER_NS / 2 &&
				      apart_ns <= QUARTER_NS / 2 + RTC_ALLOWED_NS,
			      "by the RTC it is %lu, by kvmclock %lu s after 1970",
			      rtc_ns / NSEC_PER_SEC, now_ns / NSEC_PER_SEC);
	}
	kvmclock_close();
}

int main(void)
{
	return report_run("kvmclock-wall", checks, ARRAY_SIZE(checks));
}
