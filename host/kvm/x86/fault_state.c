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
	{ FAULT_RESTORE_NO_TSC, "tsc" },
	{ FAULT_RESTORE_NO_KVMCLOCK, "clock" },
	{ FAULT_RESTORE_KVMCLOCK_LATE, "clock" },
	{ FAULT_RESTORE_YOUNG_NO_TSC, "tsc", .only_young = true },
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

	if (fault_is_on(vm, FAULT_RESTORE_NO_IRR) && vcpu->index)
		clear_apic(vcpu, APIC_IRR, APIC_IRR_SIZE);
	if (fault_is_on(vm, FAULT_RESTORE_OTHER_TSC_ADJUST))
		msr_set(vcpu, MSR_IA32_TSC_ADJUST, fault_arg(vm, FAULT_RESTORE_OTHER_TSC_ADJUST));
	if (fault_is_on(vm, FAULT_RESTORE_TSC_STALE))
		move_tsc(vcpu, -fault_arg(vm, FAULT_RESTORE_TSC_STALE));
	if (fault_is_on(vm, FAULT_RESTORE_TSC_SKEW) && vcpu->index == 1)
		move_tsc(vcpu, fault_arg(vm, FAULT_RESTORE_TSC_SKEW));
}

static u64 deadline_of(struct vcpu *vcpu)
{
	u64 deadline;

	return msr_get(vcpu, MSR_IA32_TSC_DEADLINE, &deadline) ? 0 : deadline;
}

static void lose_deadline(struct vcpu *vcpu)
{
	msr_set(vcpu, MSR_IA32_TSC_DEADLINE, 0);
}

static u64 count_of(struct vcpu *vcpu)
{
	struct kvm_lapic_state apic;
	u32 count;

	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &apic) < 0)
		return 0;
	memcpy(&count, apic.regs + APIC_CURRENT_COUNT, sizeof(count));
	return count;
}

static void lose_count(struct vcpu *vcpu)
{
	clear_apic(vcpu, APIC_INITIAL_COUNT, APIC_CURRENT_COUNT + 4 - APIC_INITIAL_COUNT);
}

/* All but the one that is due last, so that there is one to tell of it. */
static void lose_timers(struct vm *vm, u64 (*due)(struct vcpu *vcpu),
			void (*lose)(struct vcpu *vcpu))
{
	unsigned int last = 0;

	for (unsigned int i = 1; i < vm->nr_vcpus; i++) {
		if (due(&vm->vcpus[i]) > due(&vm->vcpus[last]))
			last = i;
	}
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (i != last)
			lose(&vm->vcpus[i]);
	}
}

static u64 saved_deadline(const struct state *s, u32 vcpu)
{
	const struct state_item *item = state_find(s, "tsc-deadline", vcpu);
	u64 deadline = 0;

	if (item && item->size == sizeof(deadline))
		memcpy(&deadline, item->data, sizeof(deadline));
	return deadline;
}

/* The latest deadline is not lost with the others: see lose_timers(). */
static void keep_last_deadline(struct vm *vm, const struct state *s)
{
	unsigned int last = 0;

	for (unsigned int i = 1; i < vm->nr_vcpus; i++) {
		if (saved_deadline(s, i) > saved_deadline(s, last))
			last = i;
	}
	msr_set(&vm->vcpus[last], MSR_IA32_TSC_DEADLINE, saved_deadline(s, last));
}

void fault_arch_restored(struct vm *vm, const struct state *s)
{
	if (fault_is_on(vm, FAULT_RESTORE_DEADLINE_BEFORE_LAPIC))
		keep_last_deadline(vm, s);
	if (fault_is_on(vm, FAULT_RESTORE_NO_DEADLINE) ||
	    (fault_is_on(vm, FAULT_RESTORE_TWICE_NO_DEADLINE) && vm->fault_data->restores > 1))
		lose_timers(vm, deadline_of, lose_deadline);
	if (fault_is_on(vm, FAULT_RESTORE_NO_APIC_COUNT))
		lose_timers(vm, count_of, lose_count);
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
