// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer of an idle guest, and on all CPUs at once. HLT ends for every count, however
 * near; no interrupt is lost to a guest that does nothing else; each CPU's timer is its own.
 *
 * A hypervisor that schedules nothing for a deadline which is past before it gets to it leaves the
 * guest asleep: halted/sweep (L8). One that takes one CPU's timer for another's fails all-cpus.
 *
 * Every sleep of CPU 0 has CPU 1 to end it. Arguments: apic=xapic or apic=x2apic; budget-ms=N.
 */
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/halted.h>
#include <arch/lapic_timer.h>

static void halted_sweep(void);
static void halted_one_shot(void);
static void halted_periodic(void);
static void one_shot_all_cpus(void);
static void periodic_all_cpus(void);

static const struct check halted[] = {
	{ "sweep", halted_sweep, .guards = "L8",
	  .story = "HLT ends for each count from 1 on: a deadline that is past before the host "
		   "schedules it must not be forgotten" },
	{ "one-shot", halted_one_shot, .story = "n one-shots end n times HLT" },
	{ "periodic", halted_periodic, .story = "a periodic timer keeps ending HLT" },
};

static const struct check all_cpus[] = {
	{ "one-shot", one_shot_all_cpus,
	  .story = "every CPU's own timer gives its own interrupts, all at once" },
	{ "periodic", periodic_all_cpus, .story = "the same in periodic mode" },
};

static const struct check checks[] = {
	{ "halted", .checks = halted, .nr_checks = ARRAY_SIZE(halted) },
	{ "all-cpus", .checks = all_cpus, .nr_checks = ARRAY_SIZE(all_cpus) },
};

#define SWEEP_COUNT   1000
#define CPU_ROUNDS    100
#define CPU_PERIODS   10
#define HALTS	      200
#define RANDOM_MAX_NS (20 * NSEC_PER_USEC)
/* KVM makes periods below 200 us longer (parameter min_timer_period_us, arch/x86/kvm/lapic.c). */
#define PERIOD_NS (500 * NSEC_PER_USEC)

/* ---- halted ------------------------------------------------------------------------------------ */

static void halted_one_shots(u32 step, u64 rounds)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!halted_open())
		return;
	if (lapic_timer_open(&timer, NULL)) {
		spin_start(&budget, report_budget_ns());
		do {
			lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, step ? step : n + 1);
		} while (halted_until(&timer, ++n) && n < rounds && spin_poll(&budget));
		report_info("%lu times in HLT", n);
		lapic_timer_expect(&timer, n);
		lapic_timer_close(&timer);
	}
	halted_close();
}

static void halted_sweep(void)
{
	halted_one_shots(0, SWEEP_COUNT);
}

static void halted_one_shot(void)
{
	u64 low_hz, high_hz;

	if (!lapic_timer_hz(&low_hz, &high_hz))
		report_fail("TMCCT does not go down");
	else
		halted_one_shots(lapic_timer_ticks(100 * NSEC_PER_USEC, 1), HALTS);
}

static void halted_periodic(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!halted_open())
		return;
	if (lapic_timer_open(&timer, NULL)) {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(PERIOD_NS, 1));
		spin_start(&budget, report_budget_ns());
		while (n < HALTS && halted_until(&timer, n + 1) && spin_poll(&budget))
			n = timer.handled;
		report_info("%lu interrupts", n);
		lapic_timer_judge(&timer, timer.handled);
		lapic_timer_close(&timer);
	}
	halted_close();
}

/* ---- on all CPUs ------------------------------------------------------------------------------- */

struct on_cpus {
	struct lapic_timer timers[MAX_CPUS];
	u64 armed[MAX_CPUS];
	u64 budget_ns;
};

static u32 random_count(struct lapic_timer *timer)
{
	return lapic_timer_random(timer, lapic_timer_ticks(RANDOM_MAX_NS, timer->divider));
}

static void one_shots_here(void *arg)
{
	struct on_cpus *all = arg;
	int cpu = smp_id();
	struct lapic_timer *timer = &all->timers[cpu];
	struct spin_bound budget;

	if (!lapic_timer_open(timer, NULL))
		return;
	timer->random = cpu + 1;
	spin_start(&budget, all->budget_ns);
	do {
		lapic_timer_arm(timer, APIC_LVT_TIMER_ONESHOT, random_count(timer));
	} while (lapic_timer_wait(timer, ++all->armed[cpu]) && all->armed[cpu] < CPU_ROUNDS &&
		 spin_poll(&budget));
	lapic_timer_close(timer);
}

static void run_on_all_cpus(void (*fn)(void *arg), struct on_cpus *all)
{
	u64 low_hz, high_hz, fewest = UINT64_MAX;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	memset(all, 0, sizeof(*all));
	all->budget_ns = report_budget_ns() / 2;
	/* Measured here, for all. */
	if (!lapic_timer_hz(&low_hz, &high_hz)) {
		report_fail("TMCCT does not go down");
		return;
	}
	on_all_cpus(fn, all);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		fewest = MIN(fewest, all->armed[cpu]);
		lapic_timer_judge(&all->timers[cpu], all->armed[cpu]);
	}
	report_info("%d CPUs, at least %lu interrupts each", smp_count(), fewest);
}

static struct on_cpus on_cpus;

static void one_shot_all_cpus(void)
{
	run_on_all_cpus(one_shots_here, &on_cpus);
}

/* What is counted is judged by lower bounds: coalescing is the guest's fault as well. */
static void periods_here(void *arg)
{
	struct on_cpus *all = arg;
	int cpu = smp_id();
	struct lapic_timer *timer = &all->timers[cpu];

	if (!lapic_timer_open(timer, NULL))
		return;
	lapic_timer_arm(timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(PERIOD_NS, 1));
	lapic_timer_wait(timer, CPU_PERIODS);
	lapic_timer_close(timer);
	/* A lost one shows as too few. */
	all->armed[cpu] = MAX(timer->handled, (u64)CPU_PERIODS);
}

static void periodic_all_cpus(void)
{
	run_on_all_cpus(periods_here, &on_cpus);
}

int main(void)
{
	return report_run("lapic-timer-idle", checks, ARRAY_SIZE(checks));
}
