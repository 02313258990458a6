/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks that move the TSC share: a second clock, the local APIC timer's count, which no
 * write of the TSC moves. It tells how far the TSC can have counted meanwhile, however long this CPU
 * was not run.
 */
#ifndef TSCTEST_H
#define TSCTEST_H

#include "types.h"
#include <arch/lapic_timer.h>
#include <arch/msr.h>
#include <arch/tsc.h>

/* How long the clock lasts. */
#define TSC_REFERENCE_NS 30000000000UL

/* Whether value lies in [first, last], modulo 2^64; never where last is before first. */
static inline bool tsc_is_within(u64 value, u64 first, u64 last)
{
	return (s64)(last - first) >= 0 && value - first <= last - first;
}

/* Whether CPUID offers IA32_TSC_ADJUST. */
bool tsc_adjust_offered(void);

static inline u64 tsc_adjust(void)
{
	return rdmsr(MSR_IA32_TSC_ADJUST);
}

/* TSC - IA32_TSC_ADJUST: a clock that no write of either moves (SDM vol. 3, 18.17.3). */
static inline u64 tsc_unmoved(void)
{
	u64 adjust = tsc_adjust();

	return rdtsc_ordered() - adjust;
}

/*
 * Starts the clock by this CPU's timer, which is then not to be used otherwise. To be called before
 * the TSC is moved: the first call measures the timer's rate. false, after report_error() on CPU 0,
 * where the timer stands still.
 */
bool tsc_reference_start(struct lapic_timer *timer);

/* The TSC ticks of the time since then, at most and at least; all ones and 0 once it is over. */
u64 tsc_reference_most(const struct lapic_timer *timer);
u64 tsc_reference_least(const struct lapic_timer *timer);

void tsc_reference_stop(struct lapic_timer *timer);

#endif
