// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults of kvmclock's page (Documentation/virt/kvm/x86/msr.rst, MSR_KVM_SYSTEM_TIME_NEW). The guest's
 * write of the MSR comes to us and is handed on; KVM fills the page when it enters the guest the next
 * time, so the vCPU is stepped until it has, and then the page is made wrong.
 */
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/fault_hooks.h"

#define PPM 1000000

/* Where KVM fills a page that the guest does not see: reserved in its memory map, as boot.c has it. */
#define SHADOW_ADDRESS 0xc0000
#define ENABLED	       BIT(0)
#define STEPS_MAX      16

/* include/uapi, arch/x86/include/asm/pvclock-abi.h */
struct pvclock_page {
	u32 version;
	u32 pad0;
	u64 tsc_timestamp;
	u64 system_time;
	u32 tsc_to_system_mul;
	s8 tsc_shift;
	u8 flags;
	u8 pad[2];
};

#define PVCLOCK_TSC_STABLE BIT(0)

static const enum fault_id ids[] = { FAULT_KVMCLOCK_EMPTY, FAULT_KVMCLOCK_ODD, FAULT_KVMCLOCK_RATE,
				     FAULT_KVMCLOCK_STABLE_LIE, FAULT_KVMCLOCK_STALE };

bool fault_pvclock_is_on(const struct vm *vm)
{
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++) {
		if (fault_is_on(vm, ids[i]))
			return true;
	}
	return false;
}

static u64 shadow_address(const struct vcpu *vcpu)
{
	return SHADOW_ADDRESS + vcpu->index * 64;
}

/* Where KVM is to fill it: for two of the faults, where the guest does not look. */
static u64 kvm_address(const struct vcpu *vcpu)
{
	if (fault_is_on(vcpu->vm, FAULT_KVMCLOCK_EMPTY) ||
	    fault_is_on(vcpu->vm, FAULT_KVMCLOCK_STALE))
		return shadow_address(vcpu);
	return vcpu->arch.fault.kvmclock & ~(u64)ENABLED;
}

static void step(struct vcpu *vcpu, bool on)
{
	struct kvm_guest_debug debug = {
		.control = on ? KVM_GUESTDBG_ENABLE | KVM_GUESTDBG_SINGLESTEP : 0,
	};

	ioctl(vcpu->fd, KVM_SET_GUEST_DEBUG, &debug);
}

bool fault_pvclock_write(struct vcpu *vcpu, u32 msr, u64 value)
{
	struct pvclock_page *page;

	if (msr != MSR_KVM_SYSTEM_TIME_NEW && msr != MSR_KVM_SYSTEM_TIME)
		return false;
	vcpu->arch.fault.kvmclock = value;
	page = vm_memory(vcpu->vm, kvm_address(vcpu), sizeof(*page));
	if (!(value & ENABLED) || !page) {
		vcpu->run->msr.error = msr_set(vcpu, msr, value) != 0;
		return true;
	}
	page->version = 0; /* KVM's first is another one */
	vcpu->run->msr.error = msr_set(vcpu, msr, kvm_address(vcpu) | ENABLED) != 0;
	vcpu->arch.fault.steps = STEPS_MAX;
	step(vcpu, true);
	return true;
}

static void make_wrong(struct vcpu *vcpu, struct pvclock_page *page)
{
	const struct vm *vm = vcpu->vm;

	if (fault_is_on(vm, FAULT_KVMCLOCK_ODD))
		page->version |= 1;
	if (fault_is_on(vm, FAULT_KVMCLOCK_RATE))
		page->tsc_to_system_mul +=
			(s64)page->tsc_to_system_mul * fault_arg(vm, FAULT_KVMCLOCK_RATE) / PPM;
	if (fault_is_on(vm, FAULT_KVMCLOCK_STABLE_LIE)) {
		page->system_time -= vcpu->index * fault_arg(vm, FAULT_KVMCLOCK_STABLE_LIE);
		page->flags |= PVCLOCK_TSC_STABLE;
	}
}

void fault_pvclock_step(struct vcpu *vcpu)
{
	struct vm *vm = vcpu->vm;
	u64 wanted = vcpu->arch.fault.kvmclock & ~(u64)ENABLED;
	struct pvclock_page *page = vm_memory(vm, kvm_address(vcpu), sizeof(*page));
	void *guests = vm_memory(vm, wanted, sizeof(*page));

	if (page && !page->version && --vcpu->arch.fault.steps)
		return;
	step(vcpu, false);
	if (!page || !guests)
		return;
	if (fault_is_on(vm, FAULT_KVMCLOCK_STALE))
		memcpy(guests, page, sizeof(*page));
	else
		make_wrong(vcpu, page);
}
