// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The second clock of the checks that move the TSC.
 */
#include "tsctest.h"
#include <arch/apic.h>
#include <arch/cpuid.h>

/* At 1 GHz the whole count takes 68 s, and a tick 16 ns. */
#define DIVIDER 16

/*
 * What two clocks of one machine may be apart, be it since the timer's rate was measured: IA-PC HPET
 * specification 1.0a, 2.4.1, for one of them.
 */
#define CLOCKS_PPM 500
#define PPM	   1000000UL

bool tsc_adjust_offered(void)
{
	return cpuid_checked(7).ebx & CPUID_7_EBX_TSC_ADJUST;
}

bool tsc_reference_start(struct lapic_timer *timer)
{
	if (!lapic_timer_open(timer, NULL))
		return false;
	timer->divider = DIVIDER;
	lapic_timer_arm(timer, APIC_LVT_TIMER_ONESHOT | APIC_LVT_MASKED,
			lapic_timer_ticks(TSC_REFERENCE_NS, DIVIDER));
	return true;
}

u64 tsc_reference_most(const struct lapic_timer *timer)
{
	u32 left = apic_read(APIC_TMCCT);
	u64 ticks = lapic_timer_most_tsc(timer->count - left, timer->divider);

	return left ? ticks + ticks / PPM * CLOCKS_PPM : UINT64_MAX;
}

u64 tsc_reference_least(const struct lapic_timer *timer)
{
	u32 left = apic_read(APIC_TMCCT);
	u64 ticks;

	/* lapic_timer_least_tsc() takes off one tick itself. */
	if (!left || left == timer->count)
		return 0;
	ticks = lapic_timer_least_tsc(timer->count - left, timer->divider);
	return ticks - ticks / PPM * CLOCKS_PPM;
}

void tsc_reference_stop(struct lapic_timer *timer)
{
	lapic_timer_close(timer);
}
