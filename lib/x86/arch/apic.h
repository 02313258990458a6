/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The local APIC, in xAPIC or x2APIC mode by one interface; the I/O APICs and the 8259s, which
 * only have to be silent. Register names and offsets: SDM vol. 3, table 11-1.
 */
#ifndef ARCH_APIC_H
#define ARCH_APIC_H

#include "types.h"

#define APIC_ID		 0x020
#define APIC_VERSION	 0x030
#define APIC_TPR	 0x080
#define APIC_PPR	 0x0a0
#define APIC_EOI	 0x0b0
#define APIC_LDR	 0x0d0
#define APIC_SVR	 0x0f0
#define APIC_ISR	 0x100 /* eight registers, 0x10 apart */
#define APIC_TMR	 0x180
#define APIC_IRR	 0x200
#define APIC_ESR	 0x280
#define APIC_ICR	 0x300 /* 64 bits in x2APIC mode */
#define APIC_ICR_HIGH	 0x310 /* xAPIC only */
#define APIC_LVT_TIMER	 0x320
#define APIC_LVT_THERMAL 0x330
#define APIC_LVT_PMC	 0x340
#define APIC_LVT_LINT0	 0x350
#define APIC_LVT_LINT1	 0x360
#define APIC_LVT_ERROR	 0x370
#define APIC_TMICT	 0x380
#define APIC_TMCCT	 0x390
#define APIC_TDCR	 0x3e0

#define APIC_SVR_ENABLE		    BIT(8)
#define APIC_LVT_MASKED		    BIT(16)
#define APIC_LVT_TIMER_ONESHOT	    (0 << 17)
#define APIC_LVT_TIMER_PERIODIC	    (1 << 17)
#define APIC_LVT_TIMER_TSC_DEADLINE (2 << 17)
#define APIC_ICR_FIXED		    (0 << 8)
#define APIC_ICR_NMI		    (4 << 8)
#define APIC_ICR_INIT		    (5 << 8)
#define APIC_ICR_STARTUP	    (6 << 8)
#define APIC_ICR_PENDING	    BIT(12)
#define APIC_ICR_ASSERT		    BIT(14)
#define APIC_ICR_LEVEL		    BIT(15)
#define APIC_ICR_TO_SELF	    (1 << 18)
#define APIC_ICR_TO_ALL		    (2 << 18)
#define APIC_ICR_TO_OTHERS	    (3 << 18)

/* Enables this CPU's local APIC, every LVT entry masked. */
void apic_init(void);

bool apic_is_x2apic(void);

u32 apic_read(u32 reg);
void apic_write(u32 reg, u32 value);
void apic_eoi(void);

/* This CPU's APIC id. */
u32 apic_id(void);

/*
 * Sends an interrupt: mode is APIC_ICR_… with the vector. In xAPIC mode it waits, bounded, until
 * the former one has left. Safe with interrupts enabled.
 */
void apic_icr_write(u32 destination_apic_id, u32 mode);

/* Fixed interrupts by CPU number. */
void apic_send_ipi(int cpu, u8 vector);
void apic_send_self_ipi(u8 vector);

/* Whether the vector is requested (IRR) or in service (ISR) on this CPU. */
bool apic_irr(u8 vector);
bool apic_isr(u8 vector);

/* Masks every input of the I/O APICs that the MADT names, and the 8259s where it says there are. */
void interrupt_controllers_mask(void);

#endif
