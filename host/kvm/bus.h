/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which device answers at which address: one bus for memory-mapped registers, one for x86's ports.
 */
#ifndef KVM_BUS_H
#define KVM_BUS_H

#include "types.h"

#define BUS_DEVICES_MAX 16

struct vcpu;

struct device {
	const char *name;
	u64 base;
	u64 size;
	/* offset from base, len 1 to 8 and within size. Under vm->device_lock. */
	u64 (*read)(struct vcpu *vcpu, void *device, u64 offset, unsigned int len);
	void (*write)(struct vcpu *vcpu, void *device, u64 offset, u64 value, unsigned int len);
	void *ctx;
	u64 accesses; /* counted by the bus */
};

struct bus {
	struct device devices[BUS_DEVICES_MAX];
	size_t nr_devices;
	u64 unclaimed; /* accesses to addresses that no device has */
};

void bus_add(struct bus *bus, const struct device *device);

/* The device that has all of these bytes, or NULL. */
struct device *bus_find(struct bus *bus, u64 address, unsigned int len);

/* Little-endian bytes from or to the device. */
void device_read(struct vcpu *vcpu, struct device *d, u64 address, void *data, unsigned int len);
void device_write(struct vcpu *vcpu, struct device *d, u64 address, const void *data,
		  unsigned int len);

#endif
