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
#include <arch/cpu.h>
#include <arch/idt.h>
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

#define WATCHDOG_VECTOR 0x42
#define WATCHDOG_NS	(2 * LAPIC_TIMER_WAIT_NS)

struct watchdog {
	u32 beat; /* moved on by the CPU that sleeps */
	bool done;
	u32 bites;
};

static struct watchdog watchdog;

static void bitten(struct exception_frame *frame)
{
	WRITE_ONCE(watchdog.bites, watchdog.bites + 1);
}

/* CPU 1: ends a sleep that goes on for too long, so that the check can say so. */
static void watch(void *arg)
{
	u32 beat;

	do {
		beat = READ_ONCE(watchdog.beat);
		if (!spin_until(READ_ONCE(watchdog.beat) != beat || READ_ONCE(watchdog.done),
				WATCHDOG_NS))
			apic_send_ipi(0, WATCHDOG_VECTOR);
	} while (!READ_ONCE(watchdog.done));
}

static bool watch_start(void)
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up: one to end the other's sleep");
		return false;
	}
	watchdog = (struct watchdog){ 0 };
	irq_set_handler(WATCHDOG_VECTOR, bitten);
	on_cpu_async(1, watch, NULL);
	return true;
}

static void watch_stop(void)
{
	WRITE_ONCE(watchdog.done, true);
	if (!cpu_wait_idle(1, 2 * WATCHDOG_NS))
		report_error("CPU 1, the watchdog, does not come back");
}

/* Sleeps until n interrupts were handled; false when the watchdog had to end it. */
static bool halt_until(struct lapic_timer *timer, u64 n)
{
	u32 bites = READ_ONCE(watchdog.bites);
	u64 handled = timer->handled;

	while (timer->handled < n && READ_ONCE(watchdog.bites) == bites) {
		irq_enable_and_halt();
		irq_disable();
	}
	WRITE_ONCE(watchdog.beat, watchdog.beat + 1);
	return report_expect(READ_ONCE(watchdog.bites) == bites && timer->handled >= n,
			     "HLT did not end within %lu ms for a count of %u; another CPU's "
			     "interrupt ended it, and %lu of this timer's were taken then",
			     WATCHDOG_NS / NSEC_PER_MSEC, timer->count, timer->handled - handled);
}

static void halted_one_shots(u32 step, u64 rounds)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!watch_start())
		return;
	if (lapic_timer_open(&timer, NULL)) {
		spin_start(&budget, report_budget_ns());
		do {
			lapic_timer_arm(&timer, APIC_LVT_TIMER_ONESHOT, step ? step : n + 1);
		} while (halt_until(&timer, ++n) && n < rounds && spin_poll(&budget));
		report_info("%lu times in HLT", n);
		lapic_timer_expect(&timer, n);
		lapic_timer_close(&timer);
	}
	watch_stop();
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

	if (!watch_start())
		return;
	if (lapic_timer_open(&timer, NULL)) {
		lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(PERIOD_NS, 1));
		spin_start(&budget, report_budget_ns());
		while (n < HALTS && halt_until(&timer, n + 1) && spin_poll(&budget))
			n = timer.handled;
		report_info("%lu interrupts", n);
		lapic_timer_judge(&timer, timer.handled);
		lapic_timer_close(&timer);
	}
	watch_stop();
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
