// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interrupts of the TSC-deadline timer (SDM vol. 3, 11.5.4.1), counted: armed n times, handled n
 * times, by a guest that spins, one that sleeps, from the handler itself, and on all CPUs at once.
 * None before its deadline, none late but for the time in which the guest did not run.
 *
 * A hypervisor that loses an expiry while it cancels and restarts its own timer fails counted or
 * in-handler; one that schedules nothing for a deadline which is past before it gets to it leaves the
 * guest asleep: halted/sweep (L8). One that delivers ahead of time to hide its own latency, by more
 * than it then waits, fails never-early (L9); one that compares another TSC than the guest's is early
 * or late by their difference (T9).
 *
 * Every sleep of CPU 0 has CPU 1 to end it. Arguments: apic=xapic or apic=x2apic; budget-ms=N.
 */
#include "libcflat.h"
#include <arch/cpu.h>
#include <arch/halted.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

static void counted(void);
static void in_handler(void);
static void never_early(void);
static void lateness(void);
static void halted_sweep(void);
static void halted_counted(void);
static void own_deadline(void);
static void counted_all_cpus(void);

static const struct check spinning[] = {
	{ "counted", counted, .story = "armed n times, handled n times" },
	{ "in-handler", in_handler, .story = "the same, armed again by the handler" },
	{ "never-early", never_early, .guards = "L9 T9",
	  .story = "no interrupt of a millisecond comes before it has passed" },
	{ "lateness", lateness, .guards = "T9",
	  .story = "late only as long as the guest was not run" },
};

static const struct check halted[] = {
	{ "sweep", halted_sweep, .guards = "L8",
	  .story = "HLT ends for every deadline from now to 20000 cycles on" },
	{ "counted", halted_counted, .story = "n deadlines end n times HLT" },
};

static const struct check all_cpus[] = {
	{ "own-deadline", own_deadline,
	  .story = "every CPU's IA32_TSC_DEADLINE is its own: it reads as this CPU wrote it" },
	{ "counted", counted_all_cpus,
	  .story = "every CPU's own deadlines give its own interrupts, all at once" },
};

static const struct check checks[] = {
	{ "spinning", .checks = spinning, .nr_checks = ARRAY_SIZE(spinning) },
	{ "halted", .checks = halted, .nr_checks = ARRAY_SIZE(halted) },
	{ "all-cpus", .checks = all_cpus, .nr_checks = ARRAY_SIZE(all_cpus) },
};

#define ROUNDS	       1000
#define RUN	       50 /* deadlines in a row by the handler */
#define SHOTS	       20
#define LATENESS_SHOTS 200
#define HALTS	       200
#define SWEEP_CYCLES   20000
#define SWEEP_STEP     20
#define RANDOM_MAX_NS  (20 * NSEC_PER_USEC)
#define NEAR_NS	       (50 * NSEC_PER_USEC)
#define FAR_NS	       (4 * NSEC_PER_SEC)

static u64 tsc_ticks(u64 ns)
{
	return ns_to_ticks(ns, clock_hz());
}

static void arm_random(struct lapic_timer *timer)
{
	lapic_timer_write_deadline_in(timer, lapic_timer_random(timer, tsc_ticks(RANDOM_MAX_NS)));
}

/* ---- spinning ---------------------------------------------------------------------------------- */

static void counted(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_has_deadline() || !lapic_timer_open_deadline(&timer, NULL))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		arm_random(&timer);
	} while (lapic_timer_wait(&timer, ++n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times", n);
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void rearm(struct lapic_timer *timer)
{
	if (--timer->left)
		arm_random(timer);
}

/* In runs of some, so that a slow machine ends in time with a known number. */
static void in_handler(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_has_deadline() || !lapic_timer_open_deadline(&timer, rearm))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		timer.left = RUN;
		n += RUN;
		arm_random(&timer);
	} while (lapic_timer_wait(&timer, n) && n < ROUNDS && spin_poll(&budget));
	report_info("armed %lu times, of these in the handler %lu", n, n - n / RUN);
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void never_early(void)
{
	struct lapic_timer timer;
	u64 n = 0;

	if (!lapic_timer_has_deadline() || !lapic_timer_open_deadline(&timer, NULL))
		return;
	do {
		lapic_timer_write_deadline_in(&timer, tsc_ticks(NSEC_PER_MSEC));
	} while (lapic_timer_expect(&timer, ++n) && n < SHOTS);
	report_info("%lu deadlines", n);
	lapic_timer_close(&timer);
}

static struct samples late, ran;

static void lateness(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!lapic_timer_has_deadline() || !lapic_timer_open_deadline(&timer, NULL))
		return;
	late.count = ran.count = 0;
	spin_start(&budget, report_budget_ns() / 2);
	do {
		lapic_timer_write_deadline_in(&timer, tsc_ticks(NEAR_NS));
	} while (lapic_timer_wait_watched(&timer, ++n, &late, &ran) && n < LATENESS_SHOTS &&
		 spin_poll(&budget));
	lapic_timer_expect(&timer, n);
	lapic_timer_judge_lateness(&late, &ran);
	lapic_timer_close(&timer);
}

/* ---- halted ------------------------------------------------------------------------------------ */

static u64 halted_rounds(struct lapic_timer *timer, u64 first, u64 step, u64 rounds)
{
	struct spin_bound budget;
	u64 n = 0;

	spin_start(&budget, report_budget_ns());
	do {
		lapic_timer_write_deadline_in(timer, first + n * step);
	} while (halted_until(timer, ++n) && n < rounds && spin_poll(&budget));
	lapic_timer_expect(timer, n);
	return n;
}

static void halted_deadlines(u64 first, u64 step, u64 rounds)
{
	struct lapic_timer timer;

	if (!lapic_timer_has_deadline() || !halted_open())
		return;
	if (lapic_timer_open_deadline(&timer, NULL)) {
		u64 n = halted_rounds(&timer, first, step, rounds);

		report_info("%lu times in HLT, the last for %lu cycles", n, first + (n - 1) * step);
		lapic_timer_close(&timer);
	}
	halted_close();
}

static void halted_sweep(void)
{
	halted_deadlines(0, SWEEP_STEP, SWEEP_CYCLES / SWEEP_STEP + 1);
}

static void halted_counted(void)
{
	halted_deadlines(tsc_ticks(2 * NEAR_NS), 0, HALTS);
}

/* ---- on all CPUs ------------------------------------------------------------------------------- */

struct on_cpus {
	struct lapic_timer timers[MAX_CPUS];
	u64 result[MAX_CPUS];
	struct smp_barrier barrier;
	u64 budget_ns;
	u64 far_tsc;
};

static struct on_cpus on_cpus;

static bool on_cpus_start(void)
{
	u64 low_hz, high_hz;

	if (!lapic_timer_has_deadline())
		return false;
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return false;
	}
	/* Measured here, for all. */
	if (!lapic_timer_hz(&low_hz, &high_hz)) {
		report_error("TMCCT does not go down; see lapic-timer.registers/tmcct-counts-down");
		return false;
	}
	memset(&on_cpus, 0, sizeof(on_cpus));
	smp_barrier_init(&on_cpus.barrier, smp_count());
	on_cpus.budget_ns = report_budget_ns() / 2;
	on_cpus.far_tsc = rdtsc_ordered() + tsc_ticks(FAR_NS);
	return true;
}

/* Far away, each CPU another; read when all have written. */
static void own_deadline_here(void *arg)
{
	struct on_cpus *all = arg;
	int cpu = smp_id();
	struct lapic_timer *timer = &all->timers[cpu];

	lapic_timer_open_deadline(timer, NULL);
	lapic_timer_write_deadline(timer, all->far_tsc + cpu);
	smp_barrier_wait(&all->barrier);
	all->result[cpu] = read_tsc_deadline();
	smp_barrier_wait(&all->barrier);
	lapic_timer_close(timer);
}

static void own_deadline(void)
{
	if (!on_cpus_start())
		return;
	on_all_cpus(own_deadline_here, &on_cpus);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		report_expect(on_cpus.result[cpu] == on_cpus.far_tsc + cpu,
			      "CPU %d wrote 0x%lx to IA32_TSC_DEADLINE and reads 0x%lx", cpu,
			      on_cpus.far_tsc + cpu, on_cpus.result[cpu]);
}

static void counted_here(void *arg)
{
	struct on_cpus *all = arg;
	int cpu = smp_id();
	struct lapic_timer *timer = &all->timers[cpu];
	struct spin_bound budget;

	lapic_timer_open_deadline(timer, NULL);
	timer->random = cpu + 1;
	spin_start(&budget, all->budget_ns);
	do {
		arm_random(timer);
	} while (lapic_timer_wait(timer, ++all->result[cpu]) && all->result[cpu] < ROUNDS &&
		 spin_poll(&budget));
	lapic_timer_close(timer);
}

static void counted_all_cpus(void)
{
	u64 fewest = UINT64_MAX;

	if (!on_cpus_start())
		return;
	on_all_cpus(counted_here, &on_cpus);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		fewest = MIN(fewest, on_cpus.result[cpu]);
		lapic_timer_judge(&on_cpus.timers[cpu], on_cpus.result[cpu]);
	}
	report_info("%d CPUs, each armed at least %lu times", smp_count(), fewest);
}

int main(void)
{
	return report_run("tsc-deadline-irq", checks, ARRAY_SIZE(checks));
}
