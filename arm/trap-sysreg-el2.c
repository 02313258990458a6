/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a trapped write of SCTLR_EL1 costs, in cycles, and which enables it takes to see that. The
 * image is its own hypervisor (el2host.h): it is entered at EL2, sets HCR_EL2.TVM, goes on at EL1
 * and answers the trap, with all registers saved and a table searched ("trapped") or with as few
 * instructions as do the write ("trapped-least").
 *
 * PMCCNTR_EL0 shows the cost only with all of these (Arm ARM, PMCR_EL0, PMCNTENSET_EL0,
 * PMCCFILTR_EL0, MDCR_EL2): without PMCR_EL0.E or PMCNTENSET_EL0 bit 31 it stands still and every
 * sample is 0; without PMCCFILTR_EL0.NSH, or with MDCR_EL2.HPMD and PMCR_EL0.DP, or with
 * MDCR_EL2.HCCD, it stops for the time at EL2, so that a trapped write looks like one that is not
 * (A22). Each is left out in turn and must show just that.
 *
 * A sample is one write and the ISB that it needs. There are 100,000 of them, or as many as the
 * budget allows.
 */
#include "libcflat.h"
#include "bench.h"
#include "el2host.h"
#include "pmutest.h"
#include <arch/bench.h>
#include <arch/el.h>
#include <arch/timer.h>

#define SAMPLES 100000

/* Work at EL2 that no figure of the way there and back comes near. */
#define WORK   PMU_WINDOW
#define ROUNDS 20

/* ---- at EL2 ------------------------------------------------------------------------------------ */

/* Multiplications that the handler does beside the write. */
static u64 work_at_el2;

static void write_sctlr(struct el2_access *access)
{
	if (access->is_write)
		write_sysreg(access->value, SCTLR_EL12);
	if (work_at_el2)
		pmu_work(work_at_el2);
}

static const struct el2_register registers[] = {
	{ SYSREG_ID(3, 0, 1, 0, 0), write_sctlr },
};

static const struct el2host host = { .registers = registers,
				     .nr_registers = ARRAY_SIZE(registers) };

/*
 * Vectors with the least of handlers for what is not an HVC: ESR_EL2.EC is 0b011000 for a trapped
 * register and 0b010110 for HVC. The value to be written is in X4 (BENCH_LOOP_WITH()). At EL2 with
 * E2H the _EL1 names mean EL2's registers.
 */
__asm__(".pushsection .text.least_vectors, \"ax\"\n"
	".global least_vectors, least_handler, least_handler_end\n"
	".balign 0x800\n"
	"least_vectors:\n"
	".irp index, 0, 1, 2, 3, 4, 5, 6, 7\n"
	".balign 0x80\n\t"
	"b exception_vectors + 0x80 * \\index\n"
	".endr\n"
	".balign 0x80\n"
	"least_handler:\n\t"
	"str x0, [sp, #-16]!\n\t"
	"mrs x0, esr_el1\n\t"
	"tbz x0, #29, 1f\n\t"
	"msr " SYSREG_STRING(SCTLR_EL12) ", x4\n\t"
					 "mrs x0, elr_el1\n\t"
					 "add x0, x0, #4\n\t"
					 "msr elr_el1, x0\n\t"
					 "ldr x0, [sp], #16\n\t"
					 "eret\n"
					 "least_handler_end:\n"
					 "1:\tldr x0, [sp], #16\n\t"
					 "b exception_vectors + 0x400\n"
					 ".irp index, 9, 10, 11, 12, 13, 14, 15\n"
					 ".balign 0x80\n\t"
					 "b exception_vectors + 0x80 * \\index\n"
					 ".endr\n"
					 ".popsection");

extern char least_vectors[], least_handler[], least_handler_end[];

#define LEAST_HANDLER_INSTRUCTIONS ((u64)(least_handler_end - least_handler) / 4)

/* In el2host_call(). */
static u64 set_hcr(u64 bits)
{
	el2host_set_hcr(bits);
	return 0;
}

/* Returns what MDCR_EL2 was. */
static u64 set_mdcr(u64 value)
{
	u64 old = mdcr_el2();

	set_mdcr_el2(value);
	return old;
}

static u64 add_mdcr(u64 bits)
{
	return set_mdcr(mdcr_el2() | bits);
}

/* Returns what VBAR_EL2 was. */
static u64 set_vectors(u64 vectors)
{
	u64 old = read_sysreg(vbar_el1);

	write_sysreg(vectors, vbar_el1);
	isb();
	return old;
}

static u64 obstacle_at_el2(u64 unused)
{
	return pmu_obstacle();
}

/* ---- cases ------------------------------------------------------------------------------------- */

struct trap_case {
	u64 hcr;
	bool least;
	enum pmu_obstacle missing;
	int pmu_version; /* that has what is missing, or 0 */
	u64 mdcr;
};

static const struct trap_case untrapped = { 0 };
static const struct trap_case trapped = { .hcr = HCR_TVM };
static const struct trap_case trapped_least = { .hcr = HCR_TVM, .least = true };
static const struct trap_case no_pmcr_e = { .hcr = HCR_TVM, .missing = PMU_PMCR_E };
static const struct trap_case no_cntenset = { .hcr = HCR_TVM, .missing = PMU_CNTENSET };
static const struct trap_case no_nsh = { .hcr = HCR_TVM, .missing = PMU_FILTERED_NSH };
static const struct trap_case hpmd = {
	.hcr = HCR_TVM,
	.missing = PMU_MDCR_HPMD,
	.pmu_version = PMU_V3P1,
	.mdcr = MDCR_HPMD,
};
static const struct trap_case hccd = {
	.hcr = HCR_TVM,
	.missing = PMU_MDCR_HCCD,
	.pmu_version = PMU_V3P5,
	.mdcr = MDCR_HCCD,
};

/* What close_case() puts back. */
static u64 kept_mdcr, kept_vectors;

static void enable(const struct trap_case *c)
{
	set_pmccfiltr_el0(c->missing == PMU_FILTERED_NSH ? 0 : PMU_FILTER_NSH);
	if (c->missing != PMU_CNTENSET)
		set_pmcntenset_el0(PMU_CYCLE_COUNTER_BIT);
	set_pmcr_el0(PMCR_LC | (c->missing == PMU_PMCR_E ? 0 : PMCR_E) |
		     (c->missing == PMU_MDCR_HPMD ? PMCR_DP : 0));
}

/* false after a skip; else all is as the case says. */
static bool open_case(const struct trap_case *c)
{
	if (pmu_version() && pmu_version() < c->pmu_version) {
		report_skip("PMUVer is %d, and what is to be left out comes with %d", pmu_version(),
			    c->pmu_version);
		return false;
	}
	if (!pmu_open_reliable())
		return false;
	enable(c);
	kept_mdcr = el2host_call(add_mdcr, c->mdcr);
	if (el2host_call(obstacle_at_el2, 0) != c->missing)
		report_error("at EL2 it is not this that keeps cycles from being counted: %s",
			     pmu_obstacle_text(c->missing));
	kept_vectors = el2host_call(set_vectors, (u64)least_vectors);
	if (!c->least)
		el2host_call(set_vectors, kept_vectors);
	el2host_call(set_hcr, c->hcr);
	return true;
}

static void close_case(void)
{
	el2host_call(set_hcr, 0);
	el2host_call(set_vectors, kept_vectors);
	el2host_call(set_mdcr, kept_mdcr);
	pmu_close();
}

/* ---- benchmarks -------------------------------------------------------------------------------- */

static bool prepare(void)
{
	const struct trap_case *c = bench_subject();

	if (!open_case(c))
		return false;
	if (c->missing)
		report_info("%s", pmu_obstacle_text(c->missing));
	return true;
}

static const char *class_of(void)
{
	const struct trap_case *c = bench_subject();

	return c->hcr ? "trapped" : "native";
}

BENCH_LOOP_WITH(write_sctlr_isb, "msr sctlr_el1, x4\n\tisb", read_sysreg(sctlr_el1))

static const struct bench_clock cycles = { .unit = "cycles", .read = pmccntr_el0 };

#define CASE(_name, _case, _clock, _story)                                                         \
	{                                                                                          \
		.name = (_name), .prepare = prepare, .run = write_sctlr_isb, .finish = close_case, \
		.floor = "untrapped", .class = class_of, .clock = (_clock), .samples = SAMPLES,    \
		.batch = 1, .subject = &(_case), .guards = "A22", .story = (_story),               \
	}

static const struct bench benches[] = {
	CASE("untrapped", untrapped, &cycles, "SCTLR_EL1 written without a trap: the floor"),
	CASE("trapped", trapped, &cycles, "Trapped by HCR_EL2.TVM, all registers saved"),
	CASE("trapped-least", trapped_least, &cycles, "Trapped, and answered in few instructions"),
	CASE("no-pmcr-e", no_pmcr_e, &cycles, "Trapped, without PMCR_EL0.E: 0"),
	CASE("no-cntenset", no_cntenset, &cycles, "Trapped, without PMCNTENSET_EL0 bit 31: 0"),
	CASE("no-nsh", no_nsh, &cycles, "Trapped, without PMCCFILTR_EL0.NSH: as if not trapped"),
	CASE("hpmd", hpmd, &cycles, "Trapped, with MDCR_EL2.HPMD: as if not trapped"),
	CASE("hccd", hccd, &cycles, "Trapped, with MDCR_EL2.HCCD: as if not trapped"),
	CASE("trapped-ticks", trapped, NULL, "Trapped, by CNTVCT_EL0"),
};

/* ---- the figures held against one another ------------------------------------------------------ */

/* false after a skip. */
static bool need_results(const struct bench_result *a, const struct bench_result *b)
{
	if (a && b)
		return true;
	report_skip("not all that is to be compared was measured");
	return false;
}

static bool need_instructions(void)
{
	if (args_has("virtual-time"))
		return true;
	report_skip("a cycle is an instruction only under icount");
	return false;
}

/* Least and most cycles of a write that is trapped and has WORK done at EL2. */
struct work_cycles {
	u64 least, most;
};

static struct work_cycles count_work(void)
{
	struct work_cycles w = { .least = UINT64_MAX };

	work_at_el2 = WORK;
	for (int i = 0; i < ROUNDS; i++) {
		u64 before = pmccntr_el0();
		u64 counted;

		write_sctlr_isb(1);
		counted = pmccntr_el0() - before;
		w.least = MIN(w.least, counted);
		w.most = MAX(w.most, counted);
	}
	work_at_el2 = 0;
	return w;
}

static void work_counts(void)
{
	struct work_cycles w;

	if (!open_case(&trapped))
		return;
	w = count_work();
	close_case();
	report_expect(w.least >= PMU_WORK_LEAST(WORK),
		      "%lu cycles over work at EL2 that takes %lu at least, with all enabled",
		      w.least, PMU_WORK_LEAST(WORK));
}

/* The quietest of all rounds: an emulator may count time in which it was not run. */
static void work_hidden(void)
{
	const struct trap_case *c = report_subject();
	struct work_cycles w;

	if (!open_case(c))
		return;
	w = count_work();
	close_case();
	report_expect(w.least < PMU_WORK_LEAST(WORK),
		      "%lu cycles over work at EL2, which was counted although %s", w.least,
		      pmu_obstacle_text(c->missing));
	if (c->missing == PMU_PMCR_E || c->missing == PMU_CNTENSET)
		report_expect(!w.most, "%lu cycles although %s", w.most,
			      pmu_obstacle_text(c->missing));
}

static const struct check hidden[] = {
	{ "no-pmcr-e", work_hidden, .subject = &no_pmcr_e },
	{ "no-cntenset", work_hidden, .subject = &no_cntenset },
	{ "no-nsh", work_hidden, .subject = &no_nsh },
	{ "hpmd", work_hidden, .subject = &hpmd },
	{ "hccd", work_hidden, .subject = &hccd },
};

static void zeros(void)
{
	const struct bench_result *a = bench_result("no-pmcr-e");
	const struct bench_result *b = bench_result("no-cntenset");

	if (!need_results(a, b))
		return;
	report_expect(a->stats.zeros == a->stats.n, "%lu of %lu samples are not 0 although %s",
		      a->stats.n - a->stats.zeros, a->stats.n, pmu_obstacle_text(PMU_PMCR_E));
	report_expect(b->stats.zeros == b->stats.n, "%lu of %lu samples are not 0 although %s",
		      b->stats.n - b->stats.zeros, b->stats.n, pmu_obstacle_text(PMU_CNTENSET));
}

/* Medians are equal; in fixed point, so that the difference is told in instructions. */
static void expect_equal(const char *name, const char *other, u64 more)
{
	const struct bench_result *a = bench_result(name), *b = bench_result(other);
	char is[STATS_TEXT_MAX], expected[STATS_TEXT_MAX];

	if (!need_results(a, b) || !need_instructions())
		return;
	report_expect(a->stats.p50 == b->stats.p50 + more * STATS_ONE,
		      "%s: %s instructions, which is not %s (%s and %lu)", name,
		      stats_text(is, a->stats.p50),
		      stats_text(expected, b->stats.p50 + more * STATS_ONE), other, more);
}

static void exact_no_nsh(void)
{
	expect_equal("no-nsh", "untrapped", 0);
}

static void exact_hpmd(void)
{
	expect_equal("hpmd", "untrapped", 0);
}

static void exact_hccd(void)
{
	expect_equal("hccd", "untrapped", 0);
}

static void exact_least(void)
{
	expect_equal("trapped-least", "untrapped", LEAST_HANDLER_INSTRUCTIONS);
}

static void exact_ticks(void)
{
	expect_equal("trapped-ticks", "trapped", 0);
}

static const struct check exact[] = {
	{ "no-nsh", exact_no_nsh, .story = "As many instructions as not trapped" },
	{ "hpmd", exact_hpmd, .story = "As many instructions as not trapped" },
	{ "hccd", exact_hccd, .story = "As many instructions as not trapped" },
	{ "least", exact_least, .story = "As many as not trapped, and the handler's" },
	{ "ticks", exact_ticks, .story = "CNTVCT_EL0 and PMCCNTR_EL0 show the same figure" },
};

/* ---- the second measure ------------------------------------------------------------------------ */

#define WINDOWS 101
#define TRAPS	64 /* in a window */

/*
 * PMCCNTR_EL0 goes through traps no faster than through work, by CNTVCT_EL0; slower is possible
 * where a hypervisor below the image takes part in its traps and is not counted.
 */
static void rate(void)
{
	static u64 of_traps[WINDOWS], of_work[WINDOWS];
	struct stats traps, work;

	if (!open_case(&trapped))
		return;
	for (int i = 0; i < WINDOWS; i++) {
		of_traps[i] = pmu_rate_hz(write_sctlr_isb, TRAPS);
		of_work[i] = pmu_rate_hz(pmu_work, 100 * TRAPS);
	}
	close_case();
	stats_of(of_traps, WINDOWS, &traps);
	stats_of(of_work, WINDOWS, &work);
	report_info("%lu kHz over traps, %lu kHz over work", traps.p50 / 1000, work.p50 / 1000);
	report_expect(traps.p50 <= work.p50 + work.p50 / 8,
		      "%lu kHz by CNTVCT_EL0 over traps, %lu kHz over work", traps.p50 / 1000,
		      work.p50 / 1000);
}

static const struct check checks[] = {
	{ "zeros", zeros, .story = "A counter that is not enabled shows 0 in every sample" },
	{ "work-counts", work_counts, .guards = "A22",
	  .story = "With all enables the cycles of work at EL2 are counted" },
	{ "work-hidden", .checks = hidden, .nr_checks = ARRAY_SIZE(hidden), .guards = "A22",
	  .story = "With one enable missing the cycles of work at EL2 are not counted" },
	{ "exact", .checks = exact, .nr_checks = ARRAY_SIZE(exact),
	  .story = "Under icount figures differ by instructions, all of which are known" },
	{ "rate", rate, .story = "PMCCNTR_EL0 and CNTVCT_EL0 agree about traps" },
};

int main(void)
{
	if (current_el() == 2)
		el2host_enter(&host);
	return bench_report_run("trap-sysreg-el2", benches, ARRAY_SIZE(benches), checks,
				ARRAY_SIZE(checks));
}
