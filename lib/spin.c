// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bounds of spin.h.
 */
#include "muldiv.h"
#include "panic.h"
#include "spin.h"

void spin_start(struct spin_bound *b, u64 timeout_ns)
{
	u64 now_ticks = clock_ticks();

	*b = (struct spin_bound){
		.start_ticks = now_ticks,
		.limit_ticks = ns_to_ticks(timeout_ns, clock_hz()),
		.last_ticks = now_ticks,
	};
}

/* Whether the clock stood still, or ran backwards, for so many polls that it is of no use. */
static bool is_stuck(struct spin_bound *b, u64 now_ticks)
{
	s64 step_ticks = (s64)(now_ticks - b->last_ticks);

	/* A step back shall neither end the wait nor prolong it: the start moves with it. */
	if (step_ticks < 0)
		b->start_ticks += step_ticks;
	b->last_ticks = now_ticks;
	if (step_ticks > 0)
		b->stuck_polls = 0;
	else
		b->stuck_polls++;
	return b->stuck_polls >= SPIN_STUCK_POLLS;
}

bool spin_poll(struct spin_bound *b)
{
	cpu_relax();
	b->clock_stuck = is_stuck(b, clock_ticks());
	return !b->clock_stuck && b->last_ticks - b->start_ticks < b->limit_ticks;
}

void spin_fail(const struct spin_bound *b, const char *what)
{
	if (b->clock_stuck)
		panic("%s: the clock (%s) stood still at %#lx for %u polls", what,
		      clock_hz_source(), b->last_ticks, b->stuck_polls);
	panic("%s: not within %lu ms", what,
	      ticks_to_ns(b->limit_ticks, clock_hz()) / NSEC_PER_MSEC);
}
