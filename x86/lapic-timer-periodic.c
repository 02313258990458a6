// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer in periodic mode, and changes of its mode in flight. Interrupts keep coming,
 * the k-th never before k periods, and after a long time whole periods have passed; a change of mode
 * neither loses the count that is going on nor starts one that is over.
 *
 * A hypervisor that starts each period when the last one was served, instead of when it was due,
 * fails periodic/period; one that forgets to restart its own timer fails the counts; one that fires
 * on behalf of a mode that is no longer in force fails change.
 *
 * TMCCT may read as 0 for a moment when the host is about to start the next period (L14): such reads
 * are counted, not judged.
 *
 * Arguments: apic=xapic or apic=x2apic; budget-ms=N.
 */
#include "countertest.h"
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

static void periodic_counted(void);
static void periodic_period(void);
static void periodic_moved(void);
static void periodic_after_zero(void);
static void periodic_masked(void);
static void change_to_periodic(void);
static void change_to_one_shot(void);
static void change_after_expiry(void);
static void change_to_deadline(void);
static void deadline_ignores_tmict(void);

static const struct check periodic[] = {
	{ "counted", periodic_counted,
	  .story = "interrupts keep coming, the k-th never before k periods" },
	{ "period", periodic_period, .guards = "L14",
	  .story = "by the TSC, whole periods have passed after a long time: a period that is "
		   "restarted late each time drifts" },
	{ "moved", periodic_moved, .story = "a new initial count in flight is the new period" },
	{ "after-zero", periodic_after_zero, .story = "an initial count of 0 stops it" },
	{ "masked", periodic_masked,
	  .story = "masked it gives no interrupt, unmasked it gives them again" },
};

static const struct check change[] = {
	{ "one-shot-to-periodic", change_to_periodic,
	  .story = "in flight: the count goes on and then repeats" },
	{ "periodic-to-one-shot", change_to_one_shot,
	  .story = "in flight: the count goes on, ends in one interrupt and stays 0" },
	{ "expired-to-periodic", change_after_expiry,
	  .story = "a count that is over is not started by the mode" },
	{ "one-shot-to-tsc-deadline", change_to_deadline,
	  .story = "disarms: nothing comes, in that mode or back in one-shot" },
	{ "tsc-deadline-ignores-tmict", deadline_ignores_tmict,
	  .story = "in TSC-deadline mode a written initial count starts nothing" },
};

static const struct check checks[] = {
	{ "periodic", .checks = periodic, .nr_checks = ARRAY_SIZE(periodic) },
	{ "change", .checks = change, .nr_checks = ARRAY_SIZE(change) },
};

#define ROUNDS 1000
#define MOVES  10
/* KVM makes periods below 200 us longer (parameter min_timer_period_us, arch/x86/kvm/lapic.c). */
#define PERIOD_NS  (500 * NSEC_PER_USEC)
#define SILENCE_NS (4 * PERIOD_NS)
#define FAR_NS	   (4 * NSEC_PER_SEC)
/* For what has to happen before the count is over; where it did not, the attempt is made again. */
#define LONG_NS	 (20 * NSEC_PER_MSEC)
#define ATTEMPTS 20

static struct counter_ops tsc = { "RDTSC", clock_ticks, UINT64_MAX, 0 };

/* Counts up, as counter_check_rate() wants it. */
static u64 read_elapsed(void)
{
	return UINT32_MAX - apic_read(APIC_TMCCT);
}

static const struct counter_ops current_count = { "TMCCT", read_elapsed, UINT32_MAX, 0 };

/* ---- periodic ---------------------------------------------------------------------------------- */

static void periodic_counted(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0, passed;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(PERIOD_NS, 1));
	spin_start(&budget, report_budget_ns() / 2);
	do {
		if (!report_expect(lapic_timer_wait(&timer, n + 1),
				   "after %lu interrupts no further one came within %lu ms", n,
				   LAPIC_TIMER_WAIT_NS / NSEC_PER_MSEC))
			break;
	} while (++n < ROUNDS && spin_poll(&budget));
	/* How many were taken together is the guest's share of the host. */
	passed = (timer.handled_tsc - timer.before_tsc) / lapic_timer_most_tsc(timer.count, 1);
	report_info("%lu interrupts in %lu periods", timer.handled, passed);
	lapic_timer_judge(&timer, timer.handled);
	lapic_timer_close(&timer);
}

/* One look at the phase of a periodic count. */
struct phase {
	u64 before_tsc, after_tsc;
	u32 current;
	u64 zeros;
};

/* The tightest of several; 0 is either the end of a period or a host about to start the next. */
static bool read_phase(struct phase *best)
{
	bool found = false;

	*best = (struct phase){ .after_tsc = UINT64_MAX };
	for (int i = 0; i < 32; i++) {
		struct phase p = { .zeros = best->zeros };

		p.before_tsc = rdtsc_ordered();
		p.current = apic_read(APIC_TMCCT);
		p.after_tsc = rdtsc_ordered();
		if (p.current == 0) {
			best->zeros++;
		} else if (p.after_tsc - p.before_tsc < best->after_tsc - best->before_tsc) {
			*best = p;
			found = true;
		}
	}
	return found;
}

/*
 * From phase to phase the timer has done k periods and the difference, in ticks; by the TSC it did
 * between low and high. A period is TMICT ticks, or one more where 0 is a tick of its own, which
 * the manual leaves open; each look may be a tick off.
 */
static void judge_period(const struct phase *first, const struct phase *last, u32 count,
			 const struct hz_interval *rate)
{
	u64 low = mul_div_u64(last->before_tsc - first->after_tsc, rate->low, clock_hz());
	u64 high = mul_div_u64(last->after_tsc - first->before_tsc, rate->high, clock_hz()) + 1;
	s64 advance = (s64)first->current - last->current;
	u64 periods = (low + (high - low) / 2 - advance + count / 2) / count;
	s64 least = periods * count + advance - 2, most = least + periods + 4;

	report_info("%lu periods of %u ticks: %ld to %ld ticks are due, %lu to %lu have passed by "
		    "the TSC; TMCCT read as 0 in %lu looks",
		    periods, count, least, most, low, high, first->zeros + last->zeros);
	if (high - low > count / 2) {
		report_error("this CPU was not run in every one of many brackets: their widths are "
			     "%lu ticks together, a period is %u",
			     high - low, count);
		return;
	}
	report_expect(periods > 0 && (s64)high >= least && (s64)low <= most,
		      "%lu periods are %ld to %ld ticks, but %lu to %lu have passed", periods,
		      least, most, low, high);
}

/* Masked: the count is the subject. */
static void periodic_period(void)
{
	u32 count;
	struct hz_interval rate;
	struct lapic_timer timer;
	struct phase first, last;
	bool known;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_write_mode(APIC_LVT_MASKED);
	apic_write(APIC_TMICT, UINT32_MAX);
	known = counter_check_rate(&current_count, &tsc, 100 * NSEC_PER_MSEC, &rate);
	apic_write(APIC_TMICT, 0);
	count = lapic_timer_ticks(2 * PERIOD_NS, 1);
	if (known) {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC | APIC_LVT_MASKED, count);
		if (read_phase(&first)) {
			spin_until(false, 100 * NSEC_PER_MSEC);
			if (read_phase(&last))
				judge_period(&first, &last, count, &rate);
			else
				report_fail("a masked periodic timer's TMCCT always reads as 0");
		} else {
			report_fail("a masked periodic timer's TMCCT always reads as 0");
		}
	}
	lapic_timer_close(&timer);
}

/* From a period that is too long to be waited for. */
static void periodic_moved(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(FAR_NS, 1));
	for (u64 n = 1; n <= MOVES; n++) {
		lapic_timer_write_count(&timer, lapic_timer_ticks(PERIOD_NS * (1 + n % 3), 1));
		if (!report_expect(lapic_timer_wait(&timer, timer.handled + 2),
				   "a period of %u ticks gave no two interrupts within %lu ms",
				   timer.count, LAPIC_TIMER_WAIT_NS / NSEC_PER_MSEC))
			break;
		lapic_timer_judge(&timer, timer.handled);
		/* One of the old period must not be taken for one of the new. */
		lapic_timer_write_count(&timer, 0);
		lapic_timer_take_pending(&timer);
	}
	lapic_timer_close(&timer);
}

static void periodic_after_zero(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	for (int i = 0; i < MOVES; i++) {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(PERIOD_NS, 1));
		lapic_timer_write_count(&timer, 0);
		lapic_timer_take_pending(&timer);
		report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x after TMICT was set to 0",
			      apic_read(APIC_TMCCT));
		lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	}
	lapic_timer_close(&timer);
}

static void periodic_masked(void)
{
	struct lapic_timer timer;
	u64 handled;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(PERIOD_NS, 1));
	for (int i = 0; i < MOVES; i++) {
		handled = timer.handled;
		if (!report_expect(lapic_timer_wait(&timer, handled + 2),
				   "unmasked, no two interrupts came within %lu ms",
				   LAPIC_TIMER_WAIT_NS / NSEC_PER_MSEC))
			break;
		lapic_timer_write_mode(APIC_LVT_TIMER_PERIODIC | APIC_LVT_MASKED);
		lapic_timer_take_pending(&timer);
		lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
		lapic_timer_write_mode(APIC_LVT_TIMER_PERIODIC);
	}
	lapic_timer_close(&timer);
}

/* ---- change of mode ---------------------------------------------------------------------------- */

/*
 * Arms in one mode and changes to the other before the count can be over, which the TSC proves;
 * where this CPU was not run for that long, again.
 */
static bool change_in_flight(struct lapic_timer *timer, u32 from, u32 to)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		u32 before, after;
		u64 due_tsc;

		lapic_timer_arm(timer, from, lapic_timer_ticks(LONG_NS, 1));
		due_tsc = timer->before_tsc + lapic_timer_least_tsc(timer->count, 1);
		before = apic_read(APIC_TMCCT);
		lapic_timer_write_mode(to);
		after = apic_read(APIC_TMCCT);
		if (rdtsc_ordered() < due_tsc) {
			report_expect(after <= before && after > 0,
				      "TMCCT was 0x%x before the change of mode, 0x%x after it",
				      before, after);
			return true;
		}
		lapic_timer_write_count(timer, 0);
		lapic_timer_take_pending(timer);
		timer->early = 0;
	}
	report_error("in %d attempts this CPU was not run for %lu ms while it changed the mode",
		     ATTEMPTS, LONG_NS / NSEC_PER_MSEC);
	return false;
}

static void change_to_periodic(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	if (change_in_flight(&timer, APIC_LVT_TIMER_ONESHOT, APIC_LVT_TIMER_PERIODIC)) {
		report_expect(lapic_timer_wait(&timer, 3),
			      "%lu interrupts came, periodic mode has more", timer.handled);
		lapic_timer_judge(&timer, timer.handled);
	}
	lapic_timer_close(&timer);
}

static void change_to_one_shot(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	if (change_in_flight(&timer, APIC_LVT_TIMER_PERIODIC, APIC_LVT_TIMER_ONESHOT) &&
	    lapic_timer_expect(&timer, 1)) {
		lapic_timer_expect_silent(&timer, 1, 2 * LONG_NS);
		report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x after the last interrupt",
			      apic_read(APIC_TMCCT));
	}
	lapic_timer_close(&timer);
}

static void change_after_expiry(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(PERIOD_NS, 1));
	if (lapic_timer_expect(&timer, 1)) {
		lapic_timer_write_mode(APIC_LVT_TIMER_PERIODIC);
		report_expect(apic_read(APIC_TMCCT) == 0,
			      "TMCCT is 0x%x, started by the change to periodic mode",
			      apic_read(APIC_TMCCT));
		lapic_timer_expect_silent(&timer, 1, SILENCE_NS);
	}
	lapic_timer_close(&timer);
}

/* SDM vol. 3, 11.5.4.1: a change to or from TSC-deadline mode disarms the timer. */
static void change_to_deadline(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_has_deadline() || !lapic_timer_open(&timer, NULL))
		return;
	if (change_in_flight(&timer, APIC_LVT_TIMER_ONESHOT, APIC_LVT_TIMER_ONESHOT)) {
		lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
		lapic_timer_take_pending(&timer);
		report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x in TSC-deadline mode",
			      apic_read(APIC_TMCCT));
		lapic_timer_expect_silent(&timer, 0, LONG_NS);
		lapic_timer_write_mode(APIC_LVT_TIMER_ONESHOT);
		report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x back in one-shot mode",
			      apic_read(APIC_TMCCT));
		lapic_timer_expect_silent(&timer, 0, 2 * LONG_NS);
	}
	lapic_timer_close(&timer);
}

static void deadline_ignores_tmict(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_has_deadline() || !lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_TSC_DEADLINE, lapic_timer_ticks(PERIOD_NS, 1));
	report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x in TSC-deadline mode",
		      apic_read(APIC_TMCCT));
	lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	lapic_timer_close(&timer);
}

int main(void)
{
	tsc.hz = clock_hz();
	return report_run("lapic-timer-periodic", checks, ARRAY_SIZE(checks));
}
