/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A timer as the tests of host actions need it: one interface to all of an architecture's, each on
 * the CPU that opens it.
 */
#ifndef ACTIONTIMER_H
#define ACTIONTIMER_H

#include "types.h"

/* When it is due by its counter: not before and not after. The same for a compare register. */
struct action_due {
	u64 least_ticks;
	u64 most_ticks;
};

struct action_timer {
	const char *name; /* kebab-case, as in names of checks */
	/*
	 * Due when the counter reaches a value; else it counts by itself, and may go on while the
	 * counter stands still.
	 */
	bool compares;
	bool periodic;
	/* Why the machine does not have it, or NULL; on CPU 0. */
	const char *(*absent)(void);
	/* The counter, which advances at clock_hz(). */
	u64 (*count)(void);
	/* Off; fired() is called for each interrupt on this CPU, with the count at that time. */
	void (*open)(void (*fired)(u64 now_ticks));
	void (*close)(void);
	/* Once after ns from now, or every ns. */
	void (*arm)(u64 ns);
	/* When the n-th interrupt since then is due, n from 1 on. */
	struct action_due (*due)(u64 n);
	/* Whether the interrupt controller holds its interrupt as pending. */
	bool (*pending)(void);
};

/* Provided by the arch. */
extern const struct action_timer *const action_timers[];
extern const size_t nr_action_timers;

#endif
