// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which back ends this runner has.
 */
#include "backend.h"

#include <string.h>
#include <time.h>
#include "util/text.h"

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

void backend_policy(const struct backend *b, const struct machine_spec *spec, const char *overrides,
		    struct policy *policy)
{
	char **words = words_split(overrides ? overrides : "", " ");
	struct error err;

	memset(policy, 0, sizeof(*policy));
	if (b->policy)
		b->policy(spec, policy);
	/* They were checked when the command line was read. */
	for (size_t i = 0; words[i]; i++)
		policy_override(policy, words[i], &err);
	words_free(words);
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
