/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the vectors, the GIC's common code and its two drivers.
 */
#ifndef ARM64_INTERRUPT_H
#define ARM64_INTERRUPT_H

#include "types.h"
#include <arch/exception.h>
#include <arch/mmio.h>
#include <arch/percpu.h>

/*
 * What GICv2 and GICv3 do differently. The registers of enables, pending and active states,
 * priorities and triggers are the same in both, at registers(intid).
 */
struct gic_ops {
	void (*init)(void);
	void (*init_cpu)(struct percpu *cpu);
	/* Makes an SPI go to CPU 0. */
	void (*route)(u32 intid);
	/* Base of the register frame that has this INTID for the calling CPU. */
	uintptr_t (*registers)(u32 intid);
	/* Waits until writes that disable have taken effect. */
	void (*wait_for_writes)(u32 intid);
	/* Takes the most urgent interrupt; the result is for intid() and end(). */
	u32 (*acknowledge)(void);
	void (*end)(u32 acknowledged);
	u32 (*intid)(u32 acknowledged);
	void (*send_sgi)(const struct percpu *cpu, u32 sgi);
};

extern const struct gic_ops gicv2_ops, gicv3_ops;

void irq_dispatch(struct exception_frame *frame);

/* Offsets common to GICD and to GICR's SGI_base (IHI 0069 12.9, 12.11). */
#define GICD_CTLR      0x000
#define GICD_TYPER     0x004
#define GIC_IGROUPR    0x080
#define GIC_ISENABLER  0x100
#define GIC_ICENABLER  0x180
#define GIC_ISPENDR    0x200
#define GIC_ICPENDR    0x280
#define GIC_ISACTIVER  0x300
#define GIC_ICACTIVER  0x380
#define GIC_IPRIORITYR 0x400
#define GICD_ITARGETSR 0x800
#define GIC_ICFGR      0xc00
#define GICD_SGIR      0xf00
#define GICD_IROUTER   0x6000

#endif
