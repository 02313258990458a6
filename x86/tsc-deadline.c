// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer in TSC-deadline mode: IA32_TSC_DEADLINE and what a write of it brings about
 * (SDM vol. 3, 11.5.4.1). It reads as it was written while it is armed and as 0 otherwise; every
 * deadline gives one interrupt, however near or long past, and none before its time; a deadline that
 * was disarmed, moved, left behind by a change of mode, or masked, gives none.
 *
 * A hypervisor that keeps the deadline in the host's terms reads back another value (T10); one that
 * has its own timer run ahead of a deadline which is nearer than that loses it: fires/sweep (L8); one
 * whose conversion overflows fires at once for a deadline that is years away: fires/far.
 *
 * A disarmed or postponed deadline may still give its interrupt when it was about to (11.5.4.1, usage
 * guidelines): what is judged is a write that came long before.
 *
 * Arguments: apic=xapic or apic=x2apic; budget-ms=N.
 */
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

static void read_back(void);
static void zero_after_expiry(void);
static void zero_disarms(void);
static void read_zero_in_mode(void);
static void fires_past(void);
static void fires_now(void);
static void fires_sweep(void);
static void fires_far(void);
static void moved_sooner(void);
static void moved_later(void);
static void moved_again_and_again(void);
static void mode_left(void);
static void mode_from_periodic(void);
static void masked_expired(void);
static void masked_in_between(void);

static const u32 one_shot_mode = APIC_LVT_TIMER_ONESHOT, periodic_mode = APIC_LVT_TIMER_PERIODIC;

static const struct check registers[] = {
	{ "read-back", read_back, .guards = "T10",
	  .story = "armed it reads as it was written, edges included" },
	{ "zero-after-expiry", zero_after_expiry, .guards = "T10",
	  .story = "it reads as 0 once the interrupt is there, and no second one comes" },
	{ "zero-disarms", zero_disarms, .story = "0 disarms: it reads as 0 and nothing comes" },
	{ "one-shot-mode", read_zero_in_mode, .subject = &one_shot_mode,
	  .story = "in one-shot mode it reads as 0, and a write arms nothing, now or later" },
	{ "periodic-mode", read_zero_in_mode, .subject = &periodic_mode,
	  .story = "the same in periodic mode" },
};

static const struct check fires[] = {
	{ "past", fires_past, .story = "a deadline that is past gives its interrupt at once" },
	{ "now", fires_now, .story = "so does the current value of the TSC" },
	{ "sweep", fires_sweep, .guards = "L8",
	  .story =
		  "every deadline from now to 20000 cycles on gives its interrupt: one nearer than "
		  "the host's own lead must not be scheduled into the past" },
	{ "far", fires_far,
	  .story = "a deadline 2^40 to 2^63 cycles away does not fire at once: a product that "
		   "overflows does" },
};

static const struct check moved[] = {
	{ "sooner", moved_sooner,
	  .story = "an earlier deadline in place of a far one: one interrupt, at the new time" },
	{ "later", moved_later,
	  .story = "a later deadline in place of a near one: one interrupt, not at the old time" },
	{ "again-and-again", moved_again_and_again,
	  .story = "a deadline that is put off all the time never fires" },
};

static const struct check mode[] = {
	{ "to-one-shot", mode_left, .subject = &one_shot_mode,
	  .story = "to one-shot mode and back: disarmed, and reads as 0" },
	{ "to-periodic", mode_left, .subject = &periodic_mode,
	  .story = "the same by way of periodic mode" },
	{ "from-periodic", mode_from_periodic,
	  .story = "TSC-deadline mode stops the periodic timer, and back in periodic mode it stays "
		   "stopped" },
};

static const struct check masked[] = {
	{ "expired", masked_expired,
	  .story = "masked, the deadline passes without an interrupt, and none is kept for later" },
	{ "in-between", masked_in_between,
	  .story = "masked and unmasked before the deadline: it gives its interrupt" },
};

static const struct check checks[] = {
	{ "registers", .checks = registers, .nr_checks = ARRAY_SIZE(registers) },
	{ "fires", .checks = fires, .nr_checks = ARRAY_SIZE(fires) },
	{ "moved", .checks = moved, .nr_checks = ARRAY_SIZE(moved) },
	{ "mode", .checks = mode, .nr_checks = ARRAY_SIZE(mode) },
	{ "masked", .checks = masked, .nr_checks = ARRAY_SIZE(masked) },
};

#define SWEEP_CYCLES 20000
#define SWEEP_STEP   20
#define MOVES	     10
#define PAST_ROUNDS  100
#define FAR_SHIFT    40
#define SHORT_NS     (500 * NSEC_PER_USEC)
#define SILENCE_NS   (4 * SHORT_NS)
#define FAR_NS	     (4 * NSEC_PER_SEC)
/* For what has to happen before the deadline; where it did not, the attempt is made again. */
#define LONG_NS	 (20 * NSEC_PER_MSEC)
#define ATTEMPTS 20
/* As much as a CPU may not be run for: attempts that fail are rare. */
#define AGAIN_NS (100 * NSEC_PER_MSEC)

static u64 tsc_ticks(u64 ns)
{
	return ns_to_ticks(ns, clock_hz());
}

static bool open(struct lapic_timer *timer)
{
	return lapic_timer_has_deadline() && lapic_timer_open_deadline(timer, NULL);
}

static void expect_zero(const char *when)
{
	u64 value = read_tsc_deadline();

	report_expect(value == 0, "IA32_TSC_DEADLINE reads as 0x%lx %s", value, when);
}

/*
 * Whether what was done since the deadline was written came in good time: in its first half, so that
 * it was not about to fire. If not, what it may have given is taken away, for the next attempt.
 */
static bool in_good_time(struct lapic_timer *timer, u64 written_tsc, u64 deadline_tsc)
{
	if (rdtsc_ordered() < written_tsc + (deadline_tsc - written_tsc) / 2)
		return true;
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
	lapic_timer_write_deadline(timer, 0);
	lapic_timer_take_pending(timer);
	timer->early = 0;
	return false;
}

static void report_not_run(void)
{
	report_error("in %d attempts this CPU was not run for %lu ms before it came to the next "
		     "write",
		     ATTEMPTS, LONG_NS / 2 / NSEC_PER_MSEC);
}

/* ---- registers --------------------------------------------------------------------------------- */

static void read_back(void)
{
	struct lapic_timer timer;
	u64 now_tsc = rdtsc_ordered();
	u64 values[] = {
		now_tsc + tsc_ticks(FAR_NS),
		now_tsc | 0xffffffffff,
		now_tsc | BIT(48),
		0x123456789abcdef0,
		0x7fffffffffffffff,
		0x8000000000000000,
		UINT64_MAX - 1,
		0xffffffff00000000 | now_tsc,
		UINT64_MAX,
	};

	if (!open(&timer))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		u64 value;

		lapic_timer_write_deadline(&timer, values[i]);
		value = read_tsc_deadline();
		report_expect(value == values[i],
			      "IA32_TSC_DEADLINE was written 0x%lx and reads as 0x%lx", values[i],
			      value);
	}
	lapic_timer_close(&timer);
}

static void zero_after_expiry(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	lapic_timer_write_deadline_in(&timer, tsc_ticks(SHORT_NS));
	if (lapic_timer_expect(&timer, 1)) {
		expect_zero("after the interrupt");
		lapic_timer_expect_silent(&timer, 1, SILENCE_NS);
		expect_zero("some time after the interrupt");
	}
	lapic_timer_close(&timer);
}

static void zero_disarms(void)
{
	struct lapic_timer timer;
	int tries = 0, n = 0;

	if (!open(&timer))
		return;
	while (n < MOVES && tries++ < MOVES + ATTEMPTS) {
		u64 deadline_tsc = rdtsc_ordered() + tsc_ticks(LONG_NS);

		lapic_timer_write_deadline(&timer, deadline_tsc);
		lapic_timer_write_deadline(&timer, 0);
		if (!in_good_time(&timer, deadline_tsc - tsc_ticks(LONG_NS), deadline_tsc))
			continue;
		expect_zero("after 0 was written");
		n++;
	}
	if (n < MOVES)
		report_not_run();
	else
		lapic_timer_expect_silent(&timer, 0, 2 * LONG_NS);
	lapic_timer_close(&timer);
}

/* "In other timer modes the MSR reads zero and writes are ignored." */
static void read_zero_in_mode(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	lapic_timer_write_mode(*(const u32 *)report_subject());
	expect_zero("in this mode");
	lapic_timer_write_deadline_in(&timer, tsc_ticks(SHORT_NS));
	expect_zero("after a write in this mode");
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
	expect_zero("back in TSC-deadline mode");
	lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	lapic_timer_close(&timer);
}

/* ---- fires ------------------------------------------------------------------------------------- */

static void fires_past(void)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0;

	if (!open(&timer))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		u64 now_tsc = rdtsc_ordered();
		u64 past_tsc[] = { 1, now_tsc / 2, now_tsc - tsc_ticks(NSEC_PER_MSEC),
				   now_tsc - 1 };

		lapic_timer_write_deadline(&timer, past_tsc[n % ARRAY_SIZE(past_tsc)]);
	} while (lapic_timer_wait(&timer, ++n) && n < PAST_ROUNDS && spin_poll(&budget));
	report_info("%lu deadlines", n);
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void fires_in(u64 cycles_end, u64 step, u64 rounds)
{
	struct lapic_timer timer;
	struct spin_bound budget;
	u64 n = 0, cycles = 0;

	if (!open(&timer))
		return;
	spin_start(&budget, report_budget_ns());
	do {
		cycles = n * step;
		lapic_timer_write_deadline_in(&timer, cycles);
	} while (lapic_timer_wait(&timer, ++n) && n < rounds && cycles < cycles_end &&
		 spin_poll(&budget));
	report_info("%lu deadlines, the last %lu cycles from the write", n, cycles);
	lapic_timer_expect(&timer, n);
	lapic_timer_close(&timer);
}

static void fires_now(void)
{
	fires_in(UINT64_MAX, 0, PAST_ROUNDS);
}

static void fires_sweep(void)
{
	fires_in(SWEEP_CYCLES, SWEEP_STEP, UINT64_MAX);
}

/*
 * 2^n cycles and a short time: in a product by an even number that is too long for 64 bits the power
 * of two gets lost, and the short time is what remains.
 */
static void fires_far(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	for (int shift = FAR_SHIFT; shift < 64; shift++) {
		lapic_timer_write_deadline_in(&timer, (1ULL << shift) + tsc_ticks(SHORT_NS));
		if (!lapic_timer_expect_silent(&timer, 0, SILENCE_NS))
			report_info(
				"armed for 2^%d cycles and %lu us from now, it fires after %lu us",
				shift, SHORT_NS / NSEC_PER_USEC,
				ticks_to_ns(timer.handled_tsc - timer.before_tsc, clock_hz()) /
					NSEC_PER_USEC);
		timer.handled = 0;
	}
	lapic_timer_close(&timer);
}

/* ---- moved ------------------------------------------------------------------------------------- */

static void moved_sooner(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	for (u64 n = 1; n <= MOVES; n++) {
		lapic_timer_write_deadline_in(&timer, tsc_ticks(FAR_NS));
		lapic_timer_write_deadline_in(&timer, tsc_ticks(50 * NSEC_PER_USEC));
		if (!lapic_timer_expect(&timer, n))
			break;
	}
	lapic_timer_close(&timer);
}

/* Interrupts are off until the new deadline is in force. */
static void moved_later(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	for (int i = 0; i < ATTEMPTS; i++) {
		u64 now_tsc = rdtsc_ordered(), long_tsc = tsc_ticks(LONG_NS);

		lapic_timer_write_deadline(&timer, now_tsc + long_tsc);
		lapic_timer_write_deadline(&timer, now_tsc + 3 * long_tsc);
		if (in_good_time(&timer, now_tsc, now_tsc + long_tsc)) {
			lapic_timer_expect(&timer, 1);
			lapic_timer_close(&timer);
			return;
		}
	}
	report_not_run();
	lapic_timer_close(&timer);
}

/*
 * For longer than each deadline is away: false where this CPU was not run for so long that one may
 * have been about to fire.
 */
static bool put_off(struct lapic_timer *timer, u64 *writes)
{
	u64 again_tsc = tsc_ticks(AGAIN_NS), last_tsc = rdtsc_ordered();
	struct spin_bound bound;

	timer->handled = 0;
	*writes = 0;
	spin_start(&bound, AGAIN_NS + AGAIN_NS / 2);
	do {
		lapic_timer_write_deadline_in(timer, again_tsc);
		if (timer->after_tsc - last_tsc >= again_tsc / 2)
			return false;
		last_tsc = timer->before_tsc;
		++*writes;
	} while (spin_poll(&bound));
	return true;
}

static void moved_again_and_again(void)
{
	struct lapic_timer timer;
	bool in_time = false;
	u64 writes = 0;

	if (!open(&timer))
		return;
	irq_enable();
	for (int i = 0; i < ATTEMPTS && !in_time; i++) {
		in_time = put_off(&timer, &writes);
		lapic_timer_write_deadline(&timer, 0);
		if (!in_time) {
			/* Its interrupt may be on its way for as long as a thread of the host lags. */
			spin_until(false, AGAIN_NS);
		}
	}
	irq_disable();
	report_info("%lu writes", writes);
	if (in_time)
		report_expect(timer.handled == 0,
			      "%lu interrupts came though the deadline was always put off in time",
			      timer.handled);
	else
		report_error("in %d attempts this CPU was not run for %lu ms between two writes",
			     ATTEMPTS, AGAIN_NS / 2 / NSEC_PER_MSEC);
	lapic_timer_close(&timer);
}

/* ---- change of mode ---------------------------------------------------------------------------- */

static void expect_left(struct lapic_timer *timer)
{
	expect_zero("in the other mode");
	lapic_timer_expect_silent(timer, 0, 2 * LONG_NS);
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
	expect_zero("back in TSC-deadline mode");
	lapic_timer_expect_silent(timer, 0, SILENCE_NS);
	lapic_timer_write_deadline_in(timer, tsc_ticks(SHORT_NS));
	lapic_timer_expect(timer, 1);
}

static void mode_left(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	for (int i = 0; i < ATTEMPTS; i++) {
		u64 now_tsc = rdtsc_ordered(), long_tsc = tsc_ticks(LONG_NS);

		lapic_timer_write_deadline(&timer, now_tsc + long_tsc);
		lapic_timer_write_mode(*(const u32 *)report_subject());
		if (in_good_time(&timer, now_tsc, now_tsc + long_tsc)) {
			expect_left(&timer);
			lapic_timer_close(&timer);
			return;
		}
	}
	report_not_run();
	lapic_timer_close(&timer);
}

static void mode_from_periodic(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	lapic_timer_arm(&timer, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(SHORT_NS, 1));
	report_expect(lapic_timer_wait(&timer, 2), "no two interrupts came in periodic mode");
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
	lapic_timer_take_pending(&timer);
	expect_zero("after a change from periodic mode");
	report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x in TSC-deadline mode",
		      apic_read(APIC_TMCCT));
	lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	lapic_timer_write_mode(APIC_LVT_TIMER_PERIODIC);
	report_expect(apic_read(APIC_TMCCT) == 0, "TMCCT is 0x%x back in periodic mode",
		      apic_read(APIC_TMCCT));
	lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	lapic_timer_close(&timer);
}

/* ---- masked ------------------------------------------------------------------------------------ */

/* A masked interrupt is not kept (SDM vol. 3, 11.5.1: bit 16 inhibits reception). */
static void masked_expired(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE | APIC_LVT_MASKED);
	lapic_timer_write_deadline_in(&timer, tsc_ticks(SHORT_NS));
	if (lapic_timer_expect_silent(&timer, 0, SILENCE_NS)) {
		report_info("masked and past, IA32_TSC_DEADLINE reads as 0x%lx",
			    read_tsc_deadline());
		lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
		lapic_timer_expect_silent(&timer, 0, SILENCE_NS);
	}
	lapic_timer_close(&timer);
}

static void masked_in_between(void)
{
	struct lapic_timer timer;

	if (!open(&timer))
		return;
	for (int i = 0; i < ATTEMPTS; i++) {
		u64 now_tsc = rdtsc_ordered(), long_tsc = tsc_ticks(LONG_NS), value;

		lapic_timer_write_deadline(&timer, now_tsc + long_tsc);
		lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE | APIC_LVT_MASKED);
		value = read_tsc_deadline();
		lapic_timer_write_mode(APIC_LVT_TIMER_TSC_DEADLINE);
		if (in_good_time(&timer, now_tsc, now_tsc + long_tsc)) {
			report_expect(value == now_tsc + long_tsc,
				      "masked, IA32_TSC_DEADLINE reads as 0x%lx, armed as 0x%lx",
				      value, now_tsc + long_tsc);
			lapic_timer_expect(&timer, 1);
			lapic_timer_close(&timer);
			return;
		}
	}
	report_not_run();
	lapic_timer_close(&timer);
}

int main(void)
{
	return report_run("tsc-deadline", checks, ARRAY_SIZE(checks));
}
