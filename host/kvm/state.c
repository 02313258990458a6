// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The list of items, and walking the architecture's table. All vCPUs take a step before any takes
 * the next one, so that what belongs together in time, such as the counters, is set together.
 */
#include "kvm/state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/fault_hooks.h"
#include "util/memory.h"

void state_add(struct state *s, const char *name, u32 vcpu, const void *data, size_t size)
{
	struct state_item *item;

	s->items = memory_resize(s->items, s->nr_items + 1, sizeof(*s->items));
	item = &s->items[s->nr_items++];
	*item = (struct state_item){ .vcpu = vcpu, .size = size };
	strncpy(item->name, name, STATE_NAME_MAX);
	item->data = memory_zalloc(size ? size : 1);
	memcpy(item->data, data, size);
}

const struct state_item *state_find(const struct state *s, const char *name, u32 vcpu)
{
	for (size_t i = 0; i < s->nr_items; i++) {
		if (s->items[i].vcpu == vcpu && !strcmp(s->items[i].name, name))
			return &s->items[i];
	}
	return NULL;
}

void state_free(struct state *s)
{
	for (size_t i = 0; i < s->nr_items; i++)
		free(s->items[i].data);
	free(s->items);
	*s = (struct state){ 0 };
}

static int fd_of(const struct vm *vm, const struct vcpu *vcpu)
{
	return vcpu ? vcpu->fd : vm->fd;
}

static u32 index_of(const struct vcpu *vcpu)
{
	return vcpu ? vcpu->index : STATE_OF_VM;
}

/* ---- saving ------------------------------------------------------------------------------------- */

static int save_structure(struct vm *vm, struct vcpu *vcpu, const struct state_step *step,
			  struct state *out, struct error *err)
{
	void *data = memory_zalloc(step->size);
	int result = ioctl(fd_of(vm, vcpu), step->get, data);

	if (result >= 0)
		state_add(out, step->name, index_of(vcpu), data, step->size);
	else
		error_set(err, "%s", strerror(errno));
	free(data);
	return MIN(result, 0);
}

static int save_one(struct vm *vm, struct vcpu *vcpu, const struct state_step *step,
		    struct state *out, struct error *err)
{
	const struct state_item *at_pause = state_find(&vm->at_pause, step->name, index_of(vcpu));

	if (at_pause && out != &vm->at_pause) {
		state_add(out, step->name, at_pause->vcpu, at_pause->data, at_pause->size);
		return 0;
	}
	if (!step->save)
		return save_structure(vm, vcpu, step, out, err);
	return step->save(vm, vcpu, out, step->name, err);
}

static int save_step(struct vm *vm, const struct state_step *step, struct state *out,
		     struct error *err)
{
	if (step->of_vm) {
		if (save_one(vm, NULL, step, out, err))
			return error_prefix(err, "cannot get the VM's %s", step->name);
		return 0;
	}
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (save_one(vm, &vm->vcpus[i], step, out, err))
			return error_prefix(err, "cannot get vCPU %u's %s", i, step->name);
	}
	return 0;
}

static int save_steps(struct vm *vm, struct state *out, bool only_clocks, struct error *err)
{
	for (size_t i = 0; i < arch_nr_state_steps; i++) {
		const struct state_step *step = &arch_state_steps[i];

		if (only_clocks && !step->at_pause)
			continue;
		if (save_step(vm, step, out, err)) {
			state_free(out);
			return -1;
		}
	}
	return 0;
}

int state_save_clocks(struct vm *vm, struct state *out, struct error *err)
{
	return save_steps(vm, out, true, err);
}

int state_save(struct vm *vm, struct state *out, struct error *err)
{
	return save_steps(vm, out, false, err);
}

int state_save_vcpu(struct vm *vm, struct vcpu *vcpu, struct state *out, struct error *err)
{
	for (size_t i = 0; i < arch_nr_state_steps; i++) {
		const struct state_step *step = &arch_state_steps[i];

		if (!step->of_vm && save_one(vm, vcpu, step, out, err))
			return error_prefix(err, "cannot get vCPU %u's %s", vcpu->index,
					    step->name);
	}
	return 0;
}

/* ---- restoring ---------------------------------------------------------------------------------- */

static int restore_structure(struct vm *vm, struct vcpu *vcpu, const struct state_step *step,
			     const struct state_item *item, struct error *err)
{
	if (state_check_size(item, step->size, err))
		return -1;
	if (ioctl(fd_of(vm, vcpu), step->set, item->data) < 0)
		return error_set(err, "%s", strerror(errno));
	return 0;
}

static int restore_one(struct vm *vm, struct vcpu *vcpu, const struct state_step *step,
		       const struct state *s, struct error *err)
{
	const struct state_item *item = state_find(s, step->name, index_of(vcpu));

	if (!item && step->optional)
		return 0;
	if (!item)
		return error_set(err, "it is missing");
	if (fault_leaves_out(vm, vcpu, step->name))
		return 0;
	if (!step->restore)
		return restore_structure(vm, vcpu, step, item, err);
	return step->restore(vm, vcpu, item, err);
}

static int restore_step(struct vm *vm, const struct state_step *step, const struct state *s,
			struct error *err)
{
	if (step->of_vm) {
		if (restore_one(vm, NULL, step, s, err))
			return error_prefix(err, "cannot set the VM's %s", step->name);
		return 0;
	}
	for (unsigned int i = 0; i < vm->nr_vcpus; i++) {
		if (restore_one(vm, &vm->vcpus[i], step, s, err))
			return error_prefix(err, "cannot set vCPU %u's %s", i, step->name);
	}
	return 0;
}

int state_restore(struct vm *vm, const struct state *s, struct error *err)
{
	for (size_t i = 0; i < arch_nr_state_steps; i++) {
		if (restore_step(vm, fault_step(vm, i), s, err))
			return -1;
	}
	return 0;
}

int state_check_size(const struct state_item *item, size_t size, struct error *err)
{
	if (item->size != size)
		return error_set(err, "it has %u bytes instead of %zu", item->size, size);
	return 0;
}
