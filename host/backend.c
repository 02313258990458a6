// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which back ends this runner has.
 */
#include "backend.h"

#include <string.h>
#include <time.h>

static const char *const names[VMM_COUNT] = {
	[VMM_QEMU] = "qemu",
	[VMM_KVM] = "kvm",
};

extern const struct backend kvm_backend;

const struct backend *backend_get(enum vmm_kind kind)
{
	switch (kind) {
	case VMM_QEMU:
		return &qemu_backend;
	case VMM_KVM:
		return &kvm_backend;
	default:
		return NULL;
	}
}

const struct backend *backend_by_name(const char *name)
{
	for (int kind = 0; kind < VMM_COUNT; kind++) {
		if (!strcmp(name, names[kind]))
			return backend_get(kind);
	}
	return NULL;
}

static u64 clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

struct host_time host_time_now(void)
{
	return (struct host_time){ .raw_ns = clock_ns(CLOCK_MONOTONIC_RAW),
				   .realtime_ns = clock_ns(CLOCK_REALTIME) };
}

const char *vmm_kind_name(enum vmm_kind kind)
{
	return names[kind];
}
