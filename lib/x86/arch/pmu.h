/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Performance counters that count cycles: Intel's architectural ones (SDM vol. 3, 20.2: fixed counters
 * 1 and 2, general counter 0) and AMD's core counters (APM vol. 2, 13.2), by one table of what has to
 * be set for each to count.
 */
#ifndef ARCH_PMU_H
#define ARCH_PMU_H

#include "types.h"

#define PMU_ENABLES_MAX 3

/* One bit that has to be set for the counter to count. */
struct pmu_enable {
	const char *name;
	u32 msr;
	u64 bit;
};

struct pmu_counter {
	const char *name;
	/* Whether it is there, by CPUID and by read-back; fills in width and what depends on CPUID. */
	bool (*probe)(struct pmu_counter *counter, const char **why);
	u32 counter;	  /* MSR */
	u32 full_counter; /* MSR for writes of the full width, or 0 where counter is one itself */
	u32 rdpmc;	  /* ECX for RDPMC */
	u32 width;	  /* bits */
	u32 select;	  /* MSR of the event, or 0 */
	u64 event;
	struct pmu_enable enable[PMU_ENABLES_MAX];
	int nr_enables;
	u32 filter; /* MSR of the two bits below */
	u64 os, user;
	u64 interrupt;	   /* also in filter */
	u32 status, clear; /* MSRs of the overflow flag, 0 where there is none */
	u64 flag;
	bool ref_tsc; /* counts at the TSC's rate, not the core's */
};

extern struct pmu_counter pmu_fixed_1, pmu_fixed_2, pmu_general_0, pmu_amd_0;

static inline u64 rdpmc(u32 index)
{
	u32 low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index) : "memory");
	return (u64)high << 32 | low;
}

/* Everything off, the event selected, the counter 0. */
void pmu_reset(const struct pmu_counter *counter);

/* All enables, with both filter bits as they are asked for. */
void pmu_start(const struct pmu_counter *counter, bool os, bool user);

/* All but enable number "without". */
void pmu_start_without(const struct pmu_counter *counter, int without);

void pmu_stop(const struct pmu_counter *counter);

u64 pmu_read(const struct pmu_counter *counter);

/* In all its bits; pmu_full_width() tells whether that is possible. */
void pmu_write(const struct pmu_counter *counter, u64 value);
bool pmu_full_width(const struct pmu_counter *counter);

u64 pmu_mask(const struct pmu_counter *counter);

/* Why it may not count: the first enable that does not read as set, or that all do. */
const char *pmu_diagnose(const struct pmu_counter *counter);

bool pmu_overflowed(const struct pmu_counter *counter);
void pmu_clear_overflow(const struct pmu_counter *counter);

#endif
