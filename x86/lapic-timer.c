// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer: its registers, its rate under each divider, and one-shots, counted. What
 * was armed n times is handled n times and never early; a timer that was stopped, masked, or has run
 * out stays silent.
 *
 * A hypervisor that rounds the divider or the count wrongly fails divider; one that drops an expiry
 * while it cancels and restarts its own timer fails the counts (one-shot, moved); one that fires on
 * behalf of a count that is no longer in force fails silent; one that advances its own timer by too
 * much fails never-early (L9).
 *
 * Arguments: apic=xapic or apic=x2apic; budget-ms=N.
 */
#include "countertest.h"
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/lapic_timer.h>
#include <arch/msr.h>
#include <arch/tsc.h>

static void tmict_read_back(void);
static void tdcr_read_back(void);
static void tmcct_counts_down(void);
static void tmcct_read_only(void);
static void check_divider(void);
static void one_shot_counted(void);
static void one_shot_in_handler(void);
static void one_shot_sweep(void);
static void one_shot_never_early(void);
static void one_shot_lateness(void);
static void moved_sooner(void);
static void moved_later(void);
static void moved_again_and_again(void);
static void silent_after_expiry(void);
static void silent_after_zero(void);
static void silent_longest(void);
static void silent_masked(void);
static void silent_divider_changed(void);

static const u32 dividers[] = { 1, 2, 4, 8, 16, 32, 64, 128 };

static const struct check registers[] = {
	{ "tmict-read-back", tmict_read_back,
	  .story = "the initial count reads as it was written, edges included" },
	{ "tdcr-read-back", tdcr_read_back,
	  .story = "the divide configuration reads as it was written, all eight of them" },
	{ "tmcct-counts-down", tmcct_counts_down, .guards = "L14",
	  .story = "the current count is never above the initial one and never goes up; one taken "
		   "from another clock, or scaled twice, is" },
	{ "tmcct-read-only", tmcct_read_only,
	  .story = "a write of the current count changes nothing in xAPIC mode, is #GP in x2APIC "
		   "mode" },
};

static const struct check divider[] = {
	{ "1", check_divider, .subject = &dividers[0],
	  .story = "the count goes down at one rate that all brackets by the TSC allow" },
	{ "2", check_divider, .subject = &dividers[1], .story = "at half the rate" },
	{ "4", check_divider, .subject = &dividers[2], .story = "at a quarter of the rate" },
	{ "8", check_divider, .subject = &dividers[3], .story = "at an 8th of the rate" },
	{ "16", check_divider, .subject = &dividers[4], .story = "at a 16th of the rate" },
	{ "32", check_divider, .subject = &dividers[5], .story = "at a 32nd of the rate" },
	{ "64", check_divider, .subject = &dividers[6], .story = "at a 64th of the rate" },
	{ "128", check_divider, .subject = &dividers[7], .story = "at a 128th of the rate" },
};

static const struct check one_shot[] = {
	{ "counted", one_shot_counted,
	  .story = "armed n times with near and nearer deadlines, handled n times" },
	{ "in-handler", one_shot_in_handler,
	  .story = "the same, armed again by the handler: an expiry that is delivered while the "
		   "next is armed gets lost, or comes twice" },
	{ "sweep", one_shot_sweep, .guards = "L8",
	  .story = "each count from 1 to 1000 gives its interrupt, however near" },
	{ "never-early", one_shot_never_early, .guards = "L9",
	  .story = "no interrupt before the count can have reached 0, under every divider" },
	{ "lateness", one_shot_lateness, .story = "late only as long as the guest was not run" },
};

static const struct check moved[] = {
	{ "sooner", moved_sooner,
	  .story = "a smaller count written before a long one is over: one interrupt, at the new "
		   "time" },
	{ "later", moved_later,
	  .story = "a larger count written before a short one is over: one interrupt, not at the "
		   "old time" },
	{ "again-and-again", moved_again_and_again,
	  .story = "a count that is written anew all the time never runs out" },
};

static const struct check silent[] = {
	{ "after-expiry", silent_after_expiry,
	  .story = "once over, the count stays 0 and gives no second interrupt" },
	{ "after-zero", silent_after_zero,
	  .story = "an initial count of 0 stops the timer: no interrupt of the one before" },
	{ "longest", silent_longest,
	  .story = "the longest count under the largest divider is not over at once: a product "
		   "that overflows is" },
	{ "masked", silent_masked,
	  .story = "masked, the count runs out without an interrupt, and none is kept for later" },
	{ "divider-changed", silent_divider_changed,
	  .story = "a count that is over is not started by a new divider" },
};

static const struct check checks[] = {
	{ "registers", .checks = registers, .nr_checks = ARRAY_SIZE(registers) },
	{ "divider", .checks = divider, .nr_checks = ARRAY_SIZE(divider) },
	{ "one-shot", .checks = one_shot, .nr_checks = ARRAY_SIZE(one_shot) },
	{ "moved", .checks = moved, .nr_checks = ARRAY_SIZE(moved) },
	{ "silent", .checks = silent, .nr_checks = ARRAY_SIZE(silent) },
};

#define ROUNDS	       1000
#define SWEEP_COUNT    1000
#define MOVES	       10
#define LATENESS_SHOTS 200
#define DIVIDER_NS     (20 * NSEC_PER_MSEC)
#define RANDOM_MAX_NS  (20 * NSEC_PER_USEC)
#define SHORT_NS       (500 * NSEC_PER_USEC)
#define SILENCE_NS     (4 * SHORT_NS)
#define FAR_NS	       (4 * NSEC_PER_SEC)
/* For what has to happen before the count is over; where it did not, the attempt is made again. */
#define LONG_NS	 (20 * NSEC_PER_MSEC)
#define ATTEMPTS 20
/* As much as a CPU may not be run for: attempts that fail are rare. */
#define AGAIN_NS (100 * NSEC_PER_MSEC)

/* ---- registers --------------------------------------------------------------------------------- */

static void tmict_read_back(void)
{
	static const u32 values[] = { 1, 2, 0x7fffffff, 0x80000000, 0xffffffff, 0x12345678, 0 };

	lapic_timer_write_mode(APIC_LVT_MASKED);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		apic_write(APIC_TMICT, values[i]);
		report_expect(apic_read(APIC_TMICT) == values[i],
			      "TMICT was written 0x%x and reads as 0x%x", values[i],
			      apic_read(APIC_TMICT));
	}
	report_expect(apic_read(APIC_TMCCT) == 0, "with TMICT = 0, TMCCT reads as 0x%x",
		      apic_read(APIC_TMCCT));
}

static void tdcr_read_back(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(dividers); i++) {
		u32 code = lapic_timer_divider_code(dividers[i]);

		lapic_timer_set_divider(dividers[i]);
		report_expect((apic_read(APIC_TDCR) & 0xb) == code,
			      "TDCR was written 0x%x (divide by %u) and reads as 0x%x", code,
			      dividers[i], apic_read(APIC_TDCR));
	}
	lapic_timer_set_divider(1);
}

static void tmcct_counts_down(void)
{
	struct spin_bound budget;
	u32 last = UINT32_MAX, first, now = 0;
	u64 reads = 0, up = 0;

	lapic_timer_write_mode(APIC_LVT_MASKED);
	lapic_timer_set_divider(1);
	apic_write(APIC_TMICT, last);
	first = apic_read(APIC_TMCCT);
	spin_start(&budget, report_budget_ns() / 10);
	do {
		now = apic_read(APIC_TMCCT);
		if (now > last)
			up++;
		last = now;
		reads++;
	} while (spin_poll(&budget));
	apic_write(APIC_TMICT, 0);
	report_info("TMCCT went from 0x%x to 0x%x in %lu reads", first, now, reads);
	report_expect(!up, "TMCCT went up %lu times in %lu reads", up, reads);
	report_expect(now < first, "TMCCT stood still at 0x%x for %lu ms", now,
		      report_budget_ns() / 10 / NSEC_PER_MSEC);
}

static void tmcct_read_only(void)
{
	u32 before, after;

	lapic_timer_write_mode(APIC_LVT_MASKED);
	lapic_timer_set_divider(128);
	apic_write(APIC_TMICT, UINT32_MAX);
	before = apic_read(APIC_TMCCT);
	if (apic_is_x2apic())
		report_expect(wrmsr_safe(MSR_IA32_X2APIC_BASE + (APIC_TMCCT >> 4), 0) == VECTOR_GP,
			      "WRMSR of the current count raises no exception in x2APIC mode");
	else
		apic_write(APIC_TMCCT, 0);
	after = apic_read(APIC_TMCCT);
	/* At divider 128 nine minutes are left at 1 GHz. */
	report_expect(after <= before && after != 0,
		      "TMCCT was 0x%x, was written 0 and reads as 0x%x", before, after);
	apic_write(APIC_TMICT, 0);
	lapic_timer_set_divider(1);
}

/* ---- rate -------------------------------------------------------------------------------------- */

/* Counts up, as counter_check_rate() wants it. */
static u64 read_elapsed(void)
{
	return UINT32_MAX - apic_read(APIC_TMCCT);
}

static struct counter_ops tsc = { "RDTSC", clock_ticks, UINT64_MAX, 0 };
static const struct counter_ops current_count = { "TMCCT", read_elapsed, UINT32_MAX, 0 };

/*
 * One constant rate, and as many times smaller than the undivided as the divider says: the interval
 * that was measured times the divider has to have a rate in common with that of divider 1.
 */
static void check_divider(void)
{
	u32 by = *(const u32 *)report_subject();
	struct hz_interval found;
	u64 low_hz, high_hz;
	bool constant;

	if (!lapic_timer_hz(&low_hz, &high_hz)) {
		report_fail("TMCCT does not go down");
		return;
	}
	lapic_timer_write_mode(APIC_LVT_MASKED);
	lapic_timer_set_divider(by);
	apic_write(APIC_TMICT, UINT32_MAX);
	constant = counter_check_rate(&current_count, &tsc, DIVIDER_NS, &found);
	apic_write(APIC_TMICT, 0);
	lapic_timer_set_divider(1);
	if (constant)
		report_expect(found.low * by <= high_hz && found.high * by >= low_hz,
			      "divided by %u it counts at %lu to %lu Hz, undivided at %lu to %lu",
			      by, found.low, found.high, low_hz, high_hz);
}

/* ---- one-shot ---------------------------------------------------------------------------------- */

static u32 random_count(struct lapic_timer *timer)
{
	return lapic_timer_random(timer, lapic_timer_ticks(RANDOM_MAX_NS, timer->divider));
}

static void one_shot_counted(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_open(&timer, NULL))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, random_count(&timer));
	} while (lapic_timer_wait(&timer, ++n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times", n);
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void rearm(struct lapic_timer *timer)
{
	if (--timer->left)
		lapic_timer_write_count(timer, random_count(timer));
}

/* In runs of some, so that a slow machine ends in time with a known number. */
static void one_shot_in_handler(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_open(&timer, rearm))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		timer.left = ROUNDS / 20;
		n += timer.left;
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, random_count(&timer));
	} while (lapic_timer_wait(&timer, n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times, of these in the handler %lu", n, n - n / (ROUNDS / 20));
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void one_shot_sweep(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_open(&timer, NULL))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, n + 1);
	} while (lapic_timer_wait(&timer, ++n) && n < SWEEP_COUNT && spin_poll(&budget));
	report_info("counts from 1 to %lu", n);
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void one_shot_never_early(void)
{
	struct lapic_timer timer;
	u64 n = 0;

	if (!lapic_timer_open(&timer, NULL))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(dividers); i++) {
		timer.divider = dividers[i];
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT,
				lapic_timer_ticks(NSEC_PER_MSEC, timer.divider));
		if (!lapic_timer_expect(&timer, ++n))
			break;
	}
	lapic_timer_close(&timer);
}

static struct samples late, ran;

static void one_shot_lateness(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_open(&timer, NULL))
		return;
	late.count = ran.count = 0;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT,
				lapic_timer_ticks(50 * NSEC_PER_USEC, 1));
	} while (lapic_timer_wait_watched(&timer, ++n, &late, &ran) && n < LATENESS_SHOTS &&
		 spin_poll(&budget));
	lapic_timer_expect(&timer, n);
	lapic_timer_judge_lateness(&late, &ran);
	lapic_timer_close(&timer);
}

/* ---- moved ------------------------------------------------------------------------------------- */

static void moved_sooner(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	for (u64 n = 1; n <= MOVES; n++) {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(FAR_NS, 1));
		lapic_timer_write_count(&timer, lapic_timer_ticks(50 * NSEC_PER_USEC, 1));
		if (!lapic_timer_expect(&timer, n))
			break;
	}
	lapic_timer_close(&timer);
}

/*
 * Interrupts are off until the new count is in force; where the old one was over by then, it has
 * given an interrupt of its own, which is seen in the IRR, and the attempt is made again.
 */
static bool move_later(struct lapic_timer *timer)
{
	for (int i = 0; i < ATTEMPTS; i++) {
		u64 due_tsc;

		lapic_timer_arm(timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(LONG_NS, 1));
		due_tsc = timer->before_tsc + lapic_timer_least_tsc(timer->count, 1);
		lapic_timer_write_count(timer, 2 * lapic_timer_ticks(LONG_NS, 1));
		if (timer->after_tsc < due_tsc)
			return true;
		lapic_timer_write_count(timer, 0);
		if (apic_irr(LAPIC_TIMER_VECTOR))
			lapic_timer_wait(timer, timer->handled + 1);
		timer->handled = timer->early = 0;
	}
	report_error("in %d attempts this CPU was not run for %lu ms between two writes", ATTEMPTS,
		     LONG_NS / NSEC_PER_MSEC);
	return false;
}

static void moved_later(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	if (move_later(&timer))
		lapic_timer_expect(&timer, 1);
	lapic_timer_close(&timer);
}

/*
 * For longer than the count, which is written anew all the time: false where this CPU was not run for
 * so long that the count may have been over in between.
 */
static bool write_again_and_again(struct lapic_timer *timer, u64 *writes)
{
	struct spin_bound bound;

	timer->handled = 0;
	*writes = 0;
	spin_start(&bound, AGAIN_NS + AGAIN_NS / 2);
	lapic_timer_arm(timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(AGAIN_NS, 1));
	while (spin_poll(&bound)) {
		u64 due_tsc = timer->before_tsc + lapic_timer_least_tsc(timer->count, 1);

		lapic_timer_write_count(timer, lapic_timer_ticks(AGAIN_NS, 1));
		if (timer->after_tsc >= due_tsc)
			return false;
		++*writes;
	}
	return true;
}

static void moved_again_and_again(void)
{
	struct lapic_timer timer;
	bool in_time = false;
	u64 writes = 0;

	if (!lapic_timer_open(&timer, NULL))
		return;
	irq_enable();
	for (int i = 0; i < ATTEMPTS && !in_time; i++) {
		in_time = write_again_and_again(&timer, &writes);
		if (!in_time) {
			/* Its interrupt may be on its way for as long as a thread of the host lags. */
			lapic_timer_write_count(&timer, 0);
			spin_until(false, AGAIN_NS);
		}
	}
	irq_disable();
	report_info("%lu writes", writes);
	if (in_time)
		report_expect(timer.handled == 0,
			      "%lu interrupts came though the count was always written again in "
			      "time",
			      timer.handled);
	else
		report_error("in %d attempts this CPU was not run for %lu ms between two writes",
			     ATTEMPTS, AGAIN_NS / NSEC_PER_MSEC);
	lapic_timer_close(&timer);
}

/* ---- silent ------------------------------------------------------------------------------------ */

static void silent_after_expiry(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(SHORT_NS, 1));
	if (lapic_timer_expect(&timer, 1)) {
		report_expect(apic_read(APIC_TMCCT) == 0,
			      "TMCCT is 0x%x after the one-shot's interrupt",
			      apic_read(APIC_TMCCT));
		lapic_timer_expect_silent(&timer, 1, SILENCE_NS);
		report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x some time later",
			      apic_read(APIC_TMCCT));
		report_expect(apic_read(APIC_TMICT) == timer.count,
			      "TMICT is 0x%x after expiry, 0x%x was written", apic_read(APIC_TMICT),
			      timer.count);
	}
	lapic_timer_close(&timer);
}

static void silent_after_zero(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	for (int i = 0; i < MOVES; i++) {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(SHORT_NS, 1));
		lapic_timer_write_count(&timer, 0);
		lapic_timer_take_pending(&timer);
		report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x after TMICT was set to 0",
			      apic_read(APIC_TMCCT));
		lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	}
	lapic_timer_close(&timer);
}

static void silent_longest(void)
{
	struct lapic_timer timer;
	u32 current;

	if (!lapic_timer_open(&timer, NULL))
		return;
	timer.divider = 128;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, UINT32_MAX);
	lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	current = apic_read(APIC_TMCCT);
	/* 4 s of the nine minutes at 1 GHz. */
	report_expect(current > UINT32_MAX - UINT32_MAX / 128,
		      "TMCCT has come down to 0x%x already", current);
	lapic_timer_close(&timer);
}

/* A masked interrupt is not kept (SDM vol. 3, 11.5.1: bit 16 inhibits reception). */
static void silent_masked(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT | APIC_LVT_MASKED,
			lapic_timer_ticks(SHORT_NS, 1));
	report_expect(spin_until(apic_read(APIC_TMCCT) == 0, LAPIC_TIMER_WAIT_NS),
		      "masked, TMCCT does not reach 0");
	if (lapic_timer_expect_silent(&timer, 0, LAPIC_TIMER_SETTLE_NS)) {
		lapic_timer_write_mode(APIC_LVT_TIMER_ONESHOT);
		lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	}
	lapic_timer_close(&timer);
}

static void silent_divider_changed(void)
{
	struct lapic_timer timer;

	if (!lapic_timer_open(&timer, NULL))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(SHORT_NS, 1));
	if (lapic_timer_expect(&timer, 1)) {
		for (size_t i = 0; i < ARRAY_SIZE(dividers); i++) {
			lapic_timer_set_divider(dividers[i]);
			report_expect(apic_read(APIC_TMCCT) == 0,
				      "TMCCT is 0x%x after a change to divider %u",
				      apic_read(APIC_TMCCT), dividers[i]);
		}
		lapic_timer_expect_silent(&timer, 1, SILENCE_NS);
	}
	lapic_timer_close(&timer);
}

int main(void)
{
	tsc.hz = clock_hz();
	return report_run("lapic-timer", checks, ARRAY_SIZE(checks));
}
