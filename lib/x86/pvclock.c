// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KVM's paravirtual clock: one page a CPU, read by the version protocol.
 */
#include "muldiv.h"
#include "smp.h"
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/msr.h>
#include <arch/pvclock.h>
#include <arch/tsc.h>

/* A count, not a time: clock_hz() itself may depend on this clock. */
#define VERSION_POLLS 10000000

/* A cache line each: KVM refuses none of them, and they may not straddle pages. */
struct pvclock_slot {
	struct pvclock_vcpu_time_info info;
} __attribute__((aligned(64)));

static struct pvclock_slot slots[MAX_CPUS];

bool pvclock_offered(void)
{
	return cpuid_kvm_features() & CPUID_KVM_CLOCKSOURCE2;
}

bool pvclock_old_offered(void)
{
	return cpuid_kvm_features() & CPUID_KVM_CLOCKSOURCE;
}

struct pvclock_vcpu_time_info *pvclock_page_of(int cpu)
{
	return &slots[cpu].info;
}

struct pvclock_vcpu_time_info *pvclock_page(void)
{
	return pvclock_page_of(smp_id());
}

bool pvclock_enable(void)
{
	return wrmsr_safe(MSR_KVM_SYSTEM_TIME_NEW, (u64)pvclock_page() | PVCLOCK_ENABLE) ==
	       NO_EXCEPTION;
}

bool pvclock_enable_old(void)
{
	return wrmsr_safe(MSR_KVM_SYSTEM_TIME, (u64)pvclock_page() | PVCLOCK_ENABLE) ==
	       NO_EXCEPTION;
}

void pvclock_disable(void)
{
	wrmsr_safe(MSR_KVM_SYSTEM_TIME_NEW, 0);
}

bool pvclock_copy_once(const struct pvclock_vcpu_time_info *page,
		       struct pvclock_vcpu_time_info *copy, u64 *tsc)
{
	u32 version = READ_ONCE(page->version);

	if (version & 1 || version == 0)
		return false;
	lfence();
	*copy = *page;
	*tsc = rdtsc_ordered();
	return READ_ONCE(page->version) == version;
}

bool pvclock_copy_with_tsc(struct pvclock_vcpu_time_info *copy, u64 *tsc)
{
	for (int i = 0; i < VERSION_POLLS; i++) {
		if (pvclock_copy_once(pvclock_page(), copy, tsc))
			return true;
		cpu_relax();
	}
	return false;
}

bool pvclock_copy(struct pvclock_vcpu_time_info *copy)
{
	u64 tsc;

	return pvclock_copy_with_tsc(copy, &tsc);
}

u64 pvclock_at(const struct pvclock_vcpu_time_info *copy, u64 tsc)
{
	u64 delta = tsc - copy->tsc_timestamp;

	if (copy->tsc_shift >= 0)
		delta <<= copy->tsc_shift;
	else
		delta >>= -copy->tsc_shift;
	return copy->system_time + mul_shift_u64(delta, copy->tsc_to_system_mul, 32);
}

u64 pvclock_read_ns(void)
{
	struct pvclock_vcpu_time_info copy;
	u64 tsc;

	return pvclock_copy_with_tsc(&copy, &tsc) ? pvclock_at(&copy, tsc) : 0;
}

/* ns = (ticks << shift) * mul >> 32, solved for the ticks of one second. */
u64 pvclock_tsc_hz(const struct pvclock_vcpu_time_info *copy)
{
	u64 hz;

	if (!copy->tsc_to_system_mul)
		return 0;
	hz = mul_div_u64(NSEC_PER_SEC, 1ULL << 32, copy->tsc_to_system_mul);
	return copy->tsc_shift >= 0 ? hz >> copy->tsc_shift : hz << -copy->tsc_shift;
}
