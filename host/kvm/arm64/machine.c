// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The arm64 machine: memory, vCPUs with their features, PMU and stolen time.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "kvm/vm.h"

/* Arm DEN 0057A, 3.2.2: a structure of 64 bytes a CPU. */
#define STOLEN_TIME_SIZE 64
#define PAGE_MAX	 65536 /* a memory slot is whole pages of whatever size the host has */

#define MPIDR_EL1	    ARM64_SYS_REG(3, 0, 0, 0, 5)
#define MPIDR_AFFINITY_MASK 0xff00ffffffULL

/*
 * As many bits as the machine's addresses need, and at least the 32 that KVM wants: its default, 40,
 * is more than some CPUs have (api.rst, 4.2; KVM_CAP_ARM_VM_IPA_SIZE).
 */
unsigned long arch_vm_type(const struct vm *vm)
{
	u64 last = RAM_ADDRESS + ((u64)vm->options->memory_mib << 20) - 1;
	int bits = 64 - __builtin_clzll(last);

	if (!vm_capability(vm, KVM_CAP_ARM_VM_IPA_SIZE))
		return 0;
	return KVM_VM_TYPE_ARM_IPA_SIZE(MAX(bits, 32));
}

int register_get(struct vcpu *vcpu, u64 id, void *value)
{
	struct kvm_one_reg r = { .id = id, .addr = (uintptr_t)value };

	return ioctl(vcpu->fd, KVM_GET_ONE_REG, &r);
}

int register_set(struct vcpu *vcpu, u64 id, const void *value)
{
	struct kvm_one_reg r = { .id = id, .addr = (uintptr_t)value };

	return ioctl(vcpu->fd, KVM_SET_ONE_REG, &r);
}

/* For a better message; without it KVM_RUN fails with ENOSYS (api.rst, 7.20). */
static void enable_cap(struct vm *vm, u32 capability)
{
	struct kvm_enable_cap cap = { .cap = capability };

	ioctl(vm->fd, KVM_ENABLE_CAP, &cap);
}

int arch_create_vm(struct vm *vm, struct error *err)
{
	const struct machine_options *o = vm->options;

	vm->arch.gic_fd = -1;
	if (o->hv_time || o->hv_stimer)
		return error_set(err, "hv-time and hv-stimer are x86_64's");
	if (o->el2 && !vm_capability(vm, KVM_CAP_ARM_EL2))
		return error_set(err,
				 "--el2: this KVM has no nested virtualisation (KVM_CAP_ARM_EL2): "
				 "Linux 6.16, kvm-arm.mode=nested and a CPU with FEAT_NV2 are "
				 "needed");
	enable_cap(vm, KVM_CAP_ARM_NISV_TO_USER);
	vm->arch.has_pmu = vm_capability(vm, KVM_CAP_ARM_PMU_V3);
	vm->arch.has_stolen_time = vm_capability(vm, KVM_CAP_STEAL_TIME);
	vm->arch.has_counter_offset = vm_capability(vm, KVM_CAP_COUNTER_OFFSET);
	if (vm_add_memory(vm, RAM_ADDRESS, (u64)o->memory_mib << 20, true, err))
		return -1;
	if (vm->arch.has_stolen_time &&
	    vm_add_memory(vm, STOLEN_TIME_ADDRESS, PAGE_MAX, false, err))
		return -1;
	devices_add(vm);
	return counters_create(vm, err) || gic_create(vm, err) ? -1 : 0;
}

/* ---- vCPUs -------------------------------------------------------------------------------------- */

static void set_feature(struct kvm_vcpu_init *init, unsigned int feature)
{
	init->features[feature / 32] |= 1u << (feature % 32);
}

static int init_vcpu(struct vcpu *vcpu, struct error *err)
{
	struct vm *vm = vcpu->vm;
	struct kvm_vcpu_init init;

	if (ioctl(vm->fd, KVM_ARM_PREFERRED_TARGET, &init) < 0)
		return error_set(err, "KVM_ARM_PREFERRED_TARGET: %s", strerror(errno));
	memset(init.features, 0, sizeof(init.features));
	set_feature(&init, KVM_ARM_VCPU_PSCI_0_2);
	if (vm->arch.has_pmu)
		set_feature(&init, KVM_ARM_VCPU_PMU_V3);
	if (vm->options->el2)
		set_feature(&init, KVM_ARM_VCPU_HAS_EL2);
	if (vcpu->index)
		set_feature(&init, KVM_ARM_VCPU_POWER_OFF);
	if (ioctl(vcpu->fd, KVM_ARM_VCPU_INIT, &init) < 0)
		return error_set(err, "vCPU %u: KVM_ARM_VCPU_INIT with features 0x%x: %s",
				 vcpu->index, init.features[0], strerror(errno));
	return 0;
}

static int set_stolen_time(struct vcpu *vcpu, struct error *err)
{
	u64 address = STOLEN_TIME_ADDRESS + vcpu->index * STOLEN_TIME_SIZE;
	struct kvm_device_attr attr = {
		.group = KVM_ARM_VCPU_PVTIME_CTRL,
		.attr = KVM_ARM_VCPU_PVTIME_IPA,
		.addr = (uintptr_t)&address,
	};

	if (ioctl(vcpu->fd, KVM_SET_DEVICE_ATTR, &attr) < 0)
		return error_set(err, "vCPU %u: KVM_ARM_VCPU_PVTIME_IPA: %s", vcpu->index,
				 strerror(errno));
	return 0;
}

int arch_create_vcpu(struct vcpu *vcpu, struct error *err)
{
	if (init_vcpu(vcpu, err))
		return -1;
	if (register_get(vcpu, MPIDR_EL1, &vcpu->arch.mpidr) < 0)
		return error_set(err, "vCPU %u: MPIDR_EL1: %s", vcpu->index, strerror(errno));
	vcpu->arch.mpidr &= MPIDR_AFFINITY_MASK;
	return vcpu->vm->arch.has_stolen_time ? set_stolen_time(vcpu, err) : 0;
}

/* After the GIC, whose interrupt it raises (Documentation/virt/kvm/devices/vcpu.rst, 1). */
static int init_pmu(struct vcpu *vcpu, struct error *err)
{
	int irq = PPI_PMU;
	struct kvm_device_attr attr = {
		.group = KVM_ARM_VCPU_PMU_V3_CTRL,
		.attr = KVM_ARM_VCPU_PMU_V3_IRQ,
		.addr = (uintptr_t)&irq,
	};

	if (ioctl(vcpu->fd, KVM_SET_DEVICE_ATTR, &attr) < 0)
		return error_set(err, "vCPU %u: KVM_ARM_VCPU_PMU_V3_IRQ: %s", vcpu->index,
				 strerror(errno));
	attr.attr = KVM_ARM_VCPU_PMU_V3_INIT;
	attr.addr = 0;
	if (ioctl(vcpu->fd, KVM_SET_DEVICE_ATTR, &attr) < 0)
		return error_set(err, "vCPU %u: KVM_ARM_VCPU_PMU_V3_INIT: %s", vcpu->index,
				 strerror(errno));
	return 0;
}

int arch_finish_vm(struct vm *vm, struct error *err)
{
	if (gic_init(vm, err))
		return -1;
	for (unsigned int i = 0; vm->arch.has_pmu && i < vm->nr_vcpus; i++) {
		if (init_pmu(&vm->vcpus[i], err))
			return -1;
	}
	return state_find_registers(vm, err);
}

void arch_destroy_vm(struct vm *vm)
{
	if (vm->arch.gic_fd > 0)
		close(vm->arch.gic_fd);
	free(vm->arch.registers);
}

/* arm64 has nothing to tell a guest that was stopped. */
void arch_paused(struct vm *vm)
{
}
