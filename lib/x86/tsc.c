// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The image's own clock is the TSC. Its frequency is asked for where something tells it, and else
 * measured, when it is first needed.
 */
#include "clock.h"
#include "muldiv.h"
#include <arch/cpuid.h>
#include <arch/pvclock.h>
#include <arch/refclock.h>
#include <arch/tsc.h>
#include <arch/tsc_hz.h>

#define CALIBRATION_WINDOW_NS 1000000ULL
#define CALIBRATION_ATTEMPTS  3
#define HZ_MIN		      1000000ULL
#define HZ_PER_KHZ	      1000ULL
#define HZ_PER_MHZ	      1000000ULL
#define HZ_ASSUMED	      1000000000ULL

static u64 hz;
static const char *hz_source;

u64 clock_ticks(void)
{
	return rdtsc_ordered();
}

/*
 * SDM vol. 2, CPUID leaf 15H: TSC = crystal * EBX / EAX. A crystal of 0 Hz is one that the leaf
 * does not tell; leaf 16H is then all there is.
 */
u64 tsc_hz_cpuid_15(void)
{
	struct cpuid r = cpuid_checked(0x15);

	if (!r.eax || !r.ebx || !r.ecx)
		return 0;
	return mul_div_u64(r.ecx, r.ebx, r.eax);
}

u64 tsc_hz_cpuid_16(void)
{
	return (cpuid_checked(0x16).eax & 0xffff) * HZ_PER_MHZ;
}

u64 tsc_hz_hypervisor_leaf(void)
{
	if (!(cpuid(1).ecx & CPUID_1_ECX_HYPERVISOR))
		return 0;
	return cpuid_checked(0x40000010).eax * HZ_PER_KHZ;
}

u64 tsc_hz_pvclock(void)
{
	struct pvclock_vcpu_time_info copy;
	u64 result = 0;

	if (!pvclock_offered() || !pvclock_enable())
		return 0;
	if (pvclock_page()->version && pvclock_copy(&copy))
		result = pvclock_tsc_hz(&copy);
	pvclock_disable();
	return result;
}

static u64 measure(struct refclock *clock)
{
	const char *why;
	u64 low, high;

	if (!clock->probe(&why))
		return 0;
	for (int i = 0; i < CALIBRATION_ATTEMPTS; i++) {
		if (refclock_measure_tsc(clock, CALIBRATION_WINDOW_NS, &low, &high))
			return low + (high - low) / 2;
	}
	return 0;
}

static bool take(u64 value, const char *source)
{
	if (value < HZ_MIN)
		return false;
	hz_source = source;
	__atomic_store_n(&hz, value, __ATOMIC_RELEASE);
	return true;
}

static void find_hz(void)
{
	if (take(tsc_hz_cpuid_15(), "CPUID 0x15") ||
	    take(tsc_hz_hypervisor_leaf(), "CPUID 0x40000010") ||
	    take(tsc_hz_pvclock(), "kvmclock") || take(measure(&refclock_pm_timer), "PM timer") ||
	    take(measure(&refclock_hpet), "HPET") || take(measure(&refclock_pit), "PIT") ||
	    take(tsc_hz_cpuid_16(), "CPUID 0x16"))
		return;
	take(HZ_ASSUMED, "assumed, nothing tells it");
}

u64 clock_hz(void)
{
	if (!__atomic_load_n(&hz, __ATOMIC_ACQUIRE))
		find_hz();
	return hz;
}

const char *clock_hz_source(void)
{
	clock_hz();
	return hz_source;
}
