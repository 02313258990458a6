// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults that strike while an arm64 guest runs: counters that are set, and a PMU.
 */
#include <stdio.h>
#include "kvm/fault_hooks.h"

#define PPM 1000000

#define PMCCNTR_EL0 ARM64_SYS_REG(3, 3, 9, 13, 0)

/* ---- counters ----------------------------------------------------------------------------------- */

static void strike_cntvct_jump(struct vm *vm, s64 ticks, struct fault_run *run)
{
	u64 cntvct;

	if (register_get(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, &cntvct))
		return;
	cntvct += ticks;
	register_set(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, &cntvct);
}

/* As far from the host's counter as it was at first, and further by what the rate makes of that time. */
static void strike_cntvct_rate(struct vm *vm, s64 ppm, struct fault_run *run)
{
	u64 cntvct, now = host_counter();
	s64 gained = scale(now - run->first_counter, 1, PPM) * ppm;

	if (!run->strikes) {
		if (!register_get(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, &cntvct))
			run->applied = cntvct - now;
		return;
	}
	cntvct = host_counter() + run->applied + gained;
	register_set(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, &cntvct);
}

static void strike_counters_jump(struct vm *vm, s64 ticks, struct fault_run *run)
{
	struct error err;

	if (counters_set_offset(vm, vm->arch.counter_offset - ticks, &err))
		fprintf(stderr, "vmm: fault counters-jump: %s\n", err.text);
}

static void strike_counters_rate(struct vm *vm, s64 ppm, struct fault_run *run)
{
	s64 wanted = scale(host_counter() - run->first_counter, 1, PPM) * ppm;
	struct error err;

	if (counters_set_offset(vm, vm->arch.counter_offset - (wanted - run->applied), &err))
		fprintf(stderr, "vmm: fault counters-rate: %s\n", err.text);
	run->applied = wanted;
}

/* ---- the PMU ------------------------------------------------------------------------------------ */

static void strike_pmccntr_jump(struct vm *vm, s64 cycles, struct fault_run *run)
{
	u64 pmccntr;

	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (register_get(&vm->vcpus[i], PMCCNTR_EL0, &pmccntr))
			continue;
		pmccntr += cycles;
		register_set(&vm->vcpus[i], PMCCNTR_EL0, &pmccntr);
	}
}

const struct fault_event fault_arch_events[] = {
	{ FAULT_CNTVCT_JUMP, 20000000, strike_cntvct_jump },
	{ FAULT_COUNTERS_JUMP, 20000000, strike_counters_jump },
	{ FAULT_CNTVCT_RATE, 2000000, strike_cntvct_rate },
	{ FAULT_COUNTERS_RATE, 2000000, strike_counters_rate },
	{ FAULT_PMCCNTR_JUMP, 5000000, strike_pmccntr_jump },
};

const size_t fault_arch_nr_events = ARRAY_SIZE(fault_arch_events);

/* ------------------------------------------------------------------------------------------------- */

/* Both counters by one offset, as it has to be before the guest runs; 0 changes the virtual one alone. */
int fault_arch_make_vm(struct vm *vm, struct error *err)
{
	if (!fault_is_on(vm, FAULT_COUNTERS_JUMP) && !fault_is_on(vm, FAULT_COUNTERS_RATE))
		return 0;
	return counters_set_offset(vm, 0, err);
}

void fault_arch_at_exit(struct vcpu *vcpu)
{
}

bool fault_arch_handle_exit(struct vcpu *vcpu)
{
	return false;
}
