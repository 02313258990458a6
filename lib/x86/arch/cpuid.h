/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUID: the instruction, the leaves and bits that time depends on (SDM vol. 2, CPUID; hypervisor
 * leaves: Linux Documentation/virt/kvm/x86/cpuid.rst and, for 0x40000010, arch/x86/kernel/cpu/
 * vmware.c, where KVM's and QEMU's meaning is from).
 */
#ifndef ARCH_CPUID_H
#define ARCH_CPUID_H

#include "types.h"

struct cpuid {
	u32 eax, ebx, ecx, edx;
};

#define CPUID_1_ECX_X2APIC		 BIT(21)
#define CPUID_1_ECX_TSC_DEADLINE	 BIT(24)
#define CPUID_1_ECX_HYPERVISOR		 BIT(31)
#define CPUID_1_EDX_TSC			 BIT(4)
#define CPUID_1_EDX_APIC		 BIT(9)
#define CPUID_7_EBX_TSC_ADJUST		 BIT(1)
#define CPUID_7_ECX_RDPID		 BIT(22)
#define CPUID_80000001_EDX_NX		 BIT(20)
#define CPUID_80000001_EDX_RDTSCP	 BIT(27)
#define CPUID_80000007_EDX_INVARIANT_TSC BIT(8)

/* Leaf 0 EBX: "Auth" of AuthenticAMD, "Hygo" of HygonGenuine. */
#define CPUID_VENDOR_AMD_EBX   0x68747541
#define CPUID_VENDOR_HYGON_EBX 0x6f677948

#define CPUID_KVM_SIGNATURE "KVMKVMKVM\0\0"

#define CPUID_KVM_CLOCKSOURCE	     BIT(0)
#define CPUID_KVM_CLOCKSOURCE2	     BIT(3)
#define CPUID_KVM_CLOCKSOURCE_STABLE BIT(24)

static inline struct cpuid cpuid_count(u32 leaf, u32 subleaf)
{
	struct cpuid r;

	__asm__ volatile("cpuid"
			 : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx)
			 : "0"(leaf), "2"(subleaf)
			 : "memory");
	return r;
}

static inline struct cpuid cpuid(u32 leaf)
{
	return cpuid_count(leaf, 0);
}

/* All zero for a leaf beyond the highest that its range has. */
struct cpuid cpuid_checked(u32 leaf);

/*
 * The first leaf of the hypervisor with this 12-byte signature, or 0. KVM's moves up by 0x100 when
 * another interface, such as Hyper-V's, is offered first.
 */
u32 cpuid_hypervisor_base(const char *signature);

/* KVM's feature bits (leaf base + 1, EAX); 0 under another hypervisor. */
u32 cpuid_kvm_features(void);

#endif
