// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64's faults of saving, restoring, pausing and resetting.
 */
#include <string.h>
#include "kvm/fault_hooks.h"

#define CNTKCTL_EL1    ARM64_SYS_REG(3, 0, 14, 1, 0)
#define PMCR_EL0       ARM64_SYS_REG(3, 3, 9, 12, 0)
#define PMCNTENSET_EL0 ARM64_SYS_REG(3, 3, 9, 12, 1)
#define PMCCNTR_EL0    ARM64_SYS_REG(3, 3, 9, 13, 0)

/* Arm ARM D13.8.15 CNTKCTL_EL1, D13.8.16 CNTP_CTL_EL0, D13.6 PMCR_EL0 and PMCNTENSET_EL0 */
#define CNTKCTL_EL0PCTEN BIT(0)
#define CNTKCTL_EL0VCTEN BIT(1)
#define TIMER_ENABLE	 BIT(0)
#define PMCR_E		 BIT(0)
#define PMCNTEN_C	 BIT(31)

const struct fault_left_out fault_arch_left_out[] = {
	{ FAULT_RESTORE_NO_COUNTERS, "counters" },
	{ FAULT_RESTORE_COUNTERS_LATE, "counters" },
	{ FAULT_RESTORE_YOUNG_NO_COUNTERS, "counters", .only_young = true },
};

const size_t fault_arch_nr_left_out = ARRAY_SIZE(fault_arch_left_out);

const struct fault_order fault_arch_orders[1];

/* None: what is restored on arm64 KVM takes in any order. */
const size_t fault_arch_nr_orders = 0;

const struct fault_late fault_arch_late = { FAULT_RESTORE_COUNTERS_LATE, "counters" };

/* The step "counters" begins with the virtual one. */
bool fault_arch_is_young(const struct vm *vm, const struct state *s)
{
	const struct state_item *item = state_find(s, "counters", STATE_OF_VM);
	u64 cntvct;

	if (!item || item->size < sizeof(cntvct))
		return false;
	memcpy(&cntvct, item->data, sizeof(cntvct));
	return cntvct < host_counter_hz();
}

static void set(struct vcpu *vcpu, u64 id, u64 value)
{
	register_set(vcpu, id, &value);
}

static void add(struct vcpu *vcpu, u64 id, s64 ticks)
{
	u64 value;

	if (!register_get(vcpu, id, &value))
		set(vcpu, id, value + ticks);
}

static void change(struct vcpu *vcpu, u64 id, u64 clear, u64 turn)
{
	u64 value;

	if (!register_get(vcpu, id, &value))
		set(vcpu, id, (value & ~clear) ^ turn);
}

/* ---- what is restored wrongly ------------------------------------------------------------------- */

static void move_deadlines(struct vcpu *vcpu, s64 ticks)
{
	add(vcpu, KVM_REG_ARM_TIMER_CVAL, ticks);
	add(vcpu, KVM_REG_ARM_PTIMER_CVAL, ticks);
}

static void restored_vcpu(struct vcpu *vcpu)
{
	const struct vm *vm = vcpu->vm;

	if (fault_is_on(vm, FAULT_RESTORE_TIMER_EARLY))
		move_deadlines(vcpu, -fault_arg(vm, FAULT_RESTORE_TIMER_EARLY));
	if (fault_is_on(vm, FAULT_RESTORE_TIMER_LATE))
		move_deadlines(vcpu, fault_arg(vm, FAULT_RESTORE_TIMER_LATE));
	if (fault_is_on(vm, FAULT_RESTORE_NO_CNTKCTL))
		change(vcpu, CNTKCTL_EL1, 0, CNTKCTL_EL0PCTEN | CNTKCTL_EL0VCTEN);
	if (fault_is_on(vm, FAULT_RESTORE_NO_PMU))
		change(vcpu, PMCNTENSET_EL0, PMCNTEN_C, 0);
	if (fault_is_on(vm, FAULT_RESTORE_NO_PMCCNTR))
		set(vcpu, PMCCNTR_EL0, 0);
}

static u64 deadline_of(struct vcpu *vcpu, u64 ctl_id, u64 cval_id)
{
	u64 ctl, cval;

	if (register_get(vcpu, ctl_id, &ctl) || register_get(vcpu, cval_id, &cval))
		return 0;
	return ctl & TIMER_ENABLE ? cval : 0;
}

/* All but the one that is due last, so that there is one to tell of it. */
static void lose_timers(struct vm *vm, u64 ctl_id, u64 cval_id)
{
	unsigned int last = 0;

	for (unsigned int i = 1; i < vm->nr_vcpus; i++) {
		if (deadline_of(&vm->vcpus[i], ctl_id, cval_id) >
		    deadline_of(&vm->vcpus[last], ctl_id, cval_id))
			last = i;
	}
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (i != last)
			set(&vm->vcpus[i], ctl_id, 0);
	}
}

void fault_arch_restored(struct vm *vm, const struct state *s)
{
	struct vcpu *first = &vm->vcpus[0];

	if (fault_is_on(vm, FAULT_RESTORE_NO_VTIMER) ||
	    (fault_is_on(vm, FAULT_RESTORE_TWICE_NO_VTIMER) && vm->fault_data->restores > 1))
		lose_timers(vm, KVM_REG_ARM_TIMER_CTL, KVM_REG_ARM_TIMER_CVAL);
	if (fault_is_on(vm, FAULT_RESTORE_NO_PTIMER))
		lose_timers(vm, KVM_REG_ARM_PTIMER_CTL, KVM_REG_ARM_PTIMER_CVAL);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		restored_vcpu(&vm->vcpus[i]);
	if (fault_is_on(vm, FAULT_RESTORE_SKEW))
		add(first, KVM_REG_ARM_TIMER_CNT, fault_arg(vm, FAULT_RESTORE_SKEW));
	if (fault_is_on(vm, FAULT_RESTORE_COUNTERS_STALE))
		add(first, KVM_REG_ARM_TIMER_CNT, -fault_arg(vm, FAULT_RESTORE_COUNTERS_STALE));
}

/* ---- reset and pause ---------------------------------------------------------------------------- */

void fault_arch_was_reset(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (fault_is_on(vm, FAULT_RESET_TIMER_ON))
			set(&vm->vcpus[i], KVM_REG_ARM_TIMER_CTL, TIMER_ENABLE);
		if (fault_is_on(vm, FAULT_RESET_PMU_ON)) {
			change(&vm->vcpus[i], PMCNTENSET_EL0, PMCNTEN_C, PMCNTEN_C);
			change(&vm->vcpus[i], PMCR_EL0, PMCR_E, PMCR_E);
		}
	}
}

void fault_arch_going_on(struct vm *vm, u64 ticks)
{
	if (fault_is_on(vm, FAULT_PAUSE_HIDDEN_ARM))
		add(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, -(s64)ticks);
}
