// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Cycle counters of the performance monitoring unit: Intel's fixed counters 1 (core cycles) and 2
 * (cycles at the TSC's rate) and general counter 0, AMD's core counter 0. Brought up from nothing each
 * counts, a zero has a named cause, each missing enable stops it; it keeps its value and all its bits,
 * overflows with its flag and its interrupt, and is the same by RDPMC.
 *
 * What a hypervisor counts excludes its own time, so no count is ever judged too small for the time
 * that passed; only zeros, steps backwards and more than any clock could do are wrong.
 *
 * Where CPUID offers no counters, their registers must not pretend to be there: absent.
 *
 * None of the machines that this was developed on has an x86 PMU: but for absent, these checks have
 * not been seen to pass. Arguments: budget-ms=N.
 */
#include "libcflat.h"
#include <arch/apic.h>
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/idt.h>
#include <arch/msr.h>
#include <arch/pmu.h>
#include <arch/tsc.h>

static void cpuid_consistent(void);
static void counts(void);
static void all_cpus(void);
static void enables(void);
static void user_filter(void);
static void value_kept(void);
static void beyond_32_bits(void);
static void write_sign_extends(void);
static void overflow_flag(void);
static void overflow_interrupt(void);
static void same_by_rdpmc(void);
static void monotonic(void);
static void rate(void);
static void absent_rdpmc(void);
static void absent_registers(void);

static const struct check counter[] = {
	{ "counts", counts, .story = "from nothing it counts; a zero is explained" },
	{ "all-cpus", all_cpus, .story = "on every CPU" },
	{ "enables", enables, .story = "each missing enable stops it" },
	{ "user-filter", user_filter,
	  .story = "counting user mode alone, the kernel adds nothing" },
	{ "value-kept", value_kept,
	  .story = "stopped it keeps its value, started it goes on from it" },
	{ "beyond-32-bits", beyond_32_bits,
	  .story = "it carries past 2^32 and keeps the upper bits when it is stopped" },
	{ "write-sign-extends", write_sign_extends,
	  .story = "a write of IA32_PMC0 takes 32 bits and extends their sign" },
	{ "overflow-flag", overflow_flag,
	  .story = "past its width it sets its flag, once cleared not "
		   "again" },
	{ "overflow-interrupt", overflow_interrupt, .story = "and gives one interrupt" },
	{ "same-by-rdpmc", same_by_rdpmc, .story = "RDPMC lies between two RDMSR" },
	{ "monotonic", monotonic, .story = "it never runs backwards" },
	{ "rate", rate, .story = "no window has more cycles than a clock could give" },
};

static const struct check absent[] = {
	{ "rdpmc", absent_rdpmc, .story = "RDPMC faults where there is no counter" },
	{ "registers", absent_registers,
	  .story = "registers that are not offered fault, or read as 0" },
};

static const struct check checks[] = {
	{ "cpuid", cpuid_consistent, .story = "CPUID 0xA describes counters that there can be" },
	{ "fixed-1", .checks = counter, .nr_checks = ARRAY_SIZE(counter), .subject = &pmu_fixed_1 },
	{ "fixed-2", .checks = counter, .nr_checks = ARRAY_SIZE(counter), .subject = &pmu_fixed_2 },
	{ "general-0", .checks = counter, .nr_checks = ARRAY_SIZE(counter),
	  .subject = &pmu_general_0 },
	{ "amd-0", .checks = counter, .nr_checks = ARRAY_SIZE(counter), .subject = &pmu_amd_0 },
	{ "absent", .checks = absent, .nr_checks = ARRAY_SIZE(absent) },
};

#define WORK_LOOPS  100000
#define TRIES	    10
#define READS	    10000
#define WINDOWS	    20
#define WINDOW_NS   (2 * NSEC_PER_MSEC)
#define WAIT_NS	    NSEC_PER_SEC
#define SETTLE_NS   (200 * NSEC_PER_USEC)
#define PMI_VECTOR  0x60
#define NEAR_CYCLES 10000
#define HZ_MAX	    10000000000UL /* no CPU is clocked at 10 GHz */
/* SDM vol. 3, 20.2.1: fixed counter 2 counts as the TSC; two reads of each are some cycles apart. */
#define REF_PPM 1000

/* A loop that no compiler shortens: more cycles than turns. */
static void work(void)
{
	for (volatile int i = 0; i < WORK_LOOPS; i++)
		;
}

/* Reset, with everything off; false after a skip. */
static struct pmu_counter *open_counter(void)
{
	struct pmu_counter *c = (struct pmu_counter *)report_subject();
	const char *why;

	if (!c->probe(c, &why)) {
		report_skip("%s", why);
		return NULL;
	}
	pmu_reset(c);
	return c;
}

/* The same, and SKIP where it does not count: "counts" says that. */
static struct pmu_counter *open_counting(void)
{
	struct pmu_counter *c = open_counter();
	u64 before;

	if (!c)
		return NULL;
	pmu_start(c, true, false);
	before = pmu_read(c);
	work();
	if (pmu_read(c) != before)
		return c;
	report_skip("%s does not count: see the check counts", c->name);
	pmu_reset(c);
	return NULL;
}

static void cpuid_consistent(void)
{
	struct cpuid leaf = cpuid_checked(0xa);
	u32 version = leaf.eax & 0xff, general = leaf.eax >> 8 & 0xff;
	u32 width = leaf.eax >> 16 & 0xff, fixed = leaf.edx & 0x1f,
	    fixed_width = leaf.edx >> 5 & 0xff;

	if (!version) {
		report_skip("no architectural performance monitoring (CPUID 0xA EAX)");
		return;
	}
	report_info("version %u, %u general counters of %u bits, %u fixed of %u", version, general,
		    width, fixed, fixed_width);
	report_expect(general && width >= 32 && width <= 64, "%u general counters of %u bits",
		      general, width);
	report_expect(version < 2 || (fixed && fixed_width >= 32 && fixed_width <= 64),
		      "%u fixed counters of %u bits", fixed, fixed_width);
}

/* ---- counting ---------------------------------------------------------------------------------- */

static void counts(void)
{
	struct pmu_counter *c = open_counter();
	u64 least = UINT64_MAX, zeros = 0;

	if (!c)
		return;
	pmu_start(c, true, false);
	for (int i = 0; i < TRIES; i++) {
		u64 before = pmu_read(c), counted;

		work();
		counted = (pmu_read(c) - before) & pmu_mask(c);
		zeros += counted == 0;
		least = MIN(least, counted);
	}
	report_info("%s, %u bits: at least %lu over %d turns of a loop", c->name, c->width, least,
		    WORK_LOOPS);
	report_expect(!zeros, "%s counted nothing %lu of %d times; missing enable: %s", c->name,
		      zeros, TRIES, pmu_diagnose(c));
	pmu_reset(c);
}

struct on_cpu {
	struct pmu_counter *counter;
	u64 counted[MAX_CPUS];
};

static void count_here(void *arg)
{
	struct on_cpu *all = arg;

	pmu_reset(all->counter);
	pmu_start(all->counter, true, false);
	work();
	all->counted[smp_id()] = pmu_read(all->counter);
	pmu_reset(all->counter);
}

static void all_cpus(void)
{
	struct on_cpu all = { .counter = open_counting() };

	if (!all.counter)
		return;
	on_all_cpus(count_here, &all);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		report_expect(all.counted[cpu], "%s counted nothing on CPU %d", all.counter->name,
			      cpu);
}

/* What it counts over the work as it is set up now. */
static u64 count_work(const struct pmu_counter *c)
{
	u64 before = pmu_read(c);

	work();
	return (pmu_read(c) - before) & pmu_mask(c);
}

static void enables(void)
{
	struct pmu_counter *c = open_counting();

	if (!c)
		return;
	for (int i = 0; i < c->nr_enables; i++) {
		u64 counted;

		pmu_reset(c);
		pmu_start_without(c, i);
		counted = count_work(c);
		report_expect(counted == 0, "%s counted %lu without %s", c->name, counted,
			      c->enable[i].name);
	}
	pmu_reset(c);
}

static void user_filter(void)
{
	struct pmu_counter *c = open_counting();
	u64 counted;

	if (!c)
		return;
	pmu_reset(c);
	pmu_start(c, false, true);
	counted = count_work(c);
	report_expect(counted == 0, "%s, counting user mode, counted %lu in the kernel", c->name,
		      counted);
	pmu_reset(c);
}

static void value_kept(void)
{
	struct pmu_counter *c = open_counting();
	u64 stopped, later, started;

	if (!c)
		return;
	work();
	pmu_stop(c);
	stopped = pmu_read(c);
	work();
	later = pmu_read(c);
	pmu_start(c, true, false);
	started = pmu_read(c);
	report_expect(stopped == later, "stopped at %lu, later %lu", stopped, later);
	report_expect(started >= later, "started again at %lu, it is at %lu", later, started);
	pmu_reset(c);
}

/* ---- width and overflow ------------------------------------------------------------------------ */

static void beyond_32_bits(void)
{
	struct pmu_counter *c = open_counting();
	u64 start = BIT(32) - NEAR_CYCLES, counting, stopped;

	if (!c)
		return;
	pmu_reset(c);
	if (!pmu_full_width(c)) {
		report_skip("no full-width writes (IA32_PERF_CAPABILITIES bit 13)");
		return;
	}
	pmu_write(c, start);
	report_expect(pmu_read(c) == start, "0x%lx was written, 0x%lx is read", start, pmu_read(c));
	pmu_start(c, true, false);
	spin_until(pmu_read(c) >= BIT(32) || pmu_read(c) < start, WAIT_NS);
	counting = pmu_read(c);
	pmu_stop(c);
	stopped = pmu_read(c);
	report_expect(counting >= BIT(32) && stopped >= counting,
		      "started at 0x%lx it went to 0x%lx, stopped 0x%lx", start, counting, stopped);
	pmu_reset(c);
}

static void write_sign_extends(void)
{
	struct pmu_counter *c = open_counter();
	u64 wanted;

	if (!c)
		return;
	if (!c->full_counter) {
		report_skip("%s takes writes of its full width", c->name);
		return;
	}
	wanted = (u64)(s32)0x80000001 & pmu_mask(c);
	wrmsr(c->counter, 0x80000001);
	report_expect(pmu_read(c) == wanted, "0x80000001 was written, 0x%lx is read, not 0x%lx",
		      pmu_read(c), wanted);
	wrmsr(c->counter, 0x7fffffff);
	report_expect(pmu_read(c) == 0x7fffffff, "0x7fffffff was written, 0x%lx is read",
		      pmu_read(c));
	pmu_reset(c);
}

/* Near enough to its end that the work brings it there. */
static void start_near_overflow(const struct pmu_counter *c, bool interrupt)
{
	pmu_reset(c);
	pmu_write(c, pmu_mask(c) - NEAR_CYCLES);
	if (interrupt)
		wrmsr(c->filter, rdmsr(c->filter) | c->interrupt);
	pmu_start(c, true, false);
}

static void overflow_flag(void)
{
	struct pmu_counter *c = open_counting();

	if (!c)
		return;
	pmu_reset(c);
	if (!c->status) {
		report_skip("no register of overflow flags (AMD before PerfMonV2)");
		return;
	}
	report_expect(!pmu_overflowed(c), "the flag is set before any overflow");
	start_near_overflow(c, false);
	report_expect(spin_until(pmu_overflowed(c), WAIT_NS),
		      "no flag in a second; the counter is at 0x%lx", pmu_read(c));
	pmu_stop(c);
	pmu_clear_overflow(c);
	report_expect(!pmu_overflowed(c), "the flag is set after it was cleared");
	pmu_reset(c);
}

static u32 interrupts;

static void pmi(struct exception_frame *frame)
{
	WRITE_ONCE(interrupts, interrupts + 1);
}

static void overflow_interrupt(void)
{
	struct pmu_counter *c = open_counting();

	if (!c)
		return;
	interrupts = 0;
	irq_set_handler(PMI_VECTOR, pmi);
	apic_write(APIC_LVT_PMC, PMI_VECTOR);
	start_near_overflow(c, true);
	irq_enable();
	spin_until(READ_ONCE(interrupts), WAIT_NS);
	spin_until(READ_ONCE(interrupts) > 1, SETTLE_NS);
	irq_disable();
	pmu_reset(c);
	apic_write(APIC_LVT_PMC, APIC_LVT_MASKED | PMI_VECTOR);
	report_expect(interrupts == 1, "one overflow gave %u interrupts", interrupts);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static void same_by_rdpmc(void)
{
	struct pmu_counter *c = open_counting();

	if (!c)
		return;
	for (int i = 0; i < READS / 10; i++) {
		u64 before = pmu_read(c), between = rdpmc(c->rdpmc) & pmu_mask(c);
		u64 after = pmu_read(c);

		if (!report_expect(before <= between && between <= after,
				   "RDPMC gives 0x%lx between RDMSR's 0x%lx and 0x%lx", between,
				   before, after))
			break;
	}
	pmu_reset(c);
}

static void monotonic(void)
{
	struct pmu_counter *c = open_counting();
	u64 last, backwards = 0;

	if (!c)
		return;
	last = pmu_read(c);
	for (int i = 0; i < READS; i++) {
		u64 now = pmu_read(c);

		backwards += now < last;
		last = now;
	}
	report_expect(!backwards, "it went backwards %lu of %d times", backwards, READS);
	pmu_reset(c);
}

/* The count is read within the TSC's bracket, so that the time is never taken too short. */
static void rate(void)
{
	struct pmu_counter *c = open_counting();
	u64 most_hz = 0;

	if (!c)
		return;
	for (int i = 0; i < WINDOWS; i++) {
		u64 start_tsc = rdtsc_ordered(), first = pmu_read(c), count, ticks, most;

		spin_until(false, WINDOW_NS);
		count = (pmu_read(c) - first) & pmu_mask(c);
		ticks = rdtsc_ordered() - start_tsc;
		most = c->ref_tsc ? ticks + ticks / 1000000 * REF_PPM
				  : mul_div_u64(ticks, HZ_MAX, clock_hz());
		most_hz = MAX(most_hz, mul_div_u64(count, clock_hz(), MAX(ticks, 1UL)));
		report_expect(count > 0, "nothing was counted in %lu ticks of the TSC", ticks);
		report_expect(count <= most, "%lu cycles in %lu ticks of the TSC", count, ticks);
	}
	report_info("%s: at most %lu Hz in windows of %lu ms", c->name, most_hz,
		    WINDOW_NS / NSEC_PER_MSEC);
	pmu_reset(c);
}

/* ---- absent ------------------------------------------------------------------------------------ */

/* false after a skip. */
static bool offers_none(void)
{
	static struct pmu_counter *const all[] = { &pmu_fixed_1, &pmu_fixed_2, &pmu_general_0,
						   &pmu_amd_0 };
	const char *why;

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i]->probe(all[i], &why)) {
			report_skip("there are counters: %s is offered", all[i]->name);
			return false;
		}
	}
	return true;
}

static int rdpmc_safe(u32 index)
{
	u32 low = 0, high = 0;

	exception_clear();
	__asm__ volatile(EXCEPTION_FIXUP("rdpmc") : "+a"(low), "+d"(high) : "c"(index) : "memory");
	return exception_taken();
}

/* #GP for an index that there is not (SDM vol. 2, RDPMC), #UD on a CPU without the instruction. */
static void absent_rdpmc(void)
{
	static const u32 indices[] = { 0, 1, 0x3f, BIT(30), BIT(30) | 2, 0xffffffff };
	/* AMD has four counters without a bit of CPUID for them (APM vol. 2, 13.2.1). */
	size_t first = cpuid(0).ebx == CPUID_VENDOR_AMD_EBX ? 2 : 0;

	if (!offers_none())
		return;
	for (size_t i = first; i < ARRAY_SIZE(indices); i++) {
		int vector = rdpmc_safe(indices[i]);

		report_expect(vector == VECTOR_GP || vector == VECTOR_UD,
			      "RDPMC of 0x%x gives a value (%s)", indices[i],
			      exception_name(vector));
	}
}

static void absent_registers(void)
{
	static struct pmu_counter *const all[] = { &pmu_fixed_1, &pmu_fixed_2, &pmu_general_0,
						   &pmu_amd_0 };
	int faulted = 0;

	if (!offers_none())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		u64 value;
		int vector = rdmsr_safe(all[i]->counter, &value);

		faulted += vector == VECTOR_GP;
		report_expect(vector == VECTOR_GP || (vector == NO_EXCEPTION && value == 0),
			      "%s is not offered, and reads as 0x%lx (%s)", all[i]->name, value,
			      exception_name(vector));
	}
	report_info("%d of %zu raise a general protection exception", faulted, ARRAY_SIZE(all));
}

int main(void)
{
	return report_run("pmu", checks, ARRAY_SIZE(checks));
}
