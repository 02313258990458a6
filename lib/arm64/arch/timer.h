/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The generic timer's registers (Arm ARM D12), one inline function each. The counters are read
 * between two ISBs: neither ahead of what comes before nor behind what follows.
 *
 * At EL2 with E2H the names cntp_*_el0 and cntv_*_el0 mean the EL2 physical and virtual timers.
 */
#ifndef ARCH_TIMER_H
#define ARCH_TIMER_H

#include "types.h"
#include <arch/cpu.h>
#include <arch/sysreg.h>

/* The three bits of every CTL register. */
#define TIMER_CTL_ENABLE  BIT(0)
#define TIMER_CTL_IMASK	  BIT(1)
#define TIMER_CTL_ISTATUS BIT(2)

static inline u64 cntvct_el0(void)
{
	u64 ticks;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(ticks)::"memory");
	return ticks;
}

static inline u64 cntpct_el0(void)
{
	u64 ticks;

	__asm__ volatile("isb\n\tmrs %0, cntpct_el0\n\tisb" : "=r"(ticks)::"memory");
	return ticks;
}

/* FEAT_ECV: self-synchronising, they need no ISB. UNDEFINED without it. */
#define CNTPCTSS_EL0 S3_3_C14_C0_5
#define CNTVCTSS_EL0 S3_3_C14_C0_6

static inline u64 cntpctss_el0(void)
{
	u64 ticks;

	__asm__ volatile("mrs %0, " SYSREG_STRING(CNTPCTSS_EL0) : "=r"(ticks)::"memory");
	return ticks;
}

static inline u64 cntvctss_el0(void)
{
	u64 ticks;

	__asm__ volatile("mrs %0, " SYSREG_STRING(CNTVCTSS_EL0) : "=r"(ticks)::"memory");
	return ticks;
}

/* Whether the CPU has cntpctss_el0() and cntvctss_el0(). */
static inline bool cpu_has_ecv(void)
{
	return ID_FIELD(id_aa64mmfr0_el1(), ID_AA64MMFR0_ECV_SHIFT) != 0;
}

SYSREG_RO(cntfrq_el0, cntfrq_el0)

SYSREG_RW(cntv_ctl_el0, cntv_ctl_el0)
SYSREG_RW(cntv_cval_el0, cntv_cval_el0)
SYSREG_RW(cntv_tval_el0, cntv_tval_el0)

SYSREG_RW(cntp_ctl_el0, cntp_ctl_el0)
SYSREG_RW(cntp_cval_el0, cntp_cval_el0)
SYSREG_RW(cntp_tval_el0, cntp_tval_el0)

/* Only at EL2. */
SYSREG_RW(cnthp_ctl_el2, cnthp_ctl_el2)
SYSREG_RW(cnthp_cval_el2, cnthp_cval_el2)
SYSREG_RW(cnthp_tval_el2, cnthp_tval_el2)
SYSREG_RW(cntvoff_el2, cntvoff_el2)
SYSREG_RW(cnthctl_el2, cnthctl_el2)

/* Only at EL2 with VHE. */
SYSREG_RW(cnthv_ctl_el2, S3_4_C14_C3_1)
SYSREG_RW(cnthv_cval_el2, S3_4_C14_C3_2)
SYSREG_RW(cnthv_tval_el2, S3_4_C14_C3_0)

/*
 * The virtual and the physical timer of the current exception level, so that one test body serves
 * both. intid() is 0 where the devicetree names no interrupt.
 */
struct timer_ops {
	const char *name;
	u64 (*count)(void);
	u64 (*ctl)(void);
	void (*set_ctl)(u64 value);
	u64 (*cval)(void);
	void (*set_cval)(u64 value);
	u64 (*tval)(void);
	void (*set_tval)(u64 value);
	u32 (*intid)(void);
};

extern const struct timer_ops virtual_timer, physical_timer;

#endif
