/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local APIC's timer in its one-shot, periodic and TSC-deadline modes (SDM vol. 3, 11.5.4), with
 * its interrupts counted: how often and when they were handled, and whether none came too early. And
 * sleep for CPUs that have nothing to do but wait.
 */
#ifndef ARCH_LAPIC_TIMER_H
#define ARCH_LAPIC_TIMER_H

#include "samples.h"
#include "types.h"

/* An interrupt that has not come by then is lost. Any thread of the host may lag by 100 ms. */
#define LAPIC_TIMER_WAIT_NS 1000000000UL

/* How long surplus interrupts are waited for: those of a storm come at once. */
#define LAPIC_TIMER_SETTLE_NS 200000UL

/*
 * The most that an interrupt may be late while the guest ran: three threads of the host, each lagging
 * by 100 ms, stand between an emulated timer and its vCPU (the timer's, the one that holds the lock,
 * the vCPU's own). For the median of many, one of them.
 */
#define LAPIC_TIMER_LATE_MAX_NS	       300000000UL
#define LAPIC_TIMER_LATE_MEDIAN_MAX_NS 100000000UL

#define LAPIC_TIMER_VECTOR 0x40

/* The timer of the CPU that opened it. What the handler writes is to be read once interrupts are off. */
struct lapic_timer {
	/* In the handler, before the end of interrupt; or NULL. */
	void (*at_interrupt)(struct lapic_timer *timer);
	u32 divider;
	u32 count;	  /* TMICT, in force */
	u64 deadline_tsc; /* or IA32_TSC_DEADLINE; 0 in the modes that count */
	u64 before_tsc;	  /* just before either was written */
	u64 after_tsc;	  /* and just after it */
	u64 since_arm;	  /* interrupts since then */

	u64 handled;	 /* interrupts */
	u64 handled_tsc; /* at the last one */
	u64 early; /* of these, before the counter can have reached 0 that often, the TSC the deadline */
	u64 most_early; /* TSC ticks */

	/* For at_interrupt() of checks. */
	u64 left;
	u32 random;
};

/*
 * The timer's rate at divider 1, as an interval, in Hz by clock_hz(); measured at the first call. The
 * timer is off afterwards. false where it stands still.
 */
bool lapic_timer_hz(u64 *low_hz, u64 *high_hz);

/* ns in ticks of the timer at this divider, at least 1. */
u32 lapic_timer_ticks(u64 ns, u32 divider);

/* The TSC ticks that count ticks at this divider take at least, and at most. */
u64 lapic_timer_least_tsc(u64 count, u32 divider);
u64 lapic_timer_most_tsc(u64 count, u32 divider);

/* 1, 2, 4 … 128. */
void lapic_timer_set_divider(u32 divider);
u32 lapic_timer_divider_code(u32 divider);

/*
 * Takes this CPU's timer: off, with a handler for LAPIC_TIMER_VECTOR and divider 1. false, after
 * report_error() on CPU 0, where the timer stands still. RFLAGS.IF is the caller's.
 */
bool lapic_timer_open(struct lapic_timer *timer, void (*at_interrupt)(struct lapic_timer *timer));

/* Whether CPUID offers TSC-deadline mode; where not, after report_skip(). On CPU 0. */
bool lapic_timer_has_deadline(void);

/* The same as lapic_timer_open(), and the mode is TSC-deadline. */
bool lapic_timer_open_deadline(struct lapic_timer *timer,
			       void (*at_interrupt)(struct lapic_timer *timer));

/* Off; on the CPU that opened it. */
void lapic_timer_close(struct lapic_timer *timer);

/* Mode (APIC_LVT_TIMER_…) and count; no interrupt of it comes in between. */
void lapic_timer_arm(struct lapic_timer *timer, u32 mode, u32 count);

/* Only TMICT. */
void lapic_timer_write_count(struct lapic_timer *timer, u32 count);

/*
 * IA32_TSC_DEADLINE, in TSC-deadline mode: arms for that value of the TSC, 0 disarms. Serialises, so
 * that what is read afterwards is what the write has brought about (L13).
 */
void lapic_timer_write_deadline(struct lapic_timer *timer, u64 deadline_tsc);

/* The same for so many TSC ticks from now. */
void lapic_timer_write_deadline_in(struct lapic_timer *timer, u64 ticks);

/* Only the LVT entry: mode, with APIC_LVT_MASKED or without. */
void lapic_timer_write_mode(u32 mode);

/* Waits until n interrupts were handled, with interrupts enabled; false: not in LAPIC_TIMER_WAIT_NS. */
bool lapic_timer_wait(struct lapic_timer *timer, u64 n);

/*
 * The same with a gap detector, for the last of them: how long after the counter must have reached 0,
 * or the TSC the deadline, it was handled, and for how much of that the guest demonstrably ran, in
 * TSC ticks.
 */
bool lapic_timer_wait_watched(struct lapic_timer *timer, u64 n, struct samples *late,
			      struct samples *ran);

/* Reports both, and judges the second by the two bounds above. */
void lapic_timer_judge_lateness(struct samples *late, struct samples *ran);

/*
 * Judges: n interrupts by now, no more in LAPIC_TIMER_SETTLE_NS, none early. Enables interrupts
 * meanwhile. Returns whether all was right.
 */
bool lapic_timer_expect(struct lapic_timer *timer, u64 n);

/* Judges that no interrupt comes beyond the n that were handled, for so long. */
bool lapic_timer_expect_silent(struct lapic_timer *timer, u64 n, u64 ns);

/*
 * Takes the interrupt that was on its way already when the timer was stopped, and counts from 0
 * again.
 */
void lapic_timer_take_pending(struct lapic_timer *timer);

/* As lapic_timer_expect(), but judges what there is, without waiting. */
bool lapic_timer_judge(const struct lapic_timer *timer, u64 n);

/* Pseudo-random, the same in every run: 1 to bound. */
u32 lapic_timer_random(struct lapic_timer *timer, u32 bound);

/*
 * Sleeps for at least so long, woken by this CPU's timer every 10 ms. The timer must not be in use.
 * Interrupts are enabled meanwhile. Where the timer does not work, waits without sleep.
 */
void lapic_timer_sleep_ns(u64 ns);

#endif
