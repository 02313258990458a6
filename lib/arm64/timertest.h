/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks of all timers share: a timer with its interrupt on one CPU, how often and when
 * that was handled, and how late. The bodies of the checks get their timer by report_subject().
 */
#ifndef TIMERTEST_H
#define TIMERTEST_H

#include "report.h"
#include "types.h"
#include <arch/timer.h>

/* The timers of the level that the image was asked to run at: 2 at EL1, 4 at EL2. */
#define TIMER_MAX_TIMERS 4
const struct timer_ops *const *timer_all(int *count);

/*
 * report_run() with a block of sub-checks for each timer, "virtual", "physical" and at EL2 before
 * them "hyp-virtual" and "hyp-physical", whose subject it is; then the image's further checks.
 */
int timer_report_run(const char *image, const struct check *each, size_t nr_each,
		     const struct check *further, size_t nr_further);

/* An interrupt that has not come by then is lost. Any thread of the host may lag by 100 ms. */
#define TIMER_WAIT_NS 1000000000UL

/* How long surplus interrupts are waited for: a storm's come at once. */
#define TIMER_SETTLE_NS 200000UL

/*
 * The most that an interrupt may be late while the guest ran: three threads of the host, each
 * lagging by 100 ms, stand between an emulated timer and its vCPU (the timer's, the one that holds
 * the lock, the vCPU's own). For the median of many, one of them.
 */
#define TIMER_LATE_MAX_NS	 300000000UL
#define TIMER_LATE_MEDIAN_MAX_NS 100000000UL

/* A timer on the CPU that opened it. Written by its handler, but for what it says. */
struct timer_line {
	const struct timer_ops *timer;
	void (*remove_cause)(
		struct timer_line *line); /* in the handler: timer_stop() or its like */
	int cpu;
	u64 cval; /* in force: what the handler compares with */

	u64 handled;	   /* interrupts */
	u64 early;	   /* of these, with the counter below cval */
	u64 most_early;	   /* ticks */
	u64 unasserted;	   /* of these, with ISTATUS clear, IMASK set or ENABLE clear */
	u64 handled_ticks; /* the counter at the last one */
	u64 spurious_before;

	/* For remove_cause() of checks. */
	u64 left;
	u64 delta_ticks;
	u32 random;
};

/* Ways to remove the cause. */
void timer_stop(struct timer_line *line); /* ENABLE off */
void timer_mask(struct timer_line *line); /* IMASK on */

/*
 * Opens the timer on this CPU: off, with a handler and its interrupt enabled at the GIC. PSTATE.I is
 * the caller's. false, after report_skip(), where the devicetree names no interrupt.
 */
bool timer_open(struct timer_line *line, const struct timer_ops *timer,
		void (*remove_cause)(struct timer_line *line));

/* The same for several CPUs at once, where the skip is not to be noted by each. */
bool timer_open_quietly(struct timer_line *line, const struct timer_ops *timer,
			void (*remove_cause)(struct timer_line *line));

/* Off and disabled; on the CPU that opened it. */
void timer_close(struct timer_line *line);

/* CVAL, then ENABLE with IMASK clear; no interrupt comes in between. */
void timer_arm(struct timer_line *line, u64 cval);

/* Waits until n interrupts were handled, with interrupts enabled; false: not in TIMER_WAIT_NS. */
bool timer_wait_handled(struct timer_line *line, u64 n);

/*
 * Judges the line: n interrupts by now and no more in TIMER_SETTLE_NS, none early, none without its
 * cause, no spurious one at the GIC. Enables interrupts meanwhile. Returns whether all was right.
 */
bool timer_expect_handled(struct timer_line *line, u64 n);

/* The same judgement without waiting, for work on other CPUs. */
bool timer_judge_handled(const struct timer_line *line, u64 n);

/*
 * One look at ISTATUS between two at the counter, of an enabled timer. ISTATUS may be neither set
 * while the counter is certainly below cval, nor clear while it is certainly not.
 */
struct timer_look {
	u64 before_ticks;
	u64 after_ticks;
	bool istatus;
	bool too_early;
	bool too_late;
};

struct timer_look timer_look(const struct timer_ops *timer, u64 cval);

/* Waits, bounded, until ISTATUS is what is wanted; judges it, and that it is never too early. */
bool timer_expect_istatus(const struct timer_ops *timer, u64 cval, bool wanted);

/* The same for the GIC's pending state of the timer's interrupt, which may lag behind. */
bool timer_expect_pending(const struct timer_ops *timer, bool wanted, const char *when);

/*
 * true after a SKIP, where an enabled timer whose CVAL plus CNTVOFF_EL2 exceeds 64 bits would not
 * only fail: QEMU's TCG before 10.0 then hangs, and in kernel mode it is what runs this KVM host, with
 * all tests that are still to come (docs/findings.md). By the runner's argument outer-qemu=VERSION.
 */
bool timer_cval_wrap_hangs_host(void);

/* ns in ticks of the timers. */
u64 timer_ticks(u64 ns);

/* Pseudo-random, the same in every run: 0 to bound - 1. */
u32 timer_random(u32 *state, u32 bound);

/*
 * How late interrupts were, and for how much of that the guest demonstrably ran: was seen reading
 * the counter again within TIMER_GAP_NS.
 */
#define TIMER_GAP_NS	   50000UL
#define TIMER_LATE_SAMPLES 1024

struct timer_lateness {
	size_t count;
	u64 late_ticks[TIMER_LATE_SAMPLES];
	u64 ran_ticks[TIMER_LATE_SAMPLES];
};

/*
 * timer_wait_handled() with the gap detector: notes the last interrupt's lateness against
 * line->cval, which is the one that is waited for.
 */
bool timer_wait_watched(struct timer_line *line, u64 n, struct timer_lateness *lateness);

/* For a guest that slept: the last interrupt's lateness, and the distribution; judges nothing. */
void timer_note_lateness(struct timer_lateness *lateness, const struct timer_line *line);
void timer_print_lateness(struct timer_lateness *lateness, const char *what);

/* Prints the distribution and judges it by TIMER_LATE_MAX_NS and TIMER_LATE_MEDIAN_MAX_NS. */
void timer_judge_lateness(struct timer_lateness *lateness, const char *what);

#endif
