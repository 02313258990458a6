/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A clock as the tests of host actions need it, and what a guest may take for constant about time:
 * one interface to all of an architecture's.
 */
#ifndef ACTIONCLOCK_H
#define ACTIONCLOCK_H

#include "types.h"

struct action_clock {
	const char *name;   /* kebab-case, as in names of checks */
	const char *policy; /* by which the VMM declares it: "counter", "kvmclock" */
	/* Makes it readable on all CPUs; false, with the reason, where the machine does not have it. */
	bool (*open)(const char **why);
	u64 (*read)(void); /* in ticks of hz() */
	u64 (*hz)(void);
	/* clock_hz() as this clock takes it, and how much it may be off by, in ppm. After open(). */
	u64 (*reference_hz)(void);
	u64 rate_ppm;
};

/*
 * Provided by the arch. The first is clock_ticks() itself: the reference for the others, which may
 * be absent.
 */
extern const struct action_clock *const action_clocks[];
extern const size_t nr_action_clocks;

struct action_constant {
	const char *name; /* the manual's */
	u64 value;
};

#define ACTION_CONSTANTS_MAX 24

/* The calling CPU's; the names are the same each time. Provided by the arch. */
size_t action_constants(struct action_constant *constants);

/* Changes on this CPU what a host may forget about, and puts it back. Provided by the arch. */
void action_constants_disturb(void);
void action_constants_restore(void);

#endif
