// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In what order the time-stamp counter is read, and whether it counts while its CPU sleeps. RDTSC with
 * LFENCE, and RDTSCP, are never executed ahead of what comes before (SDM vol. 2, RDTSC and RDTSCP); a
 * TSC that CPUID calls invariant counts through every state of sleep (SDM vol. 3, 18.17.1), so that CPUs
 * that slept and CPUs that worked still have one time.
 *
 * A hypervisor that emulates one of the two instructions and passes the other through, with different
 * offsets, fails order; one whose TSC stops, or is set anew, when a vCPU sleeps fails invariant.
 *
 * Arguments: budget-ms=N.
 */
#include "libcflat.h"
#include "tsctest.h"
#include <arch/cpuid.h>
#include <arch/lapic_timer.h>
#include <arch/tsc.h>

static void order_pair(void);
static void order_after_load(void);
static void invariant_cpuid(void);
static void invariant_idle_here(void);
static void invariant_idle_elsewhere(void);

/* ---- what is tried ----------------------------------------------------------------------------- */

/* Two reads; nothing is between them but what is named. */
#define DEFINE_PAIR(name, first, between, second)                                           \
	static void name(u64 *a, u64 *b)                                                    \
	{                                                                                   \
		u32 low_a, high_a, low_b, high_b;                                           \
                                                                                            \
		__asm__ volatile(first "\n\tmovl %%eax, %0\n\tmovl %%edx, %1\n\t" between   \
				       "\n\t" second                                        \
				 : "=&r"(low_a), "=&r"(high_a), "=&a"(low_b), "=&d"(high_b) \
				 :                                                          \
				 : "ecx", "memory");                                        \
		*a = (u64)high_a << 32 | low_a;                                             \
		*b = (u64)high_b << 32 | low_b;                                             \
	}

DEFINE_PAIR(rdtsc_lfence_rdtsc, "rdtsc", "lfence", "rdtsc")
DEFINE_PAIR(rdtscp_lfence_rdtsc, "rdtscp", "lfence", "rdtsc")
DEFINE_PAIR(rdtsc_then_rdtscp, "rdtsc", "", "rdtscp")
DEFINE_PAIR(rdtscp_then_rdtscp, "rdtscp", "", "rdtscp")

struct pair {
	void (*read)(u64 *a, u64 *b);
	bool rdtscp;
};

static const struct pair pair_lfence = { rdtsc_lfence_rdtsc, false };
static const struct pair pair_rdtscp_lfence = { rdtscp_lfence_rdtsc, true };
static const struct pair pair_rdtsc_rdtscp = { rdtsc_then_rdtscp, true };
static const struct pair pair_rdtscp_rdtscp = { rdtscp_then_rdtscp, true };

/* A load, and the TSC after it. */
struct after_load {
	u64 (*read)(const u64 *from, u64 *loaded);
	bool rdtscp;
};

static u64 load_lfence_rdtsc(const u64 *from, u64 *loaded)
{
	*loaded = READ_ONCE(*from);
	lfence();
	return rdtsc();
}

static u64 load_rdtscp(const u64 *from, u64 *loaded)
{
	u32 aux;

	*loaded = READ_ONCE(*from);
	return rdtscp(&aux);
}

static const struct after_load after_lfence = { load_lfence_rdtsc, false };
static const struct after_load after_rdtscp = { load_rdtscp, true };

/* ---- the checks -------------------------------------------------------------------------------- */

static const struct check order[] = {
	{ "rdtsc-lfence-rdtsc", order_pair, .subject = &pair_lfence,
	  .story = "LFENCE between two RDTSC keeps their order" },
	{ "rdtscp-lfence-rdtsc", order_pair, .subject = &pair_rdtscp_lfence,
	  .story = "LFENCE after RDTSCP keeps RDTSC behind it" },
	{ "rdtsc-rdtscp", order_pair, .subject = &pair_rdtsc_rdtscp,
	  .story = "RDTSCP waits for what comes before it" },
	{ "rdtscp-rdtscp", order_pair, .subject = &pair_rdtscp_rdtscp,
	  .story = "and for another RDTSCP" },
	{ "load-lfence-rdtsc", order_after_load, .guards = "T2", .subject = &after_lfence,
	  .story = "the TSC that another CPU stored is in the past of RDTSC after LFENCE" },
	{ "load-rdtscp", order_after_load, .guards = "T2", .subject = &after_rdtscp,
	  .story = "and in that of RDTSCP without" },
};

static const struct check invariant[] = {
	{ "cpuid", invariant_cpuid, .story = "all CPUs say the same of their TSC" },
	{ "idle-here", invariant_idle_here, .guards = "T2",
	  .story = "the TSC of a CPU that slept is that of one that worked" },
	{ "idle-elsewhere", invariant_idle_elsewhere, .guards = "T2",
	  .story = "and so is that of another CPU that slept" },
};

static const struct check checks[] = {
	{ "order", .checks = order, .nr_checks = ARRAY_SIZE(order) },
	{ "invariant", .checks = invariant, .nr_checks = ARRAY_SIZE(invariant) },
};

#define PAIRS	   20000
#define LOADS	   20000
#define SLEEP_NS   (50 * NSEC_PER_MSEC)
#define WAIT_NS	   NSEC_PER_SEC
#define PUBLISH_NS (10 * NSEC_PER_SEC)
#define POLL_EVERY 64

/* False after report_skip(). */
static bool have_rdtscp(void)
{
	if (cpuid_checked(0x80000001).edx & CPUID_80000001_EDX_RDTSCP)
		return true;
	report_skip("CPUID offers no RDTSCP");
	return false;
}

static bool have_several(void)
{
	if (smp_count() > 1)
		return true;
	report_skip("needs 2 CPUs, 1 is up");
	return false;
}

static void read_here(void *tsc)
{
	*(u64 *)tsc = rdtsc_ordered();
}

/* ---- order ------------------------------------------------------------------------------------- */

static void order_pair(void)
{
	const struct pair *pair = report_subject();
	u64 a, b, first_a = 0, first_b = 0, count = 0, backwards = 0;
	struct spin_bound budget;

	if (pair->rdtscp && !have_rdtscp())
		return;
	spin_start(&budget, report_budget_ns() / 10);
	do {
		pair->read(&a, &b);
		count++;
		if (b < a && !backwards++) {
			first_a = a;
			first_b = b;
		}
	} while (count < PAIRS && (count % POLL_EVERY || spin_poll(&budget)));
	report_expect(!backwards, "the second was less in %lu of %lu pairs, first 0x%lx, 0x%lx",
		      backwards, count, first_a, first_b);
	report_info("%lu pairs", count);
}

/* CPU 1 stores its TSC all the time, until it is stopped. */
struct publisher {
	u64 tsc __attribute__((aligned(64)));
	u32 stop __attribute__((aligned(64)));
};

static void publish(void *arg)
{
	struct publisher *p = arg;
	struct spin_bound bound;

	spin_start(&bound, PUBLISH_NS);
	do
		__atomic_store_n(&p->tsc, rdtsc_ordered(), __ATOMIC_RELEASE);
	while (!__atomic_load_n(&p->stop, __ATOMIC_ACQUIRE) && spin_poll(&bound));
}

/* false, after report_error(), where CPU 1 does not begin. */
static bool publisher_start(struct publisher *p)
{
	*p = (struct publisher){ 0 };
	on_cpu_async(1, publish, p);
	if (spin_until(__atomic_load_n(&p->tsc, __ATOMIC_ACQUIRE), WAIT_NS))
		return true;
	report_error("CPU 1 has not begun to store its TSC within %lu ms", WAIT_NS / NSEC_PER_MSEC);
	return false;
}

static void publisher_stop(struct publisher *p)
{
	__atomic_store_n(&p->stop, 1, __ATOMIC_RELEASE);
	if (!cpu_wait_idle(1, PUBLISH_NS))
		panic("CPU 1 does not end its work");
}

static void order_after_load(void)
{
	const struct after_load *way = report_subject();
	u64 loaded, last = 0, tsc, count = 0, changes = 0;
	struct publisher p;
	struct spin_bound budget;

	if (!have_several() || (way->rdtscp && !have_rdtscp()))
		return;
	if (publisher_start(&p)) {
		spin_start(&budget, report_budget_ns() / 2);
		do {
			tsc = way->read(&p.tsc, &loaded);
			count++;
			changes += loaded != last;
			last = loaded;
			if (!report_expect(tsc >= loaded,
					   "after a load of CPU 1's 0x%lx the TSC is 0x%lx", loaded,
					   tsc))
				break;
		} while (changes < LOADS && spin_poll(&budget));
	}
	publisher_stop(&p);
	report_info("%lu loads, %lu of them of a value not seen before", count, changes);
}

/* ---- invariant --------------------------------------------------------------------------------- */

static bool claims_invariant(void)
{
	return cpuid_checked(0x80000007).edx & CPUID_80000007_EDX_INVARIANT_TSC;
}

static void count_claims(void *claims)
{
	if (claims_invariant())
		__atomic_fetch_add((u32 *)claims, 1, __ATOMIC_RELAXED);
}

static void invariant_cpuid(void)
{
	u32 claims = 0;

	on_all_cpus(count_claims, &claims);
	report_expect(claims == 0 || claims == smp_count(),
		      "CPUID 0x80000007 EDX bit 8 is set on %u of %d CPUs", claims, smp_count());
	report_info("CPUID %s the TSC invariant", claims ? "calls" : "does not call");
}

/* CPU 1's TSC between two reads of this CPU's. Another result is wrong only where CPUID promises. */
static void expect_same_tsc(const char *who)
{
	u64 before = rdtsc_ordered(), other, after;
	bool is_same;

	on_cpu(1, read_here, &other);
	after = rdtsc_ordered();
	is_same = tsc_is_within(other, before, after);
	if (!is_same && !claims_invariant())
		report_skip("CPUID does not call the TSC invariant, and it is not: after %s slept, "
			    "CPU 1 has 0x%lx between CPU 0's 0x%lx and 0x%lx",
			    who, other, before, after);
	else
		report_expect(is_same,
			      "after %s slept, CPU 1's TSC is 0x%lx between CPU 0's 0x%lx and "
			      "0x%lx",
			      who, other, before, after);
}

static void invariant_idle_here(void)
{
	struct publisher busy;
	bool started;

	if (!have_several())
		return;
	started = publisher_start(&busy);
	if (started)
		lapic_timer_sleep_ns(SLEEP_NS);
	publisher_stop(&busy);
	if (started)
		expect_same_tsc("CPU 0");
}

static void sleep_here(void *arg)
{
	lapic_timer_sleep_ns(SLEEP_NS);
}

static void invariant_idle_elsewhere(void)
{
	if (!have_several())
		return;
	on_cpu(1, sleep_here, NULL);
	expect_same_tsc("CPU 1");
}

int main(void)
{
	return report_run("tsc", checks, ARRAY_SIZE(checks));
}
