// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IA32_TSC_ADJUST (SDM vol. 3, 18.17.3): 0 at reset, alike on all CPUs, and changed by nothing but
 * writes: what is added to it is added to the TSC, and what a write of IA32_TSC adds to the TSC is
 * added to it. So TSC - IA32_TSC_ADJUST is a clock that no write moves. Every check here is a bracket
 * of that clock: read before and after a write it has to enclose what the write says, to the tick, and
 * a vCPU that is not run in between only makes the bracket wide.
 *
 * A hypervisor that starts a CPU later than the others, or restores one, with another offset fails
 * equal (T2); one that moves only one of the two registers, or rounds, or takes a negative amount for a
 * large one, fails adjust-moves-tsc or tsc-moves-adjust (H1).
 */
#include "libcflat.h"
#include "tsctest.h"
#include <arch/cpuid.h>
#include <arch/msr.h>
#include <arch/tsc.h>

static void reset_value(void);
static void equal(void);
static void constant(void);
static void adjust_moves_tsc(void);
static void tsc_moves_adjust(void);
static void sum(void);
static void per_cpu(void);
static void all_cpus(void);
static void absent(void);

/* What is added: ticks, and the ticks of so many seconds; or so much that the TSC is below zero. */
struct amount {
	u64 ticks;
	s64 seconds;
	bool below_zero;
};

static const struct amount one = { .ticks = 1 }, minus_one = { .ticks = -1ULL };
static const struct amount second = { .seconds = 1 }, minus_second = { .seconds = -1 };
static const struct amount bit_32 = { .ticks = BIT(32) }, minus_bit_32 = { .ticks = -BIT(32) };
static const struct amount bit_62 = { .ticks = BIT(62) }, bit_63 = { .ticks = BIT(63) };
static const struct amount below_zero = { .below_zero = true };

#define BY(name_, amount_, fn_, story_)                                                          \
	{                                                                                        \
		.name = name_, .run = fn_, .guards = "H1", .subject = &amount_, .story = story_, \
	}

static const struct check by_adjust[] = {
	BY("one", one, adjust_moves_tsc, "by 1"),
	BY("minus-one", minus_one, adjust_moves_tsc, "by -1"),
	BY("second", second, adjust_moves_tsc, "by a second"),
	BY("minus-second", minus_second, adjust_moves_tsc,
	   "back by a second, which may be to before the start"),
	BY("bit-32", bit_32, adjust_moves_tsc, "by 2^32"),
	BY("minus-bit-32", minus_bit_32, adjust_moves_tsc, "by -2^32"),
	BY("bit-62", bit_62, adjust_moves_tsc, "by 2^62"),
	BY("bit-63", bit_63, adjust_moves_tsc, "by 2^63, the same forwards and backwards"),
	BY("below-zero", below_zero, adjust_moves_tsc,
	   "to just below 0, which is 2^64 less a little"),
};

static const struct check by_tsc[] = {
	BY("one", one, tsc_moves_adjust, "by 1"),
	BY("minus-one", minus_one, tsc_moves_adjust, "by -1"),
	BY("second", second, tsc_moves_adjust, "by a second"),
	BY("minus-second", minus_second, tsc_moves_adjust,
	   "back by a second, which may be to before the start"),
	BY("bit-32", bit_32, tsc_moves_adjust, "by 2^32"),
	BY("minus-bit-32", minus_bit_32, tsc_moves_adjust, "by -2^32"),
	BY("bit-62", bit_62, tsc_moves_adjust, "by 2^62"),
	BY("bit-63", bit_63, tsc_moves_adjust, "by 2^63, the same forwards and backwards"),
	BY("below-zero", below_zero, tsc_moves_adjust,
	   "to just below 0, which is 2^64 less a little"),
};

static const struct check checks[] = {
	{ "reset-value", reset_value, .guards = "T2", .story = "it is 0 on every CPU at first" },
	{ "equal", equal, .guards = "T2", .story = "no CPU was started with another TSC" },
	{ "constant", constant, .story = "it does not change while the TSC counts" },
	{ "adjust-moves-tsc", .checks = by_adjust, .nr_checks = ARRAY_SIZE(by_adjust) },
	{ "tsc-moves-adjust", .checks = by_tsc, .nr_checks = ARRAY_SIZE(by_tsc) },
	{ "sum", sum, .guards = "H1",
	  .story = "nothing is lost or gained over many writes of both" },
	{ "per-cpu", per_cpu, .guards = "T2", .story = "a write moves the CPU that wrote alone" },
	{ "all-cpus", all_cpus, .guards = "T2",
	  .story = "all CPUs moved at once are as far apart as they were" },
	{ "absent", absent, .story = "not offered, it cannot be used to move the TSC" },
};

#define READS	      1000
#define WRITES	      1000
#define BELOW_ZERO_NS (10 * NSEC_PER_MSEC)

/* ---- the two registers ------------------------------------------------------------------------- */

/* False after report_skip(). */
static bool offered(void)
{
	if (tsc_adjust_offered())
		return true;
	report_skip("CPUID offers no IA32_TSC_ADJUST");
	return false;
}

static u64 amount_ticks(const struct amount *a)
{
	u64 hz = clock_hz();

	if (a->below_zero)
		return -rdtsc_ordered() - ns_to_ticks(BELOW_ZERO_NS, hz);
	return a->ticks + (u64)a->seconds * hz;
}

/* ---- at rest ----------------------------------------------------------------------------------- */

static void read_here(void *values)
{
	((u64 *)values)[smp_id()] = tsc_adjust();
}

static void reset_value(void)
{
	u64 values[MAX_CPUS];

	if (!offered())
		return;
	on_all_cpus(read_here, values);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		report_expect(!values[cpu], "CPU %d has IA32_TSC_ADJUST 0x%lx", cpu, values[cpu]);
}

static void equal(void)
{
	u64 values[MAX_CPUS];

	if (!offered())
		return;
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	on_all_cpus(read_here, values);
	for (int cpu = 1; cpu < smp_count(); cpu++)
		report_expect(values[cpu] == values[0],
			      "CPU 0 has IA32_TSC_ADJUST 0x%lx, CPU %d has 0x%lx", values[0], cpu,
			      values[cpu]);
}

static void count_changes_here(void *changes)
{
	u64 adjust = tsc_adjust();

	for (int i = 0; i < READS; i++) {
		if (tsc_adjust() != adjust)
			__atomic_fetch_add((u32 *)changes, 1, __ATOMIC_RELAXED);
	}
}

static void constant(void)
{
	u64 before = rdtsc_ordered(), after;
	u32 changes = 0;

	if (!offered())
		return;
	on_all_cpus(count_changes_here, &changes);
	after = rdtsc_ordered();
	report_expect(after > before, "the TSC stands still at 0x%lx", before);
	report_expect(!changes, "%u of %d reads found IA32_TSC_ADJUST changed", changes,
		      READS * smp_count());
	report_info("%d reads on %d CPUs in %lu ticks", READS * smp_count(), smp_count(),
		    after - before);
}

/* ---- one moves the other ----------------------------------------------------------------------- */

/* The TSC before an amount was added, with it, and without it again. */
struct there_and_back {
	u64 adjust, ticks;
	u64 before, moved, after;
	u64 most; /* ticks that passed between the first and the last, at most */
	struct lapic_timer reference;
};

/* False after a verdict. */
static bool begin(struct there_and_back *b)
{
	if (!offered() || !tsc_reference_start(&b->reference))
		return false;
	b->adjust = tsc_adjust();
	b->ticks = amount_ticks(report_subject());
	b->before = rdtsc_ordered();
	return true;
}

/* Without the amount the TSC is where time alone has brought it: the bracket for what was between. */
static void end(struct there_and_back *b)
{
	wrmsr(MSR_IA32_TSC_ADJUST, b->adjust);
	b->after = rdtsc_ordered();
	b->most = tsc_reference_most(&b->reference);
	tsc_reference_stop(&b->reference);
	report_expect(tsc_adjust() == b->adjust,
		      "IA32_TSC_ADJUST was written 0x%lx again and reads as 0x%lx", b->adjust,
		      tsc_adjust());
	report_expect(
		b->after - b->before <= b->most,
		"the TSC went from 0x%lx to 0x%lx, and with IA32_TSC_ADJUST as it had been to "
		"0x%lx, while no more than %lu ticks passed",
		b->before, b->moved, b->after, b->most);
	report_info("a bracket of %lu ticks, %lu at most", b->after - b->before, b->most);
}

/* The TSC less the amount is between the TSC of before and that of afterwards. */
static void adjust_moves_tsc(void)
{
	struct there_and_back b;
	u64 adjust;

	if (!begin(&b))
		return;
	wrmsr(MSR_IA32_TSC_ADJUST, b.adjust + b.ticks);
	b.moved = rdtsc_ordered();
	adjust = tsc_adjust();
	end(&b);
	report_expect(adjust == b.adjust + b.ticks,
		      "IA32_TSC_ADJUST was written 0x%lx and reads as 0x%lx", b.adjust + b.ticks,
		      adjust);
	report_expect(tsc_is_within(b.moved - b.ticks, b.before, b.after),
		      "0x%lx was added to IA32_TSC_ADJUST, and the TSC went from 0x%lx to 0x%lx; "
		      "taken away again, to 0x%lx",
		      b.ticks, b.before, b.moved, b.after);
}

/*
 * What IA32_TSC_ADJUST went up by says at which TSC of before the write was made: between the TSC that
 * was read before, and that of afterwards less as much.
 */
static void tsc_moves_adjust(void)
{
	struct there_and_back b;
	u64 written, up;

	if (!begin(&b))
		return;
	written = b.before + b.ticks;
	wrmsr(MSR_IA32_TSC, written);
	b.moved = rdtsc_ordered();
	up = tsc_adjust() - b.adjust;
	end(&b);
	report_expect(tsc_is_within(written - up, b.before, b.moved - up),
		      "at 0x%lx IA32_TSC was written 0x%lx: then it was 0x%lx, and IA32_TSC_ADJUST "
		      "had gone up by 0x%lx",
		      b.before, written, b.moved, up);
	report_expect(tsc_is_within(b.moved - up, b.before, b.after),
		      "the TSC went from 0x%lx to 0x%lx by a write, IA32_TSC_ADJUST up by 0x%lx; "
		      "taken away again, the TSC went to 0x%lx",
		      b.before, b.moved, up, b.after);
}

/* The next amount: either sign, all sizes. Knuth's MMIX generator; its upper bits are the better ones. */
static u64 next_amount(u64 *random)
{
	*random = *random * 6364136223846793005 + 1442695040888963407;
	return (s64)*random >> (*random >> 32) % 60;
}

/*
 * By one register and the other in turn. After each write TSC - IA32_TSC_ADJUST has to have gone on; and
 * after all of them no further than time itself.
 */
static void sum(void)
{
	u64 adjust, first, last, most, random = 1;
	struct lapic_timer reference;

	if (!offered() || !tsc_reference_start(&reference))
		return;
	adjust = tsc_adjust();
	first = last = tsc_unmoved();
	for (int i = 0; i < WRITES; i++) {
		u64 ticks = next_amount(&random), now;

		if (i % 2)
			wrmsr(MSR_IA32_TSC, rdtsc_ordered() + ticks);
		else
			wrmsr(MSR_IA32_TSC_ADJUST, tsc_adjust() + ticks);
		now = tsc_unmoved();
		if (!report_expect((s64)(now - last) > 0,
				   "TSC - IA32_TSC_ADJUST went from 0x%lx to 0x%lx in write %d of "
				   "%s, by 0x%lx",
				   last, now, i, i % 2 ? "IA32_TSC" : "IA32_TSC_ADJUST", ticks))
			break;
		last = now;
	}
	most = tsc_reference_most(&reference);
	wrmsr(MSR_IA32_TSC_ADJUST, adjust);
	tsc_reference_stop(&reference);
	report_expect(last - first <= most,
		      "TSC - IA32_TSC_ADJUST went up by %lu ticks over all writes, while no more "
		      "than %lu passed",
		      last - first, most);
	report_info("%d writes in %lu ticks, no more than %lu", WRITES, last - first, most);
}

/* ---- several CPUs ------------------------------------------------------------------------------ */

/* What a CPU saw of its two registers. */
struct seen {
	u64 tsc, adjust;
};

struct move {
	u64 ticks;
	struct smp_barrier barrier;
	struct seen seen[MAX_CPUS];
};

static void look_here(void *arg)
{
	struct move *m = arg;
	struct seen *s = &m->seen[smp_id()];

	s->adjust = tsc_adjust();
	s->tsc = rdtsc_ordered();
}

static void move_here(void *arg)
{
	struct move *m = arg;

	wrmsr(MSR_IA32_TSC_ADJUST, tsc_adjust() + m->ticks);
	look_here(m);
}

/* All CPUs' clocks that no write moves are one: each CPU's lies within a bracket of CPU 0's. */
static void expect_one_clock(struct move *m, const char *when)
{
	for (int cpu = 1; cpu < smp_count(); cpu++) {
		u64 before = tsc_unmoved(), after;
		const struct seen *s = &m->seen[cpu];

		on_cpu(cpu, look_here, m);
		after = tsc_unmoved();
		report_expect(tsc_is_within(s->tsc - s->adjust, before, after),
			      "%s, TSC - IA32_TSC_ADJUST is 0x%lx on CPU %d, between 0x%lx and "
			      "0x%lx on CPU 0",
			      when, s->tsc - s->adjust, cpu, before, after);
	}
}

/* False after report_skip(). */
static bool have_several(void)
{
	if (!offered())
		return false;
	if (smp_count() > 1)
		return true;
	report_skip("needs 2 CPUs, 1 is up");
	return false;
}

/* CPU by CPU: the others' registers are as they were, and their TSCs with them. */
static void per_cpu(void)
{
	struct move *m = alloc(sizeof(*m));
	u64 ticks = clock_hz();

	if (!have_several())
		return;
	expect_one_clock(m, "at first");
	for (int moved = 0; moved < smp_count(); moved++) {
		u64 before[MAX_CPUS], after[MAX_CPUS];

		on_all_cpus(read_here, before);
		m->ticks = ticks;
		on_cpu(moved, move_here, m);
		on_all_cpus(read_here, after);
		for (int cpu = 0; cpu < smp_count(); cpu++)
			report_expect(
				after[cpu] == before[cpu] + (cpu == moved ? ticks : 0),
				"CPU %d added 0x%lx to its IA32_TSC_ADJUST, and CPU %d's went "
				"from 0x%lx to 0x%lx",
				moved, ticks, cpu, before[cpu], after[cpu]);
		expect_one_clock(m, "with one CPU's TSC moved");
		m->ticks = -ticks;
		on_cpu(moved, move_here, m);
	}
	expect_one_clock(m, "with each one's TSC put back");
}

static void move_together(void *arg)
{
	struct move *m = arg;

	smp_barrier_wait(&m->barrier);
	move_here(m);
}

/* The counters themselves, too: with one amount on all of them they are one clock as before. */
static void all_cpus(void)
{
	struct move *m = alloc(sizeof(*m));

	if (!have_several())
		return;
	smp_barrier_init(&m->barrier, smp_count());
	m->ticks = clock_hz();
	for (int round = 0; round < 2; round++) {
		on_all_cpus(move_together, m);
		expect_one_clock(m, round ? "with all TSCs put back" : "with all TSCs moved");
		for (int cpu = 1; cpu < smp_count(); cpu++) {
			u64 before = rdtsc_ordered(), after;

			on_cpu(cpu, look_here, m);
			after = rdtsc_ordered();
			report_expect(tsc_is_within(m->seen[cpu].tsc, before, after),
				      "CPU %d's TSC is 0x%lx between 0x%lx and 0x%lx on CPU 0", cpu,
				      m->seen[cpu].tsc, before, after);
		}
		m->ticks = -m->ticks;
	}
}

/* ---- not offered ------------------------------------------------------------------------------- */

/*
 * An MSR that CPUID does not offer raises #GP (SDM vol. 4, 2.1); a hypervisor may also let it read as 0
 * and ignore writes. What it may not do is to move the TSC.
 */
static void absent(void)
{
	u64 value, after, before, ticks = clock_hz();
	struct lapic_timer reference;
	int read, write;

	if (tsc_adjust_offered()) {
		report_skip("CPUID offers IA32_TSC_ADJUST");
		return;
	}
	if (!tsc_reference_start(&reference))
		return;
	before = rdtsc_ordered();
	write = wrmsr_safe(MSR_IA32_TSC_ADJUST, ticks);
	after = rdtsc_ordered();
	report_expect(after - before <= tsc_reference_most(&reference),
		      "WRMSR of IA32_TSC_ADJUST, not offered, moved the TSC from 0x%lx to 0x%lx",
		      before, after);
	read = rdmsr_safe(MSR_IA32_TSC_ADJUST, &value);
	report_expect(read == VECTOR_GP || (read == NO_EXCEPTION && value == 0),
		      "RDMSR of IA32_TSC_ADJUST, not offered, raised %s and gave 0x%lx",
		      exception_name(read), value);
	report_expect(write == VECTOR_GP || write == NO_EXCEPTION,
		      "WRMSR of IA32_TSC_ADJUST, not offered, raised %s", exception_name(write));
	tsc_reference_stop(&reference);
	report_info("RDMSR: %s; WRMSR: %s", exception_name(read), exception_name(write));
}

int main(void)
{
	return report_run("tsc-adjust", checks, ARRAY_SIZE(checks));
}
