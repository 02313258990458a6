/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A console whose output costs one exit for any number of bytes: vmm_interface.h.
 */
#ifndef KVM_BULK_CONSOLE_H
#define KVM_BULK_CONSOLE_H

#include "kvm/bus.h"
#include "types.h"
#include "vmm_interface.h"

struct bulk_console {
	u64 address;
};

struct vm;

/* The device for a bus, at base with size bytes. */
struct device bulk_console_device(struct bulk_console *b, u64 base, u64 size);

#endif
