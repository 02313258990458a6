/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The performance monitors' registers, PMUv3 (Arm ARM D11 and D17.5), one inline function each. At
 * EL2 with E2H these names mean the same registers. Check pmu_version() before anything else: all
 * of them are UNDEFINED without a PMU.
 */
#ifndef ARCH_PMU_H
#define ARCH_PMU_H

#include "types.h"
#include <arch/el.h>
#include <arch/sysreg.h>

/* ID_AA64DFR0_EL1.PMUVer. */
#define PMU_NONE      0
#define PMU_V3P1      4
#define PMU_V3P5      6
#define PMU_OF_VENDOR 15

/* The version of the architected PMU, PMU_NONE where there is none. */
static inline int pmu_version(void)
{
	int version = ID_FIELD(id_aa64dfr0_el1(), 8);

	return version == PMU_OF_VENDOR ? PMU_NONE : version;
}

SYSREG_RW(pmcr_el0, pmcr_el0)
#define PMCR_E	     BIT(0)
#define PMCR_P	     BIT(1) /* write: event counters to 0 */
#define PMCR_C	     BIT(2) /* write: cycle counter to 0 */
#define PMCR_D	     BIT(3) /* count every 64th cycle, unless LC */
#define PMCR_DP	     BIT(5) /* no cycles where event counting is prohibited */
#define PMCR_LC	     BIT(6) /* overflow at 64 bits, not 32 */
#define PMCR_N_SHIFT 11
#define PMCR_N_MASK  0x1f

/* Event counters. At EL1 these are MDCR_EL2.HPMN. */
static inline int pmcr_n(void)
{
	return pmcr_el0() >> PMCR_N_SHIFT & PMCR_N_MASK;
}

/* One bit a counter in all of these. */
#define PMU_CYCLE_COUNTER     31
#define PMU_CYCLE_COUNTER_BIT BIT(PMU_CYCLE_COUNTER)
SYSREG_RW(pmcntenset_el0, pmcntenset_el0)
SYSREG_RW(pmcntenclr_el0, pmcntenclr_el0)
SYSREG_RW(pmintenset_el1, pmintenset_el1)
SYSREG_RW(pmintenclr_el1, pmintenclr_el1)
SYSREG_RW(pmovsset_el0, pmovsset_el0)
SYSREG_RW(pmovsclr_el0, pmovsclr_el0)

SYSREG_RW(pmccfiltr_el0, pmccfiltr_el0)
#define PMU_FILTER_P   BIT(31) /* not EL1 */
#define PMU_FILTER_U   BIT(30) /* not EL0 */
#define PMU_FILTER_NSK BIT(29) /* Non-secure EL1: counted where equal to P; RES0 without EL3 */
#define PMU_FILTER_NSU BIT(28) /* Non-secure EL0: counted where equal to U; RES0 without EL3 */
#define PMU_FILTER_NSH BIT(27) /* also EL2 */
#define PMU_FILTER_M   BIT(26) /* EL3: counted where equal to P; RES0 without EL3 */

/* Ordered behind the instructions before it, ahead of those after it. */
static inline u64 pmccntr_el0(void)
{
	u64 cycles;

	__asm__ volatile("isb\n\tmrs %0, pmccntr_el0\n\tisb" : "=r"(cycles)::"memory");
	return cycles;
}

static inline void set_pmccntr_el0(u64 cycles)
{
	__asm__ volatile("msr pmccntr_el0, %x0\n\tisb" ::"rZ"(cycles) : "memory");
}

/* The event counter that the next two mean; 31 makes PMXEVTYPER_EL0 mean PMCCFILTR_EL0. */
SYSREG_RW(pmselr_el0, pmselr_el0)
SYSREG_RW(pmxevtyper_el0, pmxevtyper_el0)

static inline u64 pmxevcntr_el0(void)
{
	u64 events;

	__asm__ volatile("isb\n\tmrs %0, pmxevcntr_el0\n\tisb" : "=r"(events)::"memory");
	return events;
}

static inline void set_pmxevcntr_el0(u64 events)
{
	__asm__ volatile("msr pmxevcntr_el0, %x0\n\tisb" ::"rZ"(events) : "memory");
}

SYSREG_RO(pmceid0_el0, pmceid0_el0)

/* Events, and whether there are such: one bit each in PMCEID0_EL0 for those below 32. */
#define PMU_EVENT_SW_INCR      0x00
#define PMU_EVENT_INST_RETIRED 0x08
#define PMU_EVENT_CPU_CYCLES   0x11

static inline bool pmu_has_event(int event)
{
	return pmceid0_el0() >> event & 1;
}

/* Write only: one more of SW_INCR for each counter that counts it and whose bit is set. */
static inline void set_pmswinc_el0(u64 counters)
{
	__asm__ volatile("msr pmswinc_el0, %x0\n\tisb" ::"rZ"(counters) : "memory");
}

SYSREG_RW(pmuserenr_el0, pmuserenr_el0)
#define PMUSERENR_EN BIT(0) /* EL0 may do all but enable interrupts */
#define PMUSERENR_CR BIT(2) /* EL0 may read PMCCNTR_EL0 */

/* Only at EL2. */
SYSREG_RW(mdcr_el2, mdcr_el2)
#define MDCR_HPMD BIT(17) /* FEAT_PMUv3p1: no events at EL2 */
#define MDCR_HCCD BIT(23) /* FEAT_PMUv3p5: no cycles at EL2 */

/* Whether EL3 exists, on which the meaning of the filter bits depends. */
static inline bool cpu_has_el3(void)
{
	return ID_FIELD(id_aa64pfr0_el1(), 12) != 0;
}

#endif
