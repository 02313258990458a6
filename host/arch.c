// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Names of guest architectures and accelerators.
 */
#include <string.h>

#include "arch.h"
#include "types.h"

static const char *const arch_names[ARCH_COUNT] = {
	[ARCH_X86_64] = "x86_64",
	[ARCH_ARM64] = "arm64",
};

static const char *const accel_names[ACCEL_COUNT] = {
	[ACCEL_AUTO] = "auto",
	[ACCEL_KVM] = "kvm",
	[ACCEL_TCG] = "tcg",
	[ACCEL_ICOUNT] = "icount",
};

static int find(const char *const *names, int count, const char *name)
{
	for (int i = 0; i < count; i++) {
		if (!strcmp(names[i], name))
			return i;
	}
	return -1;
}

const char *arch_to_name(enum arch arch)
{
	return (unsigned)arch < ARCH_COUNT ? arch_names[arch] : "invalid";
}

const char *accel_to_name(enum accel accel)
{
	return (unsigned)accel < ACCEL_COUNT ? accel_names[accel] : "invalid";
}

int arch_from_name(const char *name)
{
	return find(arch_names, ARCH_COUNT, name);
}

int accel_from_name(const char *name)
{
	return find(accel_names, ACCEL_COUNT, name);
}

enum arch arch_native(void)
{
#if defined(__x86_64__)
	return ARCH_X86_64;
#elif defined(__aarch64__)
	return ARCH_ARM64;
#else
#error "the suite builds on x86_64 and arm64 hosts"
#endif
}
