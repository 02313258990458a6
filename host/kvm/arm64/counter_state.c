// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters across save and restore, by each method of clock_rule.h. They belong to the VM, not to
 * a vCPU: since Linux 6.4 in name, before that by way of one write reaching all vCPUs
 * (arch/arm64/kvm/arch_timer.c). So they are written once, through vCPU 0.
 *
 * value: KVM_REG_ARM_TIMER_CNT and KVM_REG_ARM_PTIMER_CNT take what was read at the save. KVM makes
 * offsets of them by the host's counter of the moment of the call, so what passes between computing
 * and setting is lost to the guest, and to each counter by another amount.
 *
 * offset, sequence: KVM_ARM_SET_COUNTER_OFFSET (api.rst, 4.137) sets one offset for both counters,
 * after which KVM ignores writes to either. A machine that is to be restored by it has to be made with
 * it, since KVM's own offsets differ from each other and cannot be read. Here it is made with 0,
 * where the physical counter need not be trapped: any other has KVM trap it on CPUs without FEAT_ECV.
 * offset carries the number; sequence computes it anew from pairs of the host's wall clock and its
 * counter, so that it holds on another host as well.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"

#define NS_PER_S 1000000000

struct saved_counters {
	u64 virtual_ticks;
	u64 physical_ticks; /* 0 where it cannot be set */
	u64 offset;	    /* VM-wide, where offset_in_force */
	u64 offset_in_force;
	u64 hz;
};

/* The counters that a VM has are its host's less offset. */
int counters_set_offset(struct vm *vm, u64 offset, struct error *err)
{
	struct kvm_arm_counter_offset argument = { .counter_offset = offset };

	if (!vm->arch.has_counter_offset)
		return error_set(err, "this KVM has no KVM_CAP_COUNTER_OFFSET (Linux 6.4)");
	if (ioctl(vm->fd, KVM_ARM_SET_COUNTER_OFFSET, &argument) < 0)
		return error_set(err, "KVM_ARM_SET_COUNTER_OFFSET: %s", strerror(errno));
	vm->arch.offset_in_force = true;
	vm->arch.counter_offset = offset;
	return 0;
}

static bool by_offset(const struct clock_rule *rule)
{
	return rule->method == RESTORE_OFFSET || rule->method == RESTORE_SEQUENCE;
}

int counters_create(struct vm *vm, struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);

	if (vm->options->counter_offset)
		return counters_set_offset(vm, vm->options->counter_offset, err);
	/* Without: arch_check_restorable() tells who wants to save it. */
	if (!by_offset(&rule) || !vm->arch.has_counter_offset)
		return 0;
	return counters_set_offset(vm, 0, err);
}

/*
 * Before Linux 6.4 the physical counter is the host's and takes no value. Nobody having asked for it
 * to stand still, it runs on and the virtual counter does not.
 */
static int check_physical_counter(struct vm *vm, struct error *err)
{
	enum restore_account account = vm->options->clock_rule.account;

	if (vm->arch.has_counter_offset || account == ACCOUNT_DEFAULT ||
	    account == ACCOUNT_REALTIME)
		return 0;
	return error_unsupported(err,
				 "the guest's physical counter cannot be set: this KVM has no "
				 "KVM_CAP_COUNTER_OFFSET (Linux 6.4); account realtime lets it "
				 "run on");
}

int arch_check_restorable(struct vm *vm, struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);

	if (!by_offset(&rule))
		return check_physical_counter(vm, err);
	if (vm->arch.offset_in_force)
		return 0;
	return error_unsupported(
		err, "restore by %s: this KVM has no KVM_CAP_COUNTER_OFFSET (Linux 6.4)",
		restore_method_name(rule.method));
}

int counters_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		  struct error *err)
{
	struct saved_counters saved = {
		.offset = vm->arch.counter_offset,
		.offset_in_force = vm->arch.offset_in_force,
		.hz = host_counter_hz(),
	};

	if (register_get(&vm->vcpus[0], KVM_REG_ARM_TIMER_CNT, &saved.virtual_ticks) < 0)
		return error_set(err, "KVM_REG_ARM_TIMER_CNT: %s", strerror(errno));
	if (vm->arch.has_counter_offset &&
	    register_get(&vm->vcpus[0], KVM_REG_ARM_PTIMER_CNT, &saved.physical_ticks) < 0)
		return error_set(err, "KVM_REG_ARM_PTIMER_CNT: %s", strerror(errno));
	state_add(out, name, STATE_OF_VM, &saved, sizeof(saved));
	return 0;
}

/* ---- by value ----------------------------------------------------------------------------------- */

static int set_counter(struct vm *vm, const struct clock_rule *rule, u64 id, u64 ticks,
		       const char *name, struct error *err)
{
	clock_rule_preempt(rule);
	if (register_set(&vm->vcpus[0], id, &ticks) < 0)
		return error_set(err, "%s: %s", name, strerror(errno));
	return 0;
}

static u64 visible_ticks(struct vm *vm, const struct clock_rule *rule, u64 hz)
{
	u64 elapsed_ns = host_clock_elapsed_ns(&vm->saved_host, stamp_now().realtime_ns);

	return scale(clock_rule_visible(rule, elapsed_ns, rule->limit_ns), hz, NS_PER_S);
}

static int restore_by_value(struct vm *vm, const struct clock_rule *rule,
			    const struct saved_counters *saved, struct error *err)
{
	u64 visible = visible_ticks(vm, rule, saved->hz);

	if (check_physical_counter(vm, err))
		return -1;
	if (vm->arch.has_counter_offset && saved->physical_ticks &&
	    set_counter(vm, rule, KVM_REG_ARM_PTIMER_CNT, saved->physical_ticks + visible,
			"KVM_REG_ARM_PTIMER_CNT", err))
		return -1;
	return set_counter(vm, rule, KVM_REG_ARM_TIMER_CNT, saved->virtual_ticks + visible,
			   "KVM_REG_ARM_TIMER_CNT", err);
}

/* ---- by offset ---------------------------------------------------------------------------------- */

static int check_offset_method(struct vm *vm, const struct clock_rule *rule,
			       const struct saved_counters *saved, struct error *err)
{
	if (!saved->offset_in_force)
		return error_set(
			err,
			"%s: this was saved of a machine without a VM-wide counter offset, "
			"which only one started with --restore-method %s has",
			restore_method_name(rule->method), restore_method_name(rule->method));
	if (rule->method == RESTORE_OFFSET && !host_clock_same_boot(&vm->saved_host))
		return error_set(err, "offset: saved on another host, or before it was booted "
				      "anew: its counter is another; sequence and value go");
	return 0;
}

/* How far the host's counter went without the guest's. */
static u64 hidden_ticks(const struct clock_rule *rule, u64 elapsed_ticks, u64 hz)
{
	u64 limit_ticks = scale(rule->limit_ns, hz, NS_PER_S);

	return elapsed_ticks - clock_rule_visible(rule, elapsed_ticks, limit_ticks);
}

/* The host's counter now less what the guest's is to be, by the wall clock. */
static u64 offset_by_sequence(struct vm *vm, const struct clock_rule *rule,
			      const struct saved_counters *saved)
{
	const struct counter_pair *then = &vm->saved_host.pair;
	struct counter_pair now = counter_pair_now();
	u64 elapsed_ns = host_clock_elapsed_ns(&vm->saved_host, now.realtime_ns);
	u64 visible_ns = clock_rule_visible(rule, elapsed_ns, rule->limit_ns);

	return saved->offset + (now.counter - then->counter) -
	       scale(visible_ns, saved->hz, NS_PER_S);
}

static int restore_by_offset(struct vm *vm, const struct clock_rule *rule,
			     const struct saved_counters *saved, struct error *err)
{
	u64 offset = saved->offset;

	if (check_offset_method(vm, rule, saved, err))
		return -1;
	if (rule->method == RESTORE_SEQUENCE)
		offset = offset_by_sequence(vm, rule, saved);
	else
		offset +=
			hidden_ticks(rule, host_counter() - vm->saved_host.pair.counter, saved->hz);
	clock_rule_preempt(rule);
	return counters_set_offset(vm, offset, err);
}

/* ------------------------------------------------------------------------------------------------- */

/*
 * A reset leaves the physical counter alone: with an offset of 0 the guest reads the counter itself,
 * with any other one KVM has to trap it. With a VM-wide offset both stay.
 */
static int reset_counters(struct vm *vm, const struct saved_counters *saved, struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);

	if (vm->arch.offset_in_force)
		return 0;
	return set_counter(vm, &rule, KVM_REG_ARM_TIMER_CNT, saved->virtual_ticks,
			   "KVM_REG_ARM_TIMER_CNT", err);
}

int counters_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		     struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);
	struct saved_counters saved;

	if (state_check_size(item, sizeof(saved), err))
		return -1;
	memcpy(&saved, item->data, sizeof(saved));
	vm->clocks_at = stamp_now();
	if (vm->resetting)
		return reset_counters(vm, &saved, err);
	if (saved.hz != host_counter_hz())
		return error_set(err, "they counted at %llu Hz, this host's counts at %llu",
				 (unsigned long long)saved.hz,
				 (unsigned long long)host_counter_hz());
	return by_offset(&rule) ? restore_by_offset(vm, &rule, &saved, err)
				: restore_by_value(vm, &rule, &saved, err);
}
