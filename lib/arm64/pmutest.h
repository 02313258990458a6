/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks of the PMU share: work whose cycles are known from below, the cycle counter from
 * whatever state it is found in to counting and back, why it does not count, and the self-check on
 * which all other checks depend.
 */
#ifndef PMUTEST_H
#define PMUTEST_H

#include "types.h"
#include <arch/pmu.h>

/*
 * Multiplications, each of which needs the result of the one before it, so that no CPU does them in
 * fewer cycles than there are. An emulator may let the cycle counter count nanoseconds of its own
 * clock: one of its host's multiplications takes 3 cycles at least, which is half a nanosecond at
 * 6 GHz. A quarter is below both.
 */
void pmu_work(u64 multiplications);
#define PMU_WORK_LEAST(multiplications) ((multiplications) / 4)

/* Instructions that pmu_work() retires for each multiplication: MUL, SUBS, B.NE. */
#define PMU_WORK_INSTRUCTIONS 3

/* pmu_work(*(u64 *)arg), for el0_try(). */
u64 pmu_work_at_el0(void *arg);

/* So much of it is a window of some 100 us, whatever runs it. */
#define PMU_WINDOW 100000UL

/* A value that 32 bits cannot hold, nowhere near a carry. */
#define PMU_BEYOND ((1UL << 32) + 12345)

/* No clock of any CPU is faster: more cycles than that in a time are no cycles. */
#define PMU_MOST_PER_NS 10

/* The most cycles in the time between two reads of CNTVCT_EL0, each of which is up to a tick old. */
u64 pmu_most_cycles(u64 ticks);

/* An overflow that has not come by then is lost: any thread of the host may lag by 100 ms. */
#define PMU_WAIT_NS 2000000000UL

/* ---- the cycle counter on, off, and why not ---------------------------------------------------- */

/*
 * Keeps the PMU's state on this CPU, turns everything off (no counter, interrupt, flag, EL0 access;
 * PMCR_EL0 is LC alone) and lets the cycle counter count at this level and EL0 once it is enabled.
 * false after report_skip() where there is no PMU.
 */
bool pmu_open(void);

/* The same for all checks that take a counting cycle counter for granted. Also runs the self-check
 * if none has yet, and skips with its reason when that failed. */
bool pmu_open_reliable(void);

/* As pmu_open_reliable(), and the cycle counter is enabled. */
bool pmu_open_counting(void);

/* Puts back what pmu_open() kept. */
void pmu_close(void);

/* PMCNTENSET_EL0 and PMCR_EL0.E, with LC: 64 bits. */
void pmu_enable_cycles(void);

/* PMCCFILTR_EL0 for "here and at EL0, nowhere else". */
u64 pmu_filter_here(void);

/* Whether PMCCFILTR_EL0 lets cycles at that level count, by the manual (Non-secure state). */
bool pmu_filter_counts(u64 filter, int el);

/* What keeps the cycle counter from counting at this level. */
enum pmu_obstacle {
	PMU_NO_OBSTACLE, /* that this level can see */
	PMU_PMCR_E,
	PMU_CNTENSET,
	PMU_FILTERED_P,
	PMU_FILTERED_NSK,
	PMU_FILTERED_NSH,
	PMU_MDCR_HPMD,
	PMU_MDCR_HCCD,
};

/* The first obstacle that there is on this CPU now. */
enum pmu_obstacle pmu_obstacle(void);

/* In words, with the register's name: "PMCR_EL0.E is 0". */
const char *pmu_obstacle_text(enum pmu_obstacle obstacle);

/* ---- expectations ------------------------------------------------------------------------------ */

/* Nothing counts over work; pmu_obstacle() is this one, or the test itself is in ERROR. */
void pmu_expect_stopped(enum pmu_obstacle obstacle);

/* Work counts for what it takes at least; when goes into the message: "with all enabled". */
void pmu_expect_counts(const char *when);

/*
 * The counter has gone on from where it was set by so many cycles at least, and by no more than the
 * time since then (CNTVCT_EL0) holds.
 */
void pmu_expect_from(u64 from, u64 at_least, u64 since_ticks, const char *what);

/* ---- counting ---------------------------------------------------------------------------------- */

/* Cycles counted over so much work, interrupts masked. */
u64 pmu_cycles_of_work(u64 multiplications);

/* The same with the work done at EL0; *raised when that did not come back. */
u64 pmu_cycles_of_work_at_el0(u64 multiplications, bool *raised);

/* The cycle counter's rate over run(n), by CNTVCT_EL0, which is read outside of it: Hz. */
u64 pmu_rate_hz(void (*run)(u64 n), u64 n);

/* What the cycle counter did over a number of windows of work. */
struct pmu_samples {
	u64 windows;
	u64 zeros;     /* windows in which it stood still */
	u64 backwards; /* went backwards */
	u64 too_few;   /* counted less than the work takes */
	u64 too_many;  /* counted more than there was time for */
	u64 least, most;
	enum pmu_obstacle obstacle;	   /* while it was to count */
	u64 slowest_hz, fastest_hz;	   /* the middle of each window's possible rates */
	u64 common_low_hz, common_high_hz; /* low > high: no one rate is possible in all windows */
};

/* So many windows, or fewer in budget_ns. */
void pmu_sample(struct pmu_samples *s, u64 windows, u64 multiplications, u64 budget_ns);

/*
 * Reports the samples with the explanation of zero counts; judges that there were none, and that
 * none went backwards or beyond its bounds. Returns whether all was right.
 */
bool pmu_judge_samples(const struct pmu_samples *s, int cpu);

/* The self-check, once an image: NULL when the cycle counter counts, else why nothing can be said. */
const char *pmu_unreliable(void);

#endif
