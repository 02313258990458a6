/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The platform's own counters beside the TSC: ACPI PM timer, HPET, PIT. Each is probed before it
 * is believed, since small machines have none of them.
 */
#ifndef ARCH_REFCLOCK_H
#define ARCH_REFCLOCK_H

#include "types.h"

struct refclock {
	const char *name; /* kebab-case, as in names of checks */
	/* Starts it if need be; false, with the reason in *why, where it is absent or stands still. */
	bool (*probe)(const char **why);
	u64 (*read)(void);
	u64 hz;	  /* after probe() */
	u64 mask; /* of the counter's bits, after probe() */
	/* PIT: counts once only, to be started anew; true when it ran out since. NULL elsewhere. */
	void (*restart)(void);
	bool (*expired)(void);
};

extern struct refclock refclock_pm_timer, refclock_hpet, refclock_pit;

/*
 * The TSC's frequency by this clock, as an interval: the TSC before and after a read of it, tightest
 * of several at either end of window_ns, so that a vCPU that was not run in between does no harm.
 * false where the clock stood still or, for one that counts once only, ran out.
 */
bool refclock_measure_tsc(struct refclock *clock, u64 window_ns, u64 *low_hz, u64 *high_hz);

#endif
