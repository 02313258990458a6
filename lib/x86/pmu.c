// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters' tables and what is the same for all of them.
 */
#include <arch/cpuid.h>
#include <arch/msr.h>
#include <arch/pmu.h>

#define IA32_PMC0	       0x0c1
#define IA32_A_PMC0	       0x4c1
#define IA32_PERFEVTSEL0       0x186
#define IA32_FIXED_CTR1	       0x30a
#define IA32_FIXED_CTR2	       0x30b
#define IA32_PERF_CAPABILITIES 0x345
#define IA32_FIXED_CTR_CTRL    0x38d
#define IA32_PERF_STATUS       0x38e
#define IA32_PERF_GLOBAL_CTRL  0x38f
#define IA32_PERF_OVF_CTRL     0x390
#define AMD_PERF_CTL0	       0xc0010200
#define AMD_PERF_CTR0	       0xc0010201
#define AMD_PERF_STATUS	       0xc0000300
#define AMD_PERF_GLOBAL_CTL    0xc0000301
#define AMD_PERF_STATUS_CLEAR  0xc0000302

#define EVENTSEL_USR	     BIT(16)
#define EVENTSEL_OS	     BIT(17)
#define EVENTSEL_INT	     BIT(20)
#define EVENTSEL_EN	     BIT(22)
#define EVENT_CORE_CYCLES    0x3c /* SDM vol. 3, table 20-1 */
#define EVENT_AMD_CYCLES     0x76 /* cycles not in halt */
#define RDPMC_FIXED	     BIT(30)
#define CAPABILITY_FW_WRITE  BIT(13)
#define CPUID_1_ECX_PDCM     BIT(15)
#define CPUID_AMD_PERFCTR    BIT(23) /* 0x80000001 ECX: core counters at 0xc0010200 */
#define CPUID_AMD_PERFMON_V2 BIT(0)  /* 0x80000022 EAX */
#define AMD_WIDTH	     48

/* CPUID 0xA: SDM vol. 3, 20.2. */
static bool probe_intel(struct pmu_counter *c, const char **why)
{
	struct cpuid leaf = cpuid_checked(0xa);

	*why = "no architectural performance monitoring of version 2 (CPUID 0xA EAX)";
	if ((leaf.eax & 0xff) < 2)
		return false;
	if (!c->select) {
		*why = "CPUID 0xA EDX names no such fixed counter";
		c->width = leaf.edx >> 5 & 0xff;
		return (leaf.edx & 0x1f) > (c->counter == IA32_FIXED_CTR1 ? 1U : 2U) && c->width;
	}
	*why = "CPUID 0xA names no general counter, or no event for core cycles";
	c->width = leaf.eax >> 16 & 0xff;
	return (leaf.eax >> 8 & 0xff) > 0 && c->width && !(leaf.ebx & BIT(0));
}

static bool probe_amd(struct pmu_counter *c, const char **why)
{
	*why = "no AMD core performance counters (CPUID 0x80000001 ECX bit 23)";
	if (!(cpuid_checked(0x80000001).ecx & CPUID_AMD_PERFCTR))
		return false;
	c->width = AMD_WIDTH;
	if (!(cpuid_checked(0x80000022).eax & CPUID_AMD_PERFMON_V2)) {
		c->nr_enables = 2;
		c->status = 0;
	}
	return true;
}

struct pmu_counter pmu_fixed_1 = {
	.name = "IA32_FIXED_CTR1",
	.probe = probe_intel,
	.counter = IA32_FIXED_CTR1,
	.rdpmc = RDPMC_FIXED | 1,
	.enable = { { "IA32_FIXED_CTR_CTRL bit 4 (OS)", IA32_FIXED_CTR_CTRL, BIT(4) },
		    { "IA32_PERF_GLOBAL_CTRL bit 33", IA32_PERF_GLOBAL_CTRL, BIT(33) } },
	.nr_enables = 2,
	.filter = IA32_FIXED_CTR_CTRL,
	.os = BIT(4),
	.user = BIT(5),
	.interrupt = BIT(7),
	.status = IA32_PERF_STATUS,
	.clear = IA32_PERF_OVF_CTRL,
	.flag = BIT(33),
};

struct pmu_counter pmu_fixed_2 = {
	.name = "IA32_FIXED_CTR2",
	.probe = probe_intel,
	.counter = IA32_FIXED_CTR2,
	.rdpmc = RDPMC_FIXED | 2,
	.enable = { { "IA32_FIXED_CTR_CTRL bit 8 (OS)", IA32_FIXED_CTR_CTRL, BIT(8) },
		    { "IA32_PERF_GLOBAL_CTRL bit 34", IA32_PERF_GLOBAL_CTRL, BIT(34) } },
	.nr_enables = 2,
	.filter = IA32_FIXED_CTR_CTRL,
	.os = BIT(8),
	.user = BIT(9),
	.interrupt = BIT(11),
	.status = IA32_PERF_STATUS,
	.clear = IA32_PERF_OVF_CTRL,
	.flag = BIT(34),
	.ref_tsc = true,
};

struct pmu_counter pmu_general_0 = {
	.name = "IA32_PMC0",
	.probe = probe_intel,
	.counter = IA32_PMC0,
	.full_counter = IA32_A_PMC0,
	.rdpmc = 0,
	.select = IA32_PERFEVTSEL0,
	.event = EVENT_CORE_CYCLES,
	.enable = { { "IA32_PERFEVTSEL0 bit 17 (OS)", IA32_PERFEVTSEL0, EVENTSEL_OS },
		    { "IA32_PERFEVTSEL0 bit 22 (EN)", IA32_PERFEVTSEL0, EVENTSEL_EN },
		    { "IA32_PERF_GLOBAL_CTRL bit 0", IA32_PERF_GLOBAL_CTRL, BIT(0) } },
	.nr_enables = 3,
	.filter = IA32_PERFEVTSEL0,
	.os = EVENTSEL_OS,
	.user = EVENTSEL_USR,
	.interrupt = EVENTSEL_INT,
	.status = IA32_PERF_STATUS,
	.clear = IA32_PERF_OVF_CTRL,
	.flag = BIT(0),
};

struct pmu_counter pmu_amd_0 = {
	.name = "PERF_CTR0",
	.probe = probe_amd,
	.counter = AMD_PERF_CTR0,
	.rdpmc = 0,
	.select = AMD_PERF_CTL0,
	.event = EVENT_AMD_CYCLES,
	.enable = { { "PERF_CTL0 bit 17 (OS)", AMD_PERF_CTL0, EVENTSEL_OS },
		    { "PERF_CTL0 bit 22 (EN)", AMD_PERF_CTL0, EVENTSEL_EN },
		    { "PerfCntrGlobalCtl bit 0", AMD_PERF_GLOBAL_CTL, BIT(0) } },
	.nr_enables = 3,
	.filter = AMD_PERF_CTL0,
	.os = EVENTSEL_OS,
	.user = EVENTSEL_USR,
	.interrupt = EVENTSEL_INT,
	.status = AMD_PERF_STATUS,
	.clear = AMD_PERF_STATUS_CLEAR,
	.flag = BIT(0),
};

static void set_bits(u32 msr, u64 bits, bool on)
{
	u64 value = rdmsr(msr);

	wrmsr(msr, on ? value | bits : value & ~bits);
}

void pmu_stop(const struct pmu_counter *c)
{
	/* From the last one on: on hardware that one stops it at once. */
	for (int i = c->nr_enables - 1; i >= 0; i--)
		set_bits(c->enable[i].msr, c->enable[i].bit, false);
	set_bits(c->filter, c->user | c->interrupt, false);
}

void pmu_reset(const struct pmu_counter *c)
{
	pmu_stop(c);
	if (c->select)
		wrmsr(c->select, c->event);
	wrmsr(c->counter, 0);
	pmu_clear_overflow(c);
}

void pmu_start_without(const struct pmu_counter *c, int without)
{
	for (int i = 0; i < c->nr_enables; i++) {
		if (i != without)
			set_bits(c->enable[i].msr, c->enable[i].bit, true);
	}
}

void pmu_start(const struct pmu_counter *c, bool os, bool user)
{
	set_bits(c->filter, c->user, user);
	pmu_start_without(c, -1);
	set_bits(c->filter, c->os, os);
}

u64 pmu_mask(const struct pmu_counter *c)
{
	return c->width >= 64 ? UINT64_MAX : BIT(c->width) - 1;
}

u64 pmu_read(const struct pmu_counter *c)
{
	return rdmsr(c->counter) & pmu_mask(c);
}

/* SDM vol. 3, 20.2.6: IA32_PMCi takes 32 bits, sign-extended; IA32_A_PMCi takes them all. */
bool pmu_full_width(const struct pmu_counter *c)
{
	u64 capabilities = 0;

	if (!c->full_counter)
		return true;
	if (cpuid(1).ecx & CPUID_1_ECX_PDCM)
		rdmsr_safe(IA32_PERF_CAPABILITIES, &capabilities);
	return capabilities & CAPABILITY_FW_WRITE;
}

void pmu_write(const struct pmu_counter *c, u64 value)
{
	wrmsr(c->full_counter && pmu_full_width(c) ? c->full_counter : c->counter, value);
}

const char *pmu_diagnose(const struct pmu_counter *c)
{
	for (int i = 0; i < c->nr_enables; i++) {
		if (!(rdmsr(c->enable[i].msr) & c->enable[i].bit))
			return c->enable[i].name;
	}
	return "none: every enable reads as set";
}

bool pmu_overflowed(const struct pmu_counter *c)
{
	return c->status && rdmsr(c->status) & c->flag;
}

void pmu_clear_overflow(const struct pmu_counter *c)
{
	if (c->status)
		wrmsr(c->clear, c->flag);
}
