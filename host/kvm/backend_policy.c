// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What our own VMM promises of time. A pause takes vCPUs off their CPUs and does no more: all that
 * KVM counts runs on. What a restore does is its rule's matter (clock_rule.h).
 */
#include "kvm/backend_policy.h"

#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "kvm/kvm_compat.h"

static bool kvm_has(int capability)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	bool has = fd >= 0 && ioctl(fd, KVM_CHECK_EXTENSION, capability) > 0;

	if (fd >= 0)
		close(fd);
	return has;
}

/* An offset that is carried never stops; else what passed is added afterwards. */
static enum promise promise_of_restore(const struct clock_rule *rule)
{
	switch (rule->account) {
	case ACCOUNT_FROZEN:
		return PROMISE_FROZEN;
	case ACCOUNT_REALTIME:
		return rule->method == RESTORE_OFFSET ? PROMISE_RUNNING : PROMISE_CAUGHT_UP;
	default:
		return PROMISE_UNKNOWN;
	}
}

void kvm_policy(const struct machine_spec *spec, struct policy *policy)
{
	struct clock_rule rule = clock_rule_complete(&spec->restore_rule, spec->arch);

	memset(policy, 0, sizeof(*policy));
	policy_set_action(policy, POLICY_PAUSE, PROMISE_RUNNING);
	policy_set_action(policy, POLICY_RESTORE, promise_of_restore(&rule));
	/* KVM starts the local APIC's timer from its current count (KVM_SET_LAPIC). */
	if (spec->arch == ARCH_X86_64)
		policy->promise[POLICY_TIMER][POLICY_RESTORE] = PROMISE_FROZEN;
	/* kvmclock is always told a time (KVM_SET_CLOCK). */
	if (policy->promise[POLICY_KVMCLOCK][POLICY_RESTORE] == PROMISE_RUNNING)
		policy->promise[POLICY_KVMCLOCK][POLICY_RESTORE] = PROMISE_CAUGHT_UP;
	/* Before Linux 6.4 the physical counter is the host's. */
	if (spec->arch == ARCH_ARM64 && !kvm_has(KVM_CAP_COUNTER_OFFSET))
		policy->promise[POLICY_PHYSICAL][POLICY_RESTORE] = PROMISE_RUNNING;
}
