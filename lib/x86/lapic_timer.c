// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer (SDM vol. 3, 11.5.4) and its interrupts, counted.
 */
#include "clock.h"
#include "muldiv.h"
#include "panic.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/idt.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

#define RATE_WINDOW_NS 10000000UL
#define EDGE_READS     8
#define SLEEP_TICK_NS  10000000UL
#define SLEEP_VECTOR   (LAPIC_TIMER_VECTOR + 1)

/* Only reads one after the other within this time prove that the guest ran between them. */
#define GAP_NS 50000UL

static struct lapic_timer *timers[MAX_CPUS];
static u64 rate_low_hz, rate_high_hz;

/* ---- divider and rate -------------------------------------------------------------------------- */

/* SDM vol. 3, figure 11-10: bits 3, 1 and 0 are the power of two less one; all ones is 1. */
u32 lapic_timer_divider_code(u32 divider)
{
	u32 code = (__builtin_ctz(divider) - 1) & 7;

	assert(divider && !(divider & (divider - 1)) && divider <= 128);
	return (code & 4) << 1 | (code & 3);
}

void lapic_timer_set_divider(u32 divider)
{
	apic_write(APIC_TDCR, lapic_timer_divider_code(divider));
}

struct edge {
	u64 before_tsc, after_tsc;
	u32 current_count;
};

/* The tightest of several: being descheduled in one of them only makes that one wide. */
static struct edge read_edge(void)
{
	struct edge best = { 0, UINT64_MAX, 0 };

	for (int i = 0; i < EDGE_READS; i++) {
		struct edge e;

		e.before_tsc = rdtsc_ordered();
		e.current_count = apic_read(APIC_TMCCT);
		e.after_tsc = rdtsc_ordered();
		if (e.after_tsc - e.before_tsc < best.after_tsc - best.before_tsc)
			best = e;
	}
	return best;
}

static void timer_off(void)
{
	apic_write(APIC_LVT_TIMER, APIC_LVT_MASKED | LAPIC_TIMER_VECTOR);
	apic_write(APIC_TMICT, 0);
}

static bool measure(void)
{
	struct edge begin, end;
	u64 ticks;

	timer_off();
	lapic_timer_set_divider(1);
	apic_write(APIC_TMICT, UINT32_MAX);
	begin = read_edge();
	spin_until(false, RATE_WINDOW_NS);
	end = read_edge();
	timer_off();
	/* At 0 it has stood for nobody knows how long. */
	if (end.current_count == 0 || end.current_count + 2 > begin.current_count)
		return false;
	ticks = begin.current_count - end.current_count;
	/* Either read lies somewhere within a tick. */
	rate_low_hz = mul_div_u64(ticks - 1, clock_hz(), end.after_tsc - begin.before_tsc);
	rate_high_hz = mul_div_u64(ticks + 1, clock_hz(), end.before_tsc - begin.after_tsc) + 1;
	return true;
}

bool lapic_timer_hz(u64 *low_hz, u64 *high_hz)
{
	if (!rate_high_hz && !measure())
		return false;
	*low_hz = rate_low_hz;
	*high_hz = rate_high_hz;
	return true;
}

u32 lapic_timer_ticks(u64 ns, u32 divider)
{
	u64 ticks = ns_to_ticks(ns, rate_high_hz) / divider;

	return MAX(1UL, MIN(ticks, (u64)UINT32_MAX));
}

/* The divided clock runs freely, so that the first tick may come at once. */
u64 lapic_timer_least_tsc(u64 count, u32 divider)
{
	return mul_div_u64((count - 1) * divider, clock_hz(), rate_high_hz);
}

u64 lapic_timer_most_tsc(u64 count, u32 divider)
{
	return mul_div_u64((count + 1) * divider, clock_hz(), MAX(rate_low_hz, 1UL));
}

/* ---- the interrupt ----------------------------------------------------------------------------- */

/* The earliest and the latest that the interrupts since the last write can be due. */
static u64 least_due_tsc(const struct lapic_timer *t)
{
	if (t->deadline_tsc)
		return t->deadline_tsc;
	return t->before_tsc + lapic_timer_least_tsc(MAX(1UL, t->since_arm * t->count), t->divider);
}

static u64 most_due_tsc(const struct lapic_timer *t)
{
	if (t->deadline_tsc)
		return MAX(t->deadline_tsc, t->after_tsc);
	return t->after_tsc + lapic_timer_most_tsc(t->count, t->divider);
}

static void handler(struct exception_frame *frame)
{
	struct lapic_timer *t = timers[smp_id()];
	u64 now_tsc = rdtsc_ordered(), due_tsc;

	if (!t)
		return;
	t->since_arm++;
	due_tsc = least_due_tsc(t);
	if ((s64)(now_tsc - due_tsc) < 0) {
		t->early++;
		t->most_early = MAX(t->most_early, due_tsc - now_tsc);
	}
	t->handled_tsc = now_tsc;
	if (t->at_interrupt)
		t->at_interrupt(t);
	__atomic_store_n(&t->handled, t->handled + 1, __ATOMIC_RELEASE);
}

static u64 handled(const struct lapic_timer *timer)
{
	return __atomic_load_n(&timer->handled, __ATOMIC_ACQUIRE);
}

bool lapic_timer_open(struct lapic_timer *timer, void (*at_interrupt)(struct lapic_timer *timer))
{
	u64 low_hz, high_hz;

	*timer = (struct lapic_timer){ .at_interrupt = at_interrupt, .divider = 1, .random = 1 };
	if (!lapic_timer_hz(&low_hz, &high_hz)) {
		if (smp_id() == 0)
			report_error("the timer's rate could not be measured: its current count "
				     "does not go down; see tmcct-counts-down");
		return false;
	}
	timer_off();
	lapic_timer_set_divider(1);
	timers[smp_id()] = timer;
	irq_set_handler(LAPIC_TIMER_VECTOR, handler);
	return true;
}

bool lapic_timer_has_deadline(void)
{
	if (cpuid(1).ecx & CPUID_1_ECX_TSC_DEADLINE)
		return true;
	report_skip("CPUID offers no TSC-deadline mode (leaf 1, ECX bit 24)");
	return false;
}

bool lapic_timer_open_deadline(struct lapic_timer *timer,
			       void (*at_interrupt)(struct lapic_timer *timer))
{
	if (!lapic_timer_open(timer, at_interrupt))
		return false;
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
	return true;
}

static void report_delivered_twice(void)
{
	static u32 reported;
	u32 count = irq_delivered_twice_count();

	if (smp_id() != 0 || count == reported)
		return;
	report_info("%u interrupts were delivered twice by the emulated host's CPU",
		    count - reported);
	reported = count;
}

void lapic_timer_close(struct lapic_timer *timer)
{
	u64 irqs = irq_save();

	timer_off();
	lapic_timer_set_divider(1);
	/* One that was requested before the timer was off is taken here, and meets no structure. */
	timers[smp_id()] = NULL;
	irq_enable();
	spin_until(!apic_irr(LAPIC_TIMER_VECTOR), LAPIC_TIMER_SETTLE_NS);
	irq_restore(irqs);
	report_delivered_twice();
}

/* MFENCE: else a WRMSR of the deadline may overtake an xAPIC's write (SDM vol. 3, 11.5.4.1). */
void lapic_timer_write_mode(u32 mode)
{
	apic_write(APIC_LVT_TIMER, mode | LAPIC_TIMER_VECTOR);
	mfence();
}

void lapic_timer_write_deadline(struct lapic_timer *timer, u64 deadline_tsc)
{
	u64 irqs = irq_save();

	timer->deadline_tsc = deadline_tsc;
	timer->since_arm = 0;
	timer->before_tsc = rdtsc_ordered();
	write_tsc_deadline(deadline_tsc);
	cpu_serialize();
	timer->after_tsc = rdtsc_ordered();
	irq_restore(irqs);
}

void lapic_timer_write_deadline_in(struct lapic_timer *timer, u64 ticks)
{
	u64 irqs = irq_save();

	lapic_timer_write_deadline(timer, rdtsc_ordered() + ticks);
	irq_restore(irqs);
}

void lapic_timer_write_count(struct lapic_timer *timer, u32 count)
{
	u64 irqs = irq_save();

	timer->count = count;
	timer->deadline_tsc = 0;
	timer->since_arm = 0;
	timer->before_tsc = rdtsc_ordered();
	apic_write(APIC_TMICT, count);
	timer->after_tsc = rdtsc_ordered();
	irq_restore(irqs);
}

void lapic_timer_arm(struct lapic_timer *timer, u32 mode, u32 count)
{
	u64 irqs = irq_save();

	/* Stopped first: what a new divider makes of a count that is over is a check's subject. */
	apic_write(APIC_TMICT, 0);
	lapic_timer_set_divider(timer->divider);
	lapic_timer_write_mode(mode);
	lapic_timer_write_count(timer, count);
	irq_restore(irqs);
}

bool lapic_timer_wait(struct lapic_timer *timer, u64 n)
{
	u64 irqs = irq_save();
	bool came;

	irq_enable();
	came = spin_until(handled(timer) >= n, LAPIC_TIMER_WAIT_NS);
	irq_restore(irqs);
	return came;
}

bool lapic_timer_wait_watched(struct lapic_timer *timer, u64 n, struct samples *late,
			      struct samples *ran)
{
	u64 due_tsc = most_due_tsc(timer);
	u64 gap_tsc = ns_to_ticks(GAP_NS, clock_hz()), ran_tsc = 0;
	u64 last_tsc = rdtsc_ordered(), now_tsc, irqs = irq_save();
	struct spin_bound bound;

	spin_start(&bound, LAPIC_TIMER_WAIT_NS);
	irq_enable();
	while (handled(timer) < n && spin_poll(&bound)) {
		now_tsc = rdtsc_ordered();
		if (last_tsc >= due_tsc && now_tsc - last_tsc <= gap_tsc)
			ran_tsc += now_tsc - last_tsc;
		last_tsc = now_tsc;
	}
	irq_restore(irqs);
	if (handled(timer) < n)
		return false;
	samples_add(late, MAX(timer->handled_tsc, due_tsc) - due_tsc);
	samples_add(ran, ran_tsc);
	return true;
}

static u64 percent_ns(struct samples *s, unsigned int percent)
{
	return ticks_to_ns(samples_at_percent(s, percent), clock_hz());
}

void lapic_timer_judge_lateness(struct samples *late, struct samples *ran)
{
	if (!ran->count) {
		report_fail("no interrupt came at all");
		return;
	}
	samples_info(late, "late", "TSC ticks");
	samples_info(ran, "late while the guest ran", "TSC ticks");
	report_expect(percent_ns(ran, 50) <= LAPIC_TIMER_LATE_MEDIAN_MAX_NS,
		      "half of %zu interrupts were more than %lu ms late while the guest ran",
		      ran->count, percent_ns(ran, 50) / NSEC_PER_MSEC);
	report_expect(percent_ns(ran, 100) <= LAPIC_TIMER_LATE_MAX_NS,
		      "an interrupt was %lu ms late while the guest ran",
		      percent_ns(ran, 100) / NSEC_PER_MSEC);
}

bool lapic_timer_judge(const struct lapic_timer *timer, u64 n)
{
	bool right = report_expect(timer->handled == n, "armed for %lu interrupts, handled %lu", n,
				   timer->handled);

	return report_expect(!timer->early,
			     "%lu of %lu interrupts were handled before they can have been due, "
			     "by up to %lu ns",
			     timer->early, timer->handled,
			     ticks_to_ns(timer->most_early, clock_hz())) &&
	       right;
}

bool lapic_timer_expect(struct lapic_timer *timer, u64 n)
{
	u64 irqs = irq_save();

	lapic_timer_wait(timer, n);
	irq_enable();
	spin_until(handled(timer) > n, LAPIC_TIMER_SETTLE_NS);
	irq_restore(irqs);
	return lapic_timer_judge(timer, n);
}

bool lapic_timer_expect_silent(struct lapic_timer *timer, u64 n, u64 ns)
{
	u64 irqs = irq_save();

	irq_enable();
	spin_until(handled(timer) > n, ns);
	irq_restore(irqs);
	return report_expect(timer->handled == n, "%lu interrupts were due, %lu were handled", n,
			     timer->handled);
}

void lapic_timer_take_pending(struct lapic_timer *timer)
{
	u64 irqs = irq_save();

	irq_enable();
	spin_until(!apic_irr(LAPIC_TIMER_VECTOR), LAPIC_TIMER_SETTLE_NS);
	irq_restore(irqs);
	timer->handled = 0;
}

u32 lapic_timer_random(struct lapic_timer *timer, u32 bound)
{
	/* Numerical Recipes' linear congruential generator; its upper bits are the better ones. */
	timer->random = timer->random * 1664525 + 1013904223;
	return (timer->random >> 8) % bound + 1;
}

/* ---- sleep ------------------------------------------------------------------------------------- */

static void wake(struct exception_frame *frame)
{
}

/* Periodic, so that a wake-up that gets lost is made up for by the next. */
void lapic_timer_sleep_ns(u64 ns)
{
	u64 low_hz, high_hz, irqs = irq_save();
	u64 start_tsc = rdtsc_ordered(), ticks = ns_to_ticks(ns, clock_hz());

	if (!lapic_timer_hz(&low_hz, &high_hz)) {
		irq_restore(irqs);
		spin_until(false, ns);
		return;
	}
	irq_set_handler(SLEEP_VECTOR, wake);
	lapic_timer_set_divider(1);
	apic_write(APIC_LVT_TIMER, APIC_LVT_TIMER_PERIODIC | SLEEP_VECTOR);
	apic_write(APIC_TMICT, lapic_timer_ticks(MIN(ns, SLEEP_TICK_NS), 1));
	while (rdtsc_ordered() - start_tsc < ticks) {
		irq_enable_and_halt();
		irq_disable();
	}
	timer_off();
	irq_enable();
	spin_until(!apic_irr(SLEEP_VECTOR), LAPIC_TIMER_SETTLE_NS);
	irq_restore(irqs);
}
