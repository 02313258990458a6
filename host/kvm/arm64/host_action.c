// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the host does to a machine that is there: its clocks moved on. A vCPU more is not to be had.
 */
#include "kvm/vm.h"

int arch_plug(struct vm *vm, struct error *err)
{
	return error_unsupported(err,
				 "KVM makes no vCPU of an arm64 VM once its GIC is initialised "
				 "(arch/arm64/kvm/arm.c, kvm_arch_vcpu_precreate)");
}

/* Both counters by one offset; KVM looks at it anew whenever a vCPU is loaded, timers included. */
int arch_shift_clocks(struct vm *vm, u64 ns, struct error *err)
{
	u64 ticks = scale(ns, host_counter_hz(), 1000000000);

	if (!vm->arch.offset_in_force)
		return error_unsupported(err,
					 "shift: the machine has no VM-wide counter offset "
					 "(KVM_ARM_SET_COUNTER_OFFSET, Linux 6.4): start it with "
					 "--restore-method offset");
	return counters_set_offset(vm, vm->arch.counter_offset - ticks, err);
}

void arch_dump_clocks(struct vm *vm, struct text *out)
{
	u64 before = host_counter(), virtual_ticks = 0, physical_ticks = 0, after;

	register_get(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, &virtual_ticks);
	register_get(&vm->vcpus[0], KVM_REG_ARM_PTIMER_CNT, &physical_ticks);
	after = host_counter();
	text_printf(out, "counters: host-before=%llu virtual=%llu physical=%llu host-after=%llu",
		    (unsigned long long)before, (unsigned long long)virtual_ticks,
		    (unsigned long long)physical_ticks, (unsigned long long)after);
	if (vm->arch.offset_in_force)
		text_printf(out, " offset=%lld", (long long)vm->arch.counter_offset);
	text_printf(out, " hz=%llu\n", (unsigned long long)host_counter_hz());
}
