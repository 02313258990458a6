/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interrupt controller, GICv2 or GICv3 (Arm IHI 0048, IHI 0069). INTIDs: SGIs 0 to 15 and PPIs
 * 16 to 31 are each CPU's own, and the functions below mean the calling CPU's; SPIs from 32 on are
 * shared and go to CPU 0.
 *
 * main() and all work on other CPUs begin with interrupts masked: irq_enable() where they are
 * wanted. An idle CPU takes them.
 */
#ifndef ARCH_GIC_H
#define ARCH_GIC_H

#include "types.h"
#include <arch/exception.h>

#define GIC_NR_SGIS	  16
#define GIC_FIRST_SPI	  32
#define GIC_FIRST_SPECIAL 1020 /* from here on no interrupts: 1023 is "spurious" */

/* The SGI that wakes an idle CPU; not for tests. */
#define GIC_SGI_KICK 0

typedef void (*irq_handler)(u32 intid, struct exception_frame *frame);

/* Distributor and the calling CPU's part; needs machine(). */
void gic_init(void);
/* The calling CPU's part, on every other CPU. */
void gic_init_cpu(void);

/* 2 or 3. */
int gic_version(void);

/*
 * Handler of an INTID, the same on all CPUs; NULL takes it away. Called with interrupts masked,
 * before the interrupt is deactivated. An interrupt without a handler ends the image.
 */
void irq_set_handler(u32 intid, irq_handler handler);

void gic_enable(u32 intid);
void gic_disable(u32 intid);
bool gic_is_enabled(u32 intid);

/* 0 is the most urgent; interrupts begin at GIC_PRIORITY_DEFAULT, all priorities are let in. */
#define GIC_PRIORITY_DEFAULT 0xa0
void gic_set_priority(u32 intid, u8 priority);

bool gic_is_pending(u32 intid);
/* Not for SGIs on a GICv2, which has other registers for them. */
void gic_set_pending(u32 intid, bool pending);
bool gic_is_active(u32 intid);
void gic_set_active(u32 intid, bool active);

/* Edge or level; without effect on SGIs, perhaps on PPIs. */
void gic_set_edge(u32 intid, bool edge);

/* SGI 0 to 15 to one CPU, which may be the own one. */
void gic_send_sgi(int cpu, u32 sgi);

/* How often the calling CPU took an IRQ and the GIC had none to give. */
u64 gic_spurious_count(void);

#endif
