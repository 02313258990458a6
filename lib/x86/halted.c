// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Sleep in HLT with another CPU on watch.
 */
#include "muldiv.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include <arch/apic.h>
#include <arch/halted.h>
#include <arch/idt.h>

#define WATCHDOG_VECTOR 0x42
#define NAP_NS		(200 * NSEC_PER_MSEC)

struct watchdog {
	u32 beat; /* moved on by the CPU that sleeps */
	bool done;
	u32 bites;
};

static struct watchdog watchdog;

static void bitten(struct exception_frame *frame)
{
	WRITE_ONCE(watchdog.bites, watchdog.bites + 1);
}

static void watch(void *arg)
{
	u32 beat;

	do {
		beat = READ_ONCE(watchdog.beat);
		if (!spin_until(READ_ONCE(watchdog.beat) != beat || READ_ONCE(watchdog.done),
				HALTED_WAIT_NS))
			apic_send_ipi(0, WATCHDOG_VECTOR);
	} while (!READ_ONCE(watchdog.done));
}

static void watch_asleep(void *arg)
{
	u64 slept_ns = 0;
	u32 beat = READ_ONCE(watchdog.beat);

	while (!READ_ONCE(watchdog.done)) {
		lapic_timer_sleep_ns(NAP_NS);
		slept_ns += NAP_NS;
		if (READ_ONCE(watchdog.beat) != beat) {
			beat = READ_ONCE(watchdog.beat);
			slept_ns = 0;
		} else if (slept_ns >= HALTED_WAIT_NS) {
			apic_send_ipi(0, WATCHDOG_VECTOR);
		}
	}
}

static bool open(void (*watcher)(void *arg))
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up: one to end the other's sleep");
		return false;
	}
	watchdog = (struct watchdog){ 0 };
	irq_set_handler(WATCHDOG_VECTOR, bitten);
	on_cpu_async(1, watcher, NULL);
	return true;
}

bool halted_open(void)
{
	return open(watch);
}

bool halted_open_asleep(void)
{
	return open(watch_asleep);
}

void halted_close(void)
{
	WRITE_ONCE(watchdog.done, true);
	if (!cpu_wait_idle(1, 2 * HALTED_WAIT_NS))
		report_error("CPU 1, the watchdog, does not come back");
}

bool halted_until(struct lapic_timer *timer, u64 n)
{
	u32 bites = READ_ONCE(watchdog.bites);
	u64 handled = timer->handled;

	while (timer->handled < n && READ_ONCE(watchdog.bites) == bites) {
		irq_enable_and_halt();
		irq_disable();
	}
	WRITE_ONCE(watchdog.beat, watchdog.beat + 1);
	return report_expect(READ_ONCE(watchdog.bites) == bites && timer->handled >= n,
			     "HLT did not end within %lu ms; another CPU's interrupt ended it, "
			     "and %lu of %lu of this timer's had been handled",
			     HALTED_WAIT_NS / NSEC_PER_MSEC, timer->handled - handled, n - handled);
}
