// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * GICv3 (Arm IHI 0069): a distributor for SPIs, a redistributor a CPU for its SGIs and PPIs, and a
 * CPU interface in system registers. All interrupts are in group 1, which is signalled as IRQ with
 * one security state and, in the Non-secure view, with two.
 */
#include "panic.h"
#include "spin.h"
#include "types.h"
#include "interrupt.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/gic.h>
#include <arch/sysreg.h>

#define ICC_PMR_EL1	S3_0_C4_C6_0
#define ICC_IAR1_EL1	S3_0_C12_C12_0
#define ICC_EOIR1_EL1	S3_0_C12_C12_1
#define ICC_BPR1_EL1	S3_0_C12_C12_3
#define ICC_CTLR_EL1	S3_0_C12_C12_4
#define ICC_SRE_EL1	S3_0_C12_C12_5
#define ICC_IGRPEN1_EL1 S3_0_C12_C12_7
#define ICC_SGI1R_EL1	S3_0_C12_C11_5

/* GICD_CTLR as seen with one security state or as Non-secure: bits that mean the same in both. */
#define GICD_CTLR_ENABLE_GROUP1 BIT(1) /* EnableGrp1, or EnableGrp1A */
#define GICD_CTLR_ARE		BIT(4) /* ARE, or ARE_NS */
#define GICD_CTLR_RWP		BIT(31)

#define GICR_CTLR  0x00
#define GICR_TYPER 0x08
#define GICR_WAKER 0x14

#define GICR_CTLR_RWP		   BIT(3)
#define GICR_TYPER_VLPIS	   BIT(1)
#define GICR_TYPER_LAST		   BIT(4)
#define GICR_WAKER_PROCESSOR_SLEEP BIT(1)
#define GICR_WAKER_CHILDREN_ASLEEP BIT(2)

#define GICR_SGI_BASE 0x10000 /* the second 64 KiB frame */

#define WAIT_NS 1000000000ULL

static uintptr_t distributor(void)
{
	return machine()->gic_distributor.base;
}

static uintptr_t registers(u32 intid)
{
	if (intid < GIC_FIRST_SPI)
		return this_cpu()->gic_redistributor + GICR_SGI_BASE;
	return distributor();
}

static void wait_for_writes(u32 intid)
{
	if (intid < GIC_FIRST_SPI)
		spin_until_or_die(
			!(mmio_read32(this_cpu()->gic_redistributor + GICR_CTLR) & GICR_CTLR_RWP),
			WAIT_NS, "GICR_CTLR.RWP to clear");
	else
		spin_until_or_die(!(mmio_read32(distributor() + GICD_CTLR) & GICD_CTLR_RWP),
				  WAIT_NS, "GICD_CTLR.RWP to clear");
}

static void init(void)
{
	uintptr_t gicd = distributor();

	/* ARE may only change while the groups are off. */
	mmio_write32(gicd + GICD_CTLR, 0);
	wait_for_writes(GIC_FIRST_SPI);
	mmio_write32(gicd + GICD_CTLR, GICD_CTLR_ARE);
	wait_for_writes(GIC_FIRST_SPI);
	mmio_write32(gicd + GICD_CTLR, GICD_CTLR_ARE | GICD_CTLR_ENABLE_GROUP1);
	wait_for_writes(GIC_FIRST_SPI);
}

static void route(u32 intid)
{
	uintptr_t group = distributor() + GIC_IGROUPR + intid / 32 * 4;

	mmio_write32(group, mmio_read32(group) | 1U << (intid % 32));
	mmio_write64(distributor() + GICD_IROUTER + intid * 8, percpu_of(0)->mpidr);
}

/* MPIDR_EL1's affinity fields, as GICR_TYPER[63:32] has them: Aff3, Aff2, Aff1, Aff0. */
static u32 packed_affinity(u64 mpidr)
{
	return (u32)(mpidr & 0xffffff) | (u32)(mpidr >> 32 & 0xff) << 24;
}

static u64 redistributor_stride(u64 typer)
{
	if (machine()->gic_redistributor_stride)
		return machine()->gic_redistributor_stride;
	return typer & GICR_TYPER_VLPIS ? 0x40000 : 0x20000;
}

static uintptr_t find_redistributor(u64 mpidr)
{
	const struct machine *m = machine();

	for (int i = 0; i < m->nr_gic_redistributors; i++) {
		u64 at = m->gic_redistributors[i].base;
		u64 end = at + m->gic_redistributors[i].size;
		u64 typer;

		do {
			typer = mmio_read64(at + GICR_TYPER);
			if (typer >> 32 == packed_affinity(mpidr))
				return at;
			at += redistributor_stride(typer);
		} while (!(typer & GICR_TYPER_LAST) && at < end);
	}
	panic("GICv3: no redistributor has MPIDR %#lx in its GICR_TYPER", mpidr);
}

static void wake_redistributor(uintptr_t gicr)
{
	u32 waker = mmio_read32(gicr + GICR_WAKER);

	mmio_write32(gicr + GICR_WAKER, waker & ~GICR_WAKER_PROCESSOR_SLEEP);
	spin_until_or_die(!(mmio_read32(gicr + GICR_WAKER) & GICR_WAKER_CHILDREN_ASLEEP), WAIT_NS,
			  "GICR_WAKER.ChildrenAsleep to clear");
}

static void init_cpu(struct percpu *cpu)
{
	write_sysreg(read_sysreg(ICC_SRE_EL1) | 1, ICC_SRE_EL1);
	isb();
	if (!(read_sysreg(ICC_SRE_EL1) & 1))
		panic("GICv3: ICC_SRE_EL1.SRE stays 0 on CPU %d: firmware denies system registers",
		      cpu->id);
	cpu->gic_redistributor = find_redistributor(cpu->mpidr);
	wake_redistributor(cpu->gic_redistributor);
	mmio_write32(cpu->gic_redistributor + GICR_SGI_BASE + GIC_IGROUPR, 0xffffffff);
	write_sysreg(0, ICC_CTLR_EL1); /* EOImode 0: EOIR1 drops the priority and deactivates */
	write_sysreg(0xff, ICC_PMR_EL1);
	write_sysreg(0, ICC_BPR1_EL1);
	write_sysreg(1, ICC_IGRPEN1_EL1);
	isb();
}

static u32 acknowledge(void)
{
	u32 intid = read_sysreg(ICC_IAR1_EL1);

	dsb_sy(); /* acknowledged before the handler touches its device */
	return intid;
}

static void end(u32 acknowledged)
{
	dsb_sy(); /* the handler's accesses are done before the interrupt can come again */
	write_sysreg(acknowledged, ICC_EOIR1_EL1);
	isb();
}

static u32 intid_of(u32 acknowledged)
{
	return acknowledged & 0xffffff;
}

static void send_sgi(const struct percpu *cpu, u32 sgi)
{
	u64 mpidr = cpu->mpidr;
	u64 aff0 = mpidr & 0xff;

	write_sysreg((mpidr >> 32 & 0xff) << 48 |	  /* Aff3 */
			     (aff0 >> 4) << 44 |	  /* RS: which 16 of Aff0's values */
			     (mpidr >> 16 & 0xff) << 32 | /* Aff2 */
			     (u64)sgi << 24 | (mpidr >> 8 & 0xff) << 16 | /* Aff1 */
			     1ULL << (aff0 & 0xf),
		     ICC_SGI1R_EL1);
	isb();
}

const struct gic_ops gicv3_ops = {
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
