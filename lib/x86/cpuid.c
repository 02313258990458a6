// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUID with its ranges respected, and the hypervisors' part of it.
 */
#include "string.h"
#include <arch/cpuid.h>

#define HYPERVISOR_FIRST 0x40000000U
#define HYPERVISOR_LAST	 0x4000ff00U
#define HYPERVISOR_STEP	 0x100U

struct cpuid cpuid_checked(u32 leaf)
{
	u32 range = leaf & 0xffff0000U;

	/* Beyond the range Intel CPUs answer with another leaf's data (SDM vol. 2, CPUID). */
	if (cpuid(range).eax < leaf)
		return (struct cpuid){ 0 };
	return cpuid(leaf);
}

static bool under_hypervisor(void)
{
	return cpuid(1).ecx & CPUID_1_ECX_HYPERVISOR;
}

u32 cpuid_hypervisor_base(const char *signature)
{
	if (!under_hypervisor())
		return 0;
	for (u32 base = HYPERVISOR_FIRST; base <= HYPERVISOR_LAST; base += HYPERVISOR_STEP) {
		struct cpuid r = cpuid(base);
		u32 words[3] = { r.ebx, r.ecx, r.edx };

		if (!memcmp(words, signature, sizeof(words)))
			return base;
		/* Interfaces follow one another without a gap. */
		if (r.eax < base || r.eax >= base + HYPERVISOR_STEP)
			return 0;
	}
	return 0;
}

u32 cpuid_kvm_features(void)
{
	u32 base = cpuid_hypervisor_base(CPUID_KVM_SIGNATURE);

	return base ? cpuid(base + 1).eax : 0;
}
