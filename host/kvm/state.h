/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine's state but for its memory: a list of named items, one for the VM or one a vCPU each,
 * got and set in the order of a table. The order is the architecture's business and matters: each
 * table says why.
 */
#ifndef KVM_STATE_H
#define KVM_STATE_H

#include "types.h"
#include "util/error.h"

struct vm;
struct vcpu;

#define STATE_NAME_MAX 23
#define STATE_OF_VM    UINT32_MAX
/* No item of KVM's is larger: XSAVE is 4 KiB, with AMX 11 KiB; a one-reg list has some 300. */
#define STATE_ITEM_MAX (1u << 20)

struct state_item {
	char name[STATE_NAME_MAX + 1];
	u32 vcpu; /* or STATE_OF_VM */
	u32 size;
	void *data;
};

/* All zero is an empty one. */
struct state {
	struct state_item *items;
	size_t nr_items;
};

/* Copies data. */
void state_add(struct state *s, const char *name, u32 vcpu, const void *data, size_t size);
/* NULL when there is none. */
const struct state_item *state_find(const struct state *s, const char *name, u32 vcpu);
void state_free(struct state *s);

/*
 * One step: some state of the VM, or of one vCPU (vcpu is NULL for the VM). Where it is one structure
 * got and set by one ioctl each, get, set and size say all. Else save appends one item, or none where
 * this machine has no such state; restore gets what save made, but from a file: its size is the
 * step's to check. Without an item an optional step is left out.
 */
struct state_step {
	const char *name;
	bool of_vm;
	bool optional;
	bool at_pause; /* a counter or clock: saved as it was when the vCPUs stopped */
	unsigned long get, set;
	size_t size;
	int (*save)(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		    struct error *err);
	int (*restore)(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
		       struct error *err);
};

/* The architecture's, in the order in which they are set; they are got in the same order. */
extern const struct state_step arch_state_steps[];
extern const size_t arch_nr_state_steps;

/*
 * The steps at_pause alone. What vm->at_pause has, state_save() takes from there, so that a guest that
 * is saved long after it was paused does not see the time between.
 */
int state_save_clocks(struct vm *vm, struct state *out, struct error *err);

/* One vCPU's steps: of one that was added later. */
int state_save_vcpu(struct vm *vm, struct vcpu *vcpu, struct state *out, struct error *err);

/* All vCPUs are parked, or have not run. */
int state_save(struct vm *vm, struct state *out, struct error *err);
int state_restore(struct vm *vm, const struct state *s, struct error *err);

/* For steps: the item has to have size bytes. */
int state_check_size(const struct state_item *item, size_t size, struct error *err);

#endif
