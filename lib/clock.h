/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image's own clock for budgets and bounds: x86 TSC, arm64 CNTVCT. It is itself a subject, so
 * every wait has a second bound: see spin_until() in spin.h.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include "types.h"

/* Raw counter, ordered against the instructions around it. */
u64 clock_ticks(void);

/* Ticks per second, found at start-up; never 0. */
u64 clock_hz(void);

/* Where clock_hz() is from, e.g. "CNTFRQ_EL0", "CPUID 0x15", "kvmclock", "PIT". */
const char *clock_hz_source(void);

u64 clock_ns(void);

#endif
