// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine after a reset in the middle of its work. The image runs twice: at first it leaves timers
 * armed and the TSC moved differently on every CPU, and asks for the reset; then it judges what it
 * finds. The TSCs are in step and IA32_TSC_ADJUST is 0 on all CPUs, nothing is armed or pending, and
 * timers work.
 *
 * A VMM that resets the TSC of one CPU after the other by value, or forgets those that were not
 * running, leaves them out of step (T2); one that forgets an armed local APIC timer gives an
 * interrupt that nobody asked for, or hangs when it is armed anew (L15).
 */
#include "libcflat.h"
#include "hostresettest.h"
#include "tsctest.h"
#include <arch/apic.h>
#include <arch/cpuid.h>

#define MOVE_BY 1000000000UL

/* A different step for every CPU: what is not undone shows against the others. */
static void leave_dirty(void)
{
	u64 step = MOVE_BY * (smp_id() + 1);

	if (tsc_adjust_offered())
		wrmsr_safe(MSR_IA32_TSC_ADJUST, tsc_adjust() + step);
	else
		wrmsr_safe(MSR_IA32_TSC, rdtsc_ordered() + step);
}

static void look_at_timer(void *arg)
{
	report_expect(apic_read(APIC_TMCCT) == 0, "CPU %d: TMCCT is %u, the timer counts", smp_id(),
		      apic_read(APIC_TMCCT));
	report_expect(!apic_irr(LAPIC_TIMER_VECTOR),
		      "CPU %d: the timer's interrupt of before the reset is still pending",
		      smp_id());
	if (cpuid(1).ecx & CPUID_1_ECX_TSC_DEADLINE)
		report_expect(read_tsc_deadline() == 0, "CPU %d: IA32_TSC_DEADLINE is 0x%lx",
			      smp_id(), read_tsc_deadline());
}

/* SDM vol. 3, 11.4.7.1: all registers of the local APIC's timer are 0, but for the LVT's mask. */
static void check_timer_off(void)
{
	if (host_reset_was_done())
		on_all_cpus(look_at_timer, NULL);
}

static void look_at_adjust(void *arg)
{
	report_expect(tsc_adjust() == 0, "CPU %d: IA32_TSC_ADJUST is 0x%lx", smp_id(),
		      tsc_adjust());
}

/* SDM vol. 3, 18.17.3: 0 after RESET. */
static void check_tsc_adjust(void)
{
	if (!tsc_adjust_offered())
		report_skip("CPUID offers no IA32_TSC_ADJUST (leaf 7, EBX bit 1)");
	else if (host_reset_was_done())
		on_all_cpus(look_at_adjust, NULL);
}

static const struct check checks[] = {
	{ "timer-off", check_timer_off, .guards = "L15",
	  .story = "No CPU's timer is armed or has its interrupt pending" },
	{ "tsc-adjust", check_tsc_adjust, .guards = "T2",
	  .story = "IA32_TSC_ADJUST is 0 on every CPU, whatever was written before" },
};

int main(void)
{
	return host_reset_report_run("host-reset", leave_dirty, checks, ARRAY_SIZE(checks));
}
