// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults that strike while an x86_64 guest runs: TSC offsets that move, timer interrupts that nobody
 * asked for.
 */
#include "kvm/fault_hooks.h"

#define PPM 1000000

static void move_tscs(struct vm *vm, s64 cycles)
{
	u64 offset;

	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (!tsc_offset_get(&vm->vcpus[i], &offset))
			tsc_offset_set(&vm->vcpus[i], offset + cycles);
	}
}

static void strike_jump(struct vm *vm, s64 cycles, struct fault_run *run)
{
	move_tscs(vm, cycles);
}

static void strike_rate(struct vm *vm, s64 ppm, struct fault_run *run)
{
	s64 wanted = scale(host_counter() - run->first_counter, 1, PPM) * ppm;

	move_tscs(vm, wanted - run->applied);
	run->applied = wanted;
}

static void strike_storm(struct vm *vm, s64 arg, struct fault_run *run)
{
	fault_timer_interrupt(&vm->vcpus[0]);
}

const struct fault_event fault_arch_events[] = {
	{ FAULT_TSC_JUMP, 20000000, strike_jump },
	{ FAULT_TSC_RATE, 2000000, strike_rate },
	{ FAULT_LAPIC_STORM, 300000, strike_storm },
};

const size_t fault_arch_nr_events = ARRAY_SIZE(fault_arch_events);
