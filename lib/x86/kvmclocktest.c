// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmclock on all CPUs, for its checks.
 */
#include "kvmclocktest.h"
#include "report.h"
#include "smp.h"
#include <arch/cpuid.h>
#include <arch/lapic_timer.h>

void kvmclock_enable_here(void *failed)
{
	if (!pvclock_enable() || pvclock_page()->version == 0)
		__atomic_store_n((u32 *)failed, 1, __ATOMIC_RELAXED);
}

void kvmclock_disable_here(void *arg)
{
	pvclock_disable();
}

void kvmclock_close(void)
{
	on_all_cpus(kvmclock_disable_here, NULL);
}

bool kvmclock_open(void)
{
	u32 failed = 0;

	if (!pvclock_offered()) {
		report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
		return false;
	}
	on_all_cpus(kvmclock_enable_here, &failed);
	if (!failed)
		return true;
	report_fail("MSR_KVM_SYSTEM_TIME_NEW is offered, but writing it raises an exception or "
		    "gives no "
		    "time");
	kvmclock_close();
	return false;
}

/* The flag counts only where CPUID says that it is meant (cpuid.rst, CLOCKSOURCE_STABLE_BIT). */
static bool is_stable(void)
{
	struct pvclock_vcpu_time_info copy;

	return cpuid_kvm_features() & CPUID_KVM_CLOCKSOURCE_STABLE && pvclock_copy(&copy) &&
	       copy.flags & PVCLOCK_TSC_STABLE;
}

bool kvmclock_open_stable(void)
{
	if (!kvmclock_open())
		return false;
	if (is_stable())
		return true;
	kvmclock_close();
	report_skip("kvmclock has no stable flag: it may follow another clock than the TSC");
	return false;
}

bool kvmclock_open_without_stable(void)
{
	if (!kvmclock_open())
		return false;
	if (!is_stable())
		return true;
	if (pvclock_old_offered() && pvclock_enable_old()) {
		/* The other CPUs' pages follow at their next update. */
		lapic_timer_sleep_ns(KVMCLOCK_DELAYED_NS);
		if (!is_stable())
			return true;
	}
	kvmclock_close();
	report_skip("kvmclock keeps its stable flag, by its former MSR number too");
	return false;
}

bool kvmclock_take_snapshot(void)
{
	return pvclock_enable_old() && pvclock_enable();
}
