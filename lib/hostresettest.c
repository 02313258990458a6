// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine after a reset: hostresettest.h. Nothing of the first incarnation is left but what the
 * host has kept by mistake: an armed timer, a pending interrupt, a counter out of step.
 */
#include "actiontimer.h"
#include "countertest.h"
#include "hostaction.h"
#include "hostresettest.h"
#include "libcflat.h"
#include <arch/cpu.h>

#define ARM_NS	   (300 * NSEC_PER_MSEC) /* due when the second incarnation is there */
#define QUIET_NS   (400 * NSEC_PER_MSEC)
#define WORKS_NS   NSEC_PER_MSEC
#define WAIT_NS	   NSEC_PER_SEC
#define SETTLE_NS  (200 * NSEC_PER_USEC)
#define MAX_TIMERS 4
#define MAX_CHECKS 16

static struct host_action reset;
static const char *timer_absent[MAX_TIMERS];

bool host_reset_was_done(void)
{
	return host_action_report(&reset, "reset");
}

/* ---- the first incarnation --------------------------------------------------------------------- */

static void ignore(u64 now_ticks)
{
}

/* The last of those that there are stays armed where they share one piece of hardware. */
static void dirty_here(void *leave_dirty)
{
	for (size_t i = 0; i < nr_action_timers; i++) {
		if (timer_absent[i])
			continue;
		action_timers[i]->open(ignore);
		action_timers[i]->arm(ARM_NS);
	}
	((void (*)(void))leave_dirty)();
}

static void ask_for_reset(void (*leave_dirty)(void))
{
	for (size_t i = 0; i < nr_action_timers; i++)
		timer_absent[i] = action_timers[i]->absent();
	on_all_cpus(dirty_here, (void *)leave_dirty);
	/* Where it is done, this is the end of the first incarnation. */
	host_action("reset", "", &reset);
	if (reset.result == HOST_CALL_OK)
		panic("the runner says that it reset this machine, and it runs on");
}

/* ---- checks ------------------------------------------------------------------------------------ */

static struct shot {
	const struct action_timer *timer;
	u32 fired;
	u64 fired_ticks;
	struct action_due due;
} shots[MAX_CPUS];

static void fired(u64 now_ticks)
{
	struct shot *s = &shots[smp_id()];

	if (!s->fired)
		s->fired_ticks = now_ticks;
	__atomic_fetch_add(&s->fired, 1, __ATOMIC_RELEASE);
}

static void listen_here(void *timer)
{
	struct shot *s = &shots[smp_id()];

	*s = (struct shot){ .timer = timer };
	s->timer->open(fired);
	irq_enable();
	spin_until(READ_ONCE(s->fired), QUIET_NS);
	irq_disable();
	s->timer->close();
}

/* What is armed, or pending, from before, comes while it can be taken. */
static void check_quiet(void)
{
	if (!host_reset_was_done())
		return;
	for (size_t i = 0; i < nr_action_timers; i++) {
		if (action_timers[i]->absent())
			continue;
		on_all_cpus(listen_here, (void *)action_timers[i]);
		for (int cpu = 0; cpu < smp_count(); cpu++)
			report_expect(
				!shots[cpu].fired,
				"CPU %d: an interrupt of the timer %s, which nobody has armed "
				"since the reset",
				cpu, action_timers[i]->name);
	}
}

static void check_ordered(void)
{
	const struct counter_ops counter = { "the counter", clock_ticks, UINT64_MAX, clock_hz() };

	if (host_reset_was_done())
		counter_check_cross_cpu(&counter, smp_count());
}

static void fire_here(void *timer)
{
	struct shot *s = &shots[smp_id()];

	*s = (struct shot){ .timer = timer };
	s->timer->open(fired);
	s->timer->arm(WORKS_NS);
	s->due = s->timer->due(1);
	irq_enable();
	if (spin_until(READ_ONCE(s->fired), WAIT_NS))
		spin_until(READ_ONCE(s->fired) > 1, SETTLE_NS);
	irq_disable();
	s->timer->close();
}

/* A periodic timer may come again, the machine may not run its CPUs for a while. */
static void check_timer(void)
{
	const struct action_timer *timer = report_subject();
	const char *absent = timer->absent();

	if (absent) {
		report_skip("%s", absent);
		return;
	}
	if (!host_reset_was_done())
		return;
	on_all_cpus(fire_here, (void *)timer);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		const struct shot *s = &shots[cpu];

		if (!report_expect(timer->periodic ? s->fired >= 1 : s->fired == 1,
				   "CPU %d, %s: armed, %u interrupts within %lu ms", cpu,
				   timer->name, s->fired, WAIT_NS / NSEC_PER_MSEC))
			continue;
		report_expect((s64)(s->fired_ticks - s->due.least_ticks) >= 0,
			      "CPU %d, %s: %lu ticks (%lu ns) early", cpu, timer->name,
			      s->due.least_ticks - s->fired_ticks,
			      ticks_to_ns(s->due.least_ticks - s->fired_ticks, clock_hz()));
	}
}

static const struct check common_checks[] = {
	{ "quiet", check_quiet, .guards = "L15",
	  .story = "No timer that was armed before the reset gives an interrupt after it" },
	{ "ordered", check_ordered, .guards = "T2",
	  .story = "The counter is in step on all CPUs after a reset" },
};

static size_t add_timers(struct check *checks)
{
	for (size_t i = 0; i < nr_action_timers; i++)
		checks[i] = (struct check){
			.name = action_timers[i]->name,
			.run = check_timer,
			.guards = "L15",
			.story = "The timer works on every CPU after a reset",
			.subject = action_timers[i],
		};
	return nr_action_timers;
}

int host_reset_report_run(const char *image, void (*leave_dirty)(void), const struct check *checks,
			  size_t nr_checks)
{
	static struct check all[MAX_CHECKS];
	size_t n = nr_checks;
	u64 generation = 0;

	assert(nr_action_timers <= MAX_TIMERS &&
	       nr_checks + ARRAY_SIZE(common_checks) + nr_action_timers <= MAX_CHECKS);
	memcpy(all, checks, nr_checks * sizeof(*checks));
	memcpy(&all[n], common_checks, sizeof(common_checks));
	n += ARRAY_SIZE(common_checks);
	n += add_timers(&all[n]);
	report_hello(image);
	if (!args_has("list-checks") && host_generation(&generation, &reset) && generation == 1)
		ask_for_reset(leave_dirty);
	return report_run(image, all, n);
}
