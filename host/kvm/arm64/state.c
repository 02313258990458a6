// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of the arm64 machine, step by step. The GIC comes after the vCPUs' registers. The counters
 * are the last: KVM keeps them as offsets from the host's counter and is given values, so time that
 * passes after they are written is time that the guest sees.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"
#include "util/memory.h"

#define REGISTERS_MAX 2048
/* Without SVE none is wider than a vector register. */
#define REGISTER_BYTES_MAX 16

struct saved_register {
	u64 id;
	u8 data[REGISTER_BYTES_MAX];
};

static size_t register_bytes(u64 id)
{
	return 1u << ((id & KVM_REG_SIZE_MASK) >> KVM_REG_SIZE_SHIFT);
}

/* Into the list of registers: not the counters, which have their own step. */
static bool belongs(u64 id)
{
	return id != KVM_REG_ARM_TIMER_CNT && id != KVM_REG_ARM_PTIMER_CNT &&
	       register_bytes(id) <= REGISTER_BYTES_MAX;
}

/* ---- registers ---------------------------------------------------------------------------------- */

int state_find_registers(struct vm *vm, struct error *err)
{
	struct kvm_reg_list *list = memory_zalloc(sizeof(*list) + REGISTERS_MAX * sizeof(u64));
	struct vcpu *vcpu = &vm->vcpus[0];

	list->n = REGISTERS_MAX;
	if (ioctl(vcpu->fd, KVM_GET_REG_LIST, list) < 0) {
		free(list);
		return error_set(err, "KVM_GET_REG_LIST: %s", strerror(errno));
	}
	vm->arch.registers = memory_zalloc(REGISTERS_MAX * sizeof(u64));
	for (u64 i = 0; i < list->n; i++) {
		if (belongs(list->reg[i]))
			vm->arch.registers[vm->arch.nr_registers++] = list->reg[i];
	}
	free(list);
	return 0;
}

static int save_registers(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
			  struct error *err)
{
	size_t n = vm->arch.nr_registers;
	struct saved_register *saved = memory_zalloc(n * sizeof(*saved));
	int result = 0;

	for (size_t i = 0; i < n && !result; i++) {
		saved[i].id = vm->arch.registers[i];
		if (register_get(vcpu, saved[i].id, saved[i].data) < 0)
			result = error_set(err, "register 0x%llx: %s",
					   (unsigned long long)saved[i].id, strerror(errno));
	}
	if (!result)
		state_add(out, name, vcpu->index, saved, n * sizeof(*saved));
	free(saved);
	return result;
}

/* Some registers, such as what tells of the CPU's features, take no value, not even their own. */
static bool has_value(struct vcpu *vcpu, const struct saved_register *saved)
{
	u8 value[REGISTER_BYTES_MAX];

	return !register_get(vcpu, saved->id, value) &&
	       !memcmp(value, saved->data, register_bytes(saved->id));
}

static int restore_register(struct vcpu *vcpu, const struct saved_register *saved,
			    struct error *err)
{
	int code;

	if (!belongs(saved->id))
		return error_set(err, "register 0x%llx does not belong into it",
				 (unsigned long long)saved->id);
	if (register_set(vcpu, saved->id, saved->data) == 0)
		return 0;
	code = errno;
	if (has_value(vcpu, saved))
		return 0;
	return error_set(err, "register 0x%llx: %s", (unsigned long long)saved->id, strerror(code));
}

static int restore_registers(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
			     struct error *err)
{
	const struct saved_register *saved = item->data;
	size_t n = item->size / sizeof(*saved);

	if (item->size % sizeof(*saved))
		return error_set(err, "%u bytes are no list of registers", item->size);
	for (size_t i = 0; i < n; i++) {
		if (restore_register(vcpu, &saved[i], err))
			return -1;
	}
	return 0;
}

/* ------------------------------------------------------------------------------------------------- */

/* A pending SError; KVM has the ioctl where KVM_CAP_VCPU_EVENTS. */
static int save_events(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		       struct error *err)
{
	struct kvm_vcpu_events events;

	memset(&events, 0, sizeof(events));
	if (!vm_capability(vm, KVM_CAP_VCPU_EVENTS))
		return 0;
	if (ioctl(vcpu->fd, KVM_GET_VCPU_EVENTS, &events) < 0)
		return error_set(err, "%s", strerror(errno));
	state_add(out, name, vcpu->index, &events, sizeof(events));
	return 0;
}

static int restore_events(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
			  struct error *err)
{
	if (state_check_size(item, sizeof(struct kvm_vcpu_events), err))
		return -1;
	if (ioctl(vcpu->fd, KVM_SET_VCPU_EVENTS, item->data) < 0)
		return error_set(err, "%s", strerror(errno));
	return 0;
}

const struct state_step arch_state_steps[] = {
	{ "host", .of_vm = true, .at_pause = true, .save = host_clock_save,
	  .restore = host_clock_restore },
	{ "devices", .of_vm = true, .save = devices_save, .restore = devices_restore },
	{ "registers", .save = save_registers, .restore = restore_registers },
	{ "events", .optional = true, .save = save_events, .restore = restore_events },
	{ "mp-state", .get = KVM_GET_MP_STATE, .set = KVM_SET_MP_STATE,
	  .size = sizeof(struct kvm_mp_state) },
	{ "gic", .of_vm = true, .save = gic_save, .restore = gic_restore },
	{ "counters", .of_vm = true, .at_pause = true, .save = counters_save,
	  .restore = counters_restore },
};

const size_t arch_nr_state_steps = ARRAY_SIZE(arch_state_steps);
