// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86_64's faults of saving, restoring, pausing and resetting.
 */
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/fault_hooks.h"

/* SDM vol. 3, table 11-1 "Local APIC Register Address Map" */
#define APIC_IRR	   0x200
#define APIC_IRR_SIZE	   0x80
#define APIC_INITIAL_COUNT 0x380
#define APIC_CURRENT_COUNT 0x390

const struct fault_left_out fault_arch_left_out[] = {
	{ FAULT_RESTORE_NO_DEADLINE, "tsc-deadline", .from = 1, .not_vcpu0 = true },
	{ FAULT_RESTORE_NO_TSC, "tsc", .from = 1 },
	{ FAULT_RESTORE_NO_KVMCLOCK, "clock", .from = 1 },
	{ FAULT_RESTORE_KVMCLOCK_LATE, "clock", .from = 1 },
	{ FAULT_RESTORE_TWICE_NO_DEADLINE, "tsc-deadline", .from = 2, .not_vcpu0 = true },
	{ FAULT_RESTORE_YOUNG_NO_TSC, "tsc", .from = 1, .only_young = true },
	{ FAULT_RESET_KEEPS_TSC, "tsc", .reset = true, .not_vcpu0 = true },
	{ FAULT_RESET_KEEPS_LAPIC, "lapic", .reset = true },
	{ FAULT_RESET_KEEPS_LAPIC, "tsc-deadline", .reset = true },
};

const size_t fault_arch_nr_left_out = ARRAY_SIZE(fault_arch_left_out);

const struct fault_order fault_arch_orders[] = {
	{ FAULT_RESTORE_DEADLINE_BEFORE_LAPIC, "lapic", "tsc-deadline" },
	{ FAULT_RESTORE_DEADLINE_BEFORE_TSC, "tsc", "tsc-deadline" },
};

const size_t fault_arch_nr_orders = ARRAY_SIZE(fault_arch_orders);

const struct fault_late fault_arch_late = { FAULT_RESTORE_KVMCLOCK_LATE, "clock" };

/* The step "tsc" begins with its value. */
bool fault_arch_is_young(const struct vm *vm, const struct state *s)
{
	const struct state_item *item = state_find(s, "tsc", 0);
	u64 tsc;

	if (!item || item->size < sizeof(tsc))
		return false;
	memcpy(&tsc, item->data, sizeof(tsc));
	return tsc < vm->arch.tsc_khz * 1000;
}

/* ---- what is restored wrongly ------------------------------------------------------------------- */

static void clear_apic(struct vcpu *vcpu, size_t from, size_t size)
{
	struct kvm_lapic_state apic;

	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &apic) < 0)
		return;
	memset(apic.regs + from, 0, size);
	ioctl(vcpu->fd, KVM_SET_LAPIC, &apic);
}

static void move_tsc(struct vcpu *vcpu, s64 cycles)
{
	u64 offset;

	if (!tsc_offset_get(vcpu, &offset))
		tsc_offset_set(vcpu, offset + cycles);
}

static void restored_vcpu(struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;

	if (fault_is_on(vm, FAULT_RESTORE_NO_APIC_COUNT) && vcpu->index)
		clear_apic(vcpu, APIC_INITIAL_COUNT, APIC_CURRENT_COUNT + 4 - APIC_INITIAL_COUNT);
	if (fault_is_on(vm, FAULT_RESTORE_NO_IRR) && vcpu->index)
		clear_apic(vcpu, APIC_IRR, APIC_IRR_SIZE);
	if (fault_is_on(vm, FAULT_RESTORE_OTHER_TSC_ADJUST))
		msr_set(vcpu, MSR_IA32_TSC_ADJUST, fault_arg(vm, FAULT_RESTORE_OTHER_TSC_ADJUST));
	if (fault_is_on(vm, FAULT_RESTORE_TSC_STALE))
		move_tsc(vcpu, -fault_arg(vm, FAULT_RESTORE_TSC_STALE));
	if (fault_is_on(vm, FAULT_RESTORE_TSC_SKEW) && vcpu->index == 1)
		move_tsc(vcpu, fault_arg(vm, FAULT_RESTORE_TSC_SKEW));
}

void fault_arch_restored(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		restored_vcpu(&vm->vcpus[i]);
}

/* ---- reset and pause ---------------------------------------------------------------------------- */

void fault_arch_was_reset(struct vm *vm)
{
	if (fault_is_on(vm, FAULT_RESET_KEEPS_TSC_ADJUST) && vm->nr_vcpus > 1)
		msr_set(&vm->vcpus[1], MSR_IA32_TSC_ADJUST,
			fault_arg(vm, FAULT_RESET_KEEPS_TSC_ADJUST));
}

void fault_arch_going_on(struct vm *vm, u64 ticks)
{
	for (unsigned int i = 0; fault_is_on(vm, FAULT_PAUSE_HIDDEN_X86) && i < vm->nr_vcpus; i++)
		move_tsc(&vm->vcpus[i], -(s64)ticks);
}
