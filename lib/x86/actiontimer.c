// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer for tests of host actions, in each of its modes (SDM vol. 3, 11.5.4).
 */
#include "actiontimer.h"
#include "clock.h"
#include "muldiv.h"
#include "smp.h"
#include <arch/apic.h>
#include <arch/cpuid.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

static struct lapic_timer timers[MAX_CPUS];
static void (*fired_on[MAX_CPUS])(u64 now_ticks);

static struct lapic_timer *timer_here(void)
{
	return &timers[smp_id()];
}

static void at_interrupt(struct lapic_timer *timer)
{
	fired_on[smp_id()](timer->handled_tsc);
}

static const char *no_timer(void)
{
	u64 low_hz, high_hz;

	return lapic_timer_hz(&low_hz, &high_hz) ? NULL : "the local APIC's timer stands still";
}

static const char *no_deadline(void)
{
	if (!(cpuid(1).ecx & CPUID_1_ECX_TSC_DEADLINE))
		return "CPUID offers no TSC-deadline mode (leaf 1, ECX bit 24)";
	return no_timer();
}

static void open(void (*fired)(u64 now_ticks))
{
	fired_on[smp_id()] = fired;
	lapic_timer_open(timer_here(), at_interrupt);
}

static void close(void)
{
	lapic_timer_close(timer_here());
}

static void arm_deadline(u64 ns)
{
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
	lapic_timer_write_deadline_in(timer_here(), ns_to_ticks(ns, clock_hz()));
}

static void arm_one_shot(u64 ns)
{
	lapic_timer_arm(timer_here(), APIC_LVT_TIMER_ONESHOT, lapic_timer_ticks(ns, 1));
}

static void arm_periodic(u64 ns)
{
	lapic_timer_arm(timer_here(), APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(ns, 1));
}

static struct action_due due_deadline(u64 n)
{
	struct lapic_timer *t = timer_here();

	return (struct action_due){ t->deadline_tsc, t->deadline_tsc };
}

static struct action_due due_count(u64 n)
{
	struct lapic_timer *t = timer_here();

	return (struct action_due){
		t->before_tsc + lapic_timer_least_tsc(n * t->count, t->divider),
		t->after_tsc + lapic_timer_most_tsc(n * t->count, t->divider),
	};
}

static bool pending(void)
{
	return apic_irr(LAPIC_TIMER_VECTOR);
}

static const struct action_timer tsc_deadline = {
	.name = "tsc-deadline",
	.compares = true,
	.absent = no_deadline,
	.count = rdtsc_ordered,
	.open = open,
	.close = close,
	.arm = arm_deadline,
	.due = due_deadline,
	.pending = pending,
};

static const struct action_timer one_shot = {
	.name = "one-shot",
	.absent = no_timer,
	.count = rdtsc_ordered,
	.open = open,
	.close = close,
	.arm = arm_one_shot,
	.due = due_count,
	.pending = pending,
};

static const struct action_timer periodic = {
	.name = "periodic",
	.periodic = true,
	.absent = no_timer,
	.count = rdtsc_ordered,
	.open = open,
	.close = close,
	.arm = arm_periodic,
	.due = due_count,
	.pending = pending,
};

const struct action_timer *const action_timers[] = { &tsc_deadline, &one_shot, &periodic };
const size_t nr_action_timers = ARRAY_SIZE(action_timers);
