// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmclock, the TSC and its deadline across save and restore, by each method of clock_rule.h.
 *
 * value: KVM_SET_CLOCK and KVM_SET_MSRS of IA32_TSC take what was read at the save. KVM makes an
 * offset of it by the host's TSC of the moment of the call, so what passes between computing and
 * setting is lost to the guest; and what comes within a second of an earlier value KVM takes for an
 * attempt at the same one (arch/x86/kvm/x86.c, kvm_synchronize_tsc).
 *
 * offset: every vCPU's KVM_VCPU_TSC_OFFSET as it was, less the host's ticks that the guest is not to
 * see. With account realtime there are none, and nothing is computed at all.
 *
 * sequence: Documentation/virt/kvm/devices/vcpu.rst, 4.1: kvmclock is set first, then read together
 * with the host's TSC, and the offset moved so that the TSC is where kvmclock says.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"

#define KHZ_PER_GHZ 1000000

struct saved_clock {
	struct kvm_clock_data clock;
	u64 tsc_khz;
};

struct saved_tsc {
	u64 value;
	u64 offset;
	u64 has_offset;
};

static bool has_pair(const struct kvm_clock_data *clock)
{
	return clock->flags & KVM_CLOCK_HOST_TSC && clock->flags & KVM_CLOCK_REALTIME;
}

/* ---- TSC offsets -------------------------------------------------------------------------------- */

static int tsc_offset_ioctl(struct vcpu *vcpu, unsigned long request, u64 *offset)
{
	struct kvm_device_attr attr = {
		.group = KVM_VCPU_TSC_CTRL,
		.attr = KVM_VCPU_TSC_OFFSET,
		.addr = (uintptr_t)offset,
	};

	return ioctl(vcpu->fd, request, &attr);
}

int tsc_offset_get(struct vcpu *vcpu, u64 *offset)
{
	return tsc_offset_ioctl(vcpu, KVM_GET_DEVICE_ATTR, offset);
}

int tsc_offset_set(struct vcpu *vcpu, u64 offset)
{
	return tsc_offset_ioctl(vcpu, KVM_SET_DEVICE_ATTR, &offset);
}

/* ---- kvmclock, and what it decides for the TSC -------------------------------------------------- */

int clock_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
	       struct error *err)
{
	struct saved_clock saved;

	memset(&saved, 0, sizeof(saved));
	saved.tsc_khz = vm->arch.tsc_khz;
	if (ioctl(vm->fd, KVM_GET_CLOCK, &saved.clock) < 0)
		return error_set(err, "%s", strerror(errno));
	state_add(out, name, STATE_OF_VM, &saved, sizeof(saved));
	return 0;
}

static int get_kvmclock(struct vm *vm, struct kvm_clock_data *clock, struct error *err)
{
	memset(clock, 0, sizeof(*clock));
	if (ioctl(vm->fd, KVM_GET_CLOCK, clock) < 0)
		return error_set(err, "KVM_GET_CLOCK: %s", strerror(errno));
	return 0;
}

static int set_kvmclock(struct vm *vm, const struct clock_rule *rule,
			const struct kvm_clock_data *clock, struct error *err)
{
	clock_rule_preempt(rule);
	if (ioctl(vm->fd, KVM_SET_CLOCK, clock) < 0)
		return error_set(err, "KVM_SET_CLOCK: %s", strerror(errno));
	return 0;
}

/* The stop's length by the wall clock, as far as the guest is to see it. */
static u64 visible_ns(struct vm *vm, const struct clock_rule *rule)
{
	u64 elapsed_ns = host_clock_elapsed_ns(&vm->saved_host, stamp_now().realtime_ns);

	return clock_rule_visible(rule, elapsed_ns, rule->limit_ns);
}

static int restore_by_value(struct vm *vm, const struct clock_rule *rule,
			    const struct saved_clock *saved, struct error *err)
{
	u64 visible = visible_ns(vm, rule);
	struct kvm_clock_data clock = { .clock = saved->clock.clock + visible };

	vm->arch.tsc_shift = scale(visible, saved->tsc_khz, KHZ_PER_GHZ);
	return set_kvmclock(vm, rule, &clock, err);
}

/*
 * Where all of the stop counts, KVM adds it itself, by the wall clock of the instant of the call, so
 * that no time is lost on the way.
 */
static int set_kvmclock_by_account(struct vm *vm, const struct clock_rule *rule,
				   const struct saved_clock *saved, struct error *err)
{
	struct kvm_clock_data clock = { .clock = saved->clock.clock };

	if (rule->account == ACCOUNT_REALTIME && saved->clock.flags & KVM_CLOCK_REALTIME) {
		clock.flags = KVM_CLOCK_REALTIME;
		clock.realtime = saved->clock.realtime;
	} else {
		clock.clock += visible_ns(vm, rule);
	}
	return set_kvmclock(vm, rule, &clock, err);
}

static int restore_by_offset(struct vm *vm, const struct clock_rule *rule,
			     const struct saved_clock *saved, struct error *err)
{
	const struct host_clock *then = &vm->saved_host;
	u64 saved_tsc = has_pair(&saved->clock) ? saved->clock.host_tsc : then->pair.counter;
	u64 elapsed, limit = scale(rule->limit_ns, saved->tsc_khz, KHZ_PER_GHZ);

	if (set_kvmclock_by_account(vm, rule, saved, err))
		return -1;
	elapsed = host_counter() - saved_tsc;
	vm->arch.tsc_shift = clock_rule_visible(rule, elapsed, limit) - elapsed;
	return 0;
}

static const char no_pair[] =
	"KVM_GET_CLOCK has no pair of clock and host TSC (KVM_CLOCK_HOST_TSC): the host's "
	"clocksource is not the TSC, or the guest has used no kvmclock yet";

static int restore_by_sequence(struct vm *vm, const struct clock_rule *rule,
			       const struct saved_clock *saved, struct error *err)
{
	const struct kvm_clock_data *from = &saved->clock;
	struct kvm_clock_data now;

	if (!has_pair(from))
		return error_set(err, "sequence, at the save: %s", no_pair);
	if (set_kvmclock_by_account(vm, rule, saved, err) || get_kvmclock(vm, &now, err))
		return -1;
	if (!has_pair(&now))
		return error_set(err, "sequence: %s", no_pair);
	vm->arch.tsc_shift = scale(now.clock - from->clock, saved->tsc_khz, KHZ_PER_GHZ) +
			     (s64)(from->host_tsc - now.host_tsc);
	return 0;
}

/* Before a machine is saved; what makes it one for another host is looked at there. */
int arch_check_restorable(struct vm *vm, struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);
	struct kvm_clock_data now;

	if (rule.method == RESTORE_VALUE)
		return 0;
	if (!vm->arch.has_tsc_offset)
		return error_unsupported(err,
					 "restore by %s: this KVM has no KVM_VCPU_TSC_OFFSET "
					 "(Linux 5.16)",
					 restore_method_name(rule.method));
	if (rule.method == RESTORE_OFFSET)
		return 0;
	if (get_kvmclock(vm, &now, err))
		return -1;
	return has_pair(&now) ? 0 : error_unsupported(err, "restore by sequence: %s", no_pair);
}

/* Offsets are in the guest's ticks and host_counter() in the host's. */
static int check_offset_method(struct vm *vm, const struct clock_rule *rule,
			       const struct saved_clock *saved, struct error *err)
{
	if (!vm->arch.has_tsc_offset)
		return error_set(err, "%s: this KVM has no KVM_VCPU_TSC_OFFSET (Linux 5.16)",
				 restore_method_name(rule->method));
	if (rule->method == RESTORE_OFFSET && !vm->resetting &&
	    !host_clock_same_boot(&vm->saved_host))
		return error_set(err, "offset: saved on another host, or before it was booted "
				      "anew: its counter is another; sequence and value go");
	return 0;
}

int clock_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		  struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);
	struct saved_clock saved;

	if (state_check_size(item, sizeof(saved), err))
		return -1;
	memcpy(&saved, item->data, sizeof(saved));
	vm->clocks_at = stamp_now();
	if (rule.method == RESTORE_VALUE || (vm->resetting && !vm->arch.has_tsc_offset))
		return restore_by_value(vm, &rule, &saved, err);
	if (check_offset_method(vm, &rule, &saved, err))
		return -1;
	if (rule.method == RESTORE_SEQUENCE)
		return restore_by_sequence(vm, &rule, &saved, err);
	return restore_by_offset(vm, &rule, &saved, err);
}

/* ---- the TSC ------------------------------------------------------------------------------------ */

int tsc_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
	     struct error *err)
{
	struct saved_tsc saved = { .has_offset = vm->arch.has_tsc_offset };

	if (msr_get(vcpu, MSR_IA32_TSC, &saved.value))
		return error_set(err, "IA32_TSC cannot be read");
	if (saved.has_offset && tsc_offset_get(vcpu, &saved.offset) < 0)
		return error_set(err, "its offset: %s", strerror(errno));
	state_add(out, name, vcpu->index, &saved, sizeof(saved));
	return 0;
}

int tsc_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item, struct error *err)
{
	struct clock_rule rule = vm_clock_rule(vm);
	struct saved_tsc saved;

	if (state_check_size(item, sizeof(saved), err))
		return -1;
	memcpy(&saved, item->data, sizeof(saved));
	clock_rule_preempt(&rule);
	if (rule.method == RESTORE_VALUE || (vm->resetting && !saved.has_offset)) {
		if (msr_set(vcpu, MSR_IA32_TSC, saved.value + vm->arch.tsc_shift))
			return error_set(err, "IA32_TSC cannot be written");
		return 0;
	}
	if (!saved.has_offset)
		return error_set(err, "it was saved by a KVM without KVM_VCPU_TSC_OFFSET");
	if (tsc_offset_set(vcpu, saved.offset + vm->arch.tsc_shift) < 0)
		return error_set(err, "its offset: %s", strerror(errno));
	return 0;
}

/* ---- the deadline ------------------------------------------------------------------------------- */

int deadline_save(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		  struct error *err)
{
	u64 value;

	if (!msr_get(vcpu, MSR_IA32_TSC_DEADLINE, &value))
		state_add(out, name, vcpu->index, &value, sizeof(value));
	return 0;
}

int deadline_restore(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		     struct error *err)
{
	u64 value;

	if (state_check_size(item, sizeof(value), err))
		return -1;
	memcpy(&value, item->data, sizeof(value));
	if (msr_set(vcpu, MSR_IA32_TSC_DEADLINE, value))
		return error_set(err, "IA32_TSC_DEADLINE does not take 0x%llx",
				 (unsigned long long)value);
	return 0;
}
