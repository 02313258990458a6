// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Who may read the time-stamp counter at CPL 3: everybody while CR4.TSD is clear, nobody while it is
 * set, on this CPU and no other (SDM vol. 3, 18.17; vol. 2, RDTSC and RDTSCP). What is let through is
 * the counter that CPL 0 sees; what is not raises #GP(0) at the instruction and tells nothing. RDPID
 * does not care, CPL 0 neither, and IA32_TSC is never CPL 3's to read or write.
 *
 * A hypervisor that emulates the instructions and does not look at the guest's CR4 lets time leak to
 * programs from which it was to be hidden, and fails trapped; one that keeps CR4.TSD from the guest's
 * own hands, or applies one CPU's to another, fails allowed or per-cpu.
 */
#include "libcflat.h"
#include <arch/cpu.h>
#include <arch/cpuid.h>
#include <arch/msr.h>
#include <arch/tsc.h>
#include <arch/user.h>

static void allowed(void);
static void trapped(void);
static void rdpid_untouched(void);
static void msr_denied(void);
static void own_level(void);
static void per_cpu(void);

/* One access: what was read, 0 where nothing was, and what it raised. */
struct access {
	u64 value;
	u32 aux;
	int vector;
};

struct instruction {
	const char *name;
	u32 cpuid_leaf; /* EDX has the bit that offers it */
	u32 cpuid_edx;
	u8 opcode[3];
	u8 length;
	/* At CPL 3. The first survives a fault and tells of it; the second is left in it. */
	u64 (*read)(void *access);
	u64 (*read_raw)(void *unused);
};

static u64 rdtsc_read(void *arg)
{
	struct access *a = arg;

	a->vector = rdtsc_safe(&a->value);
	return 0;
}

static u64 rdtsc_read_raw(void *arg)
{
	return rdtsc();
}

static u64 rdtscp_read(void *arg)
{
	struct access *a = arg;

	a->vector = rdtscp_safe(&a->value, &a->aux);
	return 0;
}

static u64 rdtscp_read_raw(void *arg)
{
	u32 aux;

	return rdtscp(&aux);
}

static const struct instruction rdtsc_instruction = {
	.name = "RDTSC",
	.cpuid_leaf = 1,
	.cpuid_edx = CPUID_1_EDX_TSC,
	.opcode = { 0x0f, 0x31 },
	.length = 2,
	.read = rdtsc_read,
	.read_raw = rdtsc_read_raw,
};

static const struct instruction rdtscp_instruction = {
	.name = "RDTSCP",
	.cpuid_leaf = 0x80000001,
	.cpuid_edx = CPUID_80000001_EDX_RDTSCP,
	.opcode = { 0x0f, 0x01, 0xf9 },
	.length = 3,
	.read = rdtscp_read,
	.read_raw = rdtscp_read_raw,
};

static const struct check instruction[] = {
	{ "allowed", allowed, .guards = "H2",
	  .story = "with CR4.TSD clear, CPL 3 reads the counter that CPL 0 reads" },
	{ "trapped", trapped,
	  .story = "with it set, #GP(0) at the instruction, and nothing of the time" },
};

static const struct check checks[] = {
	{ "rdtsc", .checks = instruction, .nr_checks = ARRAY_SIZE(instruction),
	  .subject = &rdtsc_instruction },
	{ "rdtscp", .checks = instruction, .nr_checks = ARRAY_SIZE(instruction),
	  .subject = &rdtscp_instruction },
	{ "rdpid", rdpid_untouched, .story = "RDPID tells CPL 3 the same with CR4.TSD or without" },
	{ "msr", msr_denied, .guards = "H1",
	  .story = "CPL 3 neither reads nor writes IA32_TSC, whatever CR4.TSD says" },
	{ "own-level", own_level, .guards = "H2", .story = "CR4.TSD does not concern CPL 0" },
	{ "per-cpu", per_cpu, .story = "each CPU goes by its own CR4.TSD" },
};

#define ROUNDS	  100
#define AUX_VALUE 0x89abcdefU
/* Were it written, the counter would jump by minutes. */
#define TSC_WRITTEN BIT(40)

/* ---- CR4.TSD ----------------------------------------------------------------------------------- */

static void set_tsd(bool on)
{
	u64 cr4 = read_cr4() & ~CR4_TSD;

	write_cr4(on ? cr4 | CR4_TSD : cr4);
}

/* False after report_skip(). */
static bool offered(const struct instruction *i)
{
	if (cpuid_checked(i->cpuid_leaf).edx & i->cpuid_edx)
		return true;
	report_skip("CPUID offers no %s", i->name);
	return false;
}

/* Runs fn(a) at CPL 3; false, reported, when something went wrong there that fn does not tell of. */
static bool run_at_user(u64 (*fn)(void *arg), struct access *a)
{
	struct exception e;
	u64 unused;

	*a = (struct access){ .vector = NO_EXCEPTION };
	if (user_try(fn, a, &unused, &e) == NO_EXCEPTION)
		return true;
	report_error("CPL 3 raised %s, error code 0x%lx, at 0x%lx", exception_name(e.vector),
		     e.error_code, e.rip);
	return false;
}

/* ---- RDTSC and RDTSCP -------------------------------------------------------------------------- */

static bool read_is_allowed(const struct instruction *i)
{
	u64 before = rdtsc_ordered(), after;
	struct access a;

	if (!run_at_user(i->read, &a))
		return false;
	after = rdtsc_ordered();
	return report_expect(a.vector == NO_EXCEPTION, "%s at CPL 3 raised %s with CR4 = 0x%lx",
			     i->name, exception_name(a.vector), read_cr4()) &&
	       report_expect(before <= a.value && a.value <= after,
			     "CPL 3 read 0x%lx by %s, between 0x%lx and 0x%lx at CPL 0", a.value,
			     i->name, before, after);
}

/* Set and cleared each time: what was denied before is allowed at once. */
static void allowed(void)
{
	const struct instruction *i = report_subject();
	u64 cr4 = read_cr4();

	if (!offered(i))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		set_tsd(true);
		set_tsd(false);
		if (!read_is_allowed(i))
			break;
	}
	write_cr4(cr4);
}

static bool read_is_denied(const struct instruction *i)
{
	struct access a;

	return run_at_user(i->read, &a) &&
	       report_expect(a.vector == VECTOR_GP && !a.value && !a.aux,
			     "%s at CPL 3 raised %s and read 0x%lx, aux 0x%x, with CR4 = 0x%lx",
			     i->name, exception_name(a.vector), a.value, a.aux, read_cr4());
}

/* A fault: the error code is 0, and the address that of the instruction. */
static void expect_fault(const struct instruction *i)
{
	struct exception e;
	u64 value;
	int vector = user_try(i->read_raw, NULL, &value, &e);

	if (!report_expect(vector == VECTOR_GP, "%s at CPL 3 raised %s with CR4 = 0x%lx", i->name,
			   exception_name(vector), read_cr4()))
		return;
	report_expect(e.error_code == 0, "#GP of %s has error code 0x%lx", i->name, e.error_code);
	report_expect(!memcmp((const void *)e.rip, i->opcode, i->length),
		      "#GP of %s is reported at 0x%lx, where no %s is", i->name, e.rip, i->name);
}

static void trapped(void)
{
	const struct instruction *i = report_subject();
	u64 cr4 = read_cr4();

	if (!offered(i))
		return;
	for (int round = 0; round < ROUNDS; round++) {
		set_tsd(false);
		set_tsd(true);
		if (!read_is_denied(i))
			break;
	}
	expect_fault(i);
	write_cr4(cr4);
}

/* ---- what CR4.TSD does not concern ------------------------------------------------------------- */

static u64 rdpid_read(void *arg)
{
	struct access *a = arg;

	a->vector = rdpid_safe(&a->value);
	return 0;
}

static void rdpid_untouched(void)
{
	u64 cr4 = read_cr4(), aux;
	struct access a;

	if (!(cpuid_checked(7).ecx & CPUID_7_ECX_RDPID)) {
		report_skip("CPUID offers no RDPID");
		return;
	}
	aux = rdmsr(MSR_IA32_TSC_AUX);
	wrmsr(MSR_IA32_TSC_AUX, AUX_VALUE);
	for (int round = 0; round < ROUNDS; round++) {
		bool tsd = round % 2;

		set_tsd(tsd);
		if (!run_at_user(rdpid_read, &a) ||
		    !report_expect(a.vector == NO_EXCEPTION && a.value == AUX_VALUE,
				   "RDPID at CPL 3 raised %s and gave 0x%lx, not 0x%x, with "
				   "CR4.TSD %d",
				   exception_name(a.vector), a.value, AUX_VALUE, tsd))
			break;
	}
	write_cr4(cr4);
	wrmsr(MSR_IA32_TSC_AUX, aux);
}

static u64 msr_read(void *arg)
{
	struct access *a = arg;

	a->vector = rdmsr_safe(MSR_IA32_TSC, &a->value);
	return 0;
}

static u64 msr_write(void *arg)
{
	struct access *a = arg;

	a->vector = wrmsr_safe(MSR_IA32_TSC, rdtsc() + TSC_WRITTEN);
	return 0;
}

static void msr_denied(void)
{
	u64 cr4 = read_cr4(), before;
	struct access a;

	set_tsd(false);
	if (run_at_user(msr_read, &a))
		report_expect(a.vector == VECTOR_GP && !a.value,
			      "RDMSR of IA32_TSC at CPL 3 raised %s and gave 0x%lx",
			      exception_name(a.vector), a.value);
	before = rdtsc_ordered();
	if (run_at_user(msr_write, &a))
		report_expect(a.vector == VECTOR_GP, "WRMSR of IA32_TSC at CPL 3 raised %s",
			      exception_name(a.vector));
	report_expect(rdtsc_ordered() - before < TSC_WRITTEN,
		      "WRMSR at CPL 3 moved the TSC from 0x%lx to 0x%lx", before, rdtsc_ordered());
	write_cr4(cr4);
}

static void own_level(void)
{
	u64 cr4 = read_cr4(), first = 0, second = 0;
	int vector;
	u32 aux;

	set_tsd(true);
	vector = rdtsc_safe(&first);
	report_expect(vector == NO_EXCEPTION, "RDTSC at CPL 0 raised %s with CR4.TSD set",
		      exception_name(vector));
	if (cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_RDTSCP) {
		vector = rdtscp_safe(&second, &aux);
		report_expect(vector == NO_EXCEPTION, "RDTSCP at CPL 0 raised %s with CR4.TSD set",
			      exception_name(vector));
		report_expect(second >= first,
			      "RDTSCP gave 0x%lx after RDTSC's 0x%lx with CR4.TSD set", second,
			      first);
	}
	report_expect(spin_until(rdtsc_ordered() > first, NSEC_PER_SEC),
		      "the TSC stands still at 0x%lx while CR4.TSD is set", first);
	write_cr4(cr4);
}

/* ---- each CPU by itself ------------------------------------------------------------------------ */

struct cpu_access {
	struct smp_barrier barrier;
	u32 wrong;
	u64 denied[MAX_CPUS], let[MAX_CPUS];
};

/* Even CPUs let CPL 3 in, odd ones do not, then the other way round; all at once. */
static void try_on_cpu(void *arg)
{
	struct cpu_access *c = arg;
	int self = smp_id();
	u64 cr4 = read_cr4();

	for (int round = 0; round < ROUNDS; round++) {
		bool let = (round + self) % 2 == 0;
		struct access a;

		set_tsd(!let);
		smp_barrier_wait(&c->barrier);
		if (run_at_user(rdtsc_read, &a) && (a.vector == NO_EXCEPTION) != let)
			__atomic_fetch_add(&c->wrong, 1, __ATOMIC_RELAXED);
		c->let[self] += a.vector == NO_EXCEPTION;
		c->denied[self] += a.vector != NO_EXCEPTION;
		smp_barrier_wait(&c->barrier);
	}
	write_cr4(cr4);
}

static void per_cpu(void)
{
	struct cpu_access *c = alloc(sizeof(*c));
	u64 let = 0, denied = 0;

	if (smp_count() < 2) {
		report_skip("needs 2 CPUs, 1 is up");
		return;
	}
	smp_barrier_init(&c->barrier, smp_count());
	on_all_cpus(try_on_cpu, c);
	for (int cpu = 0; cpu < smp_count(); cpu++) {
		let += c->let[cpu];
		denied += c->denied[cpu];
	}
	report_expect(!c->wrong,
		      "%u of %lu reads of the TSC at CPL 3 were let through or not against their "
		      "own CPU's CR4.TSD",
		      c->wrong, let + denied);
	report_info("%lu reads let through and %lu denied on %d CPUs", let, denied, smp_count());
}

int main(void)
{
	return report_run("tsc-user", checks, ARRAY_SIZE(checks));
}
