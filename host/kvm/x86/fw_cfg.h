/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * As much of QEMU's firmware configuration device (its docs/specs/fw_cfg.rst) as other projects'
 * test images ask for: numbers behind a selector and a data port. No files, no DMA.
 */
#ifndef KVM_X86_FW_CFG_H
#define KVM_X86_FW_CFG_H

#include "kvm/bus.h"
#include "types.h"

struct fw_cfg {
	u16 selected;
	u32 offset; /* into the selected item */
};

struct device fw_cfg_device(struct fw_cfg *f, u64 base);

#endif
