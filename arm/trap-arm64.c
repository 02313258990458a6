/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the operations on an arm64 guest's time paths cost, by CNTVCT_EL0: those that a CPU does by
 * itself, those that trap to the hypervisor and those that go on to its user space. Where an operation
 * is one of kvm-unit-tests' micro-bench, it has the name that it has there.
 *
 * The floors are reads of CNTVCT_EL0 and of CNTV_CTL_EL0, which nobody has a reason to trap. A trap
 * that need not be, an exit to user space for what the kernel has the device for, and a wake-up that
 * takes longer than before all show as a ratio to these. The same image runs at EL2.
 */
#include "libcflat.h"
#include "bench.h"
#include "pmutest.h"
#include "sgibench.h"
#include "timerbench.h"
#include <arch/bench.h>
#include <arch/devicetree.h>
#include <arch/el.h>
#include <arch/exception.h>
#include <arch/gic.h>
#include <arch/psci.h>
#include <arch/timer.h>

#define ICC_EOIR1_EL1 S3_0_C12_C12_1
#define GICC_EOIR     0x10
#define GICD_IIDR     0x08
#define SPURIOUS      1023 /* ending it has no effect (Arm IHI 0069, ICC_EOIR1_EL1) */

/* Of no service; answered with NOT_SUPPORTED (Arm DEN 0028). */
#define NO_FUNCTION 0x4b000000
/* Which hypervisor it is, in w0 to w3: Linux include/linux/arm-smccc.h, KVM's UID. */
#define VENDOR_HYP_UID 0x8600ff01
#define KVM_UID_0      0xb66fb428
#define KVM_UID_1      0xe911c52e

/* What prepare found out for run. */
static uintptr_t operand;

/* ---- counters and PMU -------------------------------------------------------------------------- */

BENCH_MRS(read_cntvct, cntvct_el0)
BENCH_MRS(read_cntpct, cntpct_el0)
BENCH_MRS(read_cntvctss, CNTVCTSS_EL0)
BENCH_MRS(read_cntpctss, CNTPCTSS_EL0)
BENCH_MRS(read_pmccntr, pmccntr_el0)
BENCH_MRS(read_pmcr, pmcr_el0)
BENCH_MSR(write_pmcr, pmcr_el0, pmcr_el0())

static bool need_ecv(void)
{
	if (cpu_has_ecv())
		return true;
	report_skip("no FEAT_ECV (ID_AA64MMFR0_EL1.ECV is 0)");
	return false;
}

/* ---- calls ------------------------------------------------------------------------------------- */

BENCH_CALL(call_nothing, "hvc #0", NO_FUNCTION)
BENCH_CALL(psci_version_hvc, "hvc #0", PSCI_VERSION)
BENCH_CALL(psci_version_smc, "smc #0", PSCI_VERSION)

static void call_once(void *arg)
{
	call_nothing(1);
}

static bool need_hvc(void)
{
	struct exception caught;

	if (current_el() == 2) {
		report_skip("an HVC from EL2 is taken at EL2");
		return false;
	}
	if (!exception_try(call_once, NULL, &caught))
		return true;
	report_skip("HVC raises \"%s\": nobody is at EL2",
		    exception_class_name(ESR_EC(caught.esr)));
	return false;
}

static bool need_psci(void)
{
	if (psci_version() >= 2)
		return true;
	report_skip("no PSCI 0.2 that can be called from EL%d", current_el());
	return false;
}

static void call_psci_version(u64 n)
{
	if (machine()->psci_method == PSCI_HVC)
		psci_version_hvc(n);
	else
		psci_version_smc(n);
}

/* ---- interrupts -------------------------------------------------------------------------------- */

BENCH_MSR(write_icc_eoir, ICC_EOIR1_EL1, SPURIOUS)
BENCH_LOOP_WITH(write_gicc_eoir, "mov w0, #1023\n\tstr w0, [x4]", operand)
BENCH_LOOP(wait_for_interrupt, "wfi")

static bool prepare_eoi(void)
{
	operand = machine()->gic_cpu_interface.base + GICC_EOIR;
	return true;
}

static void end_of_interrupt(u64 n)
{
	if (gic_version() == 2)
		write_gicc_eoir(n);
	else
		write_icc_eoir(n);
}

/* ---- devices ----------------------------------------------------------------------------------- */

BENCH_LOOP_WITH(read_mmio, "ldr w0, [x4]", operand)

/* A register whose reads have no effect: PL011's flags, or 16550's scratch. */
static bool find_uart(void)
{
	const struct machine *m = machine();

	switch (m->uart) {
	case UART_PL011:
		operand = m->uart_registers.base + 0x18;
		return true;
	case UART_16550:
		operand = m->uart_registers.base + (7 << m->uart_reg_shift);
		return true;
	default:
		report_skip("the devicetree names no UART");
		return false;
	}
}

static bool find_distributor(void)
{
	operand = machine()->gic_distributor.base + GICD_IIDR;
	return true;
}

/* ---- the table --------------------------------------------------------------------------------- */

#define FLOOR .floor = "cntvct"

static const struct bench benches[] = {
	{ "cntvct", .run = read_cntvct, .story = "CNTVCT_EL0: the floor" },
	{ "cntpct", .run = read_cntpct, FLOOR, .guards = "A10", .story = "CNTPCT_EL0" },
	{ "cntvctss", .prepare = need_ecv, .run = read_cntvctss, FLOOR,
	  .story = "CNTVCTSS_EL0, self-synchronising" },
	{ "cntpctss", .prepare = need_ecv, .run = read_cntpctss, FLOOR,
	  .story = "CNTPCTSS_EL0, self-synchronising" },
	TIMER_BENCHES,
	{ "pmccntr", .prepare = pmu_open, .run = read_pmccntr, .finish = pmu_close, FLOOR,
	  .story = "PMCCNTR_EL0 read" },
	{ "pmcr", .prepare = pmu_open, .run = read_pmcr, .finish = pmu_close, FLOOR,
	  .story = "PMCR_EL0 read" },
	{ "pmcr-write", .prepare = pmu_open, .run = write_pmcr, .finish = pmu_close, FLOOR,
	  .story = "PMCR_EL0 written" },
	{ "hyp_call", .prepare = need_hvc, .run = call_nothing, FLOOR,
	  .story = "HVC for a function that does not exist" },
	{ "psci_version", .prepare = need_psci, .run = call_psci_version, FLOOR,
	  .story = "PSCI_VERSION by HVC or SMC" },
	{ "sgi_send", .prepare = sgi_bench_open, .run = sgi_bench_send, .finish = sgi_bench_close,
	  FLOOR, .story = "An SGI to the own CPU, masked" },
	{ "ipi_self", .prepare = sgi_bench_open, .run = sgi_bench_self, .finish = sgi_bench_close,
	  FLOOR, .story = "An SGI to the own CPU until it has been handled" },
	{ "ipi", .prepare = sgi_bench_open_awake, .run = sgi_bench_other, .finish = sgi_bench_close,
	  FLOOR, .story = "An SGI to CPU 1, awake, until it is handled" },
	{ "ipi_asleep", .prepare = sgi_bench_open_asleep, .settle = sgi_bench_settle,
	  .run = sgi_bench_other, .finish = sgi_bench_close, .batch = 1, FLOOR,
	  .story = "An SGI to CPU 1, asleep in WFI, until it is handled" },
	{ "eoi", .prepare = prepare_eoi, .run = end_of_interrupt, FLOOR,
	  .story = "The end of a spurious interrupt written" },
	{ "wfi", .prepare = sgi_bench_open_pending, .run = wait_for_interrupt,
	  .finish = sgi_bench_close_pending, FLOOR, .story = "WFI with an interrupt pending" },
	{ "mmio_read_user", .prepare = find_uart, .run = read_mmio, FLOOR,
	  .story = "A UART's register read, which user space has" },
	{ "mmio_read_vgic", .prepare = find_distributor, .run = read_mmio, FLOOR,
	  .story = "GICD_IIDR read, which the kernel has" },
};

/* ---- the figures held against one another ------------------------------------------------------ */

static bool hypervisor_is_kvm(void)
{
	register u64 x0 __asm__("x0") = VENDOR_HYP_UID;
	register u64 x1 __asm__("x1") = 0;

	__asm__ volatile("hvc #0"
			 : "+r"(x0), "+r"(x1)::"x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9",
			   "x10", "x11", "x12", "x13", "x14", "x15", "x16", "x17", "memory");
	return (u32)x0 == KVM_UID_0 && (u32)x1 == KVM_UID_1;
}

/* Medians, in one run: what stays in the kernel does less than what also goes on to user space. */
static void expect_cheaper(const char *in_kernel)
{
	const struct bench_result *kernel = bench_result(in_kernel);
	const struct bench_result *user = bench_result("mmio_read_user");
	char a[STATS_TEXT_MAX], b[STATS_TEXT_MAX];

	if (!kernel || !user) {
		report_skip("%s and mmio_read_user were not both measured", in_kernel);
		return;
	}
	if (!bench_result("hyp_call")) {
		report_skip("hyp_call was not measured: no hypervisor can be asked what it is");
		return;
	}
	if (!hypervisor_is_kvm()) {
		report_skip(
			"the hypervisor is not KVM: it need not have a kernel and a user space");
		return;
	}
	report_expect(kernel->stats.p50 < user->stats.p50,
		      "%s took %s ticks, mmio_read_user %s: as if it went to user space too",
		      in_kernel, stats_text(a, kernel->stats.p50), stats_text(b, user->stats.p50));
}

static void vgic_in_kernel(void)
{
	expect_cheaper("mmio_read_vgic");
}

static void calls_in_kernel(void)
{
	expect_cheaper("hyp_call");
}

static const struct check checks[] = {
	{ "vgic-in-kernel", vgic_in_kernel,
	  .story = "KVM's kernel answers for the VGIC by itself" },
	{ "calls-in-kernel", calls_in_kernel, .story = "KVM's kernel answers an HVC by itself" },
};

int main(void)
{
	return bench_report_run("trap-arm64", benches, ARRAY_SIZE(benches), checks,
				ARRAY_SIZE(checks));
}
