/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hyper-V's clocks and timers as KVM offers them too (Hypervisor Top-Level Functional Specification,
 * "TLFS", 6.0b: 2.4 feature leaves, 11 synthetic interrupts, 12 timers).
 */
#ifndef ARCH_HYPERV_H
#define ARCH_HYPERV_H

#include "types.h"

#define MSR_HV_GUEST_OS_ID    0x40000000
#define MSR_HV_VP_INDEX	      0x40000002
#define MSR_HV_TIME_REF_COUNT 0x40000020
#define MSR_HV_REFERENCE_TSC  0x40000021
#define MSR_HV_TSC_FREQUENCY  0x40000022
#define MSR_HV_APIC_FREQUENCY 0x40000023
#define MSR_HV_SCONTROL	      0x40000080
#define MSR_HV_SIMP	      0x40000083
#define MSR_HV_EOM	      0x40000084
#define MSR_HV_SINT0	      0x40000090
#define MSR_HV_STIMER0_CONFIG 0x400000b0 /* CONFIG and COUNT of four timers in turn */
#define MSR_HV_STIMER0_COUNT  0x400000b1

#define HV_STIMERS 4

/* CPUID 0x40000003 EAX. */
#define HV_TIME_REF_COUNT BIT(1)
#define HV_SYNIC	  BIT(2)
#define HV_STIMER	  BIT(3)
#define HV_REFERENCE_TSC  BIT(9)
#define HV_FREQUENCIES	  BIT(11)
/* CPUID 0x40000003 EDX. */
#define HV_EDX_FREQUENCIES   BIT(8)
#define HV_EDX_STIMER_DIRECT BIT(19)

#define HV_PAGE_ENABLE BIT(0) /* of REFERENCE_TSC and SIMP; the rest is the page's address */
#define HV_SINT_MASKED BIT(16)

#define HV_STIMER_ENABLE      BIT(0)
#define HV_STIMER_PERIODIC    BIT(1)
#define HV_STIMER_AUTO_ENABLE BIT(3)
#define HV_STIMER_VECTOR(v)   ((u64)(v) << 4)
#define HV_STIMER_DIRECT      BIT(12)
#define HV_STIMER_SINT(n)     ((u64)(n) << 16)

/* The unit of all of Hyper-V's time: 100 ns. */
#define HV_HZ 10000000UL

struct hv_reference_tsc {
	u32 sequence; /* 0: not valid, MSR_HV_TIME_REF_COUNT is to be read */
	u32 reserved;
	u64 scale; /* time = (TSC * scale >> 64) + offset */
	s64 offset;
};

#define HV_MESSAGE_NONE		 0
#define HV_MESSAGE_TIMER_EXPIRED 0x80000010
#define HV_MESSAGE_PENDING	 BIT(0)

struct hv_message {
	u32 type;
	u8 payload_size;
	u8 flags;
	u16 reserved;
	u64 sender;
	union {
		u64 payload[30];
		struct {
			u32 timer_index;
			u32 timer_reserved;
			u64 expiration_time;
			u64 delivery_time;
		};
	};
};

_Static_assert(sizeof(struct hv_message) == 256, "TLFS: 16 slots of 256 bytes in a page");

/* CPUID 0x40000003; all zero where Hyper-V's interface is not offered. */
struct cpuid hv_features(void);

/* On this CPU's page; the page itself is one for the machine. */
bool hv_reference_tsc_enable(void);
void hv_reference_tsc_disable(void);
struct hv_reference_tsc *hv_reference_tsc_page(void);

/* By the page; by the MSR where the page is not valid. In 100 ns. */
u64 hv_reference_tsc_read(void);

u64 hv_time_ref_count_read(void);

/* One consistent copy; false where the page is not valid. */
bool hv_reference_tsc_copy(struct hv_reference_tsc *copy);

/* The TSC's frequency as the page says it. */
u64 hv_reference_tsc_hz(const struct hv_reference_tsc *copy);

#endif
