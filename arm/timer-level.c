/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The level of the generic timer's interrupt: the GIC's input follows ENABLE, IMASK and ISTATUS. It
 * is taken again for as long as it stands, and not once more when it has gone, however that came
 * about; and deadlines beyond TVAL's range neither fire nor stand in the way of near ones.
 *
 * A hypervisor that does not lower the level of a timer that it emulates fails the once-when checks
 * by a storm, or the pending-ends-with checks (A2); one that deactivates the host's interrupt
 * without the guest's fails refire-while-asserted or once-when (A17); one that keeps too short a
 * deadline fails long-deadline-armed.
 *
 * The same checks for each timer: at EL1 the virtual and the physical one, at EL2 those of EL2 and,
 * through EL2's names for them, those of EL1. Arguments: budget-ms=N, el=2.
 */
#include "libcflat.h"
#include "timertest.h"
#include <arch/gic.h>
#include <arch/timer.h>

#define ENABLED	       TIMER_CTL_ENABLE
#define ENABLED_MASKED (TIMER_CTL_ENABLE | TIMER_CTL_IMASK)

/* Compare values further ahead than this are not reached by any check, lagging or not. */
#define FAR_NS 100000000000UL

#define REFIRES 5

static const struct timer_ops *subject(void)
{
	return report_subject();
}

/* ---- long deadlines ---------------------------------------------------------------------------- */

/* 2^31 is the first that TVAL cannot say, 2^32 the first whose low half is nothing. */
static const u64 distances[] = {
	BIT(31), BIT(32) - 1, BIT(32), BIT(32) + 1, BIT(33) + 100, BIT(40), BIT(48), BIT(55),
};

/* Armed for a while, nothing comes; and then a near one comes. */
static void long_deadline_armed(void)
{
	struct timer_line line;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		u64 start = line.timer->count();

		/* 2^31 ticks of a fast counter are seconds: too few to be sure of. */
		timer_arm(&line, start + distances[i] + timer_ticks(FAR_NS));
		timer_expect_istatus(line.timer, line.cval, false);
		if (!timer_expect_handled(&line, i))
			break;
		timer_arm(&line, line.timer->count() + timer_ticks(100 * NSEC_PER_USEC));
		if (!timer_expect_handled(&line, i + 1))
			break;
	}
	timer_close(&line);
}

/* By ENABLE, and by a nearer deadline that is then stopped before it is due. */
static void long_deadline_cancelled(void)
{
	struct timer_line line;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(distances); i++) {
		timer_arm(&line, line.timer->count() + distances[i] + timer_ticks(FAR_NS));
		if (i % 2)
			timer_arm(&line, line.timer->count() + timer_ticks(FAR_NS));
		line.timer->set_ctl(0);
		timer_expect_pending(line.timer, false, "after a long deadline was cancelled");
		if (!timer_expect_handled(&line, 0))
			break;
	}
	timer_close(&line);
}

/* ---- the level at the GIC ---------------------------------------------------------------------- */

/* Expired, with interrupts masked in PSTATE, as they are in every check. */
static bool open_expired(struct timer_line *line, u64 ctl)
{
	if (!timer_open(line, subject(), timer_stop))
		return false;
	line->cval = line->timer->count();
	line->timer->set_cval(line->cval);
	line->timer->set_ctl(ctl);
	return timer_expect_istatus(line->timer, line->cval, true);
}

static void pending_at_deadline(void)
{
	struct timer_line line;
	u32 intid;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	intid = line.timer->intid();
	timer_arm(&line, line.timer->count() + timer_ticks(5 * NSEC_PER_MSEC));
	/* Read first: what is pending then, is so before the counter is read. */
	do {
		bool pending = gic_is_pending(intid);
		u64 now = line.timer->count();

		if (!report_expect(!pending || now >= line.cval,
				   "pending at the GIC at %#lx, before CVAL %#lx", now, line.cval))
			break;
	} while (line.timer->count() < line.cval);
	timer_expect_pending(line.timer, true, "after its deadline");
	timer_expect_handled(&line, 1);
	timer_close(&line);
}

/* What lowers the level; the line then has to be found lowered, and nothing comes. */
static void check_pending_ends(void (*lower)(struct timer_line *line), const char *when)
{
	struct timer_line line;

	if (!open_expired(&line, ENABLED))
		return;
	if (timer_expect_pending(line.timer, true, "after its deadline")) {
		lower(&line);
		timer_expect_pending(line.timer, false, when);
		timer_expect_handled(&line, 0);
	}
	timer_close(&line);
}

static void move_far(struct timer_line *line)
{
	line->timer->set_cval(line->timer->count() + timer_ticks(FAR_NS));
}

static void pending_ends_with_imask(void)
{
	check_pending_ends(timer_mask, "after IMASK was set");
}

static void pending_ends_with_disable(void)
{
	check_pending_ends(timer_stop, "after ENABLE was cleared");
}

static void pending_ends_with_cval(void)
{
	check_pending_ends(move_far, "after CVAL was moved ahead");
}

static void pending_under_imask(void)
{
	struct timer_line line;

	if (!open_expired(&line, ENABLED_MASKED))
		return;
	report_expect(!spin_until(gic_is_pending(line.timer->intid()), TIMER_SETTLE_NS),
		      "pending at the GIC although IMASK is set");
	timer_expect_handled(&line, 0);
	line.timer->set_ctl(ENABLED);
	timer_expect_pending(line.timer, true, "after IMASK was cleared");
	timer_expect_handled(&line, 1);
	timer_close(&line);
}

static void gic_disabled(void)
{
	struct timer_line line;
	u32 intid = subject()->intid();

	if (!open_expired(&line, ENABLED))
		return;
	gic_disable(intid);
	timer_expect_pending(line.timer, true, "while disabled at the GIC");
	timer_expect_handled(&line, 0);
	gic_enable(intid);
	timer_expect_handled(&line, 1);
	timer_close(&line);
}

static void refire_until_enough(struct timer_line *line)
{
	if (line->handled + 1 == REFIRES)
		timer_stop(line);
}

static void refire_while_asserted(void)
{
	struct timer_line line;

	if (!open_expired(&line, ENABLED))
		return;
	line.remove_cause = refire_until_enough;
	timer_expect_handled(&line, REFIRES);
	timer_expect_pending(line.timer, false, "after ENABLE was cleared");
	timer_close(&line);
}

static void note_active(struct timer_line *line)
{
	line->left = gic_is_active(line->timer->intid());
	timer_stop(line);
}

static void active_while_handled(void)
{
	struct timer_line line;

	if (!open_expired(&line, ENABLED))
		return;
	line.remove_cause = note_active;
	report_expect(!gic_is_active(line.timer->intid()), "active before it was taken");
	timer_expect_handled(&line, 1);
	report_expect(line.left, "not active at the GIC in its handler");
	report_expect(!gic_is_active(line.timer->intid()), "active after its handler ended");
	timer_close(&line);
}

/* One interrupt for one expiry, by each way to remove its cause. */
static void check_once(void (*remove_cause)(struct timer_line *line))
{
	struct timer_line line;

	if (!timer_open(&line, subject(), remove_cause))
		return;
	for (u64 round = 1; round <= 10; round++) {
		timer_arm(&line, line.timer->count() + timer_ticks(50 * NSEC_PER_USEC));
		if (!timer_expect_handled(&line, round))
			break;
		timer_expect_pending(line.timer, false, "after its handler removed the cause");
	}
	timer_close(&line);
}

static void once_when_imasked(void)
{
	check_once(timer_mask);
}

static void once_when_disabled(void)
{
	check_once(timer_stop);
}

static void once_when_moved(void)
{
	check_once(move_far);
}

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check levels[] = {
	{ "pending-at-deadline", pending_at_deadline, .guards = "A22",
	  .story = "the interrupt becomes pending at the GIC when CVAL is reached, not before" },
	{ "pending-ends-with-imask", pending_ends_with_imask, .guards = "A2",
	  .story = "IMASK takes a pending interrupt back" },
	{ "pending-ends-with-disable", pending_ends_with_disable, .guards = "A2",
	  .story = "ENABLE = 0 takes a pending interrupt back" },
	{ "pending-ends-with-cval", pending_ends_with_cval, .guards = "A2 A4",
	  .story = "a later CVAL takes a pending interrupt back" },
	{ "pending-under-imask", pending_under_imask, .guards = "A2",
	  .story = "an expired timer is not pending until IMASK is cleared, then once" },
	{ "gic-disabled", gic_disabled, .guards = "A17",
	  .story = "an interrupt that the GIC holds back comes once when it is let through" },
	{ "refire-while-asserted", refire_while_asserted, .guards = "A17",
	  .story = "the interrupt is taken again after each handler while its cause stands" },
	{ "active-while-handled", active_while_handled,
	  .story = "the interrupt is active in its handler and inactive behind it" },
	{ "once-when-imasked", once_when_imasked, .guards = "A2 A17",
	  .story = "a handler that sets IMASK is called once an expiry" },
	{ "once-when-disabled", once_when_disabled, .guards = "A2 A17",
	  .story = "a handler that clears ENABLE is called once an expiry" },
	{ "once-when-moved", once_when_moved, .guards = "A2 A4 A17",
	  .story = "a handler that moves CVAL ahead is called once an expiry" },
	{ "long-deadline-armed", long_deadline_armed,
	  .story = "deadlines beyond TVAL's range do not fire, and near ones after them do" },
	{ "long-deadline-cancelled", long_deadline_cancelled,
	  .story = "a long deadline that was cancelled leaves no interrupt behind" },
};

int main(void)
{
	return timer_report_run("timer-level", levels, ARRAY_SIZE(levels), NULL, 0);
}
