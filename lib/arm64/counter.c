// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image's clock: CNTVCT_EL0, at the frequency that CNTFRQ_EL0 says. Firmware that leaves CNTFRQ
 * at 0 has to say it in the devicetree.
 */
#include "clock.h"
#include "panic.h"
#include "types.h"
#include "startup.h"
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/timer.h>

static u64 hz;
static const char *hz_source;

u64 clock_ticks(void)
{
	return cntvct_el0();
}

u64 clock_hz(void)
{
	return hz;
}

const char *clock_hz_source(void)
{
	return hz_source;
}

void clock_init(void)
{
	hz = (u32)cntfrq_el0();
	hz_source = "CNTFRQ_EL0";
	if (!hz) {
		hz = machine()->timer_clock_hz;
		hz_source = "devicetree clock-frequency";
	}
	if (!hz)
		panic("CNTFRQ_EL0 is 0 and the devicetree's timer has no clock-frequency: the "
		      "counter's rate is unknown");
}

u32 timer_virtual_intid(void)
{
	return machine()->timer[current_el() == 2 ? TIMER_IRQ_HYP_VIRT : TIMER_IRQ_VIRT].intid;
}

u32 timer_physical_intid(void)
{
	return machine()->timer[current_el() == 2 ? TIMER_IRQ_HYP_PHYS : TIMER_IRQ_PHYS].intid;
}
