/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A console whose output costs one exit for any number of bytes. The guest tells once where its
 * buffer is, then how many bytes of it to print: two registers, on a page named in the devicetree
 * or on x86 ports named by a CPUID leaf (bulk_console_ports).
 *
 * offset 0: ADDRESS, guest-physical, 8 bytes wide (4 on x86 ports)
 * offset 8: LENGTH, 4 bytes wide; the write prints ADDRESS to ADDRESS + LENGTH
 *
 * Input comes from the UART.
 */
#ifndef KVM_BULK_CONSOLE_H
#define KVM_BULK_CONSOLE_H

#include "kvm/bus.h"
#include "types.h"

#define BULK_CONSOLE_ADDRESS 0
#define BULK_CONSOLE_LENGTH  8
#define BULK_CONSOLE_SIZE    16
/* Most that one write may print. */
#define BULK_CONSOLE_LENGTH_MAX 65536

struct bulk_console {
	u64 address;
};

struct vm;

/* The device for a bus, at base with size bytes. */
struct device bulk_console_device(struct bulk_console *b, u64 base, u64 size);

#endif
