// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The time-stamp counter as a register that can be written: IA32_TSC goes on from what was written, on
 * the CPU that wrote and no other, at the same rate and through all 64 bits (SDM vol. 3, 18.17).
 *
 * A hypervisor that drops a write, or takes one for an attempt to synchronise with another CPU and
 * puts back what it thinks was meant (T1), fails everywhere (H1); one that cuts off upper bits or
 * gets lost where the counter wraps fails pattern, carry or wrap; one that moves all CPUs' counters, or
 * those of CPUs that are written later, fails other-cpu or all-cpus (T2).
 *
 * How far a written TSC has gone on is judged by the local APIC timer, so that a vCPU that is not run is
 * given the time. Every write is undone: to the tick where there is IA32_TSC_ADJUST, else to within the
 * time that the write took.
 */
#include "libcflat.h"
#include "tsctest.h"
#include <arch/lapic_timer.h>
#include <arch/msr.h>
#include <arch/tsc.h>

static void value(void);
static void carry(void);
static void read_back(void);
static void rate(void);
static void other_cpu(void);
static void all_cpus(void);
static void undone(void);

/* A value for IA32_TSC: the present one and so many ticks or ms, or an absolute one. */
struct target {
	bool absolute;
	u64 ticks;
	s64 ms;
};

/* Less than a second: what may be taken for an attempt to synchronise. */
static const struct target forward = { .ms = 500 }, backward = { .ms = -500 };
static const struct target far_forward = { .ms = 3600000 }, far_backward = { .ms = -3600000 };
static const struct target zero = { .absolute = true };
static const struct target all_ones = { .absolute = true, .ticks = UINT64_MAX };
static const struct target pattern = { .absolute = true, .ticks = 0x5a5a5a5aa5a5a5a5 };
/* Where a counter of 32 bits, a signed one and one of 64 would turn over. */
static const struct target before_bit_32 = { .absolute = true, .ticks = BIT(32), .ms = -1 };
static const struct target before_bit_63 = { .absolute = true, .ticks = BIT(63), .ms = -1 };
static const struct target before_wrap = { .absolute = true, .ms = -1 };

#define WRITE(name_, fn_, target_, story_)                                         \
	{                                                                          \
		.name = name_, .run = fn_, .guards = "H1 T1", .subject = &target_, \
		.story = story_,                                                   \
	}

static const struct check written[] = {
	WRITE("forward", value, forward, "half a second forward"),
	WRITE("backward", value, backward, "half a second back"),
	WRITE("far-forward", value, far_forward, "an hour forward"),
	WRITE("far-backward", value, far_backward, "an hour back, to before 0 or not"),
	WRITE("zero", value, zero, "to 0"),
	WRITE("all-ones", value, all_ones, "to all ones, the next of which is 0"),
	WRITE("pattern", value, pattern, "all bits are taken"),
	WRITE("carry-32", carry, before_bit_32, "it counts on into bit 32"),
	WRITE("carry-63", carry, before_bit_63, "and into bit 63"),
	WRITE("wrap", carry, before_wrap, "and past 2^64 from 0 on"),
	{ "read-back", read_back, .guards = "H1", .story = "RDMSR and RDTSC read the same then" },
	{ "rate", rate, .guards = "H1 T7", .story = "at the rate of before" },
	{ "other-cpu", other_cpu, .guards = "H1 T1 T2",
	  .story = "a write moves the CPU that wrote alone" },
	{ "all-cpus", all_cpus, .guards = "H1 T1 T2", .story = "each CPU has what it wrote" },
};

static const struct check checks[] = {
	{ "written", .checks = written, .nr_checks = ARRAY_SIZE(written) },
	{ "undone", undone, .guards = "H1", .story = "put back after a write, the TSC goes on" },
};

#define RATE_NS (20 * NSEC_PER_MSEC)
#define WAIT_NS NSEC_PER_SEC

/* False after report_skip(). */
static bool have_several(void)
{
	if (smp_count() > 1)
		return true;
	report_skip("needs 2 CPUs, 1 is up");
	return false;
}

static void read_here(void *tsc)
{
	*(u64 *)tsc = rdtsc_ordered();
}

/* ---- a write and its judgement ----------------------------------------------------------------- */

/* A write of IA32_TSC, and what there was before and after it. */
struct written {
	const struct target *target;
	struct lapic_timer reference; /* running since before the write */
	bool has_reference;
	u64 adjust;
	u64 before, value, after;
	u64 most; /* ticks that have passed since the write, at most */
};

static u64 ms_to_ticks(s64 ms)
{
	return ms * (s64)(clock_hz() / 1000);
}

/* For on_cpu(). */
static void write_here(void *arg)
{
	struct written *w = arg;
	const struct target *t = w->target;

	w->has_reference = tsc_reference_start(&w->reference);
	w->adjust = tsc_adjust_offered() ? tsc_adjust() : 0;
	w->before = rdtsc_ordered();
	w->value = (t->absolute ? 0 : w->before) + t->ticks + ms_to_ticks(t->ms);
	wrmsr(MSR_IA32_TSC, w->value);
	w->after = rdtsc_ordered();
	w->most = tsc_reference_most(&w->reference);
}

static void undo_write(const struct written *w)
{
	if (tsc_adjust_offered())
		wrmsr(MSR_IA32_TSC_ADJUST, w->adjust);
	else
		wrmsr(MSR_IA32_TSC, rdtsc_ordered() - (w->value - w->before));
}

static void put_back_here(void *arg)
{
	struct written *w = arg;

	undo_write(w);
	tsc_reference_stop(&w->reference);
}

static bool is_written(const struct written *w)
{
	return w->after - w->value <= w->most;
}

static bool expect_written(const struct written *w, int cpu)
{
	if (!w->has_reference) {
		report_error("CPU %d has no second clock: its local APIC timer stands still", cpu);
		return false;
	}
	return report_expect(is_written(w),
			     "CPU %d's TSC was 0x%lx and was written 0x%lx; no more than %lu ticks "
			     "later it is 0x%lx",
			     cpu, w->before, w->value, w->most, w->after);
}

/* ---- one CPU ----------------------------------------------------------------------------------- */

static void value(void)
{
	struct written w = { .target = report_subject() };

	write_here(&w);
	put_back_here(&w);
	expect_written(&w, 0);
}

/* The bits above the target are set by carry while the counter runs. */
static void carry(void)
{
	struct written w = { .target = report_subject() };
	u64 turn = w.target->ticks, last = 0, most = 0;
	bool carried = false;

	write_here(&w);
	if (is_written(&w)) {
		carried = spin_until((s64)(rdtsc_ordered() - turn) >= 0, WAIT_NS);
		last = rdtsc_ordered();
		most = tsc_reference_most(&w.reference);
	}
	put_back_here(&w);
	if (expect_written(&w, 0))
		report_expect(carried && last - w.value <= most,
			      "written 0x%lx, to count on to 0x%lx, the TSC was 0x%lx no more than "
			      "%lu ticks later",
			      w.value, turn, last, most);
}

static void read_back(void)
{
	struct written w = { .target = &pattern };
	u64 by_msr, last;

	write_here(&w);
	by_msr = rdmsr(MSR_IA32_TSC);
	last = rdtsc_ordered();
	put_back_here(&w);
	expect_written(&w, 0);
	report_expect(tsc_is_within(by_msr, w.after, last),
		      "RDMSR of IA32_TSC gave 0x%lx, between RDTSC's 0x%lx and 0x%lx", by_msr,
		      w.after, last);
}

/* By the local APIC timer's rate of before: between start and end no less, and no more. */
static void rate(void)
{
	struct written w = { .target = &forward };
	u64 outer_start, start, end, outer_end, least, most;
	struct lapic_timer reference;

	write_here(&w);
	outer_start = rdtsc_ordered();
	tsc_reference_start(&reference);
	start = rdtsc_ordered();
	spin_until(false, RATE_NS);
	end = rdtsc_ordered();
	most = tsc_reference_most(&reference);
	least = tsc_reference_least(&reference);
	outer_end = rdtsc_ordered();
	put_back_here(&w);
	if (!expect_written(&w, 0))
		return;
	report_expect(end - start <= most && outer_end - outer_start >= least,
		      "the written TSC counted %lu to %lu ticks where %lu to %lu would be right",
		      end - start, outer_end - outer_start, least, most);
	report_info("%lu ticks, %lu at most; around them %lu ticks, %lu at least", end - start,
		    most, outer_end - outer_start, least);
}

/* ---- several CPUs ------------------------------------------------------------------------------ */

static void other_cpu(void)
{
	struct written w = { .target = &forward };
	struct lapic_timer reference;
	u64 before, after, most;

	if (!have_several() || !tsc_reference_start(&reference))
		return;
	before = rdtsc_ordered();
	on_cpu(1, write_here, &w);
	after = rdtsc_ordered();
	most = tsc_reference_most(&reference);
	on_cpu(1, put_back_here, &w);
	tsc_reference_stop(&reference);
	expect_written(&w, 1);
	report_expect(after - before <= most,
		      "CPU 1 wrote its IA32_TSC, and CPU 0's TSC went from 0x%lx to 0x%lx, by more "
		      "than %lu",
		      before, after, most);
}

struct all_written {
	struct smp_barrier barrier;
	struct written cpu[MAX_CPUS];
};

static void write_on_all(void *arg)
{
	struct all_written *all = arg;
	struct written *w = &all->cpu[smp_id()];

	smp_barrier_wait(&all->barrier);
	write_here(w);
	put_back_here(w);
}

static void all_cpus(void)
{
	struct all_written *all = alloc(sizeof(*all));

	if (!have_several())
		return;
	smp_barrier_init(&all->barrier, smp_count());
	for (int cpu = 0; cpu < smp_count(); cpu++)
		all->cpu[cpu].target = &pattern;
	on_all_cpus(write_on_all, all);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		expect_written(&all->cpu[cpu], cpu);
}

/* ---- afterwards -------------------------------------------------------------------------------- */

/* With IA32_TSC_ADJUST to the tick, so that the CPUs agree again. */
static void undone(void)
{
	struct written w = { .target = &pattern };
	u64 after, other;

	write_here(&w);
	undo_write(&w);
	after = rdtsc_ordered();
	w.most = tsc_reference_most(&w.reference);
	tsc_reference_stop(&w.reference);
	report_expect(after - w.before <= w.most,
		      "the TSC was 0x%lx, and 0x%lx when a write was undone, no more than %lu "
		      "ticks later",
		      w.before, after, w.most);
	if (!tsc_adjust_offered() || smp_count() < 2)
		return;
	w.before = rdtsc_ordered();
	on_cpu(1, read_here, &other);
	after = rdtsc_ordered();
	report_expect(tsc_is_within(other, w.before, after),
		      "after all writes CPU 1's TSC is 0x%lx between CPU 0's 0x%lx and 0x%lx",
		      other, w.before, after);
}

int main(void)
{
	return report_run("tsc-write", checks, ARRAY_SIZE(checks));
}
