// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TSC deadline of a guest that writes its TSC, or IA32_TSC_ADJUST. The interrupt comes when the
 * time-stamp counter, which is what RDTSC shows, equals or exceeds the deadline (SDM vol. 3, 11.5.4.1),
 * wherever the guest has moved it (18.17.3), before it armed the timer or since.
 *
 * A hypervisor that compares the host's TSC, or an older offset, is early or late by their difference:
 * armed-after (T9). One that works out its own expiry when the deadline is written, and does not do so
 * again when the TSC is moved, fires early after a move back and late after one forward: armed-before.
 *
 * Arguments: apic=xapic or apic=x2apic; budget-ms=N.
 */
#include "libcflat.h"
#include "tsctest.h"
#include <arch/lapic_timer.h>

static void armed_after(void);
static void armed_before(void);

struct move {
	u32 msr;
	s64 ns;
};

/*
 * Back so little that the deadline can be waited for; forward so far that a deadline which is waited
 * for at the old time is missed.
 */
#define BACK_NS	   (-100 * (s64)NSEC_PER_MSEC)
#define FORWARD_NS (5 * (s64)NSEC_PER_SEC)
/* From now, by the TSC of before the move. */
#define NEAR_NS (20 * NSEC_PER_MSEC)
#define FAR_NS	(4 * NSEC_PER_SEC)

static const struct move tsc_forward = { MSR_IA32_TSC, FORWARD_NS };
static const struct move tsc_back = { MSR_IA32_TSC, BACK_NS };
static const struct move adjust_forward = { MSR_IA32_TSC_ADJUST, FORWARD_NS };
static const struct move adjust_back = { MSR_IA32_TSC_ADJUST, BACK_NS };

static const struct check after[] = {
	{ "tsc-forward", armed_after, .guards = "T9", .subject = &tsc_forward,
	  .story = "IA32_TSC is written to seconds ahead, then deadlines are: none is early, none "
		   "lost, none late while the guest ran" },
	{ "tsc-back", armed_after, .guards = "T9", .subject = &tsc_back,
	  .story = "the same after a write to a value that was" },
	{ "adjust-forward", armed_after, .guards = "T9", .subject = &adjust_forward,
	  .story = "the same after an addition to IA32_TSC_ADJUST" },
	{ "adjust-back", armed_after, .guards = "T9", .subject = &adjust_back,
	  .story = "the same after a subtraction" },
};

static const struct check before[] = {
	{ "tsc-forward", armed_before, .guards = "T9", .subject = &tsc_forward,
	  .story = "a write of IA32_TSC to beyond the armed deadline fires it" },
	{ "tsc-back", armed_before, .guards = "T9", .subject = &tsc_back,
	  .story = "a write of IA32_TSC to long before the armed deadline puts it off" },
	{ "adjust-forward", armed_before, .guards = "T9", .subject = &adjust_forward,
	  .story = "the first by an addition to IA32_TSC_ADJUST" },
	{ "adjust-back", armed_before, .guards = "T9", .subject = &adjust_back,
	  .story = "the second by a subtraction" },
};

static const struct check checks[] = {
	{ "armed-after", .checks = after, .nr_checks = ARRAY_SIZE(after) },
	{ "armed-before", .checks = before, .nr_checks = ARRAY_SIZE(before) },
};

#define SHOTS	 50
#define SHOT_NS	 (200 * NSEC_PER_USEC)
#define ATTEMPTS 20

/* close() puts the TSC back by *adjust. */
static bool open(struct lapic_timer *timer, u64 *adjust)
{
	if (!lapic_timer_has_deadline())
		return false;
	if (!tsc_adjust_offered()) {
		report_skip("CPUID offers no IA32_TSC_ADJUST (leaf 7, EBX bit 1), which tells how "
			    "far the TSC was moved");
		return false;
	}
	*adjust = tsc_adjust();
	/* Of a machine that was just started a move back must not end below 0. */
	spin_until(rdtsc_ordered() > ns_to_ticks(-2 * BACK_NS, clock_hz()), -2 * BACK_NS);
	return lapic_timer_open_deadline(timer, NULL);
}

static void close(struct lapic_timer *timer, u64 adjust)
{
	lapic_timer_close(timer);
	wrmsr(MSR_IA32_TSC_ADJUST, adjust);
}

static s64 move_ticks(const struct move *move)
{
	s64 ticks = ns_to_ticks(move->ns < 0 ? -move->ns : move->ns, clock_hz());

	return move->ns < 0 ? -ticks : ticks;
}

/* Returns whether the TSC shows it: beyond the target after a move forward, behind after one back. */
static bool move_tsc(const struct move *move)
{
	s64 ticks = move_ticks(move);
	u64 before_tsc = rdtsc_ordered(), after_tsc;

	if (move->msr == MSR_IA32_TSC)
		wrmsr(MSR_IA32_TSC, before_tsc + ticks);
	else
		wrmsr(MSR_IA32_TSC_ADJUST, tsc_adjust() + ticks);
	after_tsc = rdtsc_ordered();
	if (ticks < 0)
		return after_tsc < before_tsc;
	return after_tsc >= before_tsc + ticks;
}

static struct samples late, ran;

static void armed_after(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 adjust, n = 0;

	if (!open(&timer, &adjust))
		return;
	late.count = ran.count = 0;
	if (!move_tsc(report_subject()))
		report_info("the TSC did not move: see tsc-write and tsc-adjust");
	spin_start(&budget, report_budget_ns() / 2);
	do {
		lapic_timer_write_deadline_in(&timer, ns_to_ticks(SHOT_NS, clock_hz()));
	} while (lapic_timer_wait_watched(&timer, ++n, &late, &ran) && n < SHOTS &&
		 spin_poll(&budget));
	lapic_timer_expect(&timer, n);
	lapic_timer_judge_lateness(&late, &ran);
	close(&timer, adjust);
}

/* What was armed in vain is taken away, and the TSC put back. */
static void undo(struct lapic_timer *timer, u64 adjust)
{
	lapic_timer_write_deadline(timer, 0);
	lapic_timer_take_pending(timer);
	timer->early = 0;
	wrmsr(MSR_IA32_TSC_ADJUST, adjust);
}

/*
 * Arms and moves the TSC, with interrupts off. By the clock that no write moves the deadline must be
 * well ahead then, or its interrupt may already have been on its way; else again.
 */
static bool arm_and_move(struct lapic_timer *timer, const struct move *move, u64 adjust)
{
	u64 ahead_tsc = ns_to_ticks(move->ns < 0 ? NEAR_NS : FAR_NS, clock_hz());
	int moved = 0;

	for (int i = 0; i < ATTEMPTS; i++) {
		u64 start_tsc = rdtsc_ordered();

		lapic_timer_write_deadline(timer, start_tsc + ahead_tsc);
		if (move_tsc(move)) {
			moved++;
			if (tsc_unmoved() + adjust - start_tsc < ahead_tsc / 2)
				return true;
		}
		undo(timer, adjust);
	}
	if (report_expect(moved, "in %d attempts to move the TSC by %ld ms it did not move",
			  ATTEMPTS, move->ns / (s64)NSEC_PER_MSEC))
		report_error("in %d attempts this CPU was not run for %lu ms between two writes",
			     ATTEMPTS, ticks_to_ns(ahead_tsc / 2, clock_hz()) / NSEC_PER_MSEC);
	return false;
}

static void armed_before(void)
{
	struct lapic_timer timer;
	u64 adjust;

	if (!open(&timer, &adjust))
		return;
	if (arm_and_move(&timer, report_subject(), adjust))
		lapic_timer_expect(&timer, 1);
	close(&timer, adjust);
}

int main(void)
{
	return report_run("tsc-deadline-adjust", checks, ARRAY_SIZE(checks));
}
