/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In what order the counters are read. A read of CNTVCT_EL0 or CNTPCT_EL0 may be made ahead of what
 * comes before it unless an ISB stands between; CNTVCTSS_EL0 and CNTPCTSS_EL0 (FEAT_ECV) may not, and
 * need none. Two reads in such an order never go backwards.
 *
 * A hypervisor or an emulator that reads a self-synchronising counter as the plain one fails the
 * checks with SS in their names; one that emulates one of the two and passes the other through,
 * with different offsets, fails those that have both (A11); a host whose counter misreads at a
 * roll-over of its low bits fails all of them (A21). How often the plain ones go backwards without
 * ISB is told and not judged.
 *
 * Arguments: budget-ms=N, el=2.
 */
#include "libcflat.h"
#include <arch/timer.h>

#define PAIRS 20000

/* False after report_skip(). */
static bool have_ecv(void)
{
	if (cpu_has_ecv())
		return true;
	report_skip("the CPU has no FEAT_ECV (ID_AA64MMFR0_EL1.ECV is 0)");
	return false;
}

/* ---- pairs of reads ---------------------------------------------------------------------------- */

/* What is between the two reads is all that there is: no more ISB than is named. */
#define DEFINE_PAIR(name, first, between, second)                                                 \
	static void name(u64 *a, u64 *b)                                                          \
	{                                                                                         \
		__asm__ volatile("mrs %0, " SYSREG_STRING(first) "\n\t" between                   \
								 "mrs %1, " SYSREG_STRING(second) \
				 : "=&r"(*a), "=r"(*b)                                            \
				 :                                                                \
				 : "memory");                                                     \
	}

#define ISB "isb\n\t"

DEFINE_PAIR(cntvct_isb_cntvct, cntvct_el0, ISB, cntvct_el0)
DEFINE_PAIR(cntpct_isb_cntpct, cntpct_el0, ISB, cntpct_el0)
DEFINE_PAIR(cntvctss_cntvctss, CNTVCTSS_EL0, "", CNTVCTSS_EL0)
DEFINE_PAIR(cntpctss_cntpctss, CNTPCTSS_EL0, "", CNTPCTSS_EL0)
DEFINE_PAIR(cntvct_cntvctss, cntvct_el0, "", CNTVCTSS_EL0)
DEFINE_PAIR(cntpct_cntpctss, cntpct_el0, "", CNTPCTSS_EL0)
DEFINE_PAIR(cntvctss_isb_cntvct, CNTVCTSS_EL0, ISB, cntvct_el0)
DEFINE_PAIR(cntpctss_isb_cntpct, CNTPCTSS_EL0, ISB, cntpct_el0)
/* Nothing orders these: how they come out is told and not judged. */
DEFINE_PAIR(cntvct_cntvct, cntvct_el0, "", cntvct_el0)
DEFINE_PAIR(cntpct_cntpct, cntpct_el0, "", cntpct_el0)
DEFINE_PAIR(cntvctss_cntvct, CNTVCTSS_EL0, "", cntvct_el0)
DEFINE_PAIR(cntpctss_cntpct, CNTPCTSS_EL0, "", cntpct_el0)

struct pairs {
	u64 count, backwards, largest_step;
	u64 a, b; /* of the first step backwards */
};

static struct pairs read_pairs(void (*pair)(u64 *a, u64 *b))
{
	struct pairs p = { 0 };
	struct spin_bound budget;

	spin_start(&budget, report_budget_ns() / 10);
	while (p.count < PAIRS && (p.count % 64 || spin_poll(&budget))) {
		u64 a, b;

		pair(&a, &b);
		p.count++;
		if (b < a && p.backwards++ == 0) {
			p.a = a;
			p.b = b;
		}
		if (b > a)
			p.largest_step = MAX(p.largest_step, b - a);
	}
	return p;
}

static void check_order(void (*pair)(u64 *a, u64 *b), void (*unordered)(u64 *a, u64 *b))
{
	struct pairs p = read_pairs(pair);

	report_info("%lu pairs, largest step %lu ticks", p.count, p.largest_step);
	report_expect(!p.backwards, "the second was less in %lu of %lu pairs, first 0x%lx, 0x%lx",
		      p.backwards, p.count, p.a, p.b);
	if (!unordered)
		return;
	p = read_pairs(unordered);
	report_info("without the ISB: less in %lu of %lu pairs, largest step %lu ticks",
		    p.backwards, p.count, p.largest_step);
}

static void check_cntvct_isb_cntvct(void)
{
	check_order(cntvct_isb_cntvct, cntvct_cntvct);
}

static void check_cntpct_isb_cntpct(void)
{
	check_order(cntpct_isb_cntpct, cntpct_cntpct);
}

static void check_cntvctss_cntvctss(void)
{
	if (have_ecv())
		check_order(cntvctss_cntvctss, NULL);
}

static void check_cntpctss_cntpctss(void)
{
	if (have_ecv())
		check_order(cntpctss_cntpctss, NULL);
}

static void check_cntvct_cntvctss(void)
{
	if (have_ecv())
		check_order(cntvct_cntvctss, NULL);
}

static void check_cntpct_cntpctss(void)
{
	if (have_ecv())
		check_order(cntpct_cntpctss, NULL);
}

static void check_cntvctss_isb_cntvct(void)
{
	if (have_ecv())
		check_order(cntvctss_isb_cntvct, cntvctss_cntvct);
}

static void check_cntpctss_isb_cntpct(void)
{
	if (have_ecv())
		check_order(cntpctss_isb_cntpct, cntpctss_cntpct);
}

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check checks[] = {
	{ "cntvct-isb-cntvct", check_cntvct_isb_cntvct, .guards = "A11 A21",
	  .story = "of two CNTVCT_EL0 with an ISB between them the second is not less" },
	{ "cntpct-isb-cntpct", check_cntpct_isb_cntpct, .guards = "A11 A21",
	  .story = "of two CNTPCT_EL0 with an ISB between them the second is not less" },
	{ "cntvctss-cntvctss", check_cntvctss_cntvctss, .guards = "A11 A21",
	  .story = "of two CNTVCTSS_EL0, no ISB between them, the second is not less" },
	{ "cntpctss-cntpctss", check_cntpctss_cntpctss, .guards = "A11 A21",
	  .story = "of two CNTPCTSS_EL0, no ISB between them, the second is not less" },
	{ "cntvct-cntvctss", check_cntvct_cntvctss, .guards = "A11 A21",
	  .story = "CNTVCTSS_EL0 is not read ahead of a CNTVCT_EL0 before it, without ISB" },
	{ "cntpct-cntpctss", check_cntpct_cntpctss, .guards = "A11 A21",
	  .story = "CNTPCTSS_EL0 is not read ahead of a CNTPCT_EL0 before it, without ISB" },
	{ "cntvctss-isb-cntvct", check_cntvctss_isb_cntvct, .guards = "A11 A21",
	  .story = "behind an ISB CNTVCT_EL0 is not less than CNTVCTSS_EL0 before it" },
	{ "cntpctss-isb-cntpct", check_cntpctss_isb_cntpct, .guards = "A11 A21",
	  .story = "behind an ISB CNTPCT_EL0 is not less than CNTPCTSS_EL0 before it" },
};

int main(void)
{
	return report_run("counter-order", checks, ARRAY_SIZE(checks));
}
