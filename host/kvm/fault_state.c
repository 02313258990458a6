// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults of saving, restoring and resetting: steps that are left out, in the wrong order, or late; what
 * is the architecture's is in its own fault_state.c.
 */
#include <string.h>
#include "kvm/fault_hooks.h"

/* How many restores the machine of a snapshot had behind it. */
#define RESTORES_ITEM "restores"

/* ---- left out ----------------------------------------------------------------------------------- */

static bool applies(const struct vm *vm, const struct vcpu *vcpu, const struct fault_left_out *f)
{
	const struct fault_data *data = vm->fault_data;

	if (!fault_is_on(vm, f->id) || (f->not_vcpu0 && (!vcpu || !vcpu->index)))
		return false;
	if (f->reset)
		return vm->resetting;
	return data->restoring && (data->young || !f->only_young);
}

bool fault_skips(struct vm *vm, const struct vcpu *vcpu, const char *step)
{
	for (size_t i = 0; i < fault_arch_nr_left_out; i++) {
		const struct fault_left_out *f = &fault_arch_left_out[i];

		if (!strcmp(f->step, step) && applies(vm, vcpu, f))
			return true;
	}
	return false;
}

/* ---- order -------------------------------------------------------------------------------------- */

static size_t index_of(const char *step)
{
	size_t i;

	for (i = 0; i < arch_nr_state_steps && strcmp(arch_state_steps[i].name, step); i++)
		;
	return i;
}

/* The second takes the first's place, and all from there on make room. */
const struct state_step *fault_step_at(const struct vm *vm, size_t index)
{
	for (size_t i = 0; i < fault_arch_nr_orders; i++) {
		const struct fault_order *f = &fault_arch_orders[i];
		size_t first = index_of(f->first), second = index_of(f->second);

		if (!fault_is_on(vm, f->id) || !vm->fault_data->restoring)
			continue;
		if (index == first)
			return &arch_state_steps[second];
		if (index > first && index <= second)
			return &arch_state_steps[index - 1];
	}
	return &arch_state_steps[index];
}

/* ---- late --------------------------------------------------------------------------------------- */

static void keep_for_later(struct vm *vm, const struct state *s)
{
	const struct fault_late *f = &fault_arch_late;
	const struct state_item *item = state_find(s, f->step, STATE_OF_VM);

	if (!fault_is_on(vm, f->id) || !item)
		return;
	state_add(&vm->fault_data->late, item->name, item->vcpu, item->data, item->size);
}

int fault_restore_late(struct vm *vm, struct error *err)
{
	const struct state_item *item = vm->fault_data->late.items;
	const struct state_step *step = &arch_state_steps[index_of(item->name)];

	return step->restore(vm, NULL, item, err);
}

/* ---- seams -------------------------------------------------------------------------------------- */

void fault_at_save(struct vm *vm, struct state *s)
{
	u64 restores = vm->fault_data->restores;

	state_add(s, RESTORES_ITEM, STATE_OF_VM, &restores, sizeof(restores));
}

void fault_before_restore(struct vm *vm, const struct state *s)
{
	const struct state_item *item = state_find(s, RESTORES_ITEM, STATE_OF_VM);
	struct fault_data *data = vm->fault_data;
	u64 restores = 0;

	if (item && item->size == sizeof(restores))
		memcpy(&restores, item->data, sizeof(restores));
	data->restores = restores + 1;
	data->young = fault_arch_is_young(vm, s);
	data->restoring = true;
	keep_for_later(vm, s);
}

void fault_after_restore(struct vm *vm, const struct state *s)
{
	vm->fault_data->restoring = false;
	fault_arch_restored(vm, s);
}
