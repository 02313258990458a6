// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * KVM's GIC: version 3, or 2 where the host's hardware can imitate no other
 * (Documentation/virt/kvm/devices/arm-vgic-v3.rst, arm-vgic.rst).
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"

/* KVM_VGIC_V3_ADDR_TYPE_REDIST_REGION: count in bits 63 to 52, address, flags, index in 11 to 0. */
#define REDIST_COUNT_SHIFT 52

static int set_attr(struct vm *vm, u32 group, u64 number, const void *value)
{
	struct kvm_device_attr attr = {
		.group = group,
		.attr = number,
		.addr = (uintptr_t)value,
	};

	return ioctl(vm->arch.gic_fd, KVM_SET_DEVICE_ATTR, &attr);
}

static int set_address(struct vm *vm, u64 type, u64 address, const char *what, struct error *err)
{
	if (set_attr(vm, KVM_DEV_ARM_VGIC_GRP_ADDR, type, &address) < 0)
		return error_set(err, "GIC: address 0x%llx of the %s: %s",
				 (unsigned long long)address, what, strerror(errno));
	return 0;
}

static bool create_device(struct vm *vm, u32 type)
{
	struct kvm_create_device device = { .type = type };

	if (ioctl(vm->fd, KVM_CREATE_DEVICE, &device) < 0)
		return false;
	vm->arch.gic_fd = device.fd;
	return true;
}

int gic_create(struct vm *vm, struct error *err)
{
	if (create_device(vm, KVM_DEV_TYPE_ARM_VGIC_V3)) {
		vm->arch.gic_version = 3;
		return 0;
	}
	if (create_device(vm, KVM_DEV_TYPE_ARM_VGIC_V2)) {
		vm->arch.gic_version = 2;
		return 0;
	}
	return error_set(err, "this KVM has neither a GICv3 nor a GICv2 (KVM_CREATE_DEVICE: %s)",
			 strerror(errno));
}

static int set_addresses(struct vm *vm, struct error *err)
{
	u64 redistributors = GICR_ADDRESS | (u64)vm->nr_vcpus << REDIST_COUNT_SHIFT;

	if (vm->arch.gic_version == 2)
		return set_address(vm, KVM_VGIC_V2_ADDR_TYPE_DIST, GICD_ADDRESS, "distributor",
				   err) ||
		       set_address(vm, KVM_VGIC_V2_ADDR_TYPE_CPU, GICC_ADDRESS, "CPU interface",
				   err);
	return set_address(vm, KVM_VGIC_V3_ADDR_TYPE_DIST, GICD_ADDRESS, "distributor", err) ||
	       set_address(vm, KVM_VGIC_V3_ADDR_TYPE_REDIST_REGION, redistributors,
			   "redistributors", err);
}

int gic_init(struct vm *vm, struct error *err)
{
	u32 nr_irqs = GIC_NR_IRQS, maintenance = PPI_GIC_MAINTENANCE;

	if (set_addresses(vm, err))
		return -1;
	if (set_attr(vm, KVM_DEV_ARM_VGIC_GRP_NR_IRQS, 0, &nr_irqs) < 0)
		return error_set(err, "GIC: %u interrupts: %s", nr_irqs, strerror(errno));
	if (vm->options->el2 && set_attr(vm, KVM_DEV_ARM_VGIC_GRP_MAINT_IRQ, 0, &maintenance) < 0)
		return error_set(err, "GIC: maintenance interrupt %u: %s", maintenance,
				 strerror(errno));
	if (set_attr(vm, KVM_DEV_ARM_VGIC_GRP_CTRL, KVM_DEV_ARM_VGIC_CTRL_INIT, NULL) < 0)
		return error_set(err, "GIC: KVM_DEV_ARM_VGIC_CTRL_INIT: %s", strerror(errno));
	return 0;
}
