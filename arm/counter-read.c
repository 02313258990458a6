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

int main(void)
{
	return bench_report_run("counter-read", benches, ARRAY_SIZE(benches), NULL, 0);
}
