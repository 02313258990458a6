// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * SGIs to this CPU and to CPU 1, and their answers: sgibench.h.
 */
#include "libcflat.h"
#include "sgibench.h"
#include "timertest.h"
#include <arch/cpu.h>
#include <arch/gic.h>

#define SGI	  7
#define ANSWER_NS NSEC_PER_SEC
/* Looks before the clock is consulted: an answer comes sooner, mostly. */
#define LOOKS 1000
/* Ends the sleep that a WFI should not have begun. */
#define GUARD_NS (100 * NSEC_PER_MSEC)

static struct {
	u64 sent;
	u64 handled;
	u64 asleep; /* how often CPU 1 was about to execute WFI */
	bool has_other;
	bool done; /* for CPU 1 */
	bool lost; /* no more is sent then */
} sgi;

static struct timer_line guard;

static void handler(u32 intid, struct exception_frame *frame)
{
	WRITE_ONCE(sgi.handled, sgi.handled + 1);
}

static void await(const u64 *counter, u64 value)
{
	for (int i = 0; i < LOOKS; i++) {
		if (READ_ONCE(*counter) >= value)
			return;
		cpu_relax();
	}
	if (!spin_until(READ_ONCE(*counter) >= value, ANSWER_NS))
		sgi.lost = true;
}

/* ---- CPU 1 ------------------------------------------------------------------------------------- */

static void stay_awake(void *arg)
{
	gic_enable(SGI);
	irq_enable();
	while (!READ_ONCE(sgi.done))
		cpu_relax();
	irq_disable();
	gic_disable(SGI);
}

/* A masked interrupt ends WFI too, so that none is missed between the look at done and WFI. */
static void sleep_on(void *arg)
{
	gic_enable(SGI);
	while (!READ_ONCE(sgi.done)) {
		WRITE_ONCE(sgi.asleep, sgi.asleep + 1);
		wfi();
		irq_enable();
		isb();
		irq_disable();
	}
	gic_disable(SGI);
}

/* ---- prepare and finish ------------------------------------------------------------------------ */

bool sgi_bench_open(void)
{
	memset(&sgi, 0, sizeof(sgi));
	irq_set_handler(SGI, handler);
	gic_enable(SGI);
	return true;
}

static bool open_other(void (*fn)(void *arg))
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return false;
	}
	sgi_bench_open();
	sgi.has_other = true;
	on_cpu_async(1, fn, NULL);
	return true;
}

bool sgi_bench_open_awake(void)
{
	return open_other(stay_awake);
}

bool sgi_bench_open_asleep(void)
{
	return open_other(sleep_on);
}

bool sgi_bench_open_pending(void)
{
	if (!timer_open(&guard, &physical_timer, timer_stop))
		return false;
	sgi_bench_open();
	timer_arm(&guard, guard.timer->count() + timer_ticks(GUARD_NS));
	gic_send_sgi(smp_id(), SGI);
	return true;
}

void sgi_bench_close_pending(void)
{
	timer_close(&guard);
	sgi_bench_close();
}

void sgi_bench_close(void)
{
	if (sgi.lost)
		report_fail("an SGI was not handled within %lu ms: %lu were sent, %lu handled",
			    ANSWER_NS / NSEC_PER_MSEC, sgi.sent, sgi.handled);
	if (sgi.has_other) {
		WRITE_ONCE(sgi.done, true);
		gic_send_sgi(1, SGI);
		if (!cpu_wait_idle(1, ANSWER_NS))
			report_error("CPU 1 does not come back from the benchmark");
	}
	/* What is pending still. */
	irq_enable();
	spin_until(!gic_is_pending(SGI), ANSWER_NS);
	irq_disable();
	gic_disable(SGI);
}

/* ---- settle and run ---------------------------------------------------------------------------- */

void sgi_bench_settle(void)
{
	if (!sgi.lost)
		await(&sgi.asleep, sgi.handled + 1);
}

void sgi_bench_send(u64 n)
{
	while (n--)
		gic_send_sgi(smp_id(), SGI);
}

void sgi_bench_self(u64 n)
{
	for (; n && !sgi.lost; n--) {
		gic_send_sgi(smp_id(), SGI);
		irq_enable();
		await(&sgi.handled, ++sgi.sent);
		irq_disable();
	}
}

void sgi_bench_other(u64 n)
{
	for (; n && !sgi.lost; n--) {
		gic_send_sgi(1, SGI);
		await(&sgi.handled, ++sgi.sent);
	}
}
