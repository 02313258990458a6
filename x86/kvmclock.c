// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kvmclock, KVM's paravirtual clock (Linux Documentation/virt/kvm/x86/msr.rst): a page for each CPU
 * that says how to make nanoseconds of the TSC. The page is rewritten while it is read, and the
 * reader must notice; and the clock must go on as if nothing had happened, on one CPU and, where the
 * page has the stable flag, across CPUs.
 *
 * A hypervisor that writes fields outside of the version's protection fails version. One that
 * computes the page anew from another clock each time, and so lets it step backwards, fails
 * monotonic (K8), across CPUs cross-cpu (K19). One that goes on writing to a page it was told to
 * leave corrupts the next owner's memory: page.
 *
 * Without the stable flag nothing is promised across CPUs: the distance is a figure then, and only
 * garbage fails.
 *
 * Arguments: budget-ms=N; reads=N, handovers=N.
 */
#include "countertest.h"
#include "kvmclocktest.h"
#include "libcflat.h"
#include <arch/lapic_timer.h>
#include <arch/msr.h>

static void page_filled(void);
static void page_read_back(void);
static void page_left_alone(void);
static void page_flags(void);
static void version_protocol(void);
static void version_under_load(void);
static void monotonic_quiet(void);
static void monotonic_rewritten(void);
static void monotonic_snapshots(void);
static void monotonic_without_stable(void);
static void cross_cpu_stable(void);
static void cross_cpu_without_stable(void);
static void old_msr(void);

static const struct check page[] = {
	{ "filled", page_filled, .story = "enabled, each CPU's page holds a clock that advances" },
	{ "read-back", page_read_back, .story = "the MSR reads as it was written" },
	{ "left-alone", page_left_alone,
	  .story = "disabled, or with another page, the former one is written no more, not even by "
		   "an update that was on its way" },
	{ "guest-stopped", page_flags,
	  .story = "nobody stopped the guest, and the flag that says so is clear, through updates "
		   "too: set for nothing it hides lockups" },
};

static const struct check version[] = {
	{ "protocol", version_protocol,
	  .story = "the version is even at rest, and another one for another content" },
	{ "under-load", version_under_load,
	  .story = "a page that another CPU's hypervisor rewrites all the time never looks whole "
		   "when it is not" },
};

static const struct check monotonic[] = {
	{ "quiet", monotonic_quiet, .guards = "K8 K19",
	  .story = "the clock never goes back on a CPU" },
	{ "rewritten", monotonic_rewritten, .guards = "K3",
	  .story = "nor while its page is rewritten all the time" },
	{ "snapshots", monotonic_snapshots, .guards = "K3 K8",
	  .story = "nor when the hypervisor looks at the host's clock anew" },
	{ "without-stable", monotonic_without_stable, .guards = "K19",
	  .story = "nor on all CPUs without the stable flag" },
};

static const struct check cross_cpu[] = {
	{ "stable", cross_cpu_stable, .guards = "K19",
	  .story = "with the stable flag no CPU's clock is behind what another's has shown" },
	{ "without-stable", cross_cpu_without_stable, .guards = "K19",
	  .story = "without it, the distance is a figure, and less than a second" },
};

static const struct check checks[] = {
	{ "page", .checks = page, .nr_checks = ARRAY_SIZE(page) },
	{ "version", .checks = version, .nr_checks = ARRAY_SIZE(version) },
	{ "monotonic", .checks = monotonic, .nr_checks = ARRAY_SIZE(monotonic) },
	{ "cross-cpu", .checks = cross_cpu, .nr_checks = ARRAY_SIZE(cross_cpu) },
	{ "old-msr", old_msr, .guards = "K3",
	  .story = "the clock goes on when it is asked for by its former number" },
};

#define REWRITES  10000
#define SNAPSHOTS 200
/* More than two CPUs of the host that lag by 100 ms each can do; less than garbage does. */
#define SANE_NS NSEC_PER_SEC

static const struct counter_ops kvmclock = { "kvmclock", pvclock_read_ns, UINT64_MAX,
					     NSEC_PER_SEC };

/* ---- page -------------------------------------------------------------------------------------- */

struct advance {
	u64 first_ns, second_ns;
};

static struct advance advances[MAX_CPUS];

static void look_twice(void *arg)
{
	struct advance *a = &advances[smp_id()];

	a->first_ns = pvclock_read_ns();
	spin_until(pvclock_read_ns() > a->first_ns, NSEC_PER_SEC);
	a->second_ns = pvclock_read_ns();
}

static void page_filled(void)
{
	if (!kvmclock_open())
		return;
	on_all_cpus(look_twice, NULL);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		const struct pvclock_vcpu_time_info *p = pvclock_page_of(cpu);

		report_expect(advances[cpu].first_ns &&
				      advances[cpu].second_ns > advances[cpu].first_ns,
			      "CPU %d's clock went from %lu to %lu ns in a second", cpu,
			      advances[cpu].first_ns, advances[cpu].second_ns);
		report_info("CPU %d: mul 0x%x, shift %d, flags 0x%x", cpu, p->tsc_to_system_mul,
			    p->tsc_shift, p->flags);
	}
	kvmclock_close();
}

static void page_read_back(void)
{
	u64 value = 0, written = (u64)pvclock_page() | PVCLOCK_ENABLE;

	if (!kvmclock_open())
		return;
	report_expect(
		rdmsr_safe(MSR_KVM_SYSTEM_TIME_NEW, &value) == NO_EXCEPTION && value == written,
		"MSR_KVM_SYSTEM_TIME_NEW was written 0x%lx and reads as 0x%lx", written, value);
	kvmclock_close();
	report_expect(rdmsr_safe(MSR_KVM_SYSTEM_TIME_NEW, &value) == NO_EXCEPTION && value == 0,
		      "MSR_KVM_SYSTEM_TIME_NEW was written 0 and reads as 0x%lx", value);
}

static struct pvclock_vcpu_time_info second_page __attribute__((aligned(64)));

static bool all_zero(const void *data, size_t size)
{
	const u8 *bytes = data;

	while (size--) {
		if (*bytes++)
			return false;
	}
	return true;
}

/* Updates of all CPUs' pages are asked for before the page is given up and after it. */
static void page_left_alone(void)
{
	struct pvclock_vcpu_time_info *first = pvclock_page();
	u32 failed = 0;

	if (!kvmclock_open())
		return;
	wrmsr(MSR_KVM_SYSTEM_TIME_NEW, (u64)&second_page | PVCLOCK_ENABLE);
	memset(first, 0, sizeof(*first));
	on_all_cpus(kvmclock_disable_here, NULL);
	wrmsr(MSR_KVM_SYSTEM_TIME_NEW, (u64)&second_page | PVCLOCK_ENABLE);
	report_expect(second_page.version && second_page.tsc_to_system_mul,
		      "the second page holds no clock");
	for (int cpu = 1; cpu < smp_count(); cpu++)
		on_cpu(cpu, kvmclock_enable_here, &failed);
	lapic_timer_sleep_ns(KVMCLOCK_DELAYED_NS);
	report_expect(all_zero(first, sizeof(*first)),
		      "the first page was written after the MSR had been given another");
	pvclock_disable();
	memset(&second_page, 0, sizeof(second_page));
	for (int cpu = 1; cpu < smp_count(); cpu++)
		on_cpu(cpu, kvmclock_enable_here, &failed);
	lapic_timer_sleep_ns(KVMCLOCK_DELAYED_NS);
	report_expect(all_zero(&second_page, sizeof(second_page)),
		      "the second page was written after the clock had been disabled");
	kvmclock_close();
}

static void page_flags(void)
{
	struct pvclock_vcpu_time_info copy = { 0 };
	u32 stopped = 0, failed = 0;

	if (!kvmclock_open())
		return;
	for (int i = 0; i < 100 && !stopped; i++) {
		on_all_cpus(kvmclock_enable_here, &failed);
		if (!pvclock_copy(&copy))
			break;
		stopped = copy.flags & PVCLOCK_GUEST_STOPPED;
	}
	report_expect(copy.version && !failed, "the page could not be read");
	report_expect(!stopped,
		      "PVCLOCK_GUEST_STOPPED is set (flags 0x%x), nobody stopped this "
		      "guest",
		      copy.flags);
	kvmclock_close();
}

/* ---- version ----------------------------------------------------------------------------------- */

static void version_protocol(void)
{
	const struct pvclock_vcpu_time_info *page = pvclock_page();
	struct pvclock_vcpu_time_info before, after;
	u64 changes = 0;

	if (!kvmclock_open())
		return;
	for (int i = 0; i < 1000; i++) {
		before = *page;
		if (!report_expect(pvclock_enable(), "writing the MSR again raises an exception"))
			break;
		after = *page;
		if (!report_expect(!(after.version & 1), "the version is odd (%u) at rest",
				   after.version))
			break;
		if (!memcmp(&before, &after, sizeof(after)))
			continue;
		changes++;
		report_expect(after.version != before.version,
			      "another content has the same version %u", after.version);
	}
	report_info("%lu changes in 1000 writes of the MSR", changes);
	kvmclock_close();
}

/* CPU 1 reads CPU 0's page while CPU 0 makes the hypervisor rewrite it. */
struct load {
	struct pvclock_vcpu_time_info last;
	u64 last_ns;
	u64 copies, torn, versions, same_version_other_content, other_scale;
	u64 backwards, most_backwards_ns;
	bool stop;
};

static void note_copy(struct load *l, const struct pvclock_vcpu_time_info *copy, u64 tsc)
{
	u64 now_ns = pvclock_at(copy, tsc);

	if (l->copies++ > 0) {
		if (copy->version != l->last.version)
			l->versions++;
		else if (memcmp(copy, &l->last, sizeof(*copy)))
			l->same_version_other_content++;
		if (copy->tsc_to_system_mul != l->last.tsc_to_system_mul ||
		    copy->tsc_shift != l->last.tsc_shift)
			l->other_scale++;
		if (now_ns < l->last_ns) {
			l->backwards++;
			l->most_backwards_ns = MAX(l->most_backwards_ns, l->last_ns - now_ns);
		}
	}
	l->last = *copy;
	l->last_ns = now_ns;
}

static void read_under_load(void *arg)
{
	struct load *l = arg;
	struct pvclock_vcpu_time_info copy;
	u64 tsc;

	while (!READ_ONCE(l->stop)) {
		if (pvclock_copy_once(pvclock_page_of(0), &copy, &tsc))
			note_copy(l, &copy, tsc);
		else
			l->torn++;
		cpu_relax();
	}
}

static void version_under_load(void)
{
	static struct load l;
	struct spin_bound budget;
	u64 writes = 0;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	if (!kvmclock_open_stable())
		return;
	memset(&l, 0, sizeof(l));
	on_cpu_async(1, read_under_load, &l);
	spin_start(&budget, report_budget_ns());
	while (writes < REWRITES && spin_poll(&budget) && pvclock_enable())
		writes++;
	WRITE_ONCE(l.stop, true);
	if (!cpu_wait_idle(1, 10 * NSEC_PER_SEC))
		report_error("CPU 1 does not come back");
	report_info("%lu writes of the MSR; %lu copies of %lu versions, %lu attempts that met a "
		    "write",
		    writes, l.copies, l.versions + 1, l.torn);
	report_expect(writes && l.copies, "%lu writes, %lu copies: nothing was seen", writes,
		      l.copies);
	report_expect(!l.same_version_other_content,
		      "%lu times the same version had another "
		      "content",
		      l.same_version_other_content);
	report_expect(!l.other_scale, "mul or shift changed %lu times", l.other_scale);
	report_expect(!l.backwards,
		      "the clock made of whole copies went back %lu times, by up to "
		      "%lu ns",
		      l.backwards, l.most_backwards_ns);
	kvmclock_close();
}

/* ---- monotonic --------------------------------------------------------------------------------- */

static void monotonic_quiet(void)
{
	if (!kvmclock_open())
		return;
	counter_check_monotonic(&kvmclock);
	kvmclock_close();
}

/* The clock before and after something that makes the hypervisor write the page anew. */
static void check_monotonic_through(bool (*disturb)(void), u64 times)
{
	struct spin_bound budget;
	u64 n = 0, backwards = 0, most_ns = 0, last_ns = pvclock_read_ns();

	spin_start(&budget, report_budget_ns());
	do {
		u64 now_ns;

		if (!report_expect(disturb(), "writing the MSR raises an exception"))
			return;
		now_ns = pvclock_read_ns();
		if (now_ns < last_ns) {
			backwards++;
			most_ns = MAX(most_ns, last_ns - now_ns);
		}
		last_ns = now_ns;
	} while (++n < times && spin_poll(&budget));
	report_info("%lu times", n);
	report_expect(!backwards, "the clock went back %lu of %lu times, by up to %lu ns",
		      backwards, n, most_ns);
}

static void monotonic_rewritten(void)
{
	if (!kvmclock_open())
		return;
	check_monotonic_through(pvclock_enable, REWRITES);
	kvmclock_close();
}

static void monotonic_snapshots(void)
{
	if (!kvmclock_open_stable())
		return;
	if (!pvclock_old_offered()) {
		kvmclock_close();
		report_skip("CPUID does not offer MSR_KVM_SYSTEM_TIME");
		return;
	}
	check_monotonic_through(kvmclock_take_snapshot, SNAPSHOTS);
	kvmclock_close();
}

static void monotonic_without_stable(void)
{
	if (!kvmclock_open_without_stable())
		return;
	counter_check_monotonic(&kvmclock);
	kvmclock_close();
}

/* ---- cross-cpu --------------------------------------------------------------------------------- */

static bool have_two_cpus(void)
{
	if (smp_count() >= 2)
		return true;
	report_skip("needs 2 CPUs, 1 is up");
	return false;
}

static void cross_cpu_stable(void)
{
	if (!have_two_cpus() || !kvmclock_open_stable())
		return;
	counter_check_cross_cpu(&kvmclock, 2);
	kvmclock_close();
}

static void cross_cpu_without_stable(void)
{
	if (!have_two_cpus() || !kvmclock_open_without_stable())
		return;
	counter_check_cross_cpu_within(&kvmclock, 2, SANE_NS);
	kvmclock_close();
}

/* ---- the former MSR ---------------------------------------------------------------------------- */

static void old_msr(void)
{
	u64 before_ns, between_ns, after_ns;

	if (!pvclock_old_offered()) {
		report_skip("CPUID does not offer MSR_KVM_SYSTEM_TIME");
		return;
	}
	if (!kvmclock_open())
		return;
	before_ns = pvclock_read_ns();
	if (report_expect(pvclock_enable_old(),
			  "MSR_KVM_SYSTEM_TIME is offered, a write raises an exception")) {
		between_ns = pvclock_read_ns();
		pvclock_enable();
		after_ns = pvclock_read_ns();
		report_expect(before_ns <= between_ns && between_ns <= after_ns,
			      "the clock was at %lu ns, by its former MSR at %lu, and back at %lu",
			      before_ns, between_ns, after_ns);
		report_expect(after_ns - before_ns < SANE_NS,
			      "the clock went from %lu to %lu ns "
			      "over two writes",
			      before_ns, after_ns);
	}
	kvmclock_close();
}

int main(void)
{
	return report_run("kvmclock", checks, ARRAY_SIZE(checks));
}
