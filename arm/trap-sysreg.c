/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest's accesses to system registers cost under KVM, by CNTVCT_EL0.
 *
 * KVM leaves the translation registers (SCTLR_EL1, TTBR0_EL1, ...) to a guest whose MMU and caches
 * are on. On CPUs without FEAT_S2FWB it traps writes of them (HCR_EL2.TVM) while SCTLR_EL1.M and C
 * are not both set, and from a cache operation by set and way on until a write finds both set
 * (kvm_set_way_flush() and kvm_toggle_cache() in arch/arm64/kvm/mmu.c). So with C clear and DC CSW
 * done once every write traps, and with C set none does: each of these registers is measured both
 * ways, and a kernel that traps more than it has to is a FAIL.
 *
 * KVM's virtual PMU counts while the guest runs and not while EL2 does (kvm_pmu_create_perf_event()
 * in arch/arm64/kvm/pmu-emul.c has exclude_hv and exclude_host), so PMCCNTR_EL0 cannot be the second
 * measure of a trap. It is printed beside as what the guest was charged, and that this is less than
 * the trap took is itself a check. trap-sysreg-el2 has the cycles.
 *
 * The other rows are ID registers (HCR_EL2.TID3), the PMU's and the timers'. Operations are MRS or MSR
 * alone, 3 instructions with their loop.
 */
#include "libcflat.h"
#include "bench.h"
#include "pmutest.h"
#include "timerbench.h"
#include <arch/bench.h>
#include <arch/timer.h>

SYSREG_RW(sctlr_el1, sctlr_el1)
#define SCTLR_EL1_C BIT(2)

#define ID_AA64MMFR2_FWB_SHIFT 40

/* ---- traps of the translation registers -------------------------------------------------------- */

/*
 * With C clear, data accesses go past the caches. So none is made from there to the cache operation,
 * with which KVM writes the guest's memory back.
 */
static void trap_writes(void)
{
	u64 off = sctlr_el1() & ~SCTLR_EL1_C;

	__asm__ volatile("dsb sy\n\t"
			 "msr sctlr_el1, %0\n\t"
			 "isb\n\t"
			 "dc csw, xzr\n\t"
			 "dsb sy\n\t"
			 "msr sctlr_el1, %0\n\t"
			 "isb" ::"r"(off)
			 : "memory");
}

/* A trapped write, with which KVM ends its trapping. */
static void leave_writes(void)
{
	__asm__ volatile("dsb sy" ::: "memory");
	set_sctlr_el1(sctlr_el1() | SCTLR_EL1_C);
}

static bool need_traps(void)
{
	if (!ID_FIELD(read_sysreg(id_aa64mmfr2_el1), ID_AA64MMFR2_FWB_SHIFT))
		return true;
	report_skip("FEAT_S2FWB (ID_AA64MMFR2_EL1.FWB is 1): KVM has no reason to trap these");
	return false;
}

static bool open_trapped(void)
{
	trap_writes();
	return true;
}

static u64 ticks_hz(void)
{
	return clock_hz();
}

/* The caches are off no longer than while samples are taken: no lock works meanwhile. */
static const struct bench_clock trapped_ticks = {
	.unit = "ticks",
	.read = clock_ticks,
	.hz = ticks_hz,
	.is_time = true,
	.open = open_trapped,
	.close = leave_writes,
};

static bool open_charged(void)
{
	if (!pmu_open_counting())
		return false;
	trap_writes();
	return true;
}

static void close_charged(void)
{
	leave_writes();
	pmu_close();
}

static const struct bench_clock trapped_cycles = {
	.unit = "cycles",
	.read = pmccntr_el0,
	.open = open_charged,
	.close = close_charged,
};

static const char *class_trapped(void)
{
	return "trapped";
}

static const char *class_native(void)
{
	return "native";
}

/* ---- the registers ----------------------------------------------------------------------------- */

#define WRITE_BACK(reg) BENCH_MSR(write_##reg, reg, read_sysreg(reg))

WRITE_BACK(sctlr_el1)
WRITE_BACK(ttbr0_el1)
WRITE_BACK(ttbr1_el1)
WRITE_BACK(tcr_el1)
WRITE_BACK(esr_el1)
WRITE_BACK(far_el1)
WRITE_BACK(afsr0_el1)
WRITE_BACK(afsr1_el1)
WRITE_BACK(mair_el1)
WRITE_BACK(amair_el1)
WRITE_BACK(contextidr_el1)

BENCH_MRS(read_midr, midr_el1)
BENCH_MRS(read_mpidr, mpidr_el1)
BENCH_MRS(read_revidr, revidr_el1)
BENCH_MRS(read_ctr, ctr_el0)
BENCH_MRS(read_clidr, clidr_el1)
BENCH_MRS(read_pfr0, id_aa64pfr0_el1)
BENCH_MRS(read_dfr0, id_aa64dfr0_el1)
BENCH_MRS(read_isar0, id_aa64isar0_el1)
BENCH_MRS(read_mmfr0, id_aa64mmfr0_el1)

BENCH_MRS(read_pmcr, pmcr_el0)
BENCH_MSR(write_pmcr, pmcr_el0, pmcr_el0())
BENCH_MRS(read_pmccntr, pmccntr_el0)
BENCH_MRS(read_pmccfiltr, pmccfiltr_el0)
BENCH_MRS(read_pmcntenset, pmcntenset_el0)
BENCH_MRS(read_pmuserenr, pmuserenr_el0)

#define VM_REGISTER(reg)                                                           \
	{ #reg, .run = write_##reg, .class = class_native, .floor = "sctlr_el1" }, \
	{                                                                          \
#reg "-trapped", .prepare = need_traps, .run = write_##reg,        \
				 .class = class_trapped, .clock = &trapped_ticks,  \
				 .floor = "sctlr_el1"                              \
	}
#define ID_REGISTER(_name, _run)                        \
	{                                               \
		_name, .run = _run, .floor = "midr_el1" \
	}
#define PMU_REGISTER(_name, _run)                                                                 \
	{                                                                                         \
		_name, .prepare = pmu_open, .run = _run, .finish = pmu_close, .floor = "midr_el1" \
	}

static const struct bench benches[] = {
	VM_REGISTER(sctlr_el1),
	{ "sctlr_el1-charged", .prepare = need_traps, .run = write_sctlr_el1,
	  .class = class_trapped, .clock = &trapped_cycles, .batch = 1,
	  .story = "SCTLR_EL1 trapped: the cycles that the guest was charged for" },
	VM_REGISTER(ttbr0_el1),
	VM_REGISTER(ttbr1_el1),
	VM_REGISTER(tcr_el1),
	VM_REGISTER(esr_el1),
	VM_REGISTER(far_el1),
	VM_REGISTER(afsr0_el1),
	VM_REGISTER(afsr1_el1),
	VM_REGISTER(mair_el1),
	VM_REGISTER(amair_el1),
	VM_REGISTER(contextidr_el1),
	ID_REGISTER("midr_el1", read_midr),
	ID_REGISTER("mpidr_el1", read_mpidr),
	ID_REGISTER("revidr_el1", read_revidr),
	ID_REGISTER("ctr_el0", read_ctr),
	ID_REGISTER("clidr_el1", read_clidr),
	ID_REGISTER("id_aa64pfr0_el1", read_pfr0),
	ID_REGISTER("id_aa64dfr0_el1", read_dfr0),
	ID_REGISTER("id_aa64isar0_el1", read_isar0),
	ID_REGISTER("id_aa64mmfr0_el1", read_mmfr0),
	PMU_REGISTER("pmcr_el0", read_pmcr),
	PMU_REGISTER("pmcr_el0-write", write_pmcr),
	PMU_REGISTER("pmccntr_el0", read_pmccntr),
	PMU_REGISTER("pmccfiltr_el0", read_pmccfiltr),
	PMU_REGISTER("pmcntenset_el0", read_pmcntenset),
	PMU_REGISTER("pmuserenr_el0", read_pmuserenr),
	TIMER_BENCHES,
};

/* ---- the figures held against one another ------------------------------------------------------ */

/* What no trap is as fast as, as a multiple of the same instruction without one. */
#define TRAP_LEAST 2

/* The medians, of which one delayed sample in a thousand is no part. */
static void class_of_register(void)
{
	const char *name = report_subject();
	const struct bench_result *native = bench_result(name), *trapped;
	char with_suffix[64], a[STATS_TEXT_MAX], b[STATS_TEXT_MAX];

	snprintf(with_suffix, sizeof(with_suffix), "%s-trapped", name);
	trapped = bench_result(with_suffix);
	if (!native || !trapped) {
		report_skip("%s was not measured both trapped and not", name);
		return;
	}
	report_expect(trapped->stats.p50 > TRAP_LEAST * native->stats.p50,
		      "%s: %s ticks although MMU and caches are on, %s when KVM has to trap it",
		      name, stats_text(a, native->stats.p50), stats_text(b, trapped->stats.p50));
}

#define CLASS(reg)                                       \
	{                                                \
#reg, class_of_register, .subject = #reg \
	}

static const struct check classes[] = {
	CLASS(sctlr_el1), CLASS(ttbr0_el1), CLASS(ttbr1_el1),	   CLASS(tcr_el1),
	CLASS(esr_el1),	  CLASS(far_el1),   CLASS(afsr0_el1),	   CLASS(afsr1_el1),
	CLASS(mair_el1),  CLASS(amair_el1), CLASS(contextidr_el1),
};

#define WINDOWS 101
#define TRAPS	64 /* in a window */

/*
 * Cycles in a window of traps against those of work that takes as long: of the trapped write's time
 * a part is the guest's own, in which it is counted, and that is less than half of it.
 */
static void charged(void)
{
	static u64 of_traps[WINDOWS], of_work[WINDOWS];
	struct stats traps, work;

	if (!need_traps() || !open_charged())
		return;
	for (int i = 0; i < WINDOWS; i++) {
		of_traps[i] = pmu_rate_hz(write_sctlr_el1, TRAPS);
		of_work[i] = pmu_rate_hz(pmu_work, 100 * TRAPS);
	}
	close_charged();
	stats_of(of_traps, WINDOWS, &traps);
	stats_of(of_work, WINDOWS, &work);
	report_info("%lu kHz over traps, %lu kHz over work", traps.p50 / 1000, work.p50 / 1000);
	report_expect(
		traps.p50 < work.p50 / 2,
		"PMCCNTR_EL0 counts time in the hypervisor: %lu kHz by CNTVCT_EL0 over traps, "
		"%lu kHz over work",
		traps.p50 / 1000, work.p50 / 1000);
}

static const struct check checks[] = {
	{ "class", .checks = classes, .nr_checks = ARRAY_SIZE(classes),
	  .story = "With MMU and caches on, writes of translation registers do not trap" },
	{ "charged", charged,
	  .story = "PMCCNTR_EL0 leaves out the time that a trap spends in the hypervisor" },
};

int main(void)
{
	return bench_report_run("trap-sysreg", benches, ARRAY_SIZE(benches), checks,
				ARRAY_SIZE(checks));
}
