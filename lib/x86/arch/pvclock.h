/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * KVM's paravirtual clock: the page it shares with the guest and how to read it (Linux
 * Documentation/virt/kvm/x86/msr.rst, MSR_KVM_SYSTEM_TIME_NEW; the layout is Xen's).
 */
#ifndef ARCH_PVCLOCK_H
#define ARCH_PVCLOCK_H

#include "types.h"

#define PVCLOCK_TSC_STABLE    BIT(0)
#define PVCLOCK_GUEST_STOPPED BIT(1)

struct pvclock_vcpu_time_info {
	u32 version; /* odd while the hypervisor writes */
	u32 pad0;
	u64 tsc_timestamp;
	u64 system_time; /* ns */
	u32 tsc_to_system_mul;
	s8 tsc_shift;
	u8 flags;
	u8 pad[2];
} __attribute__((packed, aligned(4)));

#define PVCLOCK_ENABLE BIT(0) /* of MSR_KVM_SYSTEM_TIME…; the rest is the page's address */

/* What a write of MSR_KVM_WALL_CLOCK… leaves there: the time of day at which kvmclock was 0. */
struct pvclock_wall_clock {
	u32 version;
	u32 sec;
	u32 nsec;
} __attribute__((packed, aligned(4)));

/* Whether KVM offers MSR_KVM_SYSTEM_TIME_NEW. */
bool pvclock_offered(void);

/* Whether it offers the former numbers of the two MSRs, which take vCPU 0's stable flag away. */
bool pvclock_old_offered(void);

/* Gives KVM this CPU's page; false, with nothing changed, where the MSR cannot be written. */
bool pvclock_enable(void);
bool pvclock_enable_old(void); /* by MSR_KVM_SYSTEM_TIME */
void pvclock_disable(void);

/* This CPU's page as KVM last wrote it. */
struct pvclock_vcpu_time_info *pvclock_page(void);

/* CPU id's page. */
struct pvclock_vcpu_time_info *pvclock_page_of(int cpu);

/* One attempt at a consistent copy of a page, with the TSC read in between. */
bool pvclock_copy_once(const struct pvclock_vcpu_time_info *page,
		       struct pvclock_vcpu_time_info *copy, u64 *tsc);

/* A consistent copy: the same even version before and after. false when none was to be had. */
bool pvclock_copy(struct pvclock_vcpu_time_info *copy);

/* The same with the TSC that was read within. */
bool pvclock_copy_with_tsc(struct pvclock_vcpu_time_info *copy, u64 *tsc);

/* The clock in ns at tsc by that copy. */
u64 pvclock_at(const struct pvclock_vcpu_time_info *copy, u64 tsc);

/* Now, in ns: TSC read within the version protocol. 0 where the page cannot be read. */
u64 pvclock_read_ns(void);

/* The TSC's frequency as mul and shift say it. */
u64 pvclock_tsc_hz(const struct pvclock_vcpu_time_info *copy);

#endif
