/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks of the platform's clocks share: each of them as a counter, and its frequency by the
 * others.
 */
#ifndef REFCLOCKTEST_H
#define REFCLOCKTEST_H

#include "countertest.h"
#include <arch/refclock.h>

/*
 * What two clocks of one machine may be apart. IA-PC HPET specification 1.0a, 2.4.1: 500 ppm over a
 * millisecond or more; the others' oscillators are as good.
 */
#define REFCLOCK_TOLERANCE_PPM 500

/* Probes the clock and fills in the counter; SKIP and false where it is absent. */
bool refclock_open(struct refclock *clock, struct counter_ops *counter);

/*
 * Invariant 4: the TSC has one rate by this clock over the window, which has to be long enough that
 * a CPU that is not run for 100 ms misses no turn of the counter.
 */
void refclock_check_rate(struct refclock *clock, u64 window_ns);

/*
 * The clock's frequency by another one: the TSC's frequency by either has to be the same, within
 * REFCLOCK_TOLERANCE_PPM. SKIP where one of them is absent.
 */
void refclock_check_frequency(struct refclock *clock, struct refclock *other, u64 window_ns);

/* The same against the host's clock. SKIP under virtual time. */
void refclock_check_host(struct refclock *clock, u64 window_ns);

#endif
