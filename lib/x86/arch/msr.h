/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Model-specific registers: access and names (SDM vol. 4; KVM's own: Linux
 * Documentation/virt/kvm/x86/msr.rst).
 */
#ifndef ARCH_MSR_H
#define ARCH_MSR_H

#include "types.h"
#include <arch/exception.h>

#define MSR_IA32_TSC		0x00000010
#define MSR_IA32_APIC_BASE	0x0000001b
#define MSR_IA32_TSC_ADJUST	0x0000003b
#define MSR_IA32_TSC_DEADLINE	0x000006e0
#define MSR_IA32_X2APIC_BASE	0x00000800
#define MSR_IA32_EFER		0xc0000080
#define MSR_IA32_GS_BASE	0xc0000101
#define MSR_IA32_KERNEL_GS_BASE 0xc0000102
#define MSR_IA32_TSC_AUX	0xc0000103
#define MSR_KVM_WALL_CLOCK	0x00000011
#define MSR_KVM_SYSTEM_TIME	0x00000012
#define MSR_KVM_WALL_CLOCK_NEW	0x4b564d00
#define MSR_KVM_SYSTEM_TIME_NEW 0x4b564d01

#define APIC_BASE_BSP	 BIT(8)
#define APIC_BASE_EXTD	 BIT(10)
#define APIC_BASE_ENABLE BIT(11)
#define EFER_NXE	 BIT(11)

static inline u64 rdmsr(u32 msr)
{
	u32 low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(msr) : "memory");
	return (u64)high << 32 | low;
}

static inline void wrmsr(u32 msr, u64 value)
{
	__asm__ volatile("wrmsr" ::"c"(msr), "a"((u32)value), "d"((u32)(value >> 32)) : "memory");
}

/* The vector of the exception, or NO_EXCEPTION; *value is 0 after an exception. */
static inline int rdmsr_safe(u32 msr, u64 *value)
{
	u32 low = 0, high = 0;

	exception_clear();
	__asm__ volatile(EXCEPTION_FIXUP("rdmsr") : "+a"(low), "+d"(high) : "c"(msr) : "memory");
	*value = (u64)high << 32 | low;
	return exception_taken();
}

static inline int wrmsr_safe(u32 msr, u64 value)
{
	exception_clear();
	__asm__ volatile(EXCEPTION_FIXUP("wrmsr")::"c"(msr), "a"((u32)value),
			 "d"((u32)(value >> 32))
			 : "memory");
	return exception_taken();
}

#endif
