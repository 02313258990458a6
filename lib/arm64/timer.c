// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The generic timer: the image's clock, CNTVCT_EL0 at the frequency that CNTFRQ_EL0 says (firmware
 * that leaves that at 0 has to say it in the devicetree), and the timers as tables of functions.
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
	hz = cntfrq_el0();
	hz_source = "CNTFRQ_EL0";
	if (!hz) {
		hz = machine()->timer_clock_hz;
		hz_source = "devicetree clock-frequency";
	}
	if (!hz)
		panic("CNTFRQ_EL0 is 0 and the devicetree's timer has no clock-frequency: the "
		      "counter's rate is unknown");
}

/* At EL2 with E2H cntv_* are CNTHV_*_EL2 and cntp_* are CNTHP_*_EL2, with interrupts of their own. */
static u32 virtual_intid(void)
{
	return machine()->timer[current_el() == 2 ? TIMER_IRQ_HYP_VIRT : TIMER_IRQ_VIRT].intid;
}

static u32 physical_intid(void)
{
	return machine()->timer[current_el() == 2 ? TIMER_IRQ_HYP_PHYS : TIMER_IRQ_PHYS].intid;
}

const struct timer_ops virtual_timer = {
	.name = "virtual timer",
	.count = cntvct_el0,
	.ctl = cntv_ctl_el0,
	.set_ctl = set_cntv_ctl_el0,
	.cval = cntv_cval_el0,
	.set_cval = set_cntv_cval_el0,
	.tval = cntv_tval_el0,
	.set_tval = set_cntv_tval_el0,
	.intid = virtual_intid,
};

const struct timer_ops physical_timer = {
	.name = "physical timer",
	.count = cntpct_el0,
	.ctl = cntp_ctl_el0,
	.set_ctl = set_cntp_ctl_el0,
	.cval = cntp_cval_el0,
	.set_cval = set_cntp_cval_el0,
	.tval = cntp_tval_el0,
	.set_tval = set_cntp_tval_el0,
	.intid = physical_intid,
};

/* CNTVOFF_EL2 is not applied to CNTVCT_EL0 as EL2 with E2H reads it. */
static u64 el1_virtual_count(void)
{
	return cntpct_el0() - cntvoff_el2();
}

static u32 el1_virtual_intid(void)
{
	return machine()->timer[TIMER_IRQ_VIRT].intid;
}

static u32 el1_physical_intid(void)
{
	return machine()->timer[TIMER_IRQ_PHYS].intid;
}

const struct timer_ops el1_virtual_timer = {
	.name = "EL1 virtual timer",
	.count = el1_virtual_count,
	.ctl = cntv_ctl_el02,
	.set_ctl = set_cntv_ctl_el02,
	.cval = cntv_cval_el02,
	.set_cval = set_cntv_cval_el02,
	.tval = cntv_tval_el02,
	.set_tval = set_cntv_tval_el02,
	.intid = el1_virtual_intid,
};

const struct timer_ops el1_physical_timer = {
	.name = "EL1 physical timer",
	.count = cntpct_el0,
	.ctl = cntp_ctl_el02,
	.set_ctl = set_cntp_ctl_el02,
	.cval = cntp_cval_el02,
	.set_cval = set_cntp_cval_el02,
	.tval = cntp_tval_el02,
	.set_tval = set_cntp_tval_el02,
	.intid = el1_physical_intid,
};
