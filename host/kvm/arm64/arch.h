/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the arm64 side of the VMM keeps for a machine, and what its files share.
 *
 * The machine: KVM's GIC (version 3, or 2 where the host has no other), the architected timers, a
 * PL011 and a bulk console, PSCI by KVM, a PMU where KVM has one, memory from 1 GiB on, all told by
 * a devicetree.
 */
#ifndef KVM_ARM64_ARCH_H
#define KVM_ARM64_ARCH_H

#include "kvm/arm64/pl011.h"
#include "kvm/bus.h"
#include "kvm/kvm_compat.h"
#include "types.h"
#include "util/error.h"

/* Guest-physical addresses. */
#define GICD_ADDRESS	    0x08000000ULL
#define GICD_SIZE	    0x10000ULL
#define GICC_ADDRESS	    0x08010000ULL /* GICv2's CPU interface */
#define GICC_SIZE	    0x20000ULL	  /* what KVM_VGIC_V2_ADDR_TYPE_CPU takes is 8 KiB of it */
#define GICR_ADDRESS	    0x080a0000ULL
#define GICR_SIZE	    0x20000ULL /* a vCPU: two frames of 64 KiB */
#define PL011_ADDRESS	    0x09000000ULL
#define PL011_SIZE	    0x1000ULL
#define BULK_CONSOLE_PAGE   0x09010000ULL
#define STOLEN_TIME_ADDRESS 0x09100000ULL
#define RAM_ADDRESS	    0x40000000ULL

/* SPIs: what KVM_DEV_ARM_VGIC_GRP_NR_IRQS is told, SGIs and PPIs included. */
#define GIC_NR_IRQS 64

/* PPIs: those of the timers are KVM's own choice (arch/arm64/kvm/arch_timer.c). */
#define PPI_GIC_MAINTENANCE 25
#define PPI_TIMER_HYP_PHYS  26
#define PPI_TIMER_VIRT	    27
#define PPI_TIMER_HYP_VIRT  28
#define PPI_TIMER_SEC_PHYS  29
#define PPI_TIMER_PHYS	    30
#define PPI_PMU		    23

struct state;
struct state_item;
struct vcpu;
struct vm;

/*
 * The host's counter that guests' are offsets from: CNTVCT_EL0, which is CNTPCT_EL0 to a host whose
 * kernel has EL2 (CNTVOFF_EL2 is 0 or, with HCR_EL2.{E2H,TGE}, ignored).
 */
static inline u64 host_counter(void)
{
	u64 value;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(value) : : "memory");
	return value;
}

static inline u64 host_counter_hz(void)
{
	u64 value;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(value));
	return value;
}

struct vm_arch {
	struct pl011 pl011;
	int gic_fd;
	int gic_version;
	bool has_pmu;
	bool has_stolen_time;
	bool has_counter_offset;
	bool offset_in_force; /* counter_offset was set, and single counters cannot be any more */
	u64 counter_offset;   /* the guest's counters are the host's less this */
	u64 *registers;	      /* one-reg IDs that state.c saves */
	size_t nr_registers;
};

struct vcpu_arch {
	u64 mpidr; /* affinity only */
};

/* machine.c: KVM_CREATE_VM's argument, the size of the guest's physical address space. */
unsigned long arch_vm_type(const struct vm *vm);

/* KVM_GET_ONE_REG and KVM_SET_ONE_REG. 0, or -1 with errno. */
int register_get(struct vcpu *vcpu, u64 id, void *value);
int register_set(struct vcpu *vcpu, u64 id, const void *value);

/* gic.c; gic_state.c: steps of state.h. */
int gic_create(struct vm *vm, struct error *err);
int gic_init(struct vm *vm, struct error *err);
int gic_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
	     struct error *err);
int gic_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item, struct error *err);

/* counter_state.c; two of them are steps of state.h. */
int counters_create(struct vm *vm, struct error *err);
int counters_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		  struct error *err);
int counters_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		     struct error *err);
int counters_set_offset(struct vm *vm, u64 offset, struct error *err);

/* state.c */
int state_find_registers(struct vm *vm, struct error *err);

/* devices.c; the other two are steps of state.h. */
void devices_add(struct vm *vm);
int devices_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		 struct error *err);
int devices_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		    struct error *err);

/* devicetree.c: size bytes at to; returns -1 with err when they do not suffice. */
int devicetree_write(struct vm *vm, void *to, size_t size, struct error *err);

#endif
