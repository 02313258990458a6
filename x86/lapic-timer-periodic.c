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
/* Of the walk: a period that a host which lags rarely misses, and how many of them. */
#define WALK_NS	     (10 * NSEC_PER_MSEC)
#define WALK_PERIODS 20
#define WALK_MAX_NS  (5 * NSEC_PER_SEC)
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

/*
 * The phase of a periodic count, followed from look to look. Two looks less than a period apart leave no
 * doubt how many periods have begun between them. From the first look to a later one so many counts
 * were due; by the TSC they took the time between the two. Each look thus says when the first was made,
 * as an interval, and these must have a common part, which low_tsc and high_tsc are.
 *
 * Where more than a period lies between two looks with a count in them, the host came so late that it
 * may leave out what it missed (KVM since 9633f180ce99): a new walk begins.
 */
struct walk {
	const struct hz_interval *rate;
	u32 count;
	u32 first, last; /* TMCCT */
	u64 first_tsc;	 /* just before the first look */
	u64 last_tsc;	 /* and the last */
	u64 periods;	 /* begun since the first look */
	s64 low_tsc, high_tsc;
	u64 zeros;
	u64 walks;
	u64 total_periods; /* of all walks */
};

static void walk_begin(struct walk *w, u32 current, u64 before_tsc, u64 after_tsc)
{
	w->first = w->last = current;
	w->first_tsc = w->last_tsc = before_tsc;
	w->periods = 0;
	w->low_tsc = 0;
	w->high_tsc = after_tsc - before_tsc;
	w->walks++;
}

/*
 * A period is TMICT ticks, or one more where 0 is a tick of its own, which the manual leaves open; each
 * look may be a tick off.
 */
static void walk_narrow(struct walk *w, u32 current, u64 before_tsc, u64 after_tsc)
{
	s64 ticks = (s64)(w->periods * w->count) + w->first - current;
	u64 least = MAX(ticks - 2, 0L), most = ticks + w->periods + 2;
	s64 least_tsc = mul_div_u64(least, clock_hz(), w->rate->high);
	s64 most_tsc = mul_div_u64(most, clock_hz(), w->rate->low) + 1;

	w->low_tsc = MAX(w->low_tsc, (s64)(before_tsc - w->first_tsc) - most_tsc);
	w->high_tsc = MIN(w->high_tsc, (s64)(after_tsc - w->first_tsc) - least_tsc);
}

/* Returns whether one phase still agrees with all looks. */
static bool walk_look(struct walk *w)
{
	u64 before_tsc = rdtsc_ordered(), after_tsc;
	u32 current = apic_read(APIC_TMCCT);

	after_tsc = rdtsc_ordered();
	/* The end of a period, or a host about to start the next. */
	if (current == 0) {
		w->zeros++;
		return true;
	}
	if (!w->walks || after_tsc - w->last_tsc >= lapic_timer_least_tsc(w->count, 1)) {
		walk_begin(w, current, before_tsc, after_tsc);
		return true;
	}
	if (current > w->last) {
		w->periods++;
		w->total_periods++;
	}
	w->last = current;
	w->last_tsc = before_tsc;
	walk_narrow(w, current, before_tsc, after_tsc);
	return w->low_tsc <= w->high_tsc;
}

static void walk_periods(struct walk *w)
{
	struct spin_bound bound;
	bool agrees;

	spin_start(&bound, WALK_MAX_NS);
	do {
		agrees = walk_look(w);
	} while (agrees && w->total_periods < WALK_PERIODS && spin_poll(&bound));
	report_info("%lu periods of %u ticks in %lu walks; TMCCT read as 0 in %lu looks",
		    w->total_periods, w->count, w->walks, w->zeros);
	if (!report_expect(w->walks, "a masked periodic timer's TMCCT always reads as 0"))
		return;
	report_expect(agrees,
		      "after %lu periods the count is off by at least %ld TSC ticks from whole "
		      "periods",
		      w->periods, w->low_tsc - w->high_tsc);
	if (agrees && w->total_periods < WALK_PERIODS)
		report_error("in %lu ms only %lu periods began while this CPU was run at least "
			     "once in every period",
			     WALK_MAX_NS / NSEC_PER_MSEC, w->total_periods);
}

/* Masked: the count is the subject. */
static void periodic_period(void)
{
	struct hz_interval rate;
	struct lapic_timer timer;
	bool known;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_write_mode(APIC_LVT_MASKED);
	apic_write(APIC_TMICT, UINT32_MAX);
	known = counter_check_rate(&current_count, &tsc, 100 * NSEC_PER_MSEC, &rate);
	apic_write(APIC_TMICT, 0);
	if (known) {
		struct walk walk = { .rate = &rate, .count = lapic_timer_ticks(WALK_NS, 1) };

		lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC | APIC_LVT_MASKED, walk.count);
		walk_periods(&walk);
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
