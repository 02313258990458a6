/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPU 0 asleep in HLT until its local APIC timer's interrupts were handled. CPU 1 ends a sleep that
 * goes on for too long, so that a timer which never fires is a verdict and no hang.
 */
#ifndef ARCH_HALTED_H
#define ARCH_HALTED_H

#include <arch/lapic_timer.h>

/* How long a sleep may take: twice what loses an interrupt for a CPU that is awake. */
#define HALTED_WAIT_NS (2 * LAPIC_TIMER_WAIT_NS)

/* Puts CPU 1 on watch; false, after report_skip(), where there is none. On CPU 0, as all of these. */
bool halted_open(void);

/*
 * The same, with CPU 1 asleep most of the time, by its own timer: for measurements, which a CPU that
 * spins may slow down.
 */
bool halted_open_asleep(void);

/* CPU 1 is idle afterwards, or the check an ERROR. */
void halted_close(void);

/* Sleeps until n interrupts of the timer were handled; judges, and returns, that no one else ended it. */
bool halted_until(struct lapic_timer *timer, u64 n);

#endif
