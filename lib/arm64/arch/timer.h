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

/* EL1's timers as EL2 with VHE reaches them. */
SYSREG_RW(cntp_ctl_el02, S3_5_C14_C2_1)
SYSREG_RW(cntp_cval_el02, S3_5_C14_C2_2)
SYSREG_RW(cntp_tval_el02, S3_5_C14_C2_0)
SYSREG_RW(cntv_ctl_el02, S3_5_C14_C3_1)
SYSREG_RW(cntv_cval_el02, S3_5_C14_C3_2)
SYSREG_RW(cntv_tval_el02, S3_5_C14_C3_0)

/*
 * What EL0 may do, and the event stream. At EL2 with E2H this name means CNTHCTL_EL2, which has
 * these bits in the same places.
 */
SYSREG_RW(cntkctl_el1, cntkctl_el1)
#define CNTKCTL_EL0PCTEN    BIT(0) /* EL0 may read CNTPCT_EL0 */
#define CNTKCTL_EL0VCTEN    BIT(1) /* EL0 may read CNTVCT_EL0 */
#define CNTKCTL_EVNTEN	    BIT(2)
#define CNTKCTL_EVNTDIR	    BIT(3) /* the event is the bit's fall, not its rise */
#define CNTKCTL_EVNTI_SHIFT 4	   /* which bit of CNTVCT_EL0 (at EL2: CNTPCT_EL0), 0 to 15 */
#define CNTKCTL_EVNTI	    (0xfULL << CNTKCTL_EVNTI_SHIFT)
#define CNTKCTL_EL0VTEN	    BIT(8) /* EL0 may use CNTV_*_EL0 */
#define CNTKCTL_EL0PTEN	    BIT(9) /* EL0 may use CNTP_*_EL0 */

/*
 * A timer, so that one test body serves all: the virtual and the physical timer of the current
 * exception level, and from EL2 those of EL1. count() is the counter that the timer compares with.
 * intid() is 0 where the devicetree names no interrupt.
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
extern const struct timer_ops el1_virtual_timer, el1_physical_timer;

#endif
