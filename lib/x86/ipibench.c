// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Interrupts to this CPU and to CPU 1, and their answers.
 */
#include "ipibench.h"
#include "muldiv.h"
#include "report.h"
#include "smp.h"
#include "spin.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/idt.h>
#include <arch/lapic_timer.h>

#define IPI_VECTOR 0x43
#define ANSWER_NS  NSEC_PER_SEC
#define KICK_NS	   NSEC_PER_MSEC
/* Ends a sleep of CPU 0 from which nothing else wakes it. */
#define GUARD_NS (100 * NSEC_PER_MSEC)
/* Polls before the clock is looked at: an answer comes sooner, mostly. */
#define POLLS 1000

struct ipi_bench {
	u32 sent;
	u32 handled;
	u32 asleep; /* how often CPU 1 was about to execute HLT */
	bool done;  /* for CPU 1 */
	bool lost;  /* no more is sent then */
	bool has_other;
	bool has_guard;
};

static struct ipi_bench ipi;
static struct lapic_timer guard;

static void handler(struct exception_frame *frame)
{
	WRITE_ONCE(ipi.handled, ipi.handled + 1);
}

static bool reached(const u32 *counter, u32 value)
{
	return (s32)(READ_ONCE(*counter) - value) >= 0;
}

static bool await(const u32 *counter, u32 value)
{
	for (int i = 0; i < POLLS; i++) {
		if (reached(counter, value))
			return true;
		cpu_relax();
	}
	if (!spin_until(reached(counter, value), ANSWER_NS))
		ipi.lost = true;
	return !ipi.lost;
}

/*
 * CPU 1 is kicked every millisecond while it is not on its way to HLT: where an emulated host loses
 * the STI shadow, it takes the interrupt before HLT and then sleeps (see lib/smp.c).
 */
static bool await_sleeper(u32 times)
{
	struct spin_bound bound;

	spin_start(&bound, ANSWER_NS);
	while (!spin_until(reached(&ipi.asleep, times), KICK_NS)) {
		if (!spin_poll(&bound)) {
			ipi.lost = true;
			return false;
		}
		arch_smp_kick(1);
	}
	return true;
}

/* ---- CPU 1 ------------------------------------------------------------------------------------- */

static void spin_here(void *arg)
{
	irq_enable();
	while (!READ_ONCE(ipi.done))
		cpu_relax();
	irq_disable();
}

/* What comes after the look at done finds the CPU in HLT: see irq_enable_and_halt(). */
static void halt_here(void *arg)
{
	irq_disable();
	while (!READ_ONCE(ipi.done)) {
		WRITE_ONCE(ipi.asleep, ipi.asleep + 1);
		irq_enable_and_halt();
		irq_disable();
	}
}

/* ---- prepare and finish ------------------------------------------------------------------------ */

bool ipi_bench_open(void)
{
	ipi = (struct ipi_bench){ 0 };
	irq_set_handler(IPI_VECTOR, handler);
	return true;
}

bool ipi_bench_open_masked(void)
{
	ipi_bench_open();
	apic_send_self_ipi(IPI_VECTOR);
	return true;
}

bool ipi_bench_open_guarded(void)
{
	if (!lapic_timer_open(&guard, NULL))
		return false;
	ipi_bench_open();
	ipi.has_guard = true;
	lapic_timer_arm(&guard, APIC_LVT_TIMER_PERIODIC, lapic_timer_ticks(GUARD_NS, 1));
	return true;
}

static bool open_other(void (*fn)(void *arg))
{
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return false;
	}
	ipi_bench_open();
	ipi.has_other = true;
	on_cpu_async(1, fn, NULL);
	return true;
}

bool ipi_bench_open_spinning(void)
{
	return open_other(spin_here);
}

bool ipi_bench_open_halted(void)
{
	return open_other(halt_here);
}

void ipi_bench_close(void)
{
	if (ipi.lost)
		report_fail("an interrupt was not answered within %lu ms: %u were sent, %u handled",
			    ANSWER_NS / NSEC_PER_MSEC, ipi.sent, ipi.handled);
	if (ipi.has_other) {
		WRITE_ONCE(ipi.done, true);
		apic_send_ipi(1, IPI_VECTOR);
		if (!cpu_wait_idle(1, ANSWER_NS))
			report_error("CPU 1 does not come back from the benchmark");
	}
	if (ipi.has_guard)
		lapic_timer_close(&guard);
	/* What is pending still. */
	irq_enable();
	spin_until(!apic_irr(IPI_VECTOR), ANSWER_NS);
	irq_disable();
}

/* ---- run --------------------------------------------------------------------------------------- */

void ipi_bench_self_masked(u64 n)
{
	while (n--)
		apic_send_self_ipi(IPI_VECTOR);
}

void ipi_bench_self_sti_nop(u64 n)
{
	for (; n && !ipi.lost; n--) {
		apic_send_self_ipi(IPI_VECTOR);
		ipi.sent++;
		irq_enable();
		__asm__ volatile("nop");
		await(&ipi.handled, ipi.sent);
		irq_disable();
	}
}

/* Pending before STI, the interrupt ends HLT at once, or is taken instead of it. */
void ipi_bench_self_sti_hlt(u64 n)
{
	for (; n && !ipi.lost; n--) {
		apic_send_self_ipi(IPI_VECTOR);
		ipi.sent++;
		irq_enable_and_halt();
		await(&ipi.handled, ipi.sent);
		irq_disable();
	}
}

void ipi_bench_other(u64 n)
{
	for (; n && !ipi.lost; n--) {
		apic_send_ipi(1, IPI_VECTOR);
		await(&ipi.handled, ++ipi.sent);
	}
}

void ipi_bench_other_halted(u64 n)
{
	for (; n && !ipi.lost; n--) {
		if (!await_sleeper(ipi.sent + 1))
			return;
		apic_send_ipi(1, IPI_VECTOR);
		await(&ipi.handled, ++ipi.sent);
	}
}
