// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Hyper-V's reference time, by MSR and by page (TLFS 6.0b, 12.4 and 12.5).
 */
#include "muldiv.h"
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/hyperv.h>
#include <arch/msr.h>
#include <arch/tsc.h>

/* A count, not a time: the clock may be the subject. */
#define SEQUENCE_POLLS 1000000

#define HV_CPUID     0x40000000
#define HV_INTERFACE 0x31237648 /* "Hv#1" */

static struct hv_reference_tsc reference_tsc __attribute__((aligned(4096)));

struct cpuid hv_features(void)
{
	const struct cpuid none = { 0 };

	/* The interface counts, not the vendor's name (TLFS, 2.3). */
	if (!(cpuid(1).ecx & CPUID_1_ECX_HYPERVISOR) || cpuid(HV_CPUID).eax < HV_CPUID + 3 ||
	    cpuid(HV_CPUID + 1).eax != HV_INTERFACE)
		return none;
	return cpuid(HV_CPUID + 3);
}

struct hv_reference_tsc *hv_reference_tsc_page(void)
{
	return &reference_tsc;
}

bool hv_reference_tsc_enable(void)
{
	return wrmsr_safe(MSR_HV_REFERENCE_TSC, (u64)&reference_tsc | HV_PAGE_ENABLE) ==
	       NO_EXCEPTION;
}

void hv_reference_tsc_disable(void)
{
	wrmsr_safe(MSR_HV_REFERENCE_TSC, 0);
}

u64 hv_time_ref_count_read(void)
{
	lfence();
	return rdmsr(MSR_HV_TIME_REF_COUNT);
}

static bool copy_with_tsc(struct hv_reference_tsc *copy, u64 *tsc)
{
	for (int i = 0; i < SEQUENCE_POLLS; i++) {
		copy->sequence = READ_ONCE(reference_tsc.sequence);
		if (copy->sequence == 0)
			return false;
		lfence();
		copy->scale = READ_ONCE(reference_tsc.scale);
		copy->offset = READ_ONCE(reference_tsc.offset);
		*tsc = rdtsc_ordered();
		if (READ_ONCE(reference_tsc.sequence) == copy->sequence)
			return true;
		cpu_relax();
	}
	return false;
}

bool hv_reference_tsc_copy(struct hv_reference_tsc *copy)
{
	u64 tsc;

	return copy_with_tsc(copy, &tsc);
}

u64 hv_reference_tsc_read(void)
{
	struct hv_reference_tsc copy;
	u64 tsc;

	if (!copy_with_tsc(&copy, &tsc))
		return hv_time_ref_count_read();
	return mul_shift_u64(tsc, copy.scale, 64) + copy.offset;
}

/* 2^64 / scale ticks are one unit of 100 ns. */
u64 hv_reference_tsc_hz(const struct hv_reference_tsc *copy)
{
	return copy->scale ? (u64)(((u128)HV_HZ << 64) / copy->scale) : 0;
}
