/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One host action with all CPUs reading all clocks as fast as they can, from before it until some
 * time after it: what was seen of each clock.
 */
#ifndef CONTINUITYWATCH_H
#define CONTINUITYWATCH_H

#include "actionclock.h"
#include "hostaction.h"
#include "smp.h"

#define WATCH_CLOCKS_MAX 4
#define WATCH_STEPS_MAX	 4

/* What one CPU saw of one clock. */
struct clock_watch {
	u64 reads;
	u64 backwards;
	u64 back_from, back_to;
	u64 first, last;
	u64 first_reference;
	/*
	 * The clock less the reference, in the clock's ticks since the first read of each: what all
	 * brackets since the last step allow; and the steps, where they allowed nothing in common.
	 */
	s64 offset_low, offset_high;
	u64 nr_steps;
	s64 step_low[WATCH_STEPS_MAX], step_high[WATCH_STEPS_MAX];
};

/* A clock and the host's, read together. */
struct watch_stamp {
	u64 before[WATCH_CLOCKS_MAX], after[WATCH_CLOCKS_MAX];
	u64 raw_ns;
};

struct watch {
	const struct host_action_kind *kind;
	struct host_action action;
	const char *absent[WATCH_CLOCKS_MAX]; /* why, or NULL */
	struct clock_watch seen[WATCH_CLOCKS_MAX][MAX_CPUS];
	/* The host's clock long before it, before and after it; not under virtual time. */
	bool stamped;
	struct watch_stamp early, before, after;
};

/*
 * Does it, unless it is the action that was done last. The result's action tells how it went; only
 * stamps of the host's clock that fail are reported here.
 */
const struct watch *watch_action(const struct host_action_kind *kind);

#endif
