// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * IA32_TSC_AUX, each CPU's own 32 bits (SDM vol. 3, 18.17.2), by which programs learn from RDTSCP on
 * which CPU the TSC was read, and by RDPID on which they are: what is written is what RDMSR, RDTSCP and
 * RDPID give, on that CPU and no other, however often the hypervisor ran in between.
 *
 * A hypervisor that keeps its own value in the register while a guest runs, or swaps the guests' only
 * when it thinks that it must, fails kept or per-cpu; one that offers the instructions without their
 * register fails all (H2). One that lets through what CPUID does not offer fails absent.
 */
#include "libcflat.h"
#include <arch/cpuid.h>
#include <arch/lapic_timer.h>
#include <arch/msr.h>
#include <arch/tsc.h>

static void values(void);
static void upper_bits(void);
static void kept(void);
static void per_cpu(void);
static void rdtscp_absent(void);
static void rdpid_absent(void);
static void msr_absent(void);

static bool has_rdtscp(void);
static bool has_rdpid(void);
static bool read_by_rdmsr(u64 *aux);
static bool read_by_rdtscp(u64 *aux);
static bool read_by_rdpid(u64 *aux);

/* A way to read IA32_TSC_AUX; read() is false after an exception. */
struct reader {
	const char *name;
	bool (*offered)(void);
	bool (*read)(u64 *aux);
};

static bool has_msr(void)
{
	return has_rdtscp() || has_rdpid();
}

static const struct reader rdmsr_reader = { "RDMSR", has_msr, read_by_rdmsr };
static const struct reader rdtscp_reader = { "RDTSCP", has_rdtscp, read_by_rdtscp };
static const struct reader rdpid_reader = { "RDPID", has_rdpid, read_by_rdpid };

static const struct check reader_checks[] = {
	{ "values", values, .guards = "H2", .story = "whatever is written is read" },
	{ "kept", kept, .guards = "H2",
	  .story = "it is still there after exits and sleep, with the CPU's time given to others" },
	{ "per-cpu", per_cpu, .guards = "H2", .story = "each CPU reads what it wrote itself" },
};

static const struct check absent[] = {
	{ "rdtscp", rdtscp_absent, .story = "RDTSCP, not offered, raises #UD" },
	{ "rdpid", rdpid_absent, .story = "RDPID, not offered, raises #UD" },
	{ "msr", msr_absent,
	  .story = "the register, with neither offered, raises #GP or holds nothing" },
};

static const struct check checks[] = {
	{ "rdmsr", .checks = reader_checks, .nr_checks = ARRAY_SIZE(reader_checks),
	  .subject = &rdmsr_reader },
	{ "rdtscp", .checks = reader_checks, .nr_checks = ARRAY_SIZE(reader_checks),
	  .subject = &rdtscp_reader },
	{ "rdpid", .checks = reader_checks, .nr_checks = ARRAY_SIZE(reader_checks),
	  .subject = &rdpid_reader },
	{ "upper-bits", upper_bits,
	  .story = "bits 63:32 are reserved: a write of them raises #GP or drops them" },
	{ "absent", .checks = absent, .nr_checks = ARRAY_SIZE(absent) },
};

#define ROUNDS	 100
#define EXITS	 100
#define SLEEP_NS (20 * NSEC_PER_MSEC)
#define PATTERN	 0x89abcdefU

/* ---- the three ways ---------------------------------------------------------------------------- */

static bool has_rdtscp(void)
{
	return cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_RDTSCP;
}

static bool has_rdpid(void)
{
	return cpuid_checked(7).ecx & CPUID_7_ECX_RDPID;
}

static bool read_by_rdmsr(u64 *aux)
{
	return rdmsr_safe(MSR_IA32_TSC_AUX, aux) == NO_EXCEPTION;
}

static bool read_by_rdtscp(u64 *aux)
{
	u64 tsc;
	u32 low;
	int vector = rdtscp_safe(&tsc, &low);

	*aux = low;
	return vector == NO_EXCEPTION;
}

static bool read_by_rdpid(u64 *aux)
{
	return rdpid_safe(aux) == NO_EXCEPTION;
}

/* NULL after report_skip(). */
static const struct reader *open_reader(void)
{
	const struct reader *r = report_subject();

	if (r->offered())
		return r;
	if (r == &rdmsr_reader)
		report_skip("CPUID offers neither RDTSCP nor RDPID, and so no IA32_TSC_AUX");
	else
		report_skip("CPUID offers no %s", r->name);
	return NULL;
}

static bool expect_value(const struct reader *r, u32 written, const char *when)
{
	u64 read;

	if (!report_expect(r->read(&read), "%s raised an exception", r->name))
		return false;
	return report_expect(read == written, "IA32_TSC_AUX was written 0x%x, %s%s gives 0x%lx",
			     written, when, r->name, read);
}

/* ---- on one CPU -------------------------------------------------------------------------------- */

static void values(void)
{
	static const u32 written[] = { 0,	   1,	       0xffffffff, 0x80000000,
				       0x7fffffff, 0x55555555, 0xaaaaaaaa, PATTERN };
	const struct reader *r = open_reader();
	u64 before;

	if (!r)
		return;
	before = rdmsr(MSR_IA32_TSC_AUX);
	for (size_t i = 0; i < ARRAY_SIZE(written); i++) {
		wrmsr(MSR_IA32_TSC_AUX, written[i]);
		expect_value(r, written[i], "");
	}
	wrmsr(MSR_IA32_TSC_AUX, before);
}

static void upper_bits(void)
{
	u64 before, after;
	int vector;

	if (!has_msr()) {
		report_skip("CPUID offers neither RDTSCP nor RDPID, and so no IA32_TSC_AUX");
		return;
	}
	before = rdmsr(MSR_IA32_TSC_AUX);
	wrmsr(MSR_IA32_TSC_AUX, PATTERN);
	vector = wrmsr_safe(MSR_IA32_TSC_AUX, BIT(32) | ~PATTERN);
	after = rdmsr(MSR_IA32_TSC_AUX);
	if (vector == NO_EXCEPTION)
		report_expect(after == (u32)~PATTERN,
			      "IA32_TSC_AUX was written 0x%llx and reads as 0x%lx",
			      BIT(32) | ~PATTERN, after);
	else
		report_expect(vector == VECTOR_GP && after == PATTERN,
			      "a write of bit 32 of IA32_TSC_AUX raised %s, and 0x%x became 0x%lx",
			      exception_name(vector), PATTERN, after);
	wrmsr(MSR_IA32_TSC_AUX, before);
	report_info("a write of bit 32: %s", exception_name(vector));
}

/* CPUID exits to every hypervisor; while the CPU sleeps its host's CPU may run anything. */
static void kept(void)
{
	const struct reader *r = open_reader();
	u64 before;

	if (!r)
		return;
	before = rdmsr(MSR_IA32_TSC_AUX);
	wrmsr(MSR_IA32_TSC_AUX, PATTERN);
	for (int i = 0; i < EXITS; i++) {
		cpuid(0);
		if (!expect_value(r, PATTERN, "after CPUID "))
			break;
	}
	lapic_timer_sleep_ns(SLEEP_NS);
	expect_value(r, PATTERN, "after a sleep ");
	wrmsr(MSR_IA32_TSC_AUX, before);
}

/* ---- each CPU by itself ------------------------------------------------------------------------ */

struct per_cpu {
	const struct reader *reader;
	struct smp_barrier barrier;
	struct {
		u64 read;
		u32 written, wrong;
	} cpu[MAX_CPUS];
};

/* All write at once, and read only when all have written. */
static void write_and_read(void *arg)
{
	struct per_cpu *p = arg;
	int self = smp_id();
	u64 before = rdmsr(MSR_IA32_TSC_AUX), read;

	for (u32 round = 0; round < ROUNDS; round++) {
		u32 written = round << 16 | self;

		wrmsr(MSR_IA32_TSC_AUX, written);
		smp_barrier_wait(&p->barrier);
		if ((!p->reader->read(&read) || read != written) && !p->cpu[self].wrong++) {
			p->cpu[self].written = written;
			p->cpu[self].read = read;
		}
		smp_barrier_wait(&p->barrier);
	}
	wrmsr(MSR_IA32_TSC_AUX, before);
}

static void per_cpu(void)
{
	struct per_cpu *p = alloc(sizeof(*p));

	p->reader = open_reader();
	if (!p->reader)
		return;
	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	smp_barrier_init(&p->barrier, smp_count());
	on_all_cpus(write_and_read, p);
	for (int cpu = 0; cpu < smp_count(); cpu++)
		report_expect(!p->cpu[cpu].wrong,
			      "CPU %d read another value than its own %u times of %d, first 0x%lx "
			      "for 0x%x",
			      cpu, p->cpu[cpu].wrong, ROUNDS, p->cpu[cpu].read,
			      p->cpu[cpu].written);
}

/* ---- not offered ------------------------------------------------------------------------------- */

static void expect_undefined(const char *name, int vector)
{
	report_expect(vector == VECTOR_UD, "%s, not offered, raised %s", name,
		      exception_name(vector));
}

static void rdtscp_absent(void)
{
	u64 tsc;
	u32 aux;

	if (has_rdtscp())
		report_skip("CPUID offers RDTSCP");
	else
		expect_undefined("RDTSCP", rdtscp_safe(&tsc, &aux));
}

static void rdpid_absent(void)
{
	u64 aux;

	if (has_rdpid())
		report_skip("CPUID offers RDPID");
	else
		expect_undefined("RDPID", rdpid_safe(&aux));
}

/* #GP is the manual's; some let such a register read as 0 and drop what is written. */
static void msr_absent(void)
{
	int write, read;
	u64 value;

	if (has_msr()) {
		report_skip("CPUID offers RDTSCP or RDPID, and so IA32_TSC_AUX");
		return;
	}
	write = wrmsr_safe(MSR_IA32_TSC_AUX, PATTERN);
	read = rdmsr_safe(MSR_IA32_TSC_AUX, &value);
	report_expect(write == VECTOR_GP || write == NO_EXCEPTION,
		      "WRMSR of IA32_TSC_AUX, not offered, raised %s", exception_name(write));
	report_expect(read == VECTOR_GP || (read == NO_EXCEPTION && value == 0),
		      "RDMSR of IA32_TSC_AUX, not offered, raised %s and gave 0x%lx",
		      exception_name(read), value);
	report_info("RDMSR: %s; WRMSR: %s", exception_name(read), exception_name(write));
}

int main(void)
{
	return report_run("tsc-aux", checks, ARRAY_SIZE(checks));
}
