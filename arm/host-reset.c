// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The machine after a reset in the middle of its work. The image runs twice: at first it leaves timers
 * armed and the cycle counter counting on every CPU, and asks for the reset; then it judges what it
 * finds. Timers and PMU are off and nothing is pending, the counters are in step, and timers work.
 *
 * A hypervisor that forgets an armed timer gives an interrupt that nobody asked for, as soon as the
 * guest enables it at the GIC.
 */
#include "libcflat.h"
#include "hostresettest.h"
#include "pmutest.h"
#include <arch/gic.h>
#include <arch/timer.h>

static void leave_dirty(void)
{
	if (pmu_version() != PMU_NONE)
		pmu_enable_cycles();
}

static void look_at(const struct timer_ops *timer)
{
	u64 ctl = timer->ctl();

	if (!timer->intid())
		return;
	report_expect(!(ctl & TIMER_CTL_ENABLE), "CPU %d: the %s is enabled, CTL is 0x%lx",
		      smp_id(), timer->name, ctl);
	report_expect(!gic_is_pending(timer->intid()), "CPU %d: the %s's interrupt %u is pending",
		      smp_id(), timer->name, timer->intid());
}

static void look_at_timers(void *arg)
{
	look_at(&virtual_timer);
	look_at(&physical_timer);
}

/*
 * The Arm ARM leaves ENABLE open where EL2 or EL3 is above the guest; what stands for those here resets
 * it to 0 (Linux, arch/arm64/kvm/arch_timer.c, kvm_timer_vcpu_reset(); QEMU, target/arm/helper.c,
 * CNTV_CTL_EL0 and CNTP_CTL_EL0), as PSCI wants of a CPU that is started.
 */
static void check_timers_off(void)
{
	if (host_reset_was_done())
		on_all_cpus(look_at_timers, NULL);
}

static void look_at_pmu(void *arg)
{
	report_expect(!(pmcr_el0() & PMCR_E), "CPU %d: PMCR_EL0 is 0x%lx: E is set", smp_id(),
		      pmcr_el0());
}

/* Arm ARM, PMCR_EL0.E: 0 after a Warm reset. */
static void check_pmu_off(void)
{
	if (pmu_version() == PMU_NONE)
		report_skip("no PMU (ID_AA64DFR0_EL1.PMUVer)");
	else if (host_reset_was_done())
		on_all_cpus(look_at_pmu, NULL);
}

static const struct check checks[] = {
	{ "timers-off", check_timers_off, .guards = "L15",
	  .story = "No CPU's timer is enabled or has its interrupt pending" },
	{ "pmu-off", check_pmu_off, .guards = "P10", .story = "No CPU's PMU counts" },
};

int main(void)
{
	return host_reset_report_run("host-reset", leave_dirty, checks, ARRAY_SIZE(checks));
}
