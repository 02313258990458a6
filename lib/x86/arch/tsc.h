/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time-stamp counter.
 */
#ifndef ARCH_TSC_H
#define ARCH_TSC_H

#include "types.h"
#include <arch/exception.h>
#include <arch/msr.h>

/* Bare: the CPU may execute it before or after its neighbours. */
static inline u64 rdtsc(void)
{
	u32 low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high)::"memory");
	return (u64)high << 32 | low;
}

/*
 * After all earlier loads and before all later instructions: LFENCE on both sides (SDM vol. 2,
 * RDTSC).
 */
static inline u64 rdtsc_ordered(void)
{
	u32 low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
	return (u64)high << 32 | low;
}

/* Waits for earlier loads by itself, not for later instructions; *aux is IA32_TSC_AUX. */
static inline u64 rdtscp(u32 *aux)
{
	u32 low, high;

	__asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(*aux)::"memory");
	return (u64)high << 32 | low;
}

/* The same, with nothing of later instructions before it. */
static inline u64 rdtscp_ordered(void)
{
	u32 low, high, aux;

	__asm__ volatile("rdtscp; lfence" : "=a"(low), "=d"(high), "=c"(aux)::"memory");
	return (u64)high << 32 | low;
}

/* The vector of the exception, or NO_EXCEPTION; *value is 0 after an exception. */
static inline int rdtsc_safe(u64 *value)
{
	u32 low = 0, high = 0;

	exception_clear();
	__asm__ volatile(EXCEPTION_FIXUP("rdtsc") : "+a"(low), "+d"(high)::"memory");
	*value = (u64)high << 32 | low;
	return exception_taken();
}

/* The same; and *aux is 0. */
static inline int rdtscp_safe(u64 *value, u32 *aux)
{
	u32 low = 0, high = 0;

	*aux = 0;
	exception_clear();
	__asm__ volatile(EXCEPTION_FIXUP("rdtscp") : "+a"(low), "+d"(high), "+c"(*aux)::"memory");
	*value = (u64)high << 32 | low;
	return exception_taken();
}

/*
 * RDPID: IA32_TSC_AUX, bits 31:0, in a register whose upper half becomes 0 (SDM vol. 2, RDPID). The
 * vector of the exception, or NO_EXCEPTION; *value is all ones after an exception.
 */
static inline int rdpid_safe(u64 *value)
{
	u64 result = UINT64_MAX;

	exception_clear();
	__asm__ volatile(EXCEPTION_FIXUP("rdpid %0") : "+r"(result)::"memory");
	*value = result;
	return exception_taken();
}

/* Where CPUID_1_ECX_TSC_DEADLINE is set; SDM vol. 3, 11.5.4.1. The write is not serialising. */
static inline u64 read_tsc_deadline(void)
{
	return rdmsr(MSR_IA32_TSC_DEADLINE);
}

static inline void write_tsc_deadline(u64 value)
{
	wrmsr(MSR_IA32_TSC_DEADLINE, value);
}

#endif
