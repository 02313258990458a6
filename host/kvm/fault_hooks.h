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

/* What a machine's faults keep of it. */
struct fault_data {
	struct fault_event_run **events;
	size_t nr_events;
	struct state late;    /* what is to be restored when the vCPUs run */
	u64 restores;	      /* that the machine has behind it, this one included */
	bool restoring;	      /* one is under way */
	bool young;	      /* the guest was younger than a second when it was saved */
	u64 stopped_at_ticks; /* the host's counter when the vCPUs were stopped */
};

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

int fault_make_vm(struct vm *vm, struct error *err);
int fault_arch_make_vm(struct vm *vm, struct error *err);

/* It is complete and has not run. */
static inline int fault_vm_created(struct vm *vm, struct error *err)
{
	return vm->options->faults ? fault_make_vm(vm, err) : 0;
}

/* ---- at save, restore, pause and reset: fault_state.c ------------------------------------------- */

/* A step that a fault leaves out of a restore, or of a reset. */
struct fault_left_out {
	enum fault_id id;
	const char *step;
	bool reset;	/* of a reset, else of a restore */
	bool not_vcpu0; /* of all vCPUs but the first, so that there is one to tell of it */
	bool only_young;
};

extern const struct fault_left_out fault_arch_left_out[];
extern const size_t fault_arch_nr_left_out;

/* The second step, as they are in the table, comes before the first. */
struct fault_order {
	enum fault_id id;
	const char *first, *second;
};

extern const struct fault_order fault_arch_orders[];
extern const size_t fault_arch_nr_orders;

/* A step of the VM that is left out and made up for when the vCPUs have run for a while. */
struct fault_late {
	enum fault_id id; /* its argument: that many ms */
	const char *step;
};

extern const struct fault_late fault_arch_late;
int fault_restore_late(struct vm *vm, struct error *err);

/* Is the guest in this state younger than a second? */
bool fault_arch_is_young(const struct vm *vm, const struct state *s);
void fault_arch_restored(struct vm *vm, const struct state *s);
void fault_arch_was_reset(struct vm *vm);
/* The vCPUs stood still for so long, by the host's counter, and are about to run. */
void fault_arch_going_on(struct vm *vm, u64 ticks);

bool fault_skips(struct vm *vm, const struct vcpu *vcpu, const char *step);
const struct state_step *fault_step_at(const struct vm *vm, size_t index);
void fault_at_save(struct vm *vm, struct state *s);
void fault_before_restore(struct vm *vm, const struct state *s);
void fault_after_restore(struct vm *vm, const struct state *s);

/* A step of a restore or reset is left out? vcpu is NULL for the VM. */
static inline bool fault_leaves_out(struct vm *vm, const struct vcpu *vcpu, const char *step)
{
	return vm->options->faults && fault_skips(vm, vcpu, step);
}

/* Which step is the index-th of a restore. */
static inline const struct state_step *fault_step(const struct vm *vm, size_t index)
{
	return vm->options->faults ? fault_step_at(vm, index) : &arch_state_steps[index];
}

static inline void fault_saved(struct vm *vm, struct state *s)
{
	if (vm->options->faults)
		fault_at_save(vm, s);
}

static inline void fault_restoring(struct vm *vm, const struct state *s)
{
	if (vm->options->faults)
		fault_before_restore(vm, s);
}

static inline void fault_restored(struct vm *vm, const struct state *s)
{
	if (vm->options->faults)
		fault_after_restore(vm, s);
}

static inline void fault_was_reset(struct vm *vm)
{
	if (vm->options->faults)
		fault_arch_was_reset(vm);
}

static inline void fault_stopped(struct vm *vm)
{
	if (vm->options->faults)
		vm->fault_data->stopped_at_ticks = host_counter();
}

static inline void fault_going_on(struct vm *vm)
{
	if (vm->options->faults)
		fault_arch_going_on(vm, host_counter() - vm->fault_data->stopped_at_ticks);
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
