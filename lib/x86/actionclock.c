// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TSC, kvmclock and Hyper-V's reference TSC for tests of host actions, and what CPUID and the
 * registers of timers say about time.
 */
#include "actionclock.h"
#include "clock.h"
#include "kvmclocktest.h"
#include "muldiv.h"
#include "smp.h"
#include "tsctest.h"
#include <arch/apic.h>
#include <arch/cpuid.h>
#include <arch/hyperv.h>
#include <arch/pvclock.h>

static bool always(const char **why)
{
	return true;
}

static bool open_kvmclock(const char **why)
{
	u32 failed = 0;

	*why = "no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW";
	if (!pvclock_offered())
		return false;
	on_all_cpus(kvmclock_enable_here, &failed);
	*why = "kvmclock is offered, but MSR_KVM_SYSTEM_TIME_NEW gives no time";
	return !failed;
}

static u64 kvmclock_hz(void)
{
	return NSEC_PER_SEC;
}

static u64 kvmclock_tsc_hz(void)
{
	struct pvclock_vcpu_time_info copy;

	return pvclock_copy(&copy) ? pvclock_tsc_hz(&copy) : clock_hz();
}

static bool open_reference_tsc(const char **why)
{
	struct hv_reference_tsc copy;

	*why = "no Hyper-V reference TSC: CPUID 0x40000003 EAX bit 9 is clear";
	if (!(hv_features().eax & HV_REFERENCE_TSC))
		return false;
	*why = "Hyper-V's reference TSC is offered, but its page is not valid";
	return hv_reference_tsc_enable() && hv_reference_tsc_copy(&copy);
}

static u64 reference_tsc_hz(void)
{
	return HV_HZ;
}

static u64 reference_tsc_tsc_hz(void)
{
	struct hv_reference_tsc copy;

	return hv_reference_tsc_copy(&copy) ? hv_reference_tsc_hz(&copy) : clock_hz();
}

static const struct action_clock tsc = {
	.name = "tsc",
	.policy = "counter",
	.open = always,
	.read = rdtsc_ordered,
	.hz = clock_hz,
	.reference_hz = clock_hz,
};

/*
 * KVM makes both clocks' scale from the TSC's frequency in whole kHz (arch/x86/kvm/x86.c), and
 * takes them on by the host's clock, whose scale is its own: a kHz is 1 ppm of a TSC of 1 GHz, the
 * slowest in use.
 */
#define KVM_RATE_PPM 1

static const struct action_clock kvmclock = {
	.name = "kvmclock",
	.policy = "kvmclock",
	.open = open_kvmclock,
	.read = pvclock_read_ns,
	.hz = kvmclock_hz,
	.reference_hz = kvmclock_tsc_hz,
	.rate_ppm = KVM_RATE_PPM,
};

static const struct action_clock reference_tsc = {
	.name = "hv-reference-tsc",
	.policy = "kvmclock",
	.open = open_reference_tsc,
	.read = hv_reference_tsc_read,
	.hz = reference_tsc_hz,
	.reference_hz = reference_tsc_tsc_hz,
	.rate_ppm = KVM_RATE_PPM,
};

const struct action_clock *const action_clocks[] = { &tsc, &kvmclock, &reference_tsc };
const size_t nr_action_clocks = ARRAY_SIZE(action_clocks);

/* Of leaf 1 EBX has the APIC id, of ECX OSXSAVE follows CR4. */
size_t action_constants(struct action_constant *constants)
{
	struct cpuid leaf_15 = cpuid_checked(0x15);
	size_t n = 0;

	constants[n++] = (struct action_constant){ "CPUID 1 ECX", cpuid(1).ecx };
	constants[n++] = (struct action_constant){ "CPUID 1 EDX", cpuid(1).edx };
	constants[n++] = (struct action_constant){ "CPUID 7 EBX", cpuid_checked(7).ebx };
	constants[n++] = (struct action_constant){ "CPUID 0x15 EAX", leaf_15.eax };
	constants[n++] = (struct action_constant){ "CPUID 0x15 EBX", leaf_15.ebx };
	constants[n++] = (struct action_constant){ "CPUID 0x15 ECX", leaf_15.ecx };
	constants[n++] = (struct action_constant){ "CPUID 0x16 EAX", cpuid_checked(0x16).eax };
	constants[n++] =
		(struct action_constant){ "CPUID 0x80000007 EDX", cpuid_checked(0x80000007).edx };
	constants[n++] = (struct action_constant){ "KVM's feature leaf EAX", cpuid_kvm_features() };
	constants[n++] = (struct action_constant){ "LVT timer entry", apic_read(APIC_LVT_TIMER) };
	constants[n++] = (struct action_constant){ "TDCR", apic_read(APIC_TDCR) };
	if (tsc_adjust_offered())
		constants[n++] = (struct action_constant){ "IA32_TSC_ADJUST", tsc_adjust() };
	return n;
}

#define ADJUST_BY 1000000 /* TSC ticks */

/* The TSC moves with IA32_TSC_ADJUST (SDM vol. 3, 18.17.3). */
void action_constants_disturb(void)
{
	lapic_timer_write_mode(APIC_LVT_MASKED | APIC_LVT_TIMER_PERIODIC);
	if (tsc_adjust_offered())
		wrmsr_safe(MSR_IA32_TSC_ADJUST, tsc_adjust() + ADJUST_BY);
}

void action_constants_restore(void)
{
	lapic_timer_write_mode(APIC_LVT_MASKED);
	if (tsc_adjust_offered())
		wrmsr_safe(MSR_IA32_TSC_ADJUST, tsc_adjust() - ADJUST_BY);
}
