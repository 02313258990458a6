/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest architectures and accelerators by name.
 */
#ifndef HOST_ARCH_H
#define HOST_ARCH_H

enum arch {
	ARCH_X86_64,
	ARCH_ARM64,
	ARCH_COUNT
};
enum accel {
	ACCEL_AUTO,
	ACCEL_KVM,
	ACCEL_TCG,
	ACCEL_ICOUNT,
	ACCEL_COUNT
};

/* "x86_64", "arm64"; "auto", "kvm", "tcg", "icount". */
const char *arch_to_name(enum arch arch);
const char *accel_to_name(enum accel accel);

/* -1 for an unknown name. */
int arch_from_name(const char *name);
int accel_from_name(const char *name);

/* The architecture of this host. */
enum arch arch_native(void);

#endif
