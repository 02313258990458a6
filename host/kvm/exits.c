// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What KVM_RUN returns for (Documentation/virt/kvm/api.rst, 5): I/O goes to its device, the end of
 * the machine to the main thread, everything else to the architecture or, with all that is known, to
 * the user.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "kvm/fault_hooks.h"

/* include/uapi/linux/kvm.h */
static const char *const reason_names[] = {
	[KVM_EXIT_UNKNOWN] = "UNKNOWN",
	[KVM_EXIT_EXCEPTION] = "EXCEPTION",
	[KVM_EXIT_IO] = "IO",
	[KVM_EXIT_HYPERCALL] = "HYPERCALL",
	[KVM_EXIT_DEBUG] = "DEBUG",
	[KVM_EXIT_HLT] = "HLT",
	[KVM_EXIT_MMIO] = "MMIO",
	[KVM_EXIT_IRQ_WINDOW_OPEN] = "IRQ_WINDOW_OPEN",
	[KVM_EXIT_SHUTDOWN] = "SHUTDOWN",
	[KVM_EXIT_FAIL_ENTRY] = "FAIL_ENTRY",
	[KVM_EXIT_INTR] = "INTR",
	[KVM_EXIT_SET_TPR] = "SET_TPR",
	[KVM_EXIT_TPR_ACCESS] = "TPR_ACCESS",
	[KVM_EXIT_NMI] = "NMI",
	[KVM_EXIT_INTERNAL_ERROR] = "INTERNAL_ERROR",
	[KVM_EXIT_SYSTEM_EVENT] = "SYSTEM_EVENT",
	[KVM_EXIT_IOAPIC_EOI] = "IOAPIC_EOI",
	[KVM_EXIT_HYPERV] = "HYPERV",
	[KVM_EXIT_ARM_NISV] = "ARM_NISV",
	[KVM_EXIT_X86_RDMSR] = "X86_RDMSR",
	[KVM_EXIT_X86_WRMSR] = "X86_WRMSR",
	[KVM_EXIT_DIRTY_RING_FULL] = "DIRTY_RING_FULL",
	[KVM_EXIT_X86_BUS_LOCK] = "X86_BUS_LOCK",
	[KVM_EXIT_NOTIFY] = "NOTIFY",
};

const char *exit_reason_name(u32 reason)
{
	if (reason < ARRAY_SIZE(reason_names) && reason_names[reason])
		return reason_names[reason];
	return "unknown to this VMM";
}

void vcpu_error(struct vcpu *vcpu, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list args;

	text_printf(&t, "vCPU %u: ", vcpu->index);
	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	text_append_char(&t, '\n');
	arch_dump_registers(vcpu, &t);
	vm_ended(vcpu->vm, VM_ERROR, 0, "%s", text_string(&t));
	text_free(&t);
}

static void handle_mmio(struct vcpu *vcpu)
{
	struct kvm_run *run = vcpu->run;
	u64 address = run->mmio.phys_addr;
	struct device *d = bus_find(&vcpu->vm->mmio, address, run->mmio.len);

	if (!d) {
		vcpu_error(vcpu, "%s of %u bytes at 0x%llx, where this machine has nothing",
			   run->mmio.is_write ? "write" : "read", run->mmio.len,
			   (unsigned long long)address);
		return;
	}
	pthread_mutex_lock(&vcpu->vm->device_lock);
	if (run->mmio.is_write)
		device_write(vcpu, d, address, run->mmio.data, run->mmio.len);
	else
		device_read(vcpu, d, address, run->mmio.data, run->mmio.len);
	pthread_mutex_unlock(&vcpu->vm->device_lock);
}

static void handle_system_event(struct vcpu *vcpu)
{
	u32 type = vcpu->run->system_event.type;

	switch (type) {
	case KVM_SYSTEM_EVENT_SHUTDOWN:
		vm_ended(vcpu->vm, VM_POWEROFF, 0, "%s", "");
		break;
	case KVM_SYSTEM_EVENT_RESET:
		vm_ended(vcpu->vm, VM_RESET, 0, "%s", "");
		break;
	case KVM_SYSTEM_EVENT_CRASH:
		vm_ended(vcpu->vm, VM_PANICKED, 0, "the guest reported a crash to KVM");
		break;
	default:
		vcpu_error(vcpu, "system event %u, which this VMM does not know", type);
	}
}

static void report_fail_entry(struct vcpu *vcpu)
{
	vcpu_error(vcpu,
		   "the CPU refused to enter the guest: hardware_entry_failure_reason 0x%llx on "
		   "host CPU %u",
		   (unsigned long long)vcpu->run->fail_entry.hardware_entry_failure_reason,
		   vcpu->run->fail_entry.cpu);
}

static const char *suberror_name(u32 suberror)
{
	switch (suberror) {
	case KVM_INTERNAL_ERROR_EMULATION:
		return "an instruction that KVM cannot emulate";
	case KVM_INTERNAL_ERROR_SIMUL_EX:
		return "an exception while another was delivered";
	case KVM_INTERNAL_ERROR_DELIVERY_EV:
		return "an exit while an event was delivered";
	case KVM_INTERNAL_ERROR_UNEXPECTED_EXIT_REASON:
		return "an exit reason that KVM does not know";
	default:
		return "unknown to this VMM";
	}
}

static void report_internal_error(struct vcpu *vcpu)
{
	const struct kvm_run *run = vcpu->run;
	size_t n = MIN(run->internal.ndata, (u32)ARRAY_SIZE(run->internal.data));
	struct text t = { 0 };

	for (size_t i = 0; i < n; i++)
		text_printf(&t, " 0x%llx", (unsigned long long)run->internal.data[i]);
	vcpu_error(vcpu, "KVM internal error %u (%s), data:%s", run->internal.suberror,
		   suberror_name(run->internal.suberror), n ? text_string(&t) : " none");
	text_free(&t);
}

static void count_exit(struct vcpu *vcpu, u32 reason)
{
	if (reason < EXIT_REASONS_MAX)
		vcpu->stats.exits[reason]++;
	else
		vcpu->stats.other_exits++;
}

void vcpu_handle_exit(struct vcpu *vcpu)
{
	u32 reason = vcpu->run->exit_reason;

	count_exit(vcpu, reason);
	fault_exit(vcpu);
	switch (reason) {
	case KVM_EXIT_MMIO:
		handle_mmio(vcpu);
		break;
	case KVM_EXIT_INTR:
		break;
	case KVM_EXIT_SYSTEM_EVENT:
		handle_system_event(vcpu);
		break;
	case KVM_EXIT_FAIL_ENTRY:
		report_fail_entry(vcpu);
		break;
	case KVM_EXIT_INTERNAL_ERROR:
		report_internal_error(vcpu);
		break;
	default:
		if (!arch_handle_exit(vcpu) && !fault_handle_exit(vcpu))
			vcpu_error(vcpu, "exit reason %u (%s), which this VMM does not handle",
				   reason, exit_reason_name(reason));
	}
}
