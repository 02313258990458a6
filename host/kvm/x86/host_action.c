// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the host does to a machine that is there: a vCPU more, and its clocks moved on.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"

/* SDM vol. 3, 11.4.1: the local APIC's registers. */
#define APIC_CURRENT_COUNT 0x390
#define APIC_DIVIDE	   0x3e0

/* ---- plugging in -------------------------------------------------------------------------------- */

/* KVM gives a new vCPU the TSC of the last one that was written; what the guest has is what counts. */
static int put_in_step(struct vcpu *vcpu, struct error *err)
{
	u64 offset;

	if (!vcpu->vm->arch.has_tsc_offset)
		return 0;
	if (tsc_offset_get(&vcpu->vm->vcpus[0], &offset) < 0 || tsc_offset_set(vcpu, offset) < 0)
		return error_set(err, "vCPU %u: its TSC offset: %s", vcpu->index, strerror(errno));
	return 0;
}

/*
 * KVM looks up who an INIT is for in a map of local APICs, and makes that map anew before it has added a
 * new vCPU to the VM (arch/x86/kvm/x86.c, kvm_arch_vcpu_create()). Setting the local APIC's state makes
 * it once more (arch/x86/kvm/lapic.c, kvm_apic_set_state()).
 */
static int put_on_the_map(struct vcpu *vcpu, struct error *err)
{
	struct kvm_lapic_state apic;

	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &apic) < 0 || ioctl(vcpu->fd, KVM_SET_LAPIC, &apic) < 0)
		return error_set(err, "vCPU %u: its local APIC: %s", vcpu->index, strerror(errno));
	return 0;
}

/* The MADT has named it from the start (acpi.c); it waits for the guest's INIT and SIPI. */
int arch_plug(struct vm *vm, struct error *err)
{
	struct vcpu *vcpu = &vm->vcpus[vm->nr_vcpus];

	if (vcpu->fd >= 0)
		return error_set(err, "vCPU %u: an earlier attempt at it failed", vm->nr_vcpus);
	if (vm_create_vcpu(vm, vm->nr_vcpus, err) || put_on_the_map(vcpu, err) ||
	    state_save_vcpu(vm, vcpu, &vm->power_on, err) || put_in_step(vcpu, err) ||
	    vm_start_thread(vcpu, err))
		return -1;
	vm->nr_vcpus++;
	return 0;
}

/* ---- moving clocks on --------------------------------------------------------------------------- */

static int shift_kvmclock(struct vm *vm, u64 ns, struct error *err)
{
	struct kvm_clock_data clock = { 0 };

	if (ioctl(vm->fd, KVM_GET_CLOCK, &clock) < 0)
		return error_set(err, "KVM_GET_CLOCK: %s", strerror(errno));
	clock.clock += ns;
	clock.flags &= KVM_CLOCK_REALTIME; /* then no time is lost between the two calls */
	if (ioctl(vm->fd, KVM_SET_CLOCK, &clock) < 0)
		return error_set(err, "KVM_SET_CLOCK: %s", strerror(errno));
	return 0;
}

/* KVM keeps the host's time of a deadline from when it was written (catalogue H3): once more. */
static int shift_tsc(struct vcpu *vcpu, u64 cycles, struct error *err)
{
	u64 offset, deadline;

	if (tsc_offset_get(vcpu, &offset) < 0 || tsc_offset_set(vcpu, offset + cycles) < 0)
		return error_set(err, "vCPU %u: its TSC offset: %s", vcpu->index, strerror(errno));
	if (msr_get(vcpu, MSR_IA32_TSC_DEADLINE, &deadline) || !deadline)
		return 0;
	if (msr_set(vcpu, MSR_IA32_TSC_DEADLINE, deadline))
		return error_set(err, "vCPU %u: IA32_TSC_DEADLINE cannot be written", vcpu->index);
	return 0;
}

static u32 *apic_register(struct kvm_lapic_state *apic, unsigned int offset)
{
	return (u32 *)(apic->regs + offset);
}

/* KVM's bus clock has 1 ns (KVM_CAP_X86_APIC_BUS_CYCLES_NS); the divider is SDM vol. 3, 11.5.4's. */
static u64 apic_ticks(u32 divide, u64 ns)
{
	u32 code = (divide & 3) | (divide >> 1 & 4);

	return ns >> ((code + 1) & 7);
}

/*
 * A one-shot or periodic timer that is running has less time left, and at least one tick: KVM starts
 * it from its current count (arch/x86/kvm/lapic.c, kvm_apic_set_state).
 */
static int shift_apic_timer(struct vcpu *vcpu, u64 ns, struct error *err)
{
	struct kvm_lapic_state apic;
	u32 *count = apic_register(&apic, APIC_CURRENT_COUNT);
	u64 ticks;

	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &apic) < 0)
		return error_set(err, "vCPU %u: KVM_GET_LAPIC: %s", vcpu->index, strerror(errno));
	if (!*count)
		return 0;
	ticks = apic_ticks(*apic_register(&apic, APIC_DIVIDE), ns);
	*count -= MIN(ticks, (u64)*count - 1);
	if (ioctl(vcpu->fd, KVM_SET_LAPIC, &apic) < 0)
		return error_set(err, "vCPU %u: KVM_SET_LAPIC: %s", vcpu->index, strerror(errno));
	return 0;
}

/* The 8254 is not a clock that any guest of ours keeps time by, and stays as it is. */
int arch_shift_clocks(struct vm *vm, u64 ns, struct error *err)
{
	u64 cycles = scale(ns, vm->arch.tsc_khz, 1000000);

	if (!vm->arch.has_tsc_offset || !vm->arch.tsc_khz)
		return error_unsupported(err,
					 "shift: this KVM has no KVM_VCPU_TSC_OFFSET (Linux 5.16)");
	if (shift_kvmclock(vm, ns, err))
		return -1;
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (shift_apic_timer(&vm->vcpus[i], ns, err) ||
		    shift_tsc(&vm->vcpus[i], cycles, err))
			return -1;
	}
	return 0;
}

/* ---- looking ------------------------------------------------------------------------------------ */

static void dump_tsc(struct vcpu *vcpu, struct text *out)
{
	u64 before = host_counter(), value = 0, offset = 0, deadline = 0, after;

	msr_get(vcpu, MSR_IA32_TSC, &value);
	after = host_counter();
	text_printf(out, "vcpu %u: host-before=%llu tsc=%llu host-after=%llu", vcpu->index,
		    (unsigned long long)before, (unsigned long long)value,
		    (unsigned long long)after);
	if (vcpu->vm->arch.has_tsc_offset && !tsc_offset_get(vcpu, &offset))
		text_printf(out, " offset=%lld", (long long)offset);
	if (!msr_get(vcpu, MSR_IA32_TSC_DEADLINE, &deadline))
		text_printf(out, " deadline=%llu", (unsigned long long)deadline);
	text_append_char(out, '\n');
}

void arch_dump_clocks(struct vm *vm, struct text *out)
{
	struct kvm_clock_data clock = { 0 };

	if (!ioctl(vm->fd, KVM_GET_CLOCK, &clock))
		text_printf(out, "kvmclock: ns=%llu flags=0x%x realtime-ns=%llu host-tsc=%llu\n",
			    (unsigned long long)clock.clock, clock.flags,
			    (unsigned long long)clock.realtime, (unsigned long long)clock.host_tsc);
	text_printf(out, "tsc: khz=%llu\n", (unsigned long long)vm->arch.tsc_khz);
	for (unsigned int i = 0; i < vm->nr_vcpus; i++)
		dump_tsc(&vm->vcpus[i], out);
}
