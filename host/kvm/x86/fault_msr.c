// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults of MSRs: KVM is told to hand a guest's accesses of them to us (api.rst, 4.97
 * "KVM_X86_SET_MSR_FILTER", 7.21 "KVM_CAP_X86_USER_SPACE_MSR"), and we answer wrongly. What we set
 * ourselves by KVM_SET_MSRS passes the filter.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/fault_hooks.h"

/* SDM vol. 3, 11.5.1 "Local Vector Table", and vol. 3, 11.11.1 "Message Address Register" */
#define LVT_TIMER	0x320
#define LVT_MASKED	BIT(16)
#define MSI_ADDRESS	0xfee00000
#define MSI_APIC_ID(id) ((id) << 12)

struct msr_fault {
	enum fault_id id;
	u32 msr;
	/* What RDMSR gives; NULL: what KVM has. */
	u64 (*read)(struct vcpu *vcpu, u64 value, s64 arg);
	/* What WRMSR does; NULL: KVM_SET_MSRS, which for this MSR is the same. */
	void (*write)(struct vcpu *vcpu, u64 value, s64 arg);
};

static u64 guest_tsc(struct vcpu *vcpu)
{
	u64 offset = 0;

	tsc_offset_get(vcpu, &offset);
	return host_counter() + offset;
}

/* The local APIC's timer interrupts once, whatever it is programmed for. */
void fault_timer_interrupt(struct vcpu *vcpu)
{
	struct kvm_lapic_state lapic;
	struct kvm_msi msi = { .address_lo = MSI_ADDRESS | MSI_APIC_ID(vcpu->arch.apic_id) };
	u32 lvt;

	if (ioctl(vcpu->fd, KVM_GET_LAPIC, &lapic) < 0)
		return;
	memcpy(&lvt, lapic.regs + LVT_TIMER, sizeof(lvt));
	msi.data = lvt & 0xff;
	if (!(lvt & LVT_MASKED) && msi.data >= 16)
		ioctl(vcpu->vm->fd, KVM_SIGNAL_MSI, &msi);
}

/* ---- IA32_TSC_DEADLINE -------------------------------------------------------------------------- */

static void arm_deadline(struct vcpu *vcpu, u64 deadline)
{
	msr_set(vcpu, MSR_IA32_TSC_DEADLINE, deadline);
}

/* As the guest wrote it, while KVM's is armed: another value than KVM's is the fault's own business. */
static u64 read_as_written(struct vcpu *vcpu, u64 value, s64 arg)
{
	return value ? vcpu->arch.fault.deadline : 0;
}

/* 0 disarms and a deadline of 0 would too. */
static void write_early(struct vcpu *vcpu, u64 value, s64 cycles)
{
	arm_deadline(vcpu, value > (u64)cycles ? value - cycles : MIN(value, 1ull));
}

static void write_late(struct vcpu *vcpu, u64 value, s64 cycles)
{
	arm_deadline(vcpu, value ? value + cycles : 0);
}

static void write_lost(struct vcpu *vcpu, u64 value, s64 nth)
{
	if (!value || nth < 1 || ++vcpu->arch.fault.writes % nth)
		arm_deadline(vcpu, value);
}

static void write_lost_near(struct vcpu *vcpu, u64 value, s64 cycles)
{
	if (!value || value >= guest_tsc(vcpu) + cycles)
		arm_deadline(vcpu, value);
}

static void write_doubled(struct vcpu *vcpu, u64 value, s64 arg)
{
	u64 armed;

	if (value && vcpu->arch.fault.doubled && !msr_get(vcpu, MSR_IA32_TSC_DEADLINE, &armed) &&
	    !armed)
		fault_timer_interrupt(vcpu);
	vcpu->arch.fault.doubled = value;
	arm_deadline(vcpu, value);
}

static void write_held(struct vcpu *vcpu, u64 value, s64 arg)
{
	vcpu->arch.fault.held = true;
}

static u64 read_other_value(struct vcpu *vcpu, u64 value, s64 cycles)
{
	return value ? value + cycles : 0;
}

static u64 read_kept(struct vcpu *vcpu, u64 value, s64 arg)
{
	return vcpu->arch.fault.deadline;
}

static void write_unless_zero(struct vcpu *vcpu, u64 value, s64 arg)
{
	if (value)
		arm_deadline(vcpu, value);
}

/* A deadline d of the host's TSC is one of d plus the guest's offset; what is below 0 has long passed. */
static void write_by_host_tsc(struct vcpu *vcpu, u64 value, s64 arg)
{
	u64 offset = 0;

	tsc_offset_get(vcpu, &offset);
	arm_deadline(vcpu, value ? (u64)MAX((s64)(value + offset), 1) : 0);
}

/* ---- IA32_TSC and IA32_TSC_ADJUST --------------------------------------------------------------- */

static void write_ignored(struct vcpu *vcpu, u64 value, s64 arg)
{
}

static void write_tsc_alone(struct vcpu *vcpu, u64 value, s64 arg)
{
	tsc_offset_set(vcpu, value - host_counter());
}

static u64 read_ahead(struct vcpu *vcpu, u64 value, s64 cycles)
{
	return value + cycles;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static const struct msr_fault msr_faults[] = {
	{ FAULT_DEADLINE_EARLY, MSR_IA32_TSC_DEADLINE, read_as_written, write_early },
	{ FAULT_DEADLINE_LATE, MSR_IA32_TSC_DEADLINE, read_as_written, write_late },
	{ FAULT_DEADLINE_LOST, MSR_IA32_TSC_DEADLINE, NULL, write_lost },
	{ FAULT_DEADLINE_LOST_NEAR, MSR_IA32_TSC_DEADLINE, NULL, write_lost_near },
	{ FAULT_DEADLINE_DOUBLED, MSR_IA32_TSC_DEADLINE, NULL, write_doubled },
	{ FAULT_DEADLINE_HELD, MSR_IA32_TSC_DEADLINE, NULL, write_held },
	{ FAULT_DEADLINE_OTHER_VALUE, MSR_IA32_TSC_DEADLINE, read_other_value, NULL },
	{ FAULT_DEADLINE_KEPT, MSR_IA32_TSC_DEADLINE, read_kept, NULL },
	{ FAULT_DEADLINE_ZERO_IGNORED, MSR_IA32_TSC_DEADLINE, NULL, write_unless_zero },
	{ FAULT_DEADLINE_BY_HOST_TSC, MSR_IA32_TSC_DEADLINE, read_as_written, write_by_host_tsc },
	{ FAULT_TSC_WRITE_IGNORED, MSR_IA32_TSC, NULL, write_ignored },
	{ FAULT_TSC_WRITE_KEEPS_ADJUST, MSR_IA32_TSC, NULL, write_tsc_alone },
	/* KVM_SET_MSRS of IA32_TSC_ADJUST moves no TSC: it is a host's, for a restored guest. */
	{ FAULT_TSC_ADJUST_MOVES_NOTHING, MSR_IA32_TSC_ADJUST, NULL, NULL },
	{ FAULT_TSC_MSR_AHEAD, MSR_IA32_TSC, read_ahead, write_tsc_alone },
};

static const struct msr_fault *find(const struct vm *vm, u32 msr)
{
	for (size_t i = 0; i < ARRAY_SIZE(msr_faults); i++) {
		if (msr_faults[i].msr == msr && fault_is_on(vm, msr_faults[i].id))
			return &msr_faults[i];
	}
	return NULL;
}

/* ---- exits -------------------------------------------------------------------------------------- */

static void handle_read(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	const struct msr_fault *f = find(vcpu->vm, run->msr.index);
	u64 value = 0;

	run->msr.error = msr_get(vcpu, run->msr.index, &value) != 0;
	if (f && f->read && !run->msr.error)
		value = f->read(vcpu, value, fault_arg(vcpu->vm, f->id));
	run->msr.data = value;
}

static void handle_write(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	const struct msr_fault *f = find(vcpu->vm, run->msr.index);
	u64 value = run->msr.data;

	run->msr.error = 0;
	if (run->msr.index == MSR_IA32_TSC_DEADLINE)
		vcpu->arch.fault.deadline = value;
	if (fault_pvclock_write(vcpu, run->msr.index, value))
		return;
	if (f && f->write)
		f->write(vcpu, value, fault_arg(vcpu->vm, f->id));
	else
		run->msr.error = msr_set(vcpu, run->msr.index, value) != 0;
}

bool fault_arch_handle_exit(struct vcpu *vcpu)
{
	switch (vcpu->run->exit_reason) {
	case KVM_EXIT_X86_RDMSR:
		handle_read(vcpu);
		return true;
	case KVM_EXIT_X86_WRMSR:
		handle_write(vcpu);
		return true;
	case KVM_EXIT_DEBUG:
		fault_pvclock_step(vcpu);
		return true;
	default:
		return false;
	}
}

void fault_arch_at_exit(struct vcpu *vcpu)
{
	if (vcpu->arch.fault.held)
		arm_deadline(vcpu, vcpu->arch.fault.deadline);
	vcpu->arch.fault.held = false;
}

/* ---- the filter --------------------------------------------------------------------------------- */

/* One range of one MSR each; its bit says "not KVM's". */
static void deny(struct kvm_msr_filter *filter, size_t *n, u32 msr, u8 *denied)
{
	filter->ranges[(*n)++] = (struct kvm_msr_filter_range){
		.flags = KVM_MSR_FILTER_READ | KVM_MSR_FILTER_WRITE,
		.nmsrs = 1,
		.base = msr,
		.bitmap = denied,
	};
}

static int set_filter(struct vm *vm, struct kvm_msr_filter *filter, struct error *err)
{
	struct kvm_enable_cap cap = {
		.cap = KVM_CAP_X86_USER_SPACE_MSR,
		.args = { KVM_MSR_EXIT_REASON_FILTER },
	};

	if (ioctl(vm->fd, KVM_ENABLE_CAP, &cap) < 0)
		return error_set(err, "--fault: KVM_CAP_X86_USER_SPACE_MSR: %s", strerror(errno));
	if (ioctl(vm->fd, KVM_X86_SET_MSR_FILTER, filter) < 0)
		return error_set(err, "--fault: KVM_X86_SET_MSR_FILTER: %s", strerror(errno));
	return 0;
}

static int trap_msrs(struct vm *vm, struct error *err)
{
	static const u32 msrs[] = { MSR_IA32_TSC, MSR_IA32_TSC_ADJUST, MSR_IA32_TSC_DEADLINE };
	struct kvm_msr_filter filter = { .flags = KVM_MSR_FILTER_DEFAULT_ALLOW };
	u8 denied = 0;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(msrs); i++) {
		if (find(vm, msrs[i]))
			deny(&filter, &n, msrs[i], &denied);
	}
	if (fault_pvclock_is_on(vm)) {
		deny(&filter, &n, MSR_KVM_SYSTEM_TIME_NEW, &denied);
		deny(&filter, &n, MSR_KVM_SYSTEM_TIME, &denied);
	}
	return n ? set_filter(vm, &filter, err) : 0;
}

/* ---- a machine that begins with a fault --------------------------------------------------------- */

static int set_adjust_of_vcpu1(struct vm *vm, struct error *err)
{
	if (!fault_is_on(vm, FAULT_TSC_ADJUST_OF_VCPU1) || vm->nr_vcpus < 2)
		return 0;
	if (msr_set(&vm->vcpus[1], MSR_IA32_TSC_ADJUST, fault_arg(vm, FAULT_TSC_ADJUST_OF_VCPU1)))
		return error_set(err, "--fault: IA32_TSC_ADJUST takes no value");
	return 0;
}

static int skew_vcpu1(struct vm *vm, struct error *err)
{
	u64 offset;

	if (!fault_is_on(vm, FAULT_TSC_SKEW) || vm->nr_vcpus < 2)
		return 0;
	if (tsc_offset_get(&vm->vcpus[1], &offset) ||
	    tsc_offset_set(&vm->vcpus[1], offset + fault_arg(vm, FAULT_TSC_SKEW)))
		return error_set(err, "--fault: KVM_VCPU_TSC_OFFSET: %s", strerror(errno));
	return 0;
}

int fault_arch_make_vm(struct vm *vm, struct error *err)
{
	if (trap_msrs(vm, err) || set_adjust_of_vcpu1(vm, err) || skew_vcpu1(vm, err))
		return -1;
	return 0;
}
