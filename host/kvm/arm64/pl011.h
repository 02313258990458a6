/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PL011 (Arm DDI 0183) as far as a polling driver can tell: always ready to send, received bytes
 * from the console's input. It raises no interrupt.
 */
#ifndef KVM_ARM64_PL011_H
#define KVM_ARM64_PL011_H

#include "kvm/bus.h"
#include "types.h"

struct pl011 {
	u32 ibrd, fbrd, lcr_h, cr, imsc;
};

struct device pl011_device(struct pl011 *p, u64 base, u64 size);

#endif
