/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The seams at which faults on purpose take hold, one call each in the plain VMM. Without --fault they
 * come back at once.
 */
#ifndef KVM_FAULT_HOOKS_H
#define KVM_FAULT_HOOKS_H

#include "kvm/fault.h"
#include "kvm/vm.h"
#include "util/loop.h"

static inline bool fault_is_on(const struct vm *vm, enum fault_id id)
{
	return vm->options->faults && vm->options->faults->on[id];
}

static inline s64 fault_arg(const struct vm *vm, enum fault_id id)
{
	return vm->options->faults->arg[id];
}

/* ---- while the guest runs: fault.c -------------------------------------------------------------- */

/* What a fault that strikes again and again may want to know and keep. */
struct fault_run {
	u64 strikes;	   /* before this one */
	u64 first_counter; /* the host's counter at the first of them */
	s64 applied;	   /* the fault's own */
};

/*
 * All vCPUs are stopped at random instants, half of period_ns to one and a half after one another,
 * strike() is called with the fault's argument, and they go on.
 */
struct fault_event {
	enum fault_id id;
	u64 period_ns;
	void (*strike)(struct vm *vm, s64 arg, struct fault_run *run);
};

extern const struct fault_event fault_arch_events[];
extern const size_t fault_arch_nr_events;

/* From now on they come, by this loop. */
void fault_start(struct vm *vm, struct loop *loop);
void fault_free(struct vm *vm);

/* ---- at exits ----------------------------------------------------------------------------------- */

void fault_at_exit(struct vcpu *vcpu);
void fault_arch_at_exit(struct vcpu *vcpu);
bool fault_arch_handle_exit(struct vcpu *vcpu);

/* KVM_RUN has returned for the VMM to do something. */
static inline void fault_exit(struct vcpu *vcpu)
{
	if (vcpu->vm->options->faults)
		fault_at_exit(vcpu);
}

/* An exit that only a fault has asked for? */
static inline bool fault_handle_exit(struct vcpu *vcpu)
{
	return vcpu->vm->options->faults && fault_arch_handle_exit(vcpu);
}

/* ---- when the machine is built ------------------------------------------------------------------ */

int fault_arch_vm_created(struct vm *vm, struct error *err);

/* It is complete and has not run. */
static inline int fault_vm_created(struct vm *vm, struct error *err)
{
	return vm->options->faults ? fault_arch_vm_created(vm, err) : 0;
}

#if defined(__x86_64__)
/* x86/fault_cpuid.c: what is to be the vCPU's CPUID. */
void fault_cpuid(const struct vcpu *vcpu, struct kvm_cpuid2 *cpuid);

/* x86/fault_msr.c: the local APIC's timer interrupts once, whatever it is programmed for. */
void fault_timer_interrupt(struct vcpu *vcpu);

/*
 * x86/fault_pvclock.c: is any of its faults on; the guest wrote an MSR (false: none of kvmclock's
 * page); the vCPU has been stepped, as that asked for.
 */
bool fault_pvclock_is_on(const struct vm *vm);
bool fault_pvclock_write(struct vcpu *vcpu, u32 msr, u64 value);
void fault_pvclock_step(struct vcpu *vcpu);
#else
/* arm64/fault_devicetree.c: the finished devicetree, in size bytes. */
int fault_devicetree(const struct vm *vm, void *fdt, size_t size, struct error *err);
#endif

#endif
