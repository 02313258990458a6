// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How an Image is entered (booting.rst): MMU off, interrupts masked, x0 the devicetree's address.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "kvm/arm64/image.h"
#include "kvm/vm.h"

/* The devicetree has the last 64 KiB of memory; 64 vCPUs take some 8 KiB of it. */
#define DEVICETREE_SIZE 0x10000

#define CORE_REG(field)                                        \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE | \
	 (offsetof(struct kvm_regs, field) / sizeof(u32)))

static int set_register(struct vcpu *vcpu, u64 id, u64 value, const char *name, struct error *err)
{
	if (register_set(vcpu, id, &value) < 0)
		return error_set(err, "%s: %s", name, strerror(errno));
	return 0;
}

int arch_boot(struct vm *vm, struct error *err)
{
	const struct memory_region *ram = &vm->regions[0];
	u64 dtb = ram->base + ram->size - DEVICETREE_SIZE, entry, end;
	struct vcpu *vcpu = &vm->vcpus[0];
	struct image_file f;
	int result;

	if (image_file_read(&f, vm->options->image, IMAGE_FILE_MAX, err))
		return -1;
	result = arm64_load(vm, &f, &entry, &end, err);
	image_file_free(&f);
	if (result)
		return -1;
	if (end > dtb)
		return error_set(err, "%s: no room for the devicetree behind it in %u MiB",
				 vm->options->image, vm->options->memory_mib);
	if (devicetree_write(vm, vm_memory(vm, dtb, DEVICETREE_SIZE), DEVICETREE_SIZE, err))
		return -1;
	/* PSTATE is as KVM_ARM_VCPU_INIT left it: EL1h, or EL2h, with DAIF set. */
	return set_register(vcpu, CORE_REG(regs.pc), entry, "pc", err) ||
	       set_register(vcpu, CORE_REG(regs.regs[0]), dtb, "x0", err);
}
