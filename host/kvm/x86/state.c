// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state of the x86_64 machine, step by step. What the order is for:
 *
 * - sregs hold APIC_BASE, which says how KVM_SET_LAPIC's page is to be read (x2APIC or not).
 * - kvmclock and the TSC (clock_state.c) come late, so that little time passes until the guest runs,
 *   and in this order, since one method derives the second from the first.
 * - The TSC comes before the other MSRs and the deadline last: KVM turns a deadline into a host
 *   timer when it is written, by the TSC offset of that moment, and drops it where the LVT is not in
 *   deadline mode yet (arch/x86/kvm/lapic.c, kvm_set_lapic_tscdeadline_msr).
 * - regs clear a pending exception, and KVM_SET_LAPIC may change mp_state, so events are the last.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/vm.h"
#include "util/memory.h"

#define MSRS_MAX 1024

/* ---- MSRs --------------------------------------------------------------------------------------- */

struct msr_list {
	struct kvm_msrs header;
	struct kvm_msr_entry entries[MSRS_MAX];
};

int msr_get(struct vcpu *vcpu, u32 number, u64 *value)
{
	struct {
		struct kvm_msrs header;
		struct kvm_msr_entry entry;
	} one = { .header.nmsrs = 1, .entry.index = number };

	if (ioctl(vcpu->fd, KVM_GET_MSRS, &one) != 1)
		return -1;
	*value = one.entry.data;
	return 0;
}

int msr_set(struct vcpu *vcpu, u32 number, u64 value)
{
	struct {
		struct kvm_msrs header;
		struct kvm_msr_entry entry;
	} one = { .header.nmsrs = 1, .entry = { .index = number, .data = value } };

	return ioctl(vcpu->fd, KVM_SET_MSRS, &one) == 1 ? 0 : -1;
}

static bool has_its_own_step(u32 number)
{
	return number == MSR_IA32_TSC || number == MSR_IA32_TSC_DEADLINE;
}

/*
 * KVM's list names MSRs that this vCPU may lack and some that take no value, not even their own.
 * What cannot be read and written back now is no state.
 */
int state_find_msrs(struct vm *vm, struct error *err)
{
	struct kvm_msr_list *list = memory_zalloc(sizeof(*list) + MSRS_MAX * sizeof(u32));
	u64 value;

	list->nmsrs = MSRS_MAX;
	if (ioctl(vm->kvm_fd, KVM_GET_MSR_INDEX_LIST, list) < 0) {
		free(list);
		return error_set(err, "KVM_GET_MSR_INDEX_LIST: %s", strerror(errno));
	}
	vm->arch.msrs = memory_zalloc(MSRS_MAX * sizeof(u32));
	for (u32 i = 0; i < list->nmsrs; i++) {
		u32 number = list->indices[i];

		if (!has_its_own_step(number) && !msr_get(&vm->vcpus[0], number, &value) &&
		    !msr_set(&vm->vcpus[0], number, value))
			vm->arch.msrs[vm->arch.nr_msrs++] = number;
	}
	free(list);
	return 0;
}

static int save_msrs(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		     struct error *err)
{
	struct msr_list *list = memory_zalloc(sizeof(*list));
	size_t n = vm->arch.nr_msrs;
	int got;

	for (size_t i = 0; i < n; i++)
		list->entries[i].index = vm->arch.msrs[i];
	list->header.nmsrs = n;
	got = ioctl(vcpu->fd, KVM_GET_MSRS, list);
	if (got == (int)n)
		state_add(out, name, vcpu->index, list->entries, n * sizeof(list->entries[0]));
	else
		error_set(err, "MSR 0x%x cannot be read", vm->arch.msrs[got < 0 ? 0 : got]);
	free(list);
	return got == (int)n ? 0 : -1;
}

static int restore_msrs(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
			struct error *err)
{
	size_t n = item->size / sizeof(struct kvm_msr_entry);
	struct msr_list *list;
	int set;

	if (item->size % sizeof(struct kvm_msr_entry) || n > MSRS_MAX)
		return error_set(err, "%u bytes are no list of MSRs", item->size);
	list = memory_zalloc(sizeof(*list));
	list->header.nmsrs = n;
	memcpy(list->entries, item->data, item->size);
	set = ioctl(vcpu->fd, KVM_SET_MSRS, list);
	if (set != (int)n && set >= 0)
		error_set(err, "MSR 0x%x does not take 0x%llx", list->entries[set].index,
			  (unsigned long long)list->entries[set].data);
	else if (set < 0)
		error_set(err, "KVM_SET_MSRS: %s", strerror(errno));
	free(list);
	return set == (int)n ? 0 : -1;
}

/* ---- interrupt controllers ---------------------------------------------------------------------- */

static const u32 irqchips[] = { KVM_IRQCHIP_PIC_MASTER, KVM_IRQCHIP_PIC_SLAVE, KVM_IRQCHIP_IOAPIC };

static int save_irqchips(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
			 struct error *err)
{
	struct kvm_irqchip chips[ARRAY_SIZE(irqchips)];

	memset(chips, 0, sizeof(chips));
	for (size_t i = 0; i < ARRAY_SIZE(chips); i++) {
		chips[i].chip_id = irqchips[i];
		if (ioctl(vm->fd, KVM_GET_IRQCHIP, &chips[i]) < 0)
			return error_set(err, "chip %u: %s", irqchips[i], strerror(errno));
	}
	state_add(out, name, STATE_OF_VM, chips, sizeof(chips));
	return 0;
}

static int restore_irqchips(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
			    struct error *err)
{
	struct kvm_irqchip chips[ARRAY_SIZE(irqchips)];

	if (state_check_size(item, sizeof(chips), err))
		return -1;
	memcpy(chips, item->data, sizeof(chips));
	for (size_t i = 0; i < ARRAY_SIZE(chips); i++) {
		chips[i].chip_id = irqchips[i];
		if (ioctl(vm->fd, KVM_SET_IRQCHIP, &chips[i]) < 0)
			return error_set(err, "chip %u: %s", irqchips[i], strerror(errno));
	}
	return 0;
}

/* ---- structures whose size KVM tells ------------------------------------------------------------ */

static int save_sized(struct vcpu *vcpu, unsigned long request, int size, struct state *out,
		      const char *name, struct error *err)
{
	void *data = memory_zalloc(size);
	int result;

	/* KVM_GET_NESTED_STATE wants to know how much it may write: its second word. */
	if (request == KVM_GET_NESTED_STATE)
		((struct kvm_nested_state *)data)->size = size;
	result = ioctl(vcpu->fd, request, data);
	if (result < 0)
		error_set(err, "%s", strerror(errno));
	else
		state_add(out, name, vcpu->index, data, size);
	free(data);
	return MIN(result, 0);
}

/* AMX and what comes after it made the area larger than struct kvm_xsave: KVM_CAP_XSAVE2. */
static int save_xsave(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		      struct error *err)
{
	int size = vm_capability(vm, KVM_CAP_XSAVE2);

	if (size > (int)sizeof(struct kvm_xsave))
		return save_sized(vcpu, KVM_GET_XSAVE2, size, out, name, err);
	return save_sized(vcpu, KVM_GET_XSAVE, sizeof(struct kvm_xsave), out, name, err);
}

static int restore_xsave(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
			 struct error *err)
{
	size_t size = MAX((size_t)vm_capability(vm, KVM_CAP_XSAVE2), sizeof(struct kvm_xsave));

	if (state_check_size(item, size, err))
		return -1;
	if (ioctl(vcpu->fd, KVM_SET_XSAVE, item->data) < 0)
		return error_set(err, "%s", strerror(errno));
	return 0;
}

static int save_nested(struct vm *vm, struct vcpu *vcpu, struct state *out, const char *name,
		       struct error *err)
{
	int size = vm_capability(vm, KVM_CAP_NESTED_STATE);

	return size ? save_sized(vcpu, KVM_GET_NESTED_STATE, size, out, name, err) : 0;
}

static int restore_nested(struct vm *vm, struct vcpu *vcpu, const struct state_item *item,
			  struct error *err)
{
	if (state_check_size(item, vm_capability(vm, KVM_CAP_NESTED_STATE), err))
		return -1;
	if (item->size < sizeof(struct kvm_nested_state) ||
	    ((struct kvm_nested_state *)item->data)->size > item->size)
		return error_set(err, "its own size field is wrong");
	if (ioctl(vcpu->fd, KVM_SET_NESTED_STATE, item->data) < 0)
		return error_set(err, "%s", strerror(errno));
	return 0;
}

/* ------------------------------------------------------------------------------------------------- */

#define VCPU(name, what, type)                                                                  \
	{                                                                                       \
		name, .get = KVM_GET_##what, .set = KVM_SET_##what, .size = sizeof(struct type) \
	}

const struct state_step arch_state_steps[] = {
	{ "host", .of_vm = true, .at_pause = true, .save = host_clock_save,
	  .restore = host_clock_restore },
	{ "devices", .of_vm = true, .save = devices_save, .restore = devices_restore },
	{ "irqchips", .of_vm = true, .save = save_irqchips, .restore = restore_irqchips },
	{ "pit", .of_vm = true, .get = KVM_GET_PIT2, .set = KVM_SET_PIT2,
	  .size = sizeof(struct kvm_pit_state2) },
	VCPU("sregs", SREGS, kvm_sregs),
	VCPU("regs", REGS, kvm_regs),
	VCPU("xcrs", XCRS, kvm_xcrs),
	{ "xsave", .save = save_xsave, .restore = restore_xsave },
	VCPU("debugregs", DEBUGREGS, kvm_debugregs),
	VCPU("lapic", LAPIC, kvm_lapic_state),
	{ "clock", .of_vm = true, .at_pause = true, .save = clock_save, .restore = clock_restore },
	{ "tsc", .at_pause = true, .save = tsc_save, .restore = tsc_restore },
	{ "msrs", .save = save_msrs, .restore = restore_msrs },
	{ "tsc-deadline", .optional = true, .save = deadline_save, .restore = deadline_restore },
	{ "nested", .optional = true, .save = save_nested, .restore = restore_nested },
	VCPU("mp-state", MP_STATE, kvm_mp_state),
	VCPU("events", VCPU_EVENTS, kvm_vcpu_events),
};

const size_t arch_nr_state_steps = ARRAY_SIZE(arch_state_steps);
