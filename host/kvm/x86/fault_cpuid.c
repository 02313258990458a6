// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults of CPUID: a frequency that lies, a vCPU that differs from the others.
 */
#include "kvm/fault_hooks.h"

#define PPM 1000000

/* SDM vol. 2, CPUID; the frequency leaf: cpuid.c */
#define LEAF1_ECX_TSC_DEADLINE	BIT(24)
#define LEAF_POWER		0x80000007
#define POWER_EDX_INVARIANT_TSC BIT(8)
#define KVM_TIMING_LEAF		0x40000010

static struct kvm_cpuid_entry2 *find(struct kvm_cpuid2 *c, u32 function)
{
	for (u32 i = 0; i < c->nent; i++) {
		if (c->entries[i].function == function)
			return &c->entries[i];
	}
	return NULL;
}

void fault_cpuid(const struct vcpu *vcpu, struct kvm_cpuid2 *cpuid)
{
	struct kvm_cpuid_entry2 *features = find(cpuid, 1), *power = find(cpuid, LEAF_POWER);
	struct kvm_cpuid_entry2 *timing = find(cpuid, KVM_TIMING_LEAF);
	const struct vm *vm = vcpu->vm;

	if (!vm->options->faults)
		return;
	if (timing && fault_is_on(vm, FAULT_CPUID_TSC_KHZ))
		timing->eax += (s64)timing->eax * fault_arg(vm, FAULT_CPUID_TSC_KHZ) / PPM;
	if (features && fault_is_on(vm, FAULT_RESTORE_OTHER_CPUID) &&
	    vm->options->faults->restoring)
		features->ecx &= ~LEAF1_ECX_TSC_DEADLINE;
	if (vcpu->index != 1)
		return;
	if (features && fault_is_on(vm, FAULT_CPUID_VCPU1_NO_DEADLINE))
		features->ecx &= ~LEAF1_ECX_TSC_DEADLINE;
	if (power && fault_is_on(vm, FAULT_CPUID_VCPU1_INVARIANT))
		power->edx ^= POWER_EDX_INVARIANT_TSC;
}
