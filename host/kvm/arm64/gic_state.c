// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The GIC's state: a list of its registers, made anew from the machine each time, and their values
 * in the list's order. The order and the way of writing are those that the kernel's
 * Documentation/virt/kvm/devices/arm-vgic-v3.rst and arm-vgic.rst ask for: configuration before
 * what depends on it. Set-enable and set-active registers only set bits, so the clear register is
 * written before each. The distributor's enable is among the first: an interrupt that becomes pending
 * while that is off is put on no vCPU's list, nor is it when that goes on, and a level that is already
 * high is not told again (arch/arm64/kvm/vgic/vgic.c, vgic_target_oracle): the guest would sleep
 * for ever.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"
#include "util/memory.h"

/* Offsets that both versions of the GIC share (Arm IHI 0069, 12.8; IHI 0048, 4.1.2). */
#define GICD_CTLR	0x000
#define GICD_IIDR	0x008
#define GICD_IGROUPR	0x080
#define GICD_ISENABLER	0x100
#define GICD_ICENABLER	0x180
#define GICD_ISPENDR	0x200
#define GICD_ICPENDR	0x280
#define GICD_ISACTIVER	0x300
#define GICD_ICACTIVER	0x380
#define GICD_IPRIORITYR 0x400
#define GICD_ITARGETSR	0x800 /* GICv2 */
#define GICD_ICFGR	0xc00
#define GICD_CPENDSGIR	0xf10 /* GICv2 */
#define GICD_SPENDSGIR	0xf20 /* GICv2 */
#define GICD_IROUTER	0x6000

#define GICR_WAKER    0x0014
#define GICR_SGI_BASE 0x10000

/* GICv2's CPU interface */
#define GICC_CTLR 0x00
#define GICC_PMR  0x04
#define GICC_BPR  0x08
#define GICC_ABPR 0x1c
#define GICC_APR  0xd0

#define SPI_FIRST 32

struct gic_register {
	u32 group;
	u32 bytes;
	u64 attr;
	bool clears; /* not read; all ones are written to it */
};

struct gic_list {
	struct gic_register *registers;
	size_t count;
};

struct gic_value {
	u64 present; /* 0: this GIC has no such register, such as a further active-priority one */
	u64 value;
};

static void add(struct gic_list *l, u32 group, u32 bytes, u64 attr, bool clears)
{
	l->registers = memory_resize(l->registers, l->count + 1, sizeof(*l->registers));
	l->registers[l->count++] = (struct gic_register){ group, bytes, attr, clears };
}

/* Where a register's bank is: a group, and what the attribute has beside the offset. */
struct bank {
	u32 group;
	u64 attr;
};

static void add_one(struct gic_list *l, struct bank b, u64 offset)
{
	add(l, b.group, 4, b.attr | offset, false);
}

static void add_clear(struct gic_list *l, struct bank b, u64 offset)
{
	add(l, b.group, 4, b.attr | offset, true);
}

/* Interrupts first to end - 1, with bits in each register for 32 / width of them. */
static void add_range(struct gic_list *l, struct bank b, u64 offset, u32 width, u32 first, u32 end)
{
	for (u32 at = first; at < end; at += 32 / width)
		add_one(l, b, offset + at * width / 8);
}

static void add_clear_range(struct gic_list *l, struct bank b, u64 offset, u32 first, u32 end)
{
	for (u32 at = first; at < end; at += 32)
		add_clear(l, b, offset + at / 8);
}

/* What a GICv3 frame and a GICv2 distributor have alike for a range of interrupts. */
static void add_interrupts(struct gic_list *l, struct bank b, u32 first, u32 end)
{
	add_range(l, b, GICD_IGROUPR, 1, first, end);
	add_range(l, b, GICD_ICFGR, 2, first, end);
	add_range(l, b, GICD_IPRIORITYR, 8, first, end);
	add_clear_range(l, b, GICD_ICENABLER, first, end);
	add_range(l, b, GICD_ISENABLER, 1, first, end);
	add_clear_range(l, b, GICD_ICPENDR, first, end);
	add_range(l, b, GICD_ISPENDR, 1, first, end);
	add_clear_range(l, b, GICD_ICACTIVER, first, end);
	add_range(l, b, GICD_ISACTIVER, 1, first, end);
}

/* ---- GICv3 -------------------------------------------------------------------------------------- */

/* arm-vgic-v3.rst: Aff3.Aff2.Aff1.Aff0 in the attribute's upper half. */
static u64 affinity(const struct vcpu *vcpu)
{
	u64 mpidr = vcpu->arch.mpidr;

	return ((mpidr >> 32 & 0xff) << 24 | (mpidr & 0xffffff)) << 32;
}

#define ICC(op1, crn, crm, op2) (3ULL << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))

static const u64 cpu_registers[] = {
	ICC(0, 12, 12, 5), /* ICC_SRE_EL1 */
	ICC(0, 12, 12, 4), /* ICC_CTLR_EL1 */
	ICC(0, 4, 6, 0),   /* ICC_PMR_EL1 */
	ICC(0, 12, 8, 3),  /* ICC_BPR0_EL1 */
	ICC(0, 12, 12, 3), /* ICC_BPR1_EL1 */
	ICC(0, 12, 8, 4),  /* ICC_AP0R0_EL1 to ICC_AP0R3_EL1 */
	ICC(0, 12, 8, 5),  ICC(0, 12, 8, 6),
	ICC(0, 12, 8, 7),  ICC(0, 12, 9, 0), /* ICC_AP1R0_EL1 to ICC_AP1R3_EL1 */
	ICC(0, 12, 9, 1),  ICC(0, 12, 9, 2),
	ICC(0, 12, 9, 3),  ICC(0, 12, 12, 6), /* ICC_IGRPEN0_EL1 */
	ICC(0, 12, 12, 7),		      /* ICC_IGRPEN1_EL1 */
};

static void list_v3_vcpu(struct gic_list *l, const struct vcpu *vcpu)
{
	u64 cpu = affinity(vcpu);
	struct bank redistributor = { KVM_DEV_ARM_VGIC_GRP_REDIST_REGS, cpu };
	struct bank private = { KVM_DEV_ARM_VGIC_GRP_REDIST_REGS, cpu | GICR_SGI_BASE };
	u64 line_level = (u64)VGIC_LEVEL_INFO_LINE_LEVEL << KVM_DEV_ARM_VGIC_LINE_LEVEL_INFO_SHIFT;

	add_one(l, redistributor, GICR_WAKER);
	add_interrupts(l, private, 0, SPI_FIRST);
	add(l, KVM_DEV_ARM_VGIC_GRP_LEVEL_INFO, 4, cpu | line_level, false);
	for (size_t i = 0; i < ARRAY_SIZE(cpu_registers); i++)
		add(l, KVM_DEV_ARM_VGIC_GRP_CPU_SYSREGS, 8, cpu | cpu_registers[i], false);
}

static void list_v3(struct gic_list *l, const struct vm *vm)
{
	struct bank distributor = { KVM_DEV_ARM_VGIC_GRP_DIST_REGS, 0 };
	u64 line_level = (u64)VGIC_LEVEL_INFO_LINE_LEVEL << KVM_DEV_ARM_VGIC_LINE_LEVEL_INFO_SHIFT;

	add_one(l, distributor, GICD_IIDR);
	add_one(l, distributor, GICD_CTLR);
	for (u32 spi = SPI_FIRST; spi < GIC_NR_IRQS; spi++) {
		add_one(l, distributor, GICD_IROUTER + spi * 8);
		add_one(l, distributor, GICD_IROUTER + spi * 8 + 4);
	}
	add_interrupts(l, distributor, SPI_FIRST, GIC_NR_IRQS);
	for (u32 spi = SPI_FIRST; spi < GIC_NR_IRQS; spi += 32)
		add(l, KVM_DEV_ARM_VGIC_GRP_LEVEL_INFO, 4, line_level | spi, false);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		list_v3_vcpu(l, &vm->vcpus[i]);
}

/* ---- GICv2 -------------------------------------------------------------------------------------- */

static void list_v2_vcpu(struct gic_list *l, const struct vcpu *vcpu)
{
	u64 cpu = (u64)vcpu->index << KVM_DEV_ARM_VGIC_CPUID_SHIFT;
	struct bank private = { KVM_DEV_ARM_VGIC_GRP_DIST_REGS, cpu };
	struct bank interface = { KVM_DEV_ARM_VGIC_GRP_CPU_REGS, cpu };

	add_interrupts(l, private, 0, SPI_FIRST);
	for (u32 sgi = 0; sgi < 16; sgi += 4) {
		add_clear(l, private, GICD_CPENDSGIR + sgi);
		add_one(l, private, GICD_SPENDSGIR + sgi);
	}
	add_one(l, interface, GICC_PMR);
	add_one(l, interface, GICC_BPR);
	add_one(l, interface, GICC_ABPR);
	for (u32 i = 0; i < 4; i++)
		add_one(l, interface, GICC_APR + 4 * i);
	add_one(l, interface, GICC_CTLR);
}

static void list_v2(struct gic_list *l, const struct vm *vm)
{
	struct bank distributor = { KVM_DEV_ARM_VGIC_GRP_DIST_REGS, 0 };

	add_one(l, distributor, GICD_CTLR);
	add_range(l, distributor, GICD_ITARGETSR, 8, SPI_FIRST, GIC_NR_IRQS);
	add_interrupts(l, distributor, SPI_FIRST, GIC_NR_IRQS);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		list_v2_vcpu(l, &vm->vcpus[i]);
}

/* ------------------------------------------------------------------------------------------------- */

static struct gic_list list_registers(const struct vm *vm)
{
	struct gic_list l = { 0 };

	if (vm->arch.gic_version == 2)
		list_v2(&l, vm);
	else
		list_v3(&l, vm);
	return l;
}

/* value: of r->bytes, which little-endian leaves at the start of a u64. */
static int access_register(struct vm *vm, unsigned long request, const struct gic_register *r,
			   u64 *value)
{
	struct kvm_device_attr attr = {
		.group = r->group,
		.attr = r->attr,
		.addr = (uintptr_t)value,
	};

	return ioctl(vm->arch.gic_fd, request, &attr);
}

static bool is_missing(int code)
{
	return code == EINVAL || code == ENXIO || code == ENOENT || code == EACCES;
}

int gic_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
	     struct error *err)
{
	struct gic_list l = list_registers(vm);
	struct gic_value *values = memory_zalloc(l.count * sizeof(*values));
	int result = 0;

	for (size_t i = 0; i < l.count && !result; i++) {
		if (l.registers[i].clears)
			continue;
		if (!access_register(vm, KVM_GET_DEVICE_ATTR, &l.registers[i], &values[i].value))
			values[i].present = 1;
		else if (!is_missing(errno))
			result = error_set(
				err, "group %u, register 0x%llx: %s", l.registers[i].group,
				(unsigned long long)l.registers[i].attr, strerror(errno));
	}
	if (!result)
		state_add(out, name, STATE_OF_VM, values, l.count * sizeof(*values));
	free(values);
	free(l.registers);
	return result;
}

static int restore_register(struct vm *vm, const struct gic_register *r,
			    const struct gic_value *saved, struct error *err)
{
	u64 value = r->clears ? UINT32_MAX : saved->value;

	if (!r->clears && !saved->present)
		return 0;
	if (!access_register(vm, KVM_SET_DEVICE_ATTR, r, &value))
		return 0;
	if (r->clears && is_missing(errno))
		return 0;
	return error_set(err, "group %u, register 0x%llx: %s", r->group,
			 (unsigned long long)r->attr, strerror(errno));
}

int gic_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item, struct error *err)
{
	struct gic_list l = list_registers(vm);
	const struct gic_value *values = item->data;
	int result = state_check_size(item, l.count * sizeof(*values), err);

	for (size_t i = 0; i < l.count && !result; i++)
		result = restore_register(vm, &l.registers[i], &values[i], err);
	free(l.registers);
	return result;
}
