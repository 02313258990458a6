// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses the accelerator: what was asked for, or nothing; where nothing was asked for, KVM where it
 * works, else TCG.
 */
#include "target.h"

#include <stdlib.h>
#include <string.h>
#include "environment.h"
#include "fetch.h"
#include "util/text.h"

/* The first accelerator that works is taken; what was in the way of KVM is the reason for TCG. */
static void choose_automatically(struct target *t)
{
	char *no_kvm;

	t->accel = ACCEL_KVM;
	t->backend->probe(t->arch, ACCEL_KVM, t->vmm_path, &t->probe);
	if (t->probe.usable) {
		t->accel_reason = text_copy("KVM works here");
		t->usable = true;
		return;
	}
	no_kvm = text_copy(t->probe.detail);
	t->accel = ACCEL_TCG;
	t->backend->probe(t->arch, ACCEL_TCG, t->vmm_path, &t->probe);
	t->usable = t->probe.usable;
	t->accel_reason = text_copy(t->usable ? no_kvm : t->probe.detail);
	free(no_kvm);
}

static void choose_as_told(struct target *t, enum accel accel)
{
	t->accel = accel;
	t->backend->probe(t->arch, accel, t->vmm_path, &t->probe);
	t->usable = t->probe.usable;
	t->accel_reason = t->usable ? text_copy("--accel") : text_copy(t->probe.detail);
}

int target_fetch_qemus(struct options *o, struct error *err)
{
	for (int arch = 0; arch < ARCH_COUNT; arch++) {
		const char *words[] = { "qemu", o->qemu[arch] + strlen(FETCH_PREFIX), NULL };
		char *key, **lines;

		if (!text_starts_with(o->qemu[arch], FETCH_PREFIX))
			continue;
		lines = fetch(o->root, words, err);
		if (!lines)
			return -1;
		key = text_format("qemu_%s", arch_to_name(arch));
		free(o->qemu[arch]);
		o->qemu[arch] = fetch_value(lines, key);
		free(key);
		words_free(lines);
		if (!o->qemu[arch])
			return error_set(err, "scripts/fetch.sh named no QEMU for %s",
					 arch_to_name(arch));
	}
	return 0;
}

void target_choose(struct target *t, enum arch arch, const struct options *o)
{
	memset(t, 0, sizeof(*t));
	t->arch = arch;
	t->backend = backend_by_name(o->vmm);
	t->vmm_path = text_copy(o->qemu[arch]);
	t->restore_rule = o->restore_rule;
	t->policy = text_copy(o->policy);
	if (t->backend->kind == VMM_KVM) {
		free(t->vmm_path);
		t->vmm_path = text_format("%s/%s/host/vmm", o->images, arch_to_name(arch));
	}
	/* The VMM of our own has KVM and nothing else. */
	if (o->accel == ACCEL_AUTO && t->backend->kind == VMM_KVM)
		choose_as_told(t, ACCEL_KVM);
	else if (o->accel == ACCEL_AUTO)
		choose_automatically(t);
	else
		choose_as_told(t, o->accel);
}

void target_free(struct target *t)
{
	free(t->vmm_path);
	free(t->accel_reason);
	free(t->policy);
	memset(t, 0, sizeof(*t));
}

struct results_target target_for_results(const struct target *t)
{
	struct clock_rule rule = clock_rule_complete(&t->restore_rule, t->arch);
	struct machine_spec spec = {
		.arch = t->arch,
		.accel = t->accel,
		.cpu = t->probe.cpu,
		.restore_rule = t->restore_rule,
	};
	struct results_target target = {
		.arch = t->arch,
		.vmm = t->backend->name,
		.accel = t->accel,
		.accel_reason = t->accel_reason,
		.vmm_version = t->probe.version,
		.vmm_path = t->vmm_path,
		.cpu = t->probe.cpu,
		.exact = t->accel == ACCEL_ICOUNT,
		.restore = t->backend->kind == VMM_KVM ? restore_method_name(rule.method) : NULL,
		.preempt_us = rule.preempt_us,
	};

	backend_policy(t->backend, &spec, t->policy, &target.policy);
	return target;
}

struct circumstances target_circumstances(const struct target *t, const char *outer_qemu)
{
	struct clock_rule rule = clock_rule_complete(&t->restore_rule, t->arch);

	return (struct circumstances){
		.arch = t->arch,
		.vmm = t->backend->name,
		.accel = t->accel,
		.kernel = environment_kernel(),
		.qemu_version = t->backend->kind == VMM_QEMU ? t->probe.version : outer_qemu,
		.restore = t->backend->kind == VMM_KVM ? restore_method_name(rule.method) : NULL,
	};
}
