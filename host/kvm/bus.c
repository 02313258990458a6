// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of devices and the way to them.
 */
#include "kvm/bus.h"

#include <assert.h>
#include <string.h>

void bus_add(struct bus *bus, const struct device *device)
{
	assert(bus->nr_devices < BUS_DEVICES_MAX);
	bus->devices[bus->nr_devices++] = *device;
}

struct device *bus_find(struct bus *bus, u64 address, unsigned int len)
{
	for (size_t i = 0; i < bus->nr_devices; i++) {
		struct device *d = &bus->devices[i];

		if (address >= d->base && address - d->base < d->size &&
		    len <= d->size - (address - d->base))
			return d;
	}
	return NULL;
}

void device_read(struct vcpu *vcpu, struct device *d, u64 address, void *data, unsigned int len)
{
	u64 value = d->read(vcpu, d->ctx, address - d->base, len);

	d->accesses++;
	memcpy(data, &value, MIN(len, 8u));
}

void device_write(struct vcpu *vcpu, struct device *d, u64 address, const void *data,
		  unsigned int len)
{
	u64 value = 0;

	d->accesses++;
	memcpy(&value, data, MIN(len, 8u));
	d->write(vcpu, d->ctx, address - d->base, value, len);
}
