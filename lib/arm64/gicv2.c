// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GICv2 (Arm IHI 0048B): a distributor whose first registers are banked by CPU, and a CPU interface
 * in memory. All interrupts stay in the group that they are in: 0 where there are no Security
 * Extensions (signalled as IRQ, GICC_CTLR.FIQEn being 0), 1 in the Non-secure view.
 */
#include "types.h"
#include "interrupt.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/gic.h>

#define GICC_CTLR 0x00
#define GICC_PMR  0x04
#define GICC_BPR  0x08
#define GICC_IAR  0x0c
#define GICC_EOIR 0x10

#define CTLR_ENABLE 1 /* GICD_CTLR and GICC_CTLR */

/* GICC_IAR: the INTID; above it, for an SGI, the CPU that sent it. */
#define IAR_INTID 0x3ff

static uintptr_t distributor(void)
{
	return machine()->gic_distributor.base;
}

static uintptr_t cpu_interface(void)
{
	return machine()->gic_cpu_interface.base;
}

static uintptr_t registers(u32 intid)
{
	return distributor();
}

static void wait_for_writes(u32 intid)
{
	/* There is no RWP; device accesses to one device stay in order. */
}

static void init(void)
{
	mmio_write32(distributor() + GICD_CTLR, CTLR_ENABLE);
}

static void route(u32 intid)
{
	mmio_write8(distributor() + GICD_ITARGETSR + intid, percpu_of(0)->gic_target);
}

/* A read of ITARGETSR0 to 7 gives the reading CPU's own bit (4.3.12); 0 on a uniprocessor. */
static u32 own_target(void)
{
	u32 targets = mmio_read32(distributor() + GICD_ITARGETSR);

	targets |= targets >> 16;
	targets |= targets >> 8;
	targets &= 0xff;
	return targets ? targets : 1;
}

static void init_cpu(struct percpu *cpu)
{
	cpu->gic_target = own_target();
	mmio_write32(cpu_interface() + GICC_PMR, 0xff);
	mmio_write32(cpu_interface() + GICC_BPR, 0);
	mmio_write32(cpu_interface() + GICC_CTLR, CTLR_ENABLE);
}

static u32 acknowledge(void)
{
	u32 acknowledged = mmio_read32(cpu_interface() + GICC_IAR);

	dsb_sy(); /* acknowledged before the handler touches its device */
	return acknowledged;
}

static void end(u32 acknowledged)
{
	dsb_sy(); /* the handler's accesses are done before the interrupt can come again */
	mmio_write32(cpu_interface() + GICC_EOIR, acknowledged);
}

static u32 intid_of(u32 acknowledged)
{
	return acknowledged & IAR_INTID;
}

static void send_sgi(const struct percpu *cpu, u32 sgi)
{
	mmio_write32(distributor() + GICD_SGIR, cpu->gic_target << 16 | sgi);
}

const struct gic_ops gicv2_ops = {
	.init = init,
	.init_cpu = init_cpu,
	.route = route,
	.registers = registers,
	.wait_for_writes = wait_for_writes,
	.acknowledge = acknowledge,
	.end = end,
	.intid = intid_of,
	.send_sgi = send_sgi,
};
