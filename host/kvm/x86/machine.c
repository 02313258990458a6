// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The x86_64 machine: interrupt controllers and timers in the kernel, memory, vCPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"

/* Below 4 GiB, with nothing else there: KVM on Intel puts a TSS and a page table into four pages. */
#define IDENTITY_MAP_ADDRESS 0xfffbc000ULL
#define TSS_ADDRESS	     0xfffbd000UL

static int must(struct vm *vm, unsigned long request, const void *arg, const char *name,
		struct error *err)
{
	if (ioctl(vm->fd, request, arg) < 0)
		return error_set(err, "%s: %s", name, strerror(errno));
	return 0;
}

static int add_memory(struct vm *vm, struct error *err)
{
	u64 size = (u64)vm->options->memory_mib << 20;
	u64 low = MIN(size, LOW_MEMORY_END);

	if (vm_add_memory(vm, 0, low, true, err))
		return -1;
	return size > low ? vm_add_memory(vm, HIGH_MEMORY_START, size - low, true, err) : 0;
}

int arch_create_vm(struct vm *vm, struct error *err)
{
	struct kvm_pit_config pit = { .flags = KVM_PIT_SPEAKER_DUMMY };
	u64 identity_map = IDENTITY_MAP_ADDRESS;

	if (vm->options->counter_offset)
		return error_set(err, "--counter-offset is arm64's");
	if (vm->options->el2)
		return error_set(err, "--el2 is arm64's");
	if (must(vm, KVM_SET_IDENTITY_MAP_ADDR, &identity_map, "KVM_SET_IDENTITY_MAP_ADDR", err) ||
	    must(vm, KVM_SET_TSS_ADDR, (void *)TSS_ADDRESS, "KVM_SET_TSS_ADDR", err) ||
	    must(vm, KVM_CREATE_IRQCHIP, NULL, "KVM_CREATE_IRQCHIP", err) ||
	    must(vm, KVM_CREATE_PIT2, &pit, "KVM_CREATE_PIT2", err) || add_memory(vm, err))
		return -1;
	devices_add(vm);
	return 0;
}

static bool has_tsc_offset(struct vcpu *vcpu)
{
	struct kvm_device_attr attr = { .group = KVM_VCPU_TSC_CTRL, .attr = KVM_VCPU_TSC_OFFSET };

	return ioctl(vcpu->fd, KVM_HAS_DEVICE_ATTR, &attr) == 0;
}

/* The synthetic timers send their messages by it; without it they have no way. */
static int enable_synic(struct vcpu *vcpu, struct error *err)
{
	struct kvm_enable_cap cap = { .cap = KVM_CAP_HYPERV_SYNIC2 };

	if (ioctl(vcpu->fd, KVM_ENABLE_CAP, &cap) < 0)
		return error_set(err, "hv-stimer: KVM_CAP_HYPERV_SYNIC2: %s", strerror(errno));
	return 0;
}

int arch_create_vcpu(struct vcpu *vcpu, struct error *err)
{
	if (vcpu->vm->options->hv_stimer && enable_synic(vcpu, err))
		return -1;
	if (vcpu->index == 0)
		vcpu->vm->arch.has_tsc_offset = has_tsc_offset(vcpu);
	return cpuid_set(vcpu, err);
}

int arch_finish_vm(struct vm *vm, struct error *err)
{
	vm->arch.tsc_khz = MAX(ioctl(vm->vcpus[0].fd, KVM_GET_TSC_KHZ, 0), 0);
	return state_find_msrs(vm, err);
}

void arch_destroy_vm(struct vm *vm)
{
	free(vm->arch.msrs);
	vm->arch.msrs = NULL;
}

/*
 * The guest sees PVCLOCK_GUEST_STOPPED at its next look and does not take the pause for a lockup of
 * its own (api.rst, 4.77). EINVAL: this vCPU has no kvmclock, so there is nobody to tell.
 */
void arch_paused(struct vm *vm)
{
	if (!vm_capability(vm, KVM_CAP_KVMCLOCK_CTRL))
		return;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		ioctl(vm->vcpus[i].fd, KVM_KVMCLOCK_CTRL, 0);
}
