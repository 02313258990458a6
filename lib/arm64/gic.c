// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The interrupt controller's common part: handlers, and the per-interrupt registers, which are
 * laid out alike in GICv2 and GICv3.
 */
#include "panic.h"
#include "types.h"
#include "interrupt.h"
#include <arch/cpu.h>
#include <arch/devicetree.h>
#include <arch/gic.h>
#include <arch/mmu.h>
#include <arch/percpu.h>

static const struct gic_ops *gic;
static irq_handler handlers[GIC_FIRST_SPECIAL];

static void check_intid(u32 intid)
{
	if (intid >= GIC_FIRST_SPECIAL)
		panic("INTID %u is no interrupt: they are 0 to %d", intid, GIC_FIRST_SPECIAL - 1);
}

/* The address of the register with one bit an interrupt that has this interrupt's. */
static uintptr_t bit_register(u32 intid, u32 offset)
{
	check_intid(intid);
	return gic->registers(intid) + offset + intid / 32 * 4;
}

static bool read_bit(u32 intid, u32 offset)
{
	return mmio_read32(bit_register(intid, offset)) >> (intid % 32) & 1;
}

static void write_bit(u32 intid, u32 offset)
{
	mmio_write32(bit_register(intid, offset), 1U << (intid % 32));
	dsb_sy();
}

static void apply_trigger(u32 intid)
{
	const struct machine *m = machine();

	for (int i = 0; i < NR_TIMER_IRQS; i++) {
		if (m->timer[i].intid == intid)
			gic_set_edge(intid, m->timer[i].edge);
	}
	if (m->pmu.intid == intid)
		gic_set_edge(intid, m->pmu.edge);
}

/*
 * An interrupt is set up when it is first wanted, not all of them at start-up: every access is an
 * exit to the hypervisor, and most interrupts are never used.
 */
void gic_enable(u32 intid)
{
	if (intid >= GIC_NR_SGIS)
		apply_trigger(intid);
	if (intid >= GIC_FIRST_SPI)
		gic->route(intid);
	gic_set_priority(intid, GIC_PRIORITY_DEFAULT);
	write_bit(intid, GIC_ISENABLER);
}

void gic_disable(u32 intid)
{
	write_bit(intid, GIC_ICENABLER);
	gic->wait_for_writes(intid);
}

bool gic_is_enabled(u32 intid)
{
	return read_bit(intid, GIC_ISENABLER);
}

void gic_set_priority(u32 intid, u8 priority)
{
	check_intid(intid);
	mmio_write8(gic->registers(intid) + GIC_IPRIORITYR + intid, priority);
}

bool gic_is_pending(u32 intid)
{
	return read_bit(intid, GIC_ISPENDR);
}

void gic_set_pending(u32 intid, bool pending)
{
	write_bit(intid, pending ? GIC_ISPENDR : GIC_ICPENDR);
}

bool gic_is_active(u32 intid)
{
	return read_bit(intid, GIC_ISACTIVER);
}

void gic_set_active(u32 intid, bool active)
{
	write_bit(intid, active ? GIC_ISACTIVER : GIC_ICACTIVER);
}

void gic_set_edge(u32 intid, bool edge)
{
	uintptr_t reg;
	u32 shift = intid % 16 * 2 + 1; /* bit 1 of the field; bit 0 is reserved */
	u32 value;

	check_intid(intid);
	reg = gic->registers(intid) + GIC_ICFGR + intid / 16 * 4;
	value = mmio_read32(reg) & ~(1U << shift);
	mmio_write32(reg, value | (u32)edge << shift);
}

void gic_send_sgi(int cpu, u32 sgi)
{
	if (sgi >= GIC_NR_SGIS)
		panic("SGI %u: there are 0 to %d", sgi, GIC_NR_SGIS - 1);
	dsb_ishst(); /* what the other CPU is to find when it is interrupted */
	gic->send_sgi(percpu_of(cpu), sgi);
}

u64 gic_spurious_count(void)
{
	return this_cpu()->spurious_irqs;
}

void irq_set_handler(u32 intid, irq_handler handler)
{
	check_intid(intid);
	__atomic_store_n(&handlers[intid], handler, __ATOMIC_RELEASE);
}

void irq_dispatch(struct exception_frame *frame)
{
	u32 acknowledged = gic->acknowledge();
	u32 intid = gic->intid(acknowledged);
	irq_handler handler;

	if (intid >= GIC_FIRST_SPECIAL) {
		this_cpu()->spurious_irqs++;
		return;
	}
	handler = __atomic_load_n(&handlers[intid], __ATOMIC_ACQUIRE);
	if (!handler)
		panic_at(frame->pc, frame->x[29], "interrupt %u on CPU %d has no handler", intid,
			 this_cpu()->id);
	handler(intid, frame);
	gic->end(acknowledged);
}

/* Being interrupted is all there is to it. */
static void kick_handler(u32 intid, struct exception_frame *frame)
{
}

static void disable_shared_interrupts(void)
{
	uintptr_t gicd = machine()->gic_distributor.base;
	u32 lines = ((mmio_read32(gicd + GICD_TYPER) & 0x1f) + 1) * 32;

	for (u32 intid = GIC_FIRST_SPI; intid < lines; intid += 32)
		mmio_write32(gicd + GIC_ICENABLER + intid / 8, 0xffffffff);
	gic->wait_for_writes(GIC_FIRST_SPI);
}

void gic_init_cpu(void)
{
	gic->init_cpu(this_cpu());
	mmio_write32(gic->registers(0) + GIC_ICENABLER, 0xffffffff);
	gic->wait_for_writes(0);
	mmio_write32(gic->registers(0) + GIC_ICACTIVER, 0xffffffff);
	gic_enable(GIC_SGI_KICK);
}

void gic_init(void)
{
	const struct machine *m = machine();

	switch (m->gic_version) {
	case 2:
		gic = &gicv2_ops;
		mmu_map_device(m->gic_cpu_interface.base, m->gic_cpu_interface.size);
		break;
	case 3:
		gic = &gicv3_ops;
		for (int i = 0; i < m->nr_gic_redistributors; i++)
			mmu_map_device(m->gic_redistributors[i].base,
				       m->gic_redistributors[i].size);
		break;
	default:
		panic("devicetree: no GICv2 or GICv3 (arm,gic-v3, arm,cortex-a15-gic, "
		      "arm,gic-400)");
	}
	mmu_map_device(m->gic_distributor.base, m->gic_distributor.size);
	irq_set_handler(GIC_SGI_KICK, kick_handler);
	gic->init();
	disable_shared_interrupts();
	gic_init_cpu();
}

int gic_version(void)
{
	return machine()->gic_version;
}
