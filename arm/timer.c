/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generic timer's registers. CVAL keeps what is written; TVAL is a signed 32-bit view of CVAL
 * minus the counter, for writes and for reads; ISTATUS is set exactly while the counter has reached
 * CVAL, whether or not IMASK hides it; and no timer disturbs another.
 *
 * A hypervisor that emulates a timer and takes TVAL for unsigned fails tval-minus-one and
 * tval-high-bits (A1); one that reports ISTATUS from its own timer's state, not from the counter,
 * fails istatus-follows-counter; one that mixes up the timers of two exception levels fails
 * independent (A6). The counter's width is nowhere assumed to be 64 bits (A20).
 *
 * The same checks for each timer: at EL1 the virtual and the physical one, at EL2 those of EL2 and,
 * through EL2's names for them, those of EL1. Arguments: budget-ms=N, el=2; wrap: only the check that
 * is known to hang an emulator, at EL2.
 */
#include "libcflat.h"
#include "timertest.h"
#include <arch/el.h>
#include <arch/timer.h>

#define ENABLED	       TIMER_CTL_ENABLE
#define ENABLED_MASKED (TIMER_CTL_ENABLE | TIMER_CTL_IMASK)

/* Compare values further ahead than this are not reached by any check, lagging or not. */
#define FAR_NS 100000000000UL

#define ISTATUS_DEADLINES 200

static const struct timer_ops *subject(void)
{
	return report_subject();
}

/* ---- CTL and CVAL ------------------------------------------------------------------------------ */

static void ctl_read_back(void)
{
	const struct timer_ops *timer = subject();

	timer->set_cval(timer->count() + timer_ticks(FAR_NS));
	for (u64 ctl = 0; ctl <= ENABLED_MASKED; ctl++) {
		timer->set_ctl(ctl);
		report_expect((timer->ctl() & ENABLED_MASKED) == ctl,
			      "CTL was written as %lu and reads as %lu", ctl, timer->ctl());
	}
	/* ISTATUS is read-only. */
	timer->set_ctl(ENABLED_MASKED | TIMER_CTL_ISTATUS);
	report_expect(timer->ctl() == ENABLED_MASKED, "ISTATUS could be written: CTL is %#lx",
		      timer->ctl());
	timer->set_ctl(0);
}

/*
 * The bits that CVAL implements: it may be as narrow as the counter, which has 56 to 64 bits (Arm
 * ARM, CNTV_CVAL_EL0 and "The system counter").
 */
static u64 cval_mask(const struct timer_ops *timer)
{
	u64 mask;

	timer->set_cval(UINT64_MAX);
	mask = timer->cval();
	timer->set_cval(0);
	return mask;
}

static void cval_read_back(void)
{
	static const u64 patterns[] = {
		0x0,
		0x1,
		0xffffffff,
		0x100000000,
		0x5555555555555555,
		0xaaaaaaaaaaaaaaaa,
		0x0123456789abcdef,
		0x7fffffffffffffff,
		0x8000000000000000,
		0xffffffffffffffff,
	};
	const struct timer_ops *timer = subject();
	u64 mask = cval_mask(timer);

	report_expect(!(mask & (mask + 1)) && mask >= BIT(56) - 1,
		      "all ones in CVAL read as %#lx: not the low 56 or more bits", mask);
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		timer->set_cval(patterns[i]);
		report_expect(timer->cval() == (patterns[i] & mask),
			      "CVAL was written as %#lx and reads as %#lx", patterns[i],
			      timer->cval());
	}
	timer->set_cval(0);
}

/*
 * Reads back, and ISTATUS agrees with the counter. What CVAL holds is treated as unsigned (Arm ARM,
 * CNTV_CVAL_EL0: zero-extended in all counter calculations).
 */
static void check_cval(const struct timer_ops *timer, u64 cval)
{
	u64 effective = cval & cval_mask(timer);

	timer->set_cval(cval);
	timer->set_ctl(ENABLED_MASKED);
	report_expect(timer->cval() == effective, "CVAL was written as %#lx and reads as %#lx",
		      cval, timer->cval());
	timer_expect_istatus(timer, effective,
			     effective < timer->count() + timer_ticks(NSEC_PER_SEC));
	timer->set_ctl(0);
}

static void cval_zero(void)
{
	check_cval(subject(), 0);
}

static void cval_now(void)
{
	check_cval(subject(), subject()->count());
}

static void cval_now_plus_one(void)
{
	check_cval(subject(), subject()->count() + 1);
}

static void cval_all_ones(void)
{
	if (timer_cval_wrap_hangs_host())
		return;
	check_cval(subject(), UINT64_MAX);
}

static void cval_above_width(void)
{
	for (int bit = 56; bit < 64; bit++)
		check_cval(subject(), BIT(bit) | subject()->count());
}

static void cval_survives_disable(void)
{
	const struct timer_ops *timer = subject();
	u64 cval = timer->count() + timer_ticks(FAR_NS);

	timer->set_cval(cval);
	for (int round = 0; round < 3; round++) {
		timer->set_ctl(round % 2 ? 0 : ENABLED_MASKED);
		report_expect(timer->cval() == cval, "CVAL became %#lx, it was %#lx", timer->cval(),
			      cval);
	}
	timer->set_ctl(0);
}

/* ---- TVAL -------------------------------------------------------------------------------------- */

/* TVAL[31:0] is CVAL minus the counter, which is known from two reads around. */
static bool expect_tval(const struct timer_ops *timer, u64 cval)
{
	u64 before = timer->count();
	u32 tval = timer->tval();
	u64 after = timer->count();

	return report_expect(
		(u32)(cval - before) - tval <= after - before,
		"TVAL reads as %#x, CVAL is %#lx and the counter went from %#lx to %#lx", tval,
		cval, before, after);
}

/* Writing TVAL makes CVAL the counter plus the low 32 bits, sign-extended; *cval is what it made. */
static bool write_tval(const struct timer_ops *timer, u64 mask, u64 written, u64 *cval)
{
	u64 value = (s64)(s32)written;
	u64 before = timer->count(), after;

	timer->set_tval(written);
	after = timer->count();
	*cval = timer->cval();
	return report_expect(((*cval - before - value) & mask) <= after - before,
			     "TVAL was written as %#lx while the counter went from %#lx to %#lx: "
			     "CVAL is %#lx",
			     written, before, after, *cval);
}

static void check_tval(const struct timer_ops *timer, u64 written)
{
	s64 value = (s32)written;
	u64 cval, mask = cval_mask(timer);

	if (value < 0 && timer->count() < -value && timer_cval_wrap_hangs_host())
		return;
	timer->set_ctl(ENABLED_MASKED);
	if (write_tval(timer, mask, written, &cval) && expect_tval(timer, cval)) {
		if (value < 0 && timer->count() < -value)
			report_info("the counter is below 2^31, so that CVAL wrapped: ISTATUS is "
				    "not judged");
		else
			timer_expect_istatus(timer, cval, value <= (s64)timer_ticks(NSEC_PER_SEC));
	}
	timer->set_ctl(0);
}

static void tval_zero(void)
{
	check_tval(subject(), 0);
}

static void tval_one(void)
{
	check_tval(subject(), 1);
}

static void tval_minus_one(void)
{
	check_tval(subject(), (u32)-1);
}

static void tval_int_min(void)
{
	check_tval(subject(), (u32)INT32_MIN);
}

static void tval_int_max(void)
{
	check_tval(subject(), INT32_MAX);
}

static void tval_high_bits(void)
{
	check_tval(subject(), 0x1ffffffff);
	check_tval(subject(), 0xffffffff00000000);
	check_tval(subject(), 0xa5a5a5a500000064);
	check_tval(subject(), 0x7fffffffffffff00);
}

/* It goes on counting down below 0. */
static void tval_goes_negative(void)
{
	const struct timer_ops *timer = subject();
	u64 cval;
	s32 tval;

	timer->set_ctl(ENABLED_MASKED);
	timer->set_tval(timer_ticks(NSEC_PER_USEC));
	cval = timer->cval();
	report_expect(spin_until((s32)timer->tval() < 0, TIMER_WAIT_NS),
		      "TVAL is %d and has not become negative", (s32)timer->tval());
	expect_tval(timer, cval);
	tval = timer->tval();
	report_expect(spin_until((s32)timer->tval() < tval, TIMER_WAIT_NS),
		      "TVAL stands still at %d", tval);
	expect_tval(timer, cval);
	timer->set_ctl(0);
}

static void tval_of_far_cval(void)
{
	const struct timer_ops *timer = subject();

	timer->set_ctl(ENABLED_MASKED);
	for (int bit = 31; bit < 56; bit++) {
		u64 cval = timer->count() + BIT(bit) + timer_ticks(FAR_NS);

		timer->set_cval(cval);
		if (!expect_tval(timer, cval) || !timer_expect_istatus(timer, cval, false))
			break;
	}
	timer->set_ctl(0);
}

/* ---- ISTATUS ----------------------------------------------------------------------------------- */

/* At all times: also between the deadline and whatever it is that the hypervisor does then. */
static void istatus_follows_counter(void)
{
	const struct timer_ops *timer = subject();
	u64 looks = 0, early = 0, late = 0, most_late = 0;
	struct spin_bound budget;
	int deadlines = 0;

	spin_start(&budget, report_budget_ns() / 4);
	do {
		u64 cval = timer->count() + timer_ticks(20 * NSEC_PER_USEC);
		struct timer_look look;
		struct spin_bound bound;

		timer->set_cval(cval);
		timer->set_ctl(ENABLED_MASKED);
		spin_start(&bound, TIMER_WAIT_NS);
		do {
			look = timer_look(timer, cval);
			looks++;
			early += look.too_early;
			late += look.too_late;
			if (look.too_late)
				most_late = MAX(most_late, look.before_ticks - cval);
		} while (!look.istatus && spin_poll(&bound));
		if (!report_expect(look.istatus, "ISTATUS is not set for CVAL %#lx at %#lx", cval,
				   look.after_ticks))
			break;
	} while (++deadlines < ISTATUS_DEADLINES && spin_poll(&budget));
	timer->set_ctl(0);
	report_info("%d deadlines, %lu looks", deadlines, looks);
	report_expect(!early, "ISTATUS was set before the counter reached CVAL, %lu times", early);
	report_expect(!late,
		      "ISTATUS was clear in %lu looks after the counter had reached CVAL, as much "
		      "as %lu ticks after",
		      late, most_late);
}

/* The condition does not depend on IMASK, and toggling that does not disturb it. */
static void istatus_under_imask(void)
{
	const struct timer_ops *timer = subject();
	u64 cval = timer->count();

	timer->set_cval(cval);
	timer->set_ctl(ENABLED_MASKED);
	timer_expect_istatus(timer, cval, true);
	timer->set_cval(cval = timer->count() + timer_ticks(FAR_NS));
	timer_expect_istatus(timer, cval, false);
	timer->set_cval(cval = timer->count() + timer_ticks(100 * NSEC_PER_USEC));
	timer_expect_istatus(timer, cval, true);
	for (int round = 0; round < 4; round++) {
		timer->set_ctl(round % 2 ? ENABLED_MASKED : ENABLED);
		report_expect(timer->ctl() & TIMER_CTL_ISTATUS, "ISTATUS went when IMASK became %d",
			      round % 2);
	}
	timer->set_ctl(0);
}

static void istatus_cval_moved(void)
{
	const struct timer_ops *timer = subject();

	timer->set_ctl(ENABLED_MASKED);
	for (int round = 0; round < 10; round++) {
		u64 past = timer->count() - 1, future = past + timer_ticks(FAR_NS);

		timer->set_cval(past);
		timer_expect_istatus(timer, past, true);
		timer->set_cval(future);
		timer_expect_istatus(timer, future, false);
	}
	timer->set_ctl(0);
}

/* ---- several ----------------------------------------------------------------------------------- */

/* Each keeps its own CVAL and CTL while the others are written, in both orders. */
static void independent(void)
{
	const struct timer_ops *const *timers;
	u64 cval[TIMER_MAX_TIMERS];
	int count;

	timers = timer_all(&count);
	for (int round = 0; round < 4; round++) {
		for (int n = 0; n < count; n++) {
			int i = round % 2 ? count - 1 - n : n;

			cval[i] = timers[i]->count() + timer_ticks(FAR_NS) * (i + 1 + round);
			timers[i]->set_cval(cval[i]);
			timers[i]->set_ctl((i + round) % 4);
		}
		for (int i = 0; i < count; i++) {
			report_expect(timers[i]->cval() == cval[i],
				      "the %s's CVAL was written as %#lx and reads as %#lx",
				      timers[i]->name, cval[i], timers[i]->cval());
			report_expect((timers[i]->ctl() & ENABLED_MASKED) == (i + round) % 4,
				      "the %s's CTL was written as %d and reads as %#lx",
				      timers[i]->name, (i + round) % 4, timers[i]->ctl());
		}
	}
	for (int i = 0; i < count; i++)
		timers[i]->set_ctl(0);
}

/* More than any delay; and its ticks more than 2^31, so that INT_MIN does not wrap. */
static u64 cntvoff_distance(void)
{
	return MAX(timer_ticks(3600 * NSEC_PER_SEC), BIT(40));
}

/* CNTVOFF_EL2 moves EL1's virtual timer against the counter, and not EL2's. */
static void cntvoff(void)
{
	u64 old = cntvoff_el2(), distance = cntvoff_distance(), now;

	set_cntvoff_el2(-distance); /* EL1's virtual counter is ahead */
	now = cntpct_el0();
	virtual_timer.set_cval(now + distance / 2);
	virtual_timer.set_ctl(ENABLED_MASKED);
	el1_virtual_timer.set_cval(now + distance / 2);
	el1_virtual_timer.set_ctl(ENABLED_MASKED);
	timer_expect_istatus(&virtual_timer, now + distance / 2, false);
	timer_expect_istatus(&el1_virtual_timer, now + distance / 2, true);
	el1_virtual_timer.set_cval(now + 2 * distance);
	timer_expect_istatus(&el1_virtual_timer, now + 2 * distance, false);
	el1_virtual_timer.set_ctl(0);
	virtual_timer.set_ctl(0);
	set_cntvoff_el2(old);
}

/* The deadline by the physical counter is beyond 64 bits, and not in the past for that. */
static void cntvoff_cval_all_ones(void)
{
	u64 old = cntvoff_el2(), cval = cval_mask(&el1_virtual_timer);

	if (timer_cval_wrap_hangs_host())
		return;
	set_cntvoff_el2(cntpct_el0() / 2);
	el1_virtual_timer.set_cval(cval);
	el1_virtual_timer.set_ctl(ENABLED_MASKED);
	/* For as long as a hypervisor that takes it for past might need to act on it. */
	for (int i = 0; i < 10 && timer_expect_istatus(&el1_virtual_timer, cval, false); i++)
		spin_until(false, NSEC_PER_MSEC);
	el1_virtual_timer.set_ctl(0);
	set_cntvoff_el2(old);
}

/* TVAL of EL1's virtual timer is by the counter that CNTVOFF_EL2 has moved. */
static void cntvoff_tval(void)
{
	u64 old = cntvoff_el2();

	set_cntvoff_el2(-cntvoff_distance());
	check_tval(&el1_virtual_timer, 0);
	check_tval(&el1_virtual_timer, INT32_MAX);
	check_tval(&el1_virtual_timer, (u32)INT32_MIN);
	set_cntvoff_el2(old);
}

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check registers[] = {
	{ "ctl-read-back", ctl_read_back,
	  .story = "ENABLE and IMASK read as they were written, ISTATUS cannot be written" },
	{ "cval-read-back", cval_read_back, .guards = "A20",
	  .story = "CVAL keeps all the bits that it has, 56 at least" },
	{ "cval-zero", cval_zero, .guards = "A20", .story = "CVAL = 0 has always been reached" },
	{ "cval-now", cval_now, .story = "CVAL = the counter is reached at once" },
	{ "cval-now-plus-one", cval_now_plus_one,
	  .story = "CVAL = the counter + 1 is reached, and not before" },
	{ "cval-all-ones", cval_all_ones, .guards = "A20",
	  .story = "CVAL = all ones is not reached, nor taken for -1" },
	{ "cval-above-width", cval_above_width, .guards = "A20",
	  .story = "bits above the counter's width are compared as they read back" },
	{ "cval-survives-disable", cval_survives_disable, .story = "ENABLE does not change CVAL" },
	{ "tval-zero", tval_zero, .story = "TVAL = 0 makes CVAL the counter" },
	{ "tval-one", tval_one, .story = "TVAL = 1 makes CVAL the counter + 1" },
	{ "tval-minus-one", tval_minus_one, .guards = "A1",
	  .story = "TVAL = -1 is in the past, and ISTATUS is set at once" },
	{ "tval-int-min", tval_int_min, .guards = "A1",
	  .story = "TVAL = INT_MIN makes CVAL the counter - 2^31" },
	{ "tval-int-max", tval_int_max, .guards = "A1",
	  .story = "TVAL = INT_MAX makes CVAL the counter + 2^31 - 1" },
	{ "tval-high-bits", tval_high_bits, .guards = "A1",
	  .story = "bits above 31 of what is written to TVAL count for nothing" },
	{ "tval-goes-negative", tval_goes_negative, .guards = "A1",
	  .story = "TVAL counts down through 0 to negative values" },
	{ "tval-of-far-cval", tval_of_far_cval, .guards = "A1",
	  .story = "TVAL is the low half of the distance, however far CVAL is" },
	{ "istatus-follows-counter", istatus_follows_counter,
	  .story = "ISTATUS is set exactly while the counter has reached CVAL, at all times" },
	{ "istatus-under-imask", istatus_under_imask,
	  .story = "IMASK hides the interrupt and not ISTATUS" },
	{ "istatus-cval-moved", istatus_cval_moved, .story = "ISTATUS comes and goes with CVAL" },
};

static const struct check several[] = {
	{ "independent", independent, .guards = "A6",
	  .story = "each timer keeps its own CVAL and CTL; at EL2 also EL1's" },
	/* At EL2 only. */
	{ "cntvoff", cntvoff, .guards = "A6 A7",
	  .story = "CNTVOFF_EL2 moves EL1's virtual timer and not EL2's" },
	{ "cntvoff-tval", cntvoff_tval, .guards = "A1 A6",
	  .story = "TVAL of EL1's virtual timer, written at EL2, is by the counter that it uses" },
};

static const struct check wrap[] = {
	{ "cntvoff-cval-all-ones", cntvoff_cval_all_ones, .guards = "A6 A20",
	  .story = "CVAL plus CNTVOFF_EL2, where that is more than 64 bits, is not in the past" },
};

int main(void)
{
	if (args_has("wrap"))
		return report_run("timer", wrap, ARRAY_SIZE(wrap));
	return timer_report_run("timer", registers, ARRAY_SIZE(registers), several,
				wanted_el() == 2 ? ARRAY_SIZE(several) : 1);
}
