// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CPUID as the guest sees it: all that KVM supports, each vCPU a core of its own in one package, and
 * leaves of ours behind KVM's and Hyper-V's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include "kvm/fault_hooks.h"
#include "util/memory.h"

#define ENTRIES_MAX 256

/* Documentation/virt/kvm/x86/cpuid.rst */
#define KVM_BASE     0x40000000
#define KVM_FEATURES 0x40000001
/* The TSC's and the local APIC's frequency in kHz: VMware's leaf 0x10, which KVM guests know too. */
#define TIMING_LEAF 0x10
#define APIC_KHZ    1000000 /* arch/x86/kvm/lapic.h, APIC_BUS_CYCLE_NS 1 */

/*
 * Blocks of hypervisor leaves are 0x100 apart and follow one another without a gap: Hyper-V's where
 * it is wanted, which its guests look for at the beginning, KVM's, and ours (vmm_interface.h).
 */
#define BLOCK 0x100

/* Hypervisor Top-Level Functional Specification, 2.4 and 3.1 */
#define HV_BASE		      0x40000000
#define HV_FEATURES	      0x40000003
#define HV_LAST		      0x40000006
#define HV_EAX_TIME_REF_COUNT BIT(1)
#define HV_EAX_SYNIC	      BIT(2)
#define HV_EAX_STIMER	      BIT(3)
#define HV_EAX_HYPERCALL      BIT(5)
#define HV_EAX_VP_INDEX	      BIT(6)
#define HV_EAX_REFERENCE_TSC  BIT(9)
#define HV_EAX_FREQUENCIES    BIT(11)
#define HV_EDX_FREQUENCIES    BIT(8)
#define HV_EDX_STIMER_DIRECT  BIT(19)

/* SDM vol. 2, CPUID */
#define LEAF1_ECX_X2APIC       BIT(21)
#define LEAF1_ECX_TSC_DEADLINE BIT(24)
#define LEAF1_ECX_HYPERVISOR   BIT(31)
#define LEAF1_EDX_HTT	       BIT(28)
#define TOPOLOGY_SMT	       (1u << 8)
#define TOPOLOGY_CORE	       (2u << 8)

static struct kvm_cpuid2 *new_cpuid(void)
{
	struct kvm_cpuid2 *c =
		memory_zalloc(sizeof(*c) + ENTRIES_MAX * sizeof(struct kvm_cpuid_entry2));

	c->nent = ENTRIES_MAX;
	return c;
}

static void add(struct kvm_cpuid2 *c, const struct kvm_cpuid_entry2 *e)
{
	if (c->nent < ENTRIES_MAX)
		c->entries[c->nent++] = *e;
}

static void drop(struct kvm_cpuid2 *c, u32 first, u32 last)
{
	u32 kept = 0;

	for (u32 i = 0; i < c->nent; i++) {
		if (c->entries[i].function < first || c->entries[i].function > last)
			c->entries[kept++] = c->entries[i];
	}
	c->nent = kept;
}

static struct kvm_cpuid_entry2 *find(struct kvm_cpuid2 *c, u32 function)
{
	for (u32 i = 0; i < c->nent; i++) {
		if (c->entries[i].function == function)
			return &c->entries[i];
	}
	return NULL;
}

/* The width of an APIC ID that tells n cores apart. */
static u32 id_bits(u32 n)
{
	u32 bits = 0;

	while ((1u << bits) < n)
		bits++;
	return bits;
}

/* ---- topology ----------------------------------------------------------------------------------- */

static void set_extended_topology(struct kvm_cpuid2 *c, const struct vcpu *vcpu)
{
	struct kvm_cpuid_entry2 e = { .function = 0xb,
				      .flags = KVM_CPUID_FLAG_SIGNIFCANT_INDEX,
				      .edx = vcpu->arch.apic_id };

	drop(c, 0xb, 0xb);
	drop(c, 0x1f, 0x1f);
	drop(c, 0x80000026, 0x80000026);
	e.ebx = 1;
	e.ecx = TOPOLOGY_SMT;
	add(c, &e);
	e.index = 1;
	e.eax = id_bits(vcpu->vm->nr_vcpus);
	e.ebx = vcpu->vm->nr_vcpus;
	e.ecx = TOPOLOGY_CORE | e.index;
	add(c, &e);
	e.index = 2;
	e.eax = e.ebx = 0;
	e.ecx = e.index;
	add(c, &e);
}

static void set_topology(struct kvm_cpuid2 *c, const struct vcpu *vcpu)
{
	u32 n = vcpu->vm->max_vcpus, id = vcpu->arch.apic_id;

	for (u32 i = 0; i < c->nent; i++) {
		struct kvm_cpuid_entry2 *e = &c->entries[i];

		switch (e->function) {
		case 1:
			e->ebx = (e->ebx & 0xffff) | n << 16 | id << 24;
			e->edx = n > 1 ? e->edx | LEAF1_EDX_HTT : e->edx & ~LEAF1_EDX_HTT;
			break;
		case 4: /* caches: each core has its own; cores in the package less one */
			e->eax = (e->eax & 0x3fff) | (n - 1) << 26;
			break;
		case 0x80000008: /* AMD: width of the ID, and cores less one */
			e->ecx = (e->ecx & ~0xffffu) | id_bits(n) << 12 | (n - 1);
			break;
		case 0x8000001d:
			e->eax &= 0x3fff;
			break;
		case 0x8000001e:
			e->eax = id;
			e->ebx = id;
			e->ecx = 0;
			break;
		}
	}
	set_extended_topology(c, vcpu);
}

/* ---- features ----------------------------------------------------------------------------------- */

/* KVM before 7.2 has the bit only where its irqchip is in use, which it cannot know (LAPIC is ours). */
static void set_leaf1(struct kvm_cpuid2 *c, const struct vcpu *vcpu)
{
	struct kvm_cpuid_entry2 *e = find(c, 1);

	if (!e)
		return;
	e->ecx |= LEAF1_ECX_X2APIC | LEAF1_ECX_HYPERVISOR;
	if (vm_capability(vcpu->vm, KVM_CAP_TSC_DEADLINE_TIMER))
		e->ecx |= LEAF1_ECX_TSC_DEADLINE;
}

static void add_timing(struct kvm_cpuid2 *c, const struct vcpu *vcpu, u32 base)
{
	int tsc_khz = ioctl(vcpu->fd, KVM_GET_TSC_KHZ, 0);
	struct kvm_cpuid_entry2 e = { .function = base + TIMING_LEAF,
				      .eax = tsc_khz,
				      .ebx = APIC_KHZ };
	struct kvm_cpuid_entry2 *first = find(c, base);

	if (tsc_khz <= 0 || !first)
		return;
	first->eax = MAX(first->eax, base + TIMING_LEAF);
	add(c, &e);
}

static void add_own_leaves(struct kvm_cpuid2 *c, const struct vcpu *vcpu, u32 base)
{
	struct kvm_cpuid_entry2 e = { .function = base, .eax = base + 1 };

	memcpy(&e.ebx, VMM_CPUID_SIGNATURE, 4);
	memcpy(&e.ecx, &VMM_CPUID_SIGNATURE[4], 4);
	memcpy(&e.edx, &VMM_CPUID_SIGNATURE[8], 4);
	add(c, &e);
	e = (struct kvm_cpuid_entry2){ .function = base + 1, .ebx = PORT_PM1_CONTROL };
	e.eax = vcpu->vm->options->no_bulk_console ? 0 : PORT_BULK_CONSOLE;
	add(c, &e);
}

/* ---- Hyper-V ------------------------------------------------------------------------------------ */

static void move_kvm_leaves(struct kvm_cpuid2 *c)
{
	for (u32 i = 0; i < c->nent; i++) {
		struct kvm_cpuid_entry2 *e = &c->entries[i];

		if (e->function == KVM_BASE)
			e->eax += BLOCK;
		if (e->function >= KVM_BASE && e->function <= KVM_BASE + TIMING_LEAF)
			e->function += BLOCK;
	}
}

/* Of all that KVM could imitate, only what was asked for: clocks and timers, and what they need. */
static void reduce_hv_features(struct kvm_cpuid_entry2 *e, const struct machine_options *o)
{
	u32 eax = HV_EAX_HYPERCALL | HV_EAX_VP_INDEX, edx = 0;

	if (o->hv_time) {
		eax |= HV_EAX_TIME_REF_COUNT | HV_EAX_REFERENCE_TSC | HV_EAX_FREQUENCIES;
		edx |= HV_EDX_FREQUENCIES;
	}
	if (o->hv_stimer) {
		eax |= HV_EAX_TIME_REF_COUNT | HV_EAX_SYNIC | HV_EAX_STIMER;
		edx |= HV_EDX_STIMER_DIRECT;
	}
	e->eax &= eax;
	e->ebx = 0;
	e->ecx = 0;
	e->edx &= edx;
}

static int add_hv_leaves(struct kvm_cpuid2 *c, const struct vcpu *vcpu, struct error *err)
{
	const struct machine_options *o = vcpu->vm->options;
	struct kvm_cpuid2 *hv = new_cpuid();
	int result = 0;

	if (ioctl(vcpu->fd, KVM_GET_SUPPORTED_HV_CPUID, hv) < 0) {
		result = error_set(err, "hv-time, hv-stimer: KVM_GET_SUPPORTED_HV_CPUID: %s",
				   strerror(errno));
		hv->nent = 0;
	}
	for (u32 i = 0; i < hv->nent; i++) {
		struct kvm_cpuid_entry2 *e = &hv->entries[i];

		if (e->function > HV_LAST)
			continue;
		if (e->function == HV_BASE)
			e->eax = HV_LAST;
		else if (e->function == HV_FEATURES)
			reduce_hv_features(e, o);
		add(c, e);
	}
	free(hv);
	return result;
}

static int add_hypervisor_leaves(struct kvm_cpuid2 *c, const struct vcpu *vcpu, struct error *err)
{
	const struct machine_options *o = vcpu->vm->options;

	add_timing(c, vcpu, KVM_BASE);
	if (!o->hv_time && !o->hv_stimer) {
		add_own_leaves(c, vcpu, KVM_BASE + BLOCK);
		return 0;
	}
	move_kvm_leaves(c);
	add_own_leaves(c, vcpu, KVM_BASE + 2 * BLOCK);
	return add_hv_leaves(c, vcpu, err);
}

/* ------------------------------------------------------------------------------------------------- */

int cpuid_set(struct vcpu *vcpu, struct error *err)
{
	struct kvm_cpuid2 *c = new_cpuid();
	int result = -1;

	vcpu->arch.apic_id = vcpu->index; /* as KVM numbers its local APICs */
	if (ioctl(vcpu->vm->kvm_fd, KVM_GET_SUPPORTED_CPUID, c) < 0) {
		error_set(err, "KVM_GET_SUPPORTED_CPUID: %s", strerror(errno));
		goto out;
	}
	set_leaf1(c, vcpu);
	set_topology(c, vcpu);
	if (add_hypervisor_leaves(c, vcpu, err))
		goto out;
	fault_cpuid(vcpu, c);
	result = ioctl(vcpu->fd, KVM_SET_CPUID2, c);
	if (result < 0)
		error_set(err, "vCPU %u: KVM_SET_CPUID2: %s", vcpu->index, strerror(errno));
out:
	free(c);
	return result;
}
