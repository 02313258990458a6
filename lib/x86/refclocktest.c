// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Checks of the platform's clocks. The TSC stands between two of them: it is read before and after
 * each, so that a CPU that is not run for a while makes an interval wide, and no result wrong.
 */
#include "libcflat.h"
#include "refclocktest.h"

/* A clock that counts once only is soon over: so many times it may be, on a busy host. */
#define ATTEMPTS     20
#define ONCE_ONLY_NS 20000000UL
#define PPM	     1000000UL

static struct counter_ops tsc = { "RDTSC", clock_ticks, UINT64_MAX, 0 };

bool refclock_open(struct refclock *clock, struct counter_ops *counter)
{
	const char *why;

	if (!clock->probe(&why)) {
		report_skip("%s", why);
		return false;
	}
	*counter = (struct counter_ops){ clock->name, clock->read, clock->mask, clock->hz };
	return true;
}

void refclock_check_rate(struct refclock *clock, u64 window_ns)
{
	struct counter_ops counter;
	struct hz_interval found;

	tsc.hz = clock_hz();
	if (refclock_open(clock, &counter))
		counter_check_rate(&tsc, &counter, window_ns, &found);
}

/* The TSC's frequency by the clock; ERROR and false where it could not be measured. */
static bool measure_tsc(struct refclock *clock, u64 window_ns, struct hz_interval *found)
{
	if (clock->restart)
		window_ns = MIN(window_ns, ONCE_ONLY_NS);
	found->window_ns = window_ns;
	for (int i = 0; i < ATTEMPTS; i++) {
		if (refclock_measure_tsc(clock, window_ns, &found->low, &found->high))
			return true;
	}
	report_error("in %d attempts this CPU was not run for too long, or the clock %s stood "
		     "still",
		     ATTEMPTS, clock->name);
	return false;
}

void refclock_check_frequency(struct refclock *clock, struct refclock *other, u64 window_ns)
{
	struct hz_interval by_clock, by_other;
	struct counter_ops counter;

	if (!refclock_open(other, &counter) || !refclock_open(clock, &counter) ||
	    !measure_tsc(other, window_ns, &by_other) || !measure_tsc(clock, window_ns, &by_clock))
		return;
	report_info("TSC: %lu to %lu Hz by %s, %lu to %lu Hz by %s", by_clock.low, by_clock.high,
		    clock->name, by_other.low, by_other.high, other->name);
	report_expect(by_clock.low <= by_other.high +
					      by_other.high / PPM * REFCLOCK_TOLERANCE_PPM &&
			      by_other.low <=
				      by_clock.high + by_clock.high / PPM * REFCLOCK_TOLERANCE_PPM,
		      "the TSC has %lu to %lu Hz by %s, %lu to %lu Hz by %s", by_clock.low,
		      by_clock.high, clock->name, by_other.low, by_other.high, other->name);
}

void refclock_check_host(struct refclock *clock, u64 window_ns)
{
	struct hz_interval by_clock, by_host;
	struct counter_ops counter;
	u64 middle;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (!refclock_open(clock, &counter))
		return;
	tsc.hz = clock_hz();
	if (!counter_measure_hz(&tsc, window_ns, &by_host) ||
	    !measure_tsc(clock, window_ns, &by_clock))
		return;
	/* What is judged is the clock: as fast as it makes the TSC slow. */
	middle = by_clock.low + (by_clock.high - by_clock.low) / 2;
	counter_judge_hz(clock->name, middle,
			 REFCLOCK_TOLERANCE_PPM + (by_clock.high - middle) * PPM / middle + 1,
			 &by_host);
}
