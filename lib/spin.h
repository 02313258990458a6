/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounded waits. A wait ends by its condition, by the clock, or, where the clock stands still, by
 * a number of iterations; never in a hang.
 */
#ifndef SPIN_H
#define SPIN_H

#include "clock.h"
#include "types.h"
#include <arch/cpu.h>

/* So many polls without the clock moving mean that it stands still. */
#define SPIN_STUCK_POLLS 20000000U

struct spin_bound {
	u64 start_ticks;
	u64 limit_ticks;
	u64 last_ticks;
	u32 stuck_polls;
	bool clock_stuck; /* ended because the clock stood still */
};

void spin_start(struct spin_bound *b, u64 timeout_ns);

/* One poll: false once the bound is reached. Contains PAUSE or YIELD. */
bool spin_poll(struct spin_bound *b);

/* Panics ("ERROR") with what was waited for and why the wait ended. */
void spin_fail(const struct spin_bound *b, const char *what) __attribute__((noreturn));

/* true when cond came true in time. */
#define spin_until(cond, timeout_ns)            \
	({                                      \
		struct spin_bound b__;          \
		bool ok__ = true;               \
		spin_start(&b__, timeout_ns);   \
		while (!(cond)) {               \
			if (!spin_poll(&b__)) { \
				ok__ = (cond);  \
				break;          \
			}                       \
		}                               \
		ok__;                           \
	})

/* For what only a broken environment can hold up: ends the image with an ERROR. */
#define spin_until_or_die(cond, timeout_ns, what)        \
	({                                               \
		struct spin_bound b__;                   \
		spin_start(&b__, timeout_ns);            \
		while (!(cond)) {                        \
			if (!spin_poll(&b__) && !(cond)) \
				spin_fail(&b__, what);   \
		}                                        \
	})

#endif
