// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The generic timer for tests of host actions (Arm ARM D12.2): the virtual and the physical one of EL1.
 */
#include "actiontimer.h"
#include "clock.h"
#include "muldiv.h"
#include "smp.h"
#include "timertest.h"
#include <arch/gic.h>
#include <arch/timer.h>

static struct timer_line lines[MAX_CPUS];
static void (*fired_on[MAX_CPUS])(u64 now_ticks);

static struct timer_line *line_here(void)
{
	return &lines[smp_id()];
}

static void remove_cause(struct timer_line *line)
{
	timer_stop(line);
	fired_on[smp_id()](line->handled_ticks);
}

static const char *no_virtual(void)
{
	return virtual_timer.intid() ? NULL : "the devicetree names no interrupt for it";
}

static const char *no_physical(void)
{
	return physical_timer.intid() ? NULL : "the devicetree names no interrupt for it";
}

static void open_virtual(void (*fired)(u64 now_ticks))
{
	fired_on[smp_id()] = fired;
	timer_open_quietly(line_here(), &virtual_timer, remove_cause);
}

static void open_physical(void (*fired)(u64 now_ticks))
{
	fired_on[smp_id()] = fired;
	timer_open_quietly(line_here(), &physical_timer, remove_cause);
}

static void close(void)
{
	timer_close(line_here());
}

static void arm(u64 ns)
{
	struct timer_line *line = line_here();

	timer_arm(line, line->timer->count() + ns_to_ticks(ns, clock_hz()));
}

static struct action_due due(u64 n)
{
	return (struct action_due){ line_here()->cval, line_here()->cval };
}

static bool pending(void)
{
	return gic_is_pending(line_here()->timer->intid());
}

static const struct action_timer action_virtual = {
	.name = "virtual",
	.compares = true,
	.absent = no_virtual,
	.count = cntvct_el0,
	.open = open_virtual,
	.close = close,
	.arm = arm,
	.due = due,
	.pending = pending,
};

static const struct action_timer action_physical = {
	.name = "physical",
	.compares = true,
	.absent = no_physical,
	.count = cntpct_el0,
	.open = open_physical,
	.close = close,
	.arm = arm,
	.due = due,
	.pending = pending,
};

const struct action_timer *const action_timers[] = { &action_virtual, &action_physical };
const size_t nr_action_timers = ARRAY_SIZE(action_timers);
