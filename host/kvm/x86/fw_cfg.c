// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selector register (16 bits, at the base) and data register (8 bits, the next port).
 */
#include "kvm/x86/fw_cfg.h"

#include <string.h>
#include "kvm/vm.h"

/* QEMU, include/standard-headers/linux/qemu_fw_cfg.h and hw/nvram/fw_cfg.h */
enum {
	FW_CFG_SIGNATURE = 0x00,
	FW_CFG_ID = 0x01,
	FW_CFG_RAM_SIZE = 0x03,
	FW_CFG_NB_CPUS = 0x05,
	FW_CFG_MAX_CPUS = 0x0f,
};

#define ID_TRADITIONAL 1 /* bit 1, DMA, is not set */

#define SELECTOR 0
#define DATA	 1

/* Items are little-endian; an unknown one reads as zeroes. */
static u64 item_value(struct vm *vm, u16 item, u32 *size)
{
	u64 signature;

	*size = 2;
	switch (item) {
	case FW_CFG_SIGNATURE:
		*size = 4;
		signature = 0;
		memcpy(&signature, "QEMU", 4);
		return signature;
	case FW_CFG_ID:
		*size = 4;
		return ID_TRADITIONAL;
	case FW_CFG_RAM_SIZE:
		*size = 8;
		return (u64)vm->options->memory_mib << 20;
	case FW_CFG_NB_CPUS:
	case FW_CFG_MAX_CPUS:
		return vm->nr_vcpus;
	default:
		*size = 0;
		return 0;
	}
}

static u64 fw_cfg_read(struct vcpu *vcpu, void *ctx, u64 offset, unsigned int len)
{
	struct fw_cfg *f = ctx;
	u32 size;
	u64 value = item_value(vcpu->vm, f->selected, &size);

	if (offset != DATA || f->offset >= size)
		return 0;
	return (u8)(value >> (8 * f->offset++));
}

static void fw_cfg_write(struct vcpu *vcpu, void *ctx, u64 offset, u64 value, unsigned int len)
{
	struct fw_cfg *f = ctx;

	if (offset != SELECTOR)
		return;
	f->selected = value;
	f->offset = 0;
}

struct device fw_cfg_device(struct fw_cfg *f, u64 base)
{
	return (struct device){
		.name = "fw_cfg",
		.base = base,
		.size = 2,
		.read = fw_cfg_read,
		.write = fw_cfg_write,
		.ctx = f,
	};
}
