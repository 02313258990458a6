/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generic timer's interrupts, counted: what was armed n times is handled n times, never early,
 * and late only as long as the guest was not run; whether the deadline is armed from outside, moved
 * from inside the handler, or moved to later or to sooner before and after it was due; one timer,
 * all timers of a CPU together, and all timers of all CPUs at once.
 *
 * A hypervisor that sets no timer of its own when the handler has moved CVAL ahead loses the next
 * interrupt, or delays it until something else exits: rearm-in-handler and second-expiry (A4, A5).
 * One that loses an interrupt on its way, or deactivates it unasked, fails one-shot (A17). One that
 * mixes up the timers of two exception levels fails own-deadlines at EL2 (A6).
 *
 * The same checks for each timer: at EL1 the virtual and the physical one, at EL2 those of EL2 and,
 * through EL2's names for them, those of EL1. Arguments: budget-ms=N, el=2.
 */
#include "libcflat.h"
#include "timertest.h"
#include <arch/cpu.h>
#include <arch/gic.h>
#include <arch/timer.h>

#define ROUNDS	       1000
#define MOVES	       10
#define LATENESS_SHOTS 200
#define SWEEP_TICKS    1000
#define CPU_ROUNDS     200

/* Deadlines lie up to this far ahead: before and after the instruction that waits for them. */
#define DELTA_MAX_NS (20 * NSEC_PER_USEC)

/* Not reached by any check, lagging or not. */
#define FAR_NS (100 * NSEC_PER_SEC)

static const struct timer_ops *subject(void)
{
	return report_subject();
}

static u64 random_cval(struct timer_line *line)
{
	return line->timer->count() + timer_random(&line->random, timer_ticks(DELTA_MAX_NS));
}

/* ---- counts ------------------------------------------------------------------------------------ */

static void one_shot(void)
{
	struct timer_line line;
	struct spin_bound budget;
	u64 n = 0;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		timer_arm(&line, random_cval(&line));
	} while (timer_wait_handled(&line, ++n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times", n);
	timer_expect_handled(&line, n);
	timer_close(&line);
}

/* The next deadline from inside the handler, as long as there is one. */
static void rearm(struct timer_line *line)
{
	if (--line->left == 0) {
		timer_stop(line);
		return;
	}
	line->cval = random_cval(line);
	line->timer->set_cval(line->cval);
}

/* In runs of some, so that a slow machine ends in time with a known number. */
static void rearm_in_handler(void)
{
	struct timer_line line;
	struct spin_bound budget;
	u64 n = 0;

	if (!timer_open(&line, subject(), rearm))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		line.left = ROUNDS / 20;
		n += line.left;
		timer_arm(&line, random_cval(&line));
	} while (timer_wait_handled(&line, n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times, of these in the handler %lu", n, n - n / (ROUNDS / 20));
	timer_expect_handled(&line, n);
	timer_close(&line);
}

/* Each of 0 to 1000 ticks ahead, and as many behind. */
static void delta_sweep(void)
{
	struct timer_line line;
	struct spin_bound budget;
	u64 n = 0;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		timer_arm(&line, line.timer->count() + n);
	} while (timer_wait_handled(&line, ++n) && n <= SWEEP_TICKS && spin_poll(&budget));
	report_info("0 to %lu ticks ahead", n - 1);
	timer_expect_handled(&line, n);
	timer_close(&line);
}

static void past_deadlines(void)
{
	struct timer_line line;
	u64 n = 0;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	/* 0 is always in the past; the counter may be anywhere below 2^40. */
	timer_arm(&line, 0);
	for (int bit = 0; bit < 40 && timer_wait_handled(&line, ++n); bit++) {
		u64 now = line.timer->count();

		timer_arm(&line, now - MIN(now, BIT(bit)));
	}
	timer_expect_handled(&line, 41);
	timer_close(&line);
}

/* ---- moved deadlines --------------------------------------------------------------------------- */

/*
 * The level that the former deadline may have raised has gone, or the one in force has raised it: an
 * interrupt that is on its way when its cause goes may still be taken.
 */
static void wait_for_level(struct timer_line *line)
{
	spin_until(!gic_is_pending(line->timer->intid()) || line->timer->count() >= line->cval,
		   TIMER_WAIT_NS);
}

/* Interrupts are masked from the first deadline to behind the second. */
static void check_moved(u64 first_ns, bool expire, s64 second_ns)
{
	struct timer_line line;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	for (u64 n = 1; n <= MOVES; n++) {
		timer_arm(&line, line.timer->count() + timer_ticks(first_ns));
		if (expire &&
		    !timer_expect_pending(line.timer, true, "before the deadline was moved"))
			break;
		if (second_ns >= 0)
			timer_arm(&line, line.timer->count() + timer_ticks(second_ns));
		else
			timer_arm(&line, line.timer->count() - timer_ticks(-second_ns));
		wait_for_level(&line);
		if (!timer_expect_handled(&line, n))
			break;
	}
	timer_close(&line);
}

static void moved_later_before_expiry(void)
{
	check_moved(200 * NSEC_PER_USEC, false, 400 * NSEC_PER_USEC);
}

static void moved_sooner_before_expiry(void)
{
	check_moved(FAR_NS, false, 50 * NSEC_PER_USEC);
}

static void moved_later_while_pending(void)
{
	check_moved(0, true, 200 * NSEC_PER_USEC);
}

static void moved_sooner_while_pending(void)
{
	check_moved(0, true, -(s64)(50 * NSEC_PER_USEC));
}

static void moved_to_the_past(void)
{
	check_moved(FAR_NS, false, -(s64)(50 * NSEC_PER_USEC));
}

static void disarmed_before_expiry(void)
{
	struct timer_line line;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	for (int n = 0; n < MOVES; n++) {
		timer_arm(&line, line.timer->count() + timer_ticks(50 * NSEC_PER_USEC));
		timer_stop(&line);
		spin_until(line.timer->count() > line.cval, TIMER_WAIT_NS);
		if (!timer_expect_pending(line.timer, false, "after ENABLE was cleared") ||
		    !timer_expect_handled(&line, 0))
			break;
	}
	timer_close(&line);
}

/* ---- lateness ---------------------------------------------------------------------------------- */

static struct timer_lateness samples;

static void lateness(void)
{
	struct timer_line line;
	struct spin_bound budget;
	u64 n = 0;

	if (!timer_open(&line, subject(), timer_stop))
		return;
	samples.count = 0;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		timer_arm(&line, line.timer->count() + timer_ticks(50 * NSEC_PER_USEC));
	} while (timer_wait_watched(&line, ++n, &samples) && n < LATENESS_SHOTS &&
		 spin_poll(&budget));
	timer_expect_handled(&line, n);
	timer_judge_lateness(&samples, line.timer->name);
	timer_close(&line);
}

static void move_ahead_once(struct timer_line *line)
{
	if (--line->left == 0) {
		timer_stop(line);
		return;
	}
	line->cval = line->timer->count() + line->delta_ticks;
	line->timer->set_cval(line->cval);
}

/*
 * The second interrupt of a timer whose handler moved CVAL ahead, while the guest spins and gives
 * the hypervisor no reason to look at its timers again.
 */
static void second_expiry(void)
{
	struct timer_line line;
	struct spin_bound budget;
	u64 n = 0;

	if (!timer_open(&line, subject(), move_ahead_once))
		return;
	line.delta_ticks = timer_ticks(100 * NSEC_PER_USEC);
	samples.count = 0;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		line.left = 2;
		n += 2;
		timer_arm(&line, line.timer->count() + timer_ticks(20 * NSEC_PER_USEC));
	} while (timer_wait_handled(&line, n - 1) && timer_wait_watched(&line, n, &samples) &&
		 n < 2 * LATENESS_SHOTS && spin_poll(&budget));
	timer_expect_handled(&line, n);
	timer_judge_lateness(&samples, line.timer->name);
	timer_close(&line);
}

/* ---- together ---------------------------------------------------------------------------------- */

/* All timers that have an interrupt, opened on one CPU. */
struct timer_set {
	struct timer_line line[TIMER_MAX_TIMERS];
	int count;
	u64 rounds;
};

static void open_all(struct timer_set *set, void (*remove_cause)(struct timer_line *line))
{
	const struct timer_ops *const *timers;
	int count;

	timers = timer_all(&count);
	set->count = 0;
	set->rounds = 0;
	for (int i = 0; i < count; i++)
		set->count += timer_open_quietly(&set->line[set->count], timers[i], remove_cause);
}

static void close_all(struct timer_set *set)
{
	for (int i = 0; i < set->count; i++)
		timer_close(&set->line[i]);
}

/* false after a skip. */
static bool open_two_or_more(struct timer_set *set)
{
	open_all(set, timer_stop);
	if (set->count >= 2)
		return true;
	report_skip("the devicetree names interrupts for %d timers only", set->count);
	close_all(set);
	return false;
}

static bool wait_all(struct timer_set *set, u64 n)
{
	bool came = true;

	for (int i = 0; i < set->count; i++)
		came &= timer_wait_handled(&set->line[i], n);
	return came;
}

static void expect_all(struct timer_set *set, u64 n)
{
	for (int i = 0; i < set->count; i++)
		timer_expect_handled(&set->line[i], n);
}

static void arm_at_random(struct timer_set *set)
{
	for (int i = 0; i < set->count; i++)
		timer_arm(&set->line[i], random_cval(&set->line[i]));
}

/* Runs rounds on the calling CPU: arm all, wait for all. */
static void run_rounds(struct timer_set *set, u64 rounds, u64 budget_ns,
		       void (*arm)(struct timer_set *set))
{
	struct spin_bound budget;

	spin_start(&budget, budget_ns);
	do {
		arm(set);
	} while (wait_all(set, ++set->rounds) && set->rounds < rounds && spin_poll(&budget));
}

static void check_together(void (*arm)(struct timer_set *set))
{
	struct timer_set set;

	if (!open_two_or_more(&set))
		return;
	run_rounds(&set, ROUNDS / 2, report_budget_ns() / 2, arm);
	report_info("%d timers, %lu rounds", set.count, set.rounds);
	expect_all(&set, set.rounds);
	close_all(&set);
}

static void two_timers(void)
{
	check_together(arm_at_random);
}

/* One instant for all, by each one's own counter. */
static void arm_at_once(struct timer_set *set)
{
	u64 ahead = timer_random(&set->line[0].random, timer_ticks(DELTA_MAX_NS));
	u64 now[TIMER_MAX_TIMERS];

	for (int i = 0; i < set->count; i++)
		now[i] = set->line[i].timer->count();
	for (int i = 0; i < set->count; i++)
		timer_arm(&set->line[i], now[i] + ahead);
}

static void equal_deadlines(void)
{
	check_together(arm_at_once);
}

/* Each at its own time: the first in the list last, so that the order is not that of arming. */
static void arm_apart(struct timer_set *set)
{
	for (int i = 0; i < set->count; i++)
		timer_arm(&set->line[i],
			  set->line[i].timer->count() +
				  timer_ticks((set->count - i) * 30 * NSEC_PER_USEC));
}

static void own_deadlines(void)
{
	check_together(arm_apart);
}

/* One runs from its handler the whole time, the others are armed from outside. */
static void one_beside_others(void)
{
	struct timer_set set;

	if (!open_two_or_more(&set))
		return;
	set.line[0].remove_cause = rearm;
	set.line[0].left = ROUNDS / 10;
	timer_arm(&set.line[0], random_cval(&set.line[0]));
	for (u64 n = 1; n <= MOVES; n++) {
		for (int i = 1; i < set.count; i++) {
			timer_arm(&set.line[i], random_cval(&set.line[i]));
			timer_wait_handled(&set.line[i], n);
		}
	}
	for (int i = 1; i < set.count; i++)
		timer_expect_handled(&set.line[i], MOVES);
	timer_expect_handled(&set.line[0], ROUNDS / 10);
	close_all(&set);
}

struct everywhere {
	struct smp_barrier barrier;
	struct timer_set *sets;
	void (*arm)(struct timer_set *set);
};

static void run_on_cpu(void *arg)
{
	struct everywhere *e = arg;
	struct timer_set *set = &e->sets[smp_id()];
	u64 spurious = gic_spurious_count();

	open_all(set, timer_stop);
	smp_barrier_wait(&e->barrier);
	if (set->count)
		run_rounds(set, CPU_ROUNDS, report_budget_ns() / 2, e->arm);
	/* Surplus interrupts have time to come: nobody closes before all are through. */
	smp_barrier_wait(&e->barrier);
	close_all(set);
	report_expect(gic_spurious_count() == spurious,
		      "CPU %d: the GIC had no interrupt to give %lu times", smp_id(),
		      gic_spurious_count() - spurious);
}

static void check_everywhere(void (*arm)(struct timer_set *set))
{
	struct everywhere e = {
		.sets = alloc(smp_count() * sizeof(struct timer_set)),
		.arm = arm,
	};
	u64 fewest = UINT64_MAX;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	smp_barrier_init(&e.barrier, smp_count());
	on_all_cpus(run_on_cpu, &e);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		struct timer_set *set = &e.sets[cpu];

		if (!report_expect(set->count == e.sets[0].count, "CPU %d has %d timers", cpu,
				   set->count))
			continue;
		for (int i = 0; i < set->count; i++)
			timer_judge_handled(&set->line[i], set->rounds);
		fewest = MIN(fewest, set->rounds);
	}
	report_info("%d timers on each of %d CPUs, %lu rounds at least", e.sets[0].count,
		    smp_count(), fewest);
}

static void every_cpu(void)
{
	check_everywhere(arm_at_random);
}

static void every_cpu_equal_deadlines(void)
{
	check_everywhere(arm_at_once);
}

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check interrupts[] = {
	{ "one-shot", one_shot, .guards = "A17",
	  .story = "armed n times with moving deadlines, handled n times" },
	{ "rearm-in-handler", rearm_in_handler, .guards = "A4 A5 A17",
	  .story = "armed n times by its own handler, handled n times" },
	{ "delta-sweep", delta_sweep, .guards = "A3 A23",
	  .story = "deadlines of 0 to 1000 ticks ahead are all handled, once each" },
	{ "past-deadlines", past_deadlines, .guards = "A1",
	  .story = "deadlines in the past are handled at once, and once each" },
	{ "moved-later-before-expiry", moved_later_before_expiry, .guards = "A4",
	  .story = "a deadline that was moved to later comes then, and once" },
	{ "moved-sooner-before-expiry", moved_sooner_before_expiry, .guards = "A4",
	  .story = "a deadline that was moved to sooner does not wait for the former one" },
	{ "moved-to-the-past", moved_to_the_past, .guards = "A4",
	  .story = "a deadline that was moved to the past comes at once, and once" },
	{ "moved-later-while-pending", moved_later_while_pending, .guards = "A2 A4",
	  .story = "a pending interrupt whose deadline is moved to later comes then, and once" },
	{ "moved-sooner-while-pending", moved_sooner_while_pending, .guards = "A2",
	  .story = "a pending interrupt whose deadline is moved to sooner comes once" },
	{ "disarmed-before-expiry", disarmed_before_expiry, .guards = "A2",
	  .story = "a timer that was stopped in time does not fire" },
	{ "lateness", lateness, .guards = "A3",
	  .story = "an interrupt is late only as long as the guest was not run" },
	{ "second-expiry", second_expiry, .guards = "A4 A5",
	  .story = "so is the next one, after the handler moved CVAL ahead and the guest spins" },
};

static const struct check together[] = {
	{ "two-timers", two_timers, .guards = "A6 A17",
	  .story = "all timers of a CPU at random deadlines, each handled as often as armed" },
	{ "equal-deadlines", equal_deadlines, .guards = "A6 A17",
	  .story = "all timers of a CPU at one instant, each handled as often as armed" },
	{ "own-deadlines", own_deadlines, .guards = "A6",
	  .story = "all timers of a CPU apart, each at its own deadline" },
	{ "one-beside-others", one_beside_others, .guards = "A4 A6",
	  .story = "a timer that runs by itself neither loses nor adds any of the others" },
	{ "every-cpu", every_cpu, .guards = "A17",
	  .story = "all timers of all CPUs at once, each handled as often as armed" },
	{ "every-cpu-equal-deadlines", every_cpu_equal_deadlines, .guards = "A17",
	  .story = "the same, all timers of a CPU at one instant" },
};

static const struct check further[] = {
	{ "together", .checks = together, .nr_checks = ARRAY_SIZE(together) },
};

int main(void)
{
	return timer_report_run("timer-irq", interrupts, ARRAY_SIZE(interrupts), further,
				ARRAY_SIZE(further));
}
