// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a TSC deadline costs a guest: the write of the MSR with the interrupt that comes at once
 * (tscdeadline_immed, as in kvm-unit-tests' vmexit), with one that comes 3000 ticks later
 * (tscdeadline), and how late a periodic sleeper wakes up, from HLT and from a spin, which is what
 * cyclictest measures.
 *
 * KVM can handle the write in a fast path: it enters the guest again before it has looked at anything
 * else (Linux ae95f566b3d2, 5.8, on Intel, with the VMX preemption timer; on both vendors and without
 * any condition since 6.18). Nothing but time is lost where that is gone: the check fast-path finds
 * it (L12). Which kernel may lack it is for expected/ to say, since a guest cannot see that.
 *
 * Arguments: samples=N and budget-ms=N, as in bench.h; apic=xapic or apic=x2apic.
 */
#include "libcflat.h"
#include "bench.h"
#include <arch/bench.h>
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/halted.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

#define NEAR_TICKS 3000 /* of tscdeadline */
#define PERIOD_NS  NSEC_PER_MSEC

struct sleeper {
	struct lapic_timer timer;
	u64 woken;	  /* deadlines so far */
	u64 deadline_tsc; /* the last one */
	u64 late_ticks;	  /* sum of what wake-ups were late */
	bool lost;	  /* an interrupt did not come: nothing is armed any more */
};

static struct sleeper sleeper;

/* ---- the interrupt ----------------------------------------------------------------------------- */

static bool open_timer(void)
{
	if (!lapic_timer_has_deadline())
		return false;
	sleeper = (struct sleeper){ 0 };
	return lapic_timer_open_deadline(&sleeper.timer, NULL);
}

static void close_timer(void)
{
	lapic_timer_judge(&sleeper.timer, sleeper.woken);
	lapic_timer_close(&sleeper.timer);
}

/* With interrupts enabled. The clock is looked at only where the interrupt was not there at once. */
static void await(u64 n)
{
	const u64 *handled = &sleeper.timer.handled;

	if (READ_ONCE(*handled) < n && !lapic_timer_wait(&sleeper.timer, n))
		sleeper.lost = true;
}

static void run_deadlines(u64 n, u64 ticks)
{
	irq_enable();
	for (; n && !sleeper.lost; n--) {
		/* The handler judges by it that the interrupt is not early. */
		sleeper.timer.deadline_tsc = rdtsc() + ticks;
		write_tsc_deadline(sleeper.timer.deadline_tsc);
		__asm__ volatile("nop");
		await(++sleeper.woken);
	}
	irq_disable();
}

static void run_immediate(u64 n)
{
	run_deadlines(n, 0);
}

static void run_near(u64 n)
{
	run_deadlines(n, NEAR_TICKS);
}

/* ---- the sleeper ------------------------------------------------------------------------------- */

/*
 * The "clock" of the sleeper stands still but for what its wake-ups are late, so that this is what
 * the engine measures. One that is early makes it run backwards, which the engine reports.
 */
static u64 read_lateness(void)
{
	return sleeper.late_ticks;
}

static const struct bench_clock lateness = {
	.unit = "ticks",
	.read = read_lateness,
	.hz = clock_hz,
};

static bool open_spinner(void)
{
	if (!open_timer())
		return false;
	sleeper.deadline_tsc = rdtsc_ordered();
	return true;
}

static bool open_sleeper(void)
{
	if (!open_spinner())
		return false;
	if (halted_open_asleep())
		return true;
	lapic_timer_close(&sleeper.timer);
	return false;
}

static void close_sleeper(void)
{
	close_timer();
	halted_close();
}

/* The next point of the period that has not passed yet: what this CPU slept over is left out. */
static void arm_next(void)
{
	u64 period_ticks = ns_to_ticks(PERIOD_NS, clock_hz()), now_tsc = rdtsc_ordered();

	do
		sleeper.deadline_tsc += period_ticks;
	while (sleeper.deadline_tsc <= now_tsc);
	lapic_timer_write_deadline(&sleeper.timer, sleeper.deadline_tsc);
}

static void run_sleeper(u64 n, bool (*wait)(struct lapic_timer *timer, u64 n))
{
	for (; n && !sleeper.lost; n--) {
		arm_next();
		if (wait(&sleeper.timer, ++sleeper.woken))
			sleeper.late_ticks += rdtsc_ordered() - sleeper.deadline_tsc;
		else
			sleeper.lost = true;
	}
}

static void run_halted(u64 n)
{
	run_sleeper(n, halted_until);
}

static void run_spinning(u64 n)
{
	run_sleeper(n, lapic_timer_wait);
}

/* ---- the fast path ----------------------------------------------------------------------------- */

BENCH_RDMSR(rd_tsc_adjust_msr, MSR_IA32_TSC_ADJUST)
BENCH_WRMSR(wr_tsc_deadline_zero, MSR_IA32_TSC_DEADLINE, 0)

static bool need_tsc_adjust(void)
{
	if (cpuid_checked(7).ebx & CPUID_7_EBX_TSC_ADJUST)
		return true;
	report_skip("no IA32_TSC_ADJUST (CPUID 7 EBX bit 1)");
	return false;
}

/*
 * The other one is a read, which does nothing beyond what every exit on the slow path does: there, a
 * write of the deadline costs more than it, since it has a timer to cancel besides; on the fast path
 * it costs less. Measured before and after, so that a CPU that changes its speed does not decide.
 */
static void fast_path(void)
{
	const struct bench_result *deadline = bench_result("wr_tsc_deadline_zero");
	const struct bench_result *before = bench_result("slow_exit_before");
	const struct bench_result *after = bench_result("slow_exit_after");
	char text[3][STATS_TEXT_MAX];
	bool fast;

	if (!cpuid_hypervisor_base(CPUID_KVM_SIGNATURE)) {
		report_skip("no KVM: no CPUID leaf has its signature");
		return;
	}
	if (!deadline || !before || !after) {
		report_skip("needs the figures of slow_exit_before, wr_tsc_deadline_zero and "
			    "slow_exit_after of this run");
		return;
	}
	fast = deadline->stats.p50 < MIN(before->stats.p50, after->stats.p50);
	report_info("WRMSR of IA32_TSC_DEADLINE: %s ticks, %s; RDMSR of IA32_TSC_ADJUST, on the "
		    "slow path: %s before, %s after",
		    stats_text(text[0], deadline->stats.p50), fast ? "fast" : "slow",
		    stats_text(text[1], before->stats.p50), stats_text(text[2], after->stats.p50));
	report_expect(fast,
		      "WRMSR of IA32_TSC_DEADLINE costs %s ticks, no less than an exit on "
		      "KVM's slow path (%s and %s)",
		      text[0], text[1], text[2]);
}

static const struct bench benches[] = {
	{ "tscdeadline_immed", .prepare = open_timer, .run = run_immediate, .finish = close_timer,
	  .story = "WRMSR of a deadline that is now, with its interrupt" },
	{ "tscdeadline", .prepare = open_timer, .run = run_near, .finish = close_timer,
	  .story = "WRMSR of a deadline 3000 TSC ticks away, with its interrupt" },
	{ "wakeup_halted", .prepare = open_sleeper, .run = run_halted, .finish = close_sleeper,
	  .clock = &lateness, .batch = 1,
	  .story = "how long after its deadline a periodic sleeper goes on, from HLT" },
	{ "wakeup_spinning", .prepare = open_spinner, .run = run_spinning, .finish = close_timer,
	  .clock = &lateness, .batch = 1, .story = "the same from a loop that looks for it" },
	{ "slow_exit_before", .prepare = need_tsc_adjust, .run = rd_tsc_adjust_msr,
	  .story = "RDMSR of IA32_TSC_ADJUST, for which KVM has no fast path" },
	{ "wr_tsc_deadline_zero", .prepare = open_timer, .run = wr_tsc_deadline_zero,
	  .finish = close_timer, .floor = "slow_exit_before",
	  .story = "WRMSR of 0 to IA32_TSC_DEADLINE, disarmed before as well" },
	{ "slow_exit_after", .prepare = need_tsc_adjust, .run = rd_tsc_adjust_msr,
	  .story = "slow_exit_before once more" },
};

static const struct check checks[] = {
	{ "fast-path", fast_path, .guards = "L12",
	  .story = "a write of the deadline costs less than an exit on KVM's slow path" },
};

int main(void)
{
	return bench_report_run("tsc-deadline-cost", benches, ARRAY_SIZE(benches), checks,
				ARRAY_SIZE(checks));
}
