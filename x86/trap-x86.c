// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the operations on an x86 guest's time paths cost: those that a CPU does by itself, those that
 * exit to the hypervisor, and those that go on to its user space. Where an operation is one of
 * kvm-unit-tests' vmexit benchmarks, it has the name that it has there.
 *
 * The first rows are the floors: RDTSC, and an MSR that KVM leaves to the guest (KERNEL_GS_BASE; Linux
 * arch/x86/kvm/svm/svm.c, direct_access_msrs, and vmx/vmx.c) for those that it intercepts. A lost fast
 * path, a trap that need not be and a mitigation on the way out all show as a ratio to these.
 *
 * A write of IA32_TSC moves the clock that all of this is measured with. It moves IA32_TSC_ADJUST by
 * the same amount (SDM vol. 3, 17.17.3), so the difference of the two is the clock for that row.
 *
 * Arguments: samples=N and budget-ms=N, as in bench.h; apic=xapic or apic=x2apic.
 */
#include "libcflat.h"
#include "bench.h"
#include "ipibench.h"
#include <arch/acpi.h>
#include <arch/apic.h>
#include <arch/bench.h>
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/hyperv.h>
#include <arch/io.h>
#include <arch/lapic_timer.h>
#include <arch/mmu.h>
#include <arch/msr.h>
#include <arch/pmu.h>
#include <arch/pvclock.h>
#include <arch/refclock.h>
#include <arch/tsc.h>

#define KVM_HC_VAPIC_POLL_IRQ 1	    /* answers 0, does nothing: Linux uapi/linux/kvm_para.h */
#define ELCR_PORT	      0x4d0 /* of the 8259s, which are KVM's own */
#define COM1_SCRATCH_PORT     0x3ff /* of the UART, which is user space's */
#define HPET_COUNTER	      0x0f0
#define HPET_CAPABILITIES     0x000
#define FAR_NS		      (1000 * NSEC_PER_SEC)

/* What prepare found out for run. */
static u64 operand;

/* ---- what the CPU does by itself --------------------------------------------------------------- */

BENCH_LOOP(run_rdtsc, "rdtsc")
BENCH_LOOP(run_rdtscp, "rdtscp")
BENCH_LOOP_WITH(run_rdpmc, "movl %%esi, %%ecx; rdpmc", operand)
BENCH_RDMSR(rd_kernel_gs_base, MSR_IA32_KERNEL_GS_BASE)
BENCH_WRMSR(wr_kernel_gs_base, MSR_IA32_KERNEL_GS_BASE, operand)

static bool need_rdtscp(void)
{
	if (cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_RDTSCP)
		return true;
	report_skip("no RDTSCP (CPUID 0x80000001 EDX bit 27)");
	return false;
}

static bool need_pmu(void)
{
	struct pmu_counter *counters[] = { &pmu_fixed_1, &pmu_general_0, &pmu_amd_0 };
	const char *why = "";

	for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
		if (counters[i]->probe(counters[i], &why)) {
			operand = counters[i]->rdpmc;
			return true;
		}
	}
	report_skip("no PMU; of the last kind looked for: %s", why);
	return false;
}

static bool keep_kernel_gs_base(void)
{
	operand = rdmsr(MSR_IA32_KERNEL_GS_BASE);
	return true;
}

/* ---- calls of the hypervisor ------------------------------------------------------------------- */

BENCH_LOOP(run_cpuid, "xorl %%eax, %%eax; xorl %%ecx, %%ecx; cpuid")
BENCH_LOOP(run_vmcall_intel, "movl $" BENCH_STRING(KVM_HC_VAPIC_POLL_IRQ) ", %%eax; vmcall")
BENCH_LOOP(run_vmcall_amd, "movl $" BENCH_STRING(KVM_HC_VAPIC_POLL_IRQ) ", %%eax; vmmcall")

/* For the other vendor's instruction, which raises #UD, KVM may patch the guest's code. */
static void run_vmcall(u64 n)
{
	if (operand)
		run_vmcall_amd(n);
	else
		run_vmcall_intel(n);
}

static bool need_kvm(void)
{
	u32 vendor = cpuid(0).ebx;

	operand = vendor == CPUID_VENDOR_AMD_EBX || vendor == CPUID_VENDOR_HYGON_EBX;
	if (cpuid_hypervisor_base(CPUID_KVM_SIGNATURE))
		return true;
	report_skip("no KVM: no CPUID leaf has its signature");
	return false;
}

/* ---- the TSC's MSRs ---------------------------------------------------------------------------- */

BENCH_RDMSR(rd_tsc_msr, MSR_IA32_TSC)
BENCH_LOOP(wr_tsc_msr, "rdtsc; movl $" BENCH_STRING(MSR_IA32_TSC) ", %%ecx; wrmsr")
BENCH_RDMSR(rd_tsc_adjust_msr, MSR_IA32_TSC_ADJUST)
BENCH_WRMSR(wr_tsc_adjust_msr, MSR_IA32_TSC_ADJUST, operand)

static bool need_tsc_adjust(void)
{
	if (!(cpuid_checked(7).ebx & CPUID_7_EBX_TSC_ADJUST)) {
		report_skip("no IA32_TSC_ADJUST (CPUID 7 EBX bit 1)");
		return false;
	}
	operand = rdmsr(MSR_IA32_TSC_ADJUST);
	return true;
}

static u64 read_unadjusted_tsc(void)
{
	return rdtsc_ordered() - rdmsr(MSR_IA32_TSC_ADJUST);
}

/* Whether a write that moves the TSC by 2^40 leaves the difference where it was. */
static bool open_unadjusted_tsc(void)
{
	u64 before = read_unadjusted_tsc(), after;

	wrmsr(MSR_IA32_TSC, rdtsc_ordered() + BIT(40));
	after = read_unadjusted_tsc();
	wrmsr(MSR_IA32_TSC_ADJUST, operand);
	if (after - before < BIT(39))
		return true;
	report_skip("IA32_TSC_ADJUST does not follow what IA32_TSC is written: no clock is left to "
		    "measure with");
	return false;
}

static const struct bench_clock unadjusted_tsc = {
	.unit = "ticks",
	.read = read_unadjusted_tsc,
	.hz = clock_hz,
	.open = open_unadjusted_tsc,
};

static void put_back_tsc_adjust(void)
{
	wrmsr(MSR_IA32_TSC_ADJUST, operand);
}

/* ---- the TSC deadline -------------------------------------------------------------------------- */

BENCH_RDMSR(rd_tsc_deadline_msr, MSR_IA32_TSC_DEADLINE)
BENCH_WRMSR(wr_tsc_deadline_zero, MSR_IA32_TSC_DEADLINE, 0)
/* A tick later each time. */
BENCH_LOOP_WITH(wr_tsc_deadline_rearm, BENCH_ASM_WRMSR(MSR_IA32_TSC_DEADLINE) "; incq %%rsi",
		operand)
BENCH_LOOP_WITH(
	wr_tsc_deadline_arm_disarm,
	BENCH_ASM_WRMSR(MSR_IA32_TSC_DEADLINE) "; xorl %%eax, %%eax; xorl %%edx, %%edx; wrmsr",
	operand)

static struct lapic_timer timer;

static bool open_deadline(void)
{
	if (!lapic_timer_has_deadline() || !lapic_timer_open_deadline(&timer, NULL))
		return false;
	operand = rdtsc_ordered() + ns_to_ticks(FAR_NS, clock_hz());
	return true;
}

static bool open_deadline_armed(void)
{
	if (!open_deadline())
		return false;
	lapic_timer_write_deadline(&timer, operand);
	return true;
}

static void close_deadline(void)
{
	write_tsc_deadline(0);
	lapic_timer_close(&timer);
}

/* ---- the local APIC ---------------------------------------------------------------------------- */

BENCH_LOOP(mov_from_cr8, "movq %%cr8, %%rax")
BENCH_LOOP(mov_to_cr8, "xorl %%eax, %%eax; movq %%rax, %%cr8")

static void run_wr_tpr(u64 n)
{
	while (n--)
		apic_write(APIC_TPR, 0);
}

/* With nothing in service. */
static void run_eoi(u64 n)
{
	while (n--)
		apic_eoi();
}

/* ---- clocks ------------------------------------------------------------------------------------ */

BENCH_LOOP_WITH(run_port32, "movl %%esi, %%edx; inl %%dx, %%eax", operand)
BENCH_LOOP_WITH(run_port8, "movl %%esi, %%edx; inb %%dx, %%al", operand)
BENCH_LOOP_WITH(run_mmio, "movl (%%rsi), %%eax", operand)
BENCH_WRMSR(wr_wall_clock_msr, MSR_KVM_WALL_CLOCK_NEW, operand)
BENCH_RDMSR(rd_hv_time_ref_count, MSR_HV_TIME_REF_COUNT)

static struct pvclock_wall_clock wall_clock __attribute__((aligned(64)));

static void run_kvmclock(u64 n)
{
	while (n--)
		pvclock_read_ns();
}

static bool need_pvclock(void)
{
	operand = (u64)&wall_clock;
	if (pvclock_offered())
		return true;
	report_skip("no kvmclock: CPUID does not offer MSR_KVM_SYSTEM_TIME_NEW");
	return false;
}

static bool open_kvmclock(void)
{
	if (!need_pvclock())
		return false;
	if (pvclock_enable() && pvclock_read_ns())
		return true;
	report_fail("MSR_KVM_SYSTEM_TIME_NEW is offered, but a write of it gives no time");
	pvclock_disable();
	return false;
}

static void run_hv_reference_tsc(u64 n)
{
	while (n--)
		hv_reference_tsc_read();
}

static bool need_hyperv(u32 feature)
{
	if (hv_features().eax & feature)
		return true;
	report_skip("Hyper-V's reference time is not offered (CPUID 0x40000003 EAX)");
	return false;
}

static bool need_hv_ref_count(void)
{
	return need_hyperv(HV_TIME_REF_COUNT);
}

static bool open_hv_reference_tsc(void)
{
	struct hv_reference_tsc copy;

	if (!need_hyperv(HV_REFERENCE_TSC))
		return false;
	if (hv_reference_tsc_enable() && hv_reference_tsc_copy(&copy))
		return true;
	report_skip("Hyper-V's reference TSC page is not valid: its clock is the MSR");
	hv_reference_tsc_disable();
	return false;
}

static bool need_refclock(struct refclock *clock)
{
	const char *why;

	if (clock->probe(&why))
		return true;
	report_skip("%s", why);
	return false;
}

static bool need_pm_timer(void)
{
	operand = acpi.pm_timer_port;
	return need_refclock(&refclock_pm_timer);
}

static bool need_hpet(void)
{
	operand = acpi.hpet_base + HPET_COUNTER;
	return need_refclock(&refclock_hpet);
}

/* ---- exits ------------------------------------------------------------------------------------- */

static bool need_8259(void)
{
	operand = ELCR_PORT;
	if (acpi.has_8259)
		return true;
	report_skip("no 8259 (MADT flag PCAT_COMPAT)");
	return false;
}

static bool use_com1(void)
{
	operand = COM1_SCRATCH_PORT;
	return true;
}

static bool need_io_apic(void)
{
	if (!acpi.nr_io_apics) {
		report_skip("no I/O APIC (MADT)");
		return false;
	}
	operand = mmu_map_device(acpi.io_apics[0], 4096);
	return true;
}

static bool need_hpet_capabilities(void)
{
	operand = acpi.hpet_base + HPET_CAPABILITIES;
	return need_refclock(&refclock_hpet);
}

static const struct bench benches[] = {
	{ "rdtsc", .run = run_rdtsc, .story = "RDTSC: the floor" },
	{ "rdtscp", .prepare = need_rdtscp, .run = run_rdtscp, .floor = "rdtsc",
	  .story = "RDTSCP" },
	{ "rdpmc", .prepare = need_pmu, .run = run_rdpmc, .floor = "rdtsc",
	  .story = "RDPMC of a cycle counter that stands still" },
	{ "rd_kernel_gs_base", .run = rd_kernel_gs_base,
	  .story = "RDMSR of KERNEL_GS_BASE, which KVM does not intercept: the floor of RDMSR" },
	{ "wr_kernel_gs_base", .prepare = keep_kernel_gs_base, .run = wr_kernel_gs_base,
	  .story = "WRMSR of it: the floor of WRMSR" },
	{ "cpuid", .run = run_cpuid, .floor = "rdtsc",
	  .story = "CPUID leaf 0: an exit that KVM itself answers" },
	{ "vmcall", .prepare = need_kvm, .run = run_vmcall, .floor = "rdtsc",
	  .story = "VMCALL, or AMD's VMMCALL: the cheapest of KVM's hypercalls" },
	{ "rd_tsc_msr", .run = rd_tsc_msr, .floor = "rd_kernel_gs_base",
	  .story = "RDMSR of IA32_TSC" },
	{ "wr_tsc_msr", .prepare = need_tsc_adjust, .run = wr_tsc_msr,
	  .finish = put_back_tsc_adjust, .floor = "wr_kernel_gs_base", .clock = &unadjusted_tsc,
	  .story = "RDTSC, and WRMSR of that to IA32_TSC" },
	{ "rd_tsc_adjust_msr", .prepare = need_tsc_adjust, .run = rd_tsc_adjust_msr,
	  .floor = "rd_kernel_gs_base", .story = "RDMSR of IA32_TSC_ADJUST" },
	{ "wr_tsc_adjust_msr", .prepare = need_tsc_adjust, .run = wr_tsc_adjust_msr,
	  .floor = "wr_kernel_gs_base", .story = "WRMSR to IA32_TSC_ADJUST of what it is" },
	{ "rd_tsc_deadline_msr", .prepare = open_deadline_armed, .run = rd_tsc_deadline_msr,
	  .finish = close_deadline, .floor = "rd_kernel_gs_base",
	  .story = "RDMSR of IA32_TSC_DEADLINE, armed" },
	{ "wr_tsc_deadline_zero", .prepare = open_deadline, .run = wr_tsc_deadline_zero,
	  .finish = close_deadline, .floor = "wr_kernel_gs_base",
	  .story = "WRMSR of 0 to IA32_TSC_DEADLINE, disarmed before as well" },
	{ "wr_tsc_deadline_rearm", .prepare = open_deadline_armed, .run = wr_tsc_deadline_rearm,
	  .finish = close_deadline, .floor = "wr_kernel_gs_base",
	  .story = "WRMSR of another deadline far away" },
	{ "wr_tsc_deadline_arm_disarm", .prepare = open_deadline, .run = wr_tsc_deadline_arm_disarm,
	  .finish = close_deadline, .floor = "wr_kernel_gs_base",
	  .story = "two WRMSR: a deadline far away, and 0" },
	{ "mov_from_cr8", .run = mov_from_cr8, .floor = "rdtsc", .story = "MOV from CR8" },
	{ "mov_to_cr8", .run = mov_to_cr8, .floor = "rdtsc", .story = "MOV of 0 to CR8" },
	{ "wr_tpr", .run = run_wr_tpr, .floor = "wr_kernel_gs_base",
	  .story = "write of 0 to the local APIC's TPR" },
	{ "eoi", .run = run_eoi, .floor = "wr_kernel_gs_base",
	  .story = "write to the local APIC's EOI, with no interrupt in service" },
	{ "self_ipi", .prepare = ipi_bench_open_masked, .run = ipi_bench_self_masked,
	  .finish = ipi_bench_close, .floor = "wr_kernel_gs_base",
	  .story = "write of the ICR: an interrupt to itself that is masked and pending already" },
	{ "self_ipi_sti_nop", .prepare = ipi_bench_open, .run = ipi_bench_self_sti_nop,
	  .finish = ipi_bench_close, .floor = "wr_kernel_gs_base",
	  .story = "an interrupt to itself, handled, with its EOI" },
	{ "self_ipi_sti_hlt", .prepare = ipi_bench_open_guarded, .run = ipi_bench_self_sti_hlt,
	  .finish = ipi_bench_close, .floor = "self_ipi_sti_nop",
	  .story = "the same, and HLT, which that interrupt ends" },
	{ "ipi", .prepare = ipi_bench_open_spinning, .run = ipi_bench_other,
	  .finish = ipi_bench_close, .floor = "self_ipi_sti_nop",
	  .story = "an interrupt to another CPU, which spins, and its answer by memory" },
	{ "ipi_halt", .prepare = ipi_bench_open_halted, .run = ipi_bench_other_halted,
	  .finish = ipi_bench_close, .floor = "ipi",
	  .story = "the same to a CPU in HLT, with its way back to HLT" },
	{ "kvmclock", .prepare = open_kvmclock, .run = run_kvmclock, .finish = pvclock_disable,
	  .floor = "rdtsc", .story = "a read of kvmclock, by its page" },
	{ "wr_wall_clock_msr", .prepare = need_pvclock, .run = wr_wall_clock_msr,
	  .floor = "wr_kernel_gs_base",
	  .story = "WRMSR of MSR_KVM_WALL_CLOCK_NEW: KVM writes the time of day" },
	{ "rd_hv_time_ref_count", .prepare = need_hv_ref_count, .run = rd_hv_time_ref_count,
	  .floor = "rd_kernel_gs_base", .story = "RDMSR of HV_X64_MSR_TIME_REF_COUNT" },
	{ "hv_reference_tsc", .prepare = open_hv_reference_tsc, .run = run_hv_reference_tsc,
	  .finish = hv_reference_tsc_disable, .floor = "rdtsc",
	  .story = "a read of Hyper-V's reference time, by its page" },
	{ "inl_from_pmtimer", .prepare = need_pm_timer, .run = run_port32, .floor = "rdtsc",
	  .story = "IN from the ACPI PM timer" },
	{ "hpet", .prepare = need_hpet, .run = run_mmio, .floor = "rdtsc",
	  .story = "a read of the HPET's main counter, its lower half" },
	{ "inb_from_kernel", .prepare = need_8259, .run = run_port8, .floor = "rdtsc",
	  .story = "IN from the 8259's ELCR: the hypervisor's kernel, unless user space has it" },
	{ "inb_from_user", .prepare = use_com1, .run = run_port8, .floor = "rdtsc",
	  .story = "IN from the UART's scratch register: the hypervisor's user space" },
	{ "mmio_read_kernel", .prepare = need_io_apic, .run = run_mmio, .floor = "rdtsc",
	  .story = "a read of an I/O APIC: the kernel, unless user space has it" },
	{ "mmio_read_user", .prepare = need_hpet_capabilities, .run = run_mmio, .floor = "rdtsc",
	  .story = "a read of the HPET's capabilities: user space" },
};

int main(void)
{
	return bench_report_run("trap-x86", benches, ARRAY_SIZE(benches), NULL, 0);
}
