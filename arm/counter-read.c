/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a read of the counter costs. CNTVCT_EL0 is read without a trap everywhere. CNTPCT_EL0 is too,
 * unless the hypervisor gave the guest an offset to the physical counter and the CPU has no
 * FEAT_ECV to apply it (CNTPOFF_EL2): then each read is emulated (KVM: timer_set_traps() in
 * arch/arm64/kvm/arch_timer.c). With FEAT_ECV the offset costs nothing, and the self-synchronising
 * registers exist.
 *
 * The VMM says what it did by the argument counter-offset=N, and by host-cntpoff that the CPU can
 * apply it, which a guest's own ID registers need not tell. So a read is of the class "native" (no
 * offset), "trapped" (offset, no CNTPOFF_EL2) or "offset" (offset, CNTPOFF_EL2). The operation is
 * the read alone, as in a loop of a program: no ISB, no use of the value.
 */
#include "libcflat.h"
#include "bench.h"
#include <arch/bench.h>
#include <arch/el.h>
#include <arch/timer.h>

static const char *class_native(void)
{
	return "native";
}

static const char *class_physical(void)
{
	if (!args_has("counter-offset"))
		return "native";
	return args_has("host-cntpoff") ? "offset" : "trapped";
}

static bool need_ecv(void)
{
	if (cpu_has_ecv())
		return true;
	report_skip("no FEAT_ECV (ID_AA64MMFR0_EL1.ECV is 0)");
	return false;
}

BENCH_LOOP(read_cntvct, "mrs x0, cntvct_el0")
BENCH_LOOP(read_cntpct, "mrs x0, cntpct_el0")
BENCH_LOOP(read_cntvctss, "mrs x0, " SYSREG_STRING(CNTVCTSS_EL0))
BENCH_LOOP(read_cntpctss, "mrs x0, " SYSREG_STRING(CNTPCTSS_EL0))
BENCH_LOOP(read_cntvct_isb, "isb\n\tmrs x0, cntvct_el0\n\tisb")

static const struct bench benches[] = {
	{ "cntvct", .run = read_cntvct, .class = class_native, .story = "CNTVCT_EL0: the floor" },
	{ "cntvct-isb", .run = read_cntvct_isb, .class = class_native, .floor = "cntvct",
	  .story = "CNTVCT_EL0 between two ISBs, as an ordered read needs them" },
	{ "cntpct", .run = read_cntpct, .class = class_physical, .floor = "cntvct", .guards = "A10",
	  .story = "CNTPCT_EL0: trapped where it has an offset and there is no ECV" },
	{ "cntvctss", .prepare = need_ecv, .run = read_cntvctss, .class = class_native,
	  .floor = "cntvct", .story = "CNTVCTSS_EL0, self-synchronising" },
	{ "cntpctss", .prepare = need_ecv, .run = read_cntpctss, .class = class_physical,
	  .floor = "cntvct", .story = "CNTPCTSS_EL0, self-synchronising" },
};

/* ---- the figures held against one another ------------------------------------------------------ */

/* What no read without a trap takes, nor one with, as a multiple of CNTVCT_EL0's: medians. */
#define TRAP_LEAST 4

static void class_as_said(void)
{
	const struct bench_result *r = bench_result(report_subject());
	const struct bench_result *floor = bench_result("cntvct");
	char is[STATS_TEXT_MAX], native[STATS_TEXT_MAX];
	bool trapped;

	if (!r || !floor) {
		report_skip("not both of %s and cntvct were measured",
			    (const char *)report_subject());
		return;
	}
	trapped = r->stats.p50 > TRAP_LEAST * floor->stats.p50;
	report_expect(trapped == !strcmp(class_physical(), "trapped"),
		      "%s takes %s ticks, CNTVCT_EL0 %s: that is %s, and it should be of class %s",
		      r->bench->name, stats_text(is, r->stats.p50),
		      stats_text(native, floor->stats.p50), trapped ? "a trap" : "no trap",
		      class_physical());
}

#define OFFSET_ROUNDS 1000

/*
 * The VMM gives both counters the same offset, so that each read of the one lies between two reads of
 * the other, trapped or not. Without its offset CNTPCT_EL0 is counter-offset ticks ahead.
 */
static void offset_applied(void)
{
	u64 outside = 0, before, physical = 0, after = 0;

	if (!args_has("counter-offset")) {
		report_skip("the VMM set no offset (argument counter-offset)");
		return;
	}
	for (int i = 0; i < OFFSET_ROUNDS; i++) {
		before = cntvct_el0();
		physical = cntpct_el0();
		after = cntvct_el0();
		outside += physical < before || physical > after;
	}
	report_expect(!outside,
		      "CNTPCT_EL0 was not between two reads of CNTVCT_EL0 in %lu of %d "
		      "rounds: %#lx at last, then %#lx",
		      outside, OFFSET_ROUNDS, physical, after);
}

static const struct check classes[] = {
	{ "cntpct", class_as_said, .subject = "cntpct" },
	{ "cntpctss", class_as_said, .subject = "cntpctss" },
};

static const struct check checks[] = {
	{ "class", .checks = classes, .nr_checks = ARRAY_SIZE(classes), .guards = "A10",
	  .story = "The physical counter traps where its offset cannot be had otherwise, only "
		   "there" },
	{ "offset-applied", offset_applied, .guards = "H5",
	  .story = "The physical counter has the offset that the VMM set" },
};

int main(void)
{
	return bench_report_run("counter-read", benches, ARRAY_SIZE(benches), checks,
				ARRAY_SIZE(checks));
}
