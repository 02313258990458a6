/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks that every counter has to stand, whatever its architecture: invariants 1 to 4 of a
 * virtual counter. Each function is the body of one check and reports by itself.
 */
#ifndef COUNTERTEST_H
#define COUNTERTEST_H

#include "types.h"

struct counter_ops {
	const char *name; /* the manual's: "RDTSC", "CNTVCT_EL0" */
	/*
	 * After all earlier loads and before all later instructions of this CPU. Where it is
	 * clock_ticks() itself, the host's stamps are bracketed more tightly.
	 */
	u64 (*read)(void);
	u64 mask; /* ones for the bits that it has; differences are taken modulo it */
	u64 hz;	  /* nominal, 0 where nothing tells it */
};

/*
 * Invariant 1: never backwards on one CPU; on all CPUs at once. Reads at least "reads" times
 * (argument, default 100,000) and for a tenth of the budget, or until the budget is spent.
 */
void counter_check_monotonic(const struct counter_ops *counter);

/*
 * Invariant 2: never backwards from one CPU to the next, over "handovers" hand-overs (argument,
 * default 100,000) in a ring of this many CPUs, or until the budget is spent. SKIP where the
 * machine has fewer CPUs.
 */
void counter_check_cross_cpu(const struct counter_ops *counter, int cpus);

/* The same for a clock that does not promise it: steps back by up to allowed ticks are figures. */
void counter_check_cross_cpu_within(const struct counter_ops *counter, int cpus, u64 allowed);

/*
 * Invariant 3: inner, read between two reads of outer, lies between them; and the difference of
 * the two, known from each bracket as an interval, is one constant within all of them. For
 * counters of one unit and rate; slack is what their conversion may be off, in that unit.
 */
void counter_check_bracket(const struct counter_ops *outer, const struct counter_ops *inner,
			   u64 slack);

/* A frequency as far as it could be measured. */
struct hz_interval {
	u64 low, high;
	u64 window_ns;
};

/*
 * Invariant 4: subject's rate by a reference of known frequency and another unit, from brackets
 * over the window: one rate has to lie within all of them. true when one did; then *out has it.
 */
bool counter_check_rate(const struct counter_ops *subject, const struct counter_ops *reference,
			u64 window_ns, struct hz_interval *out);

/*
 * Invariant 4 against the host: the frequency by the stamps of the runner's CLOCK_MONOTONIC_RAW,
 * several at either end of a window of at least window_ns. false, with the check in error, failed
 * or skipped, where there is none. SKIP with the argument virtual-time: the guest's time then has
 * nothing to do with the host's.
 */
bool counter_measure_hz(const struct counter_ops *counter, u64 window_ns, struct hz_interval *out);

/* The window for it: argument window-ms, default 200. */
u64 counter_window_ns(void);

/*
 * Judges an advertised frequency: it has to lie within the interval, widened by tolerance_ppm,
 * which is what source itself leaves open (resolution, tolerance of an oscillator).
 */
void counter_judge_hz(const char *source, u64 advertised_hz, u64 tolerance_ppm,
		      const struct hz_interval *measured);

#endif
