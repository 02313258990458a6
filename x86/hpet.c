// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The main counter of the HPET (IA-PC HPET specification 1.0a, 2.3): it says its own frequency, can
 * be halted, written and started again, carries from 32 to 33 bits, and else never runs backwards,
 * on any CPU.
 *
 * A hypervisor that keeps the counter as an offset to a clock and forgets it when the counter is
 * halted, started or written fails halted and written; one that joins two halves read at different
 * times fails carry; one that advertises another period than it counts fails frequency.
 *
 * Arguments: budget-ms=N.
 */
#include "libcflat.h"
#include "refclocktest.h"
#include <arch/acpi.h>
#include <arch/io.h>
#include <arch/tsc.h>

static void capabilities(void);
static void monotonic(void);
static void cross_cpu(void);
static void halted(void);
static void written(void);
static void carry(void);
static void halves(void);
static void rate(void);
static void frequency_pm_timer(void);
static void frequency_pit(void);
static void frequency_host(void);

static const struct check frequency[] = {
	{ "pm-timer", frequency_pm_timer, .story = "its period is what it says, by the PM timer" },
	{ "pit", frequency_pit, .story = "its period is what it says, by the PIT" },
	{ "host", frequency_host, .story = "its period is what it says, by the host's clock" },
};

static const struct check checks[] = {
	{ "capabilities", capabilities,
	  .story = "revision, period and number of timers are ones that there can be" },
	{ "monotonic", monotonic, .story = "the counter never runs backwards on a CPU" },
	{ "cross-cpu", cross_cpu, .story = "nor from one CPU to the next" },
	{ "halted", halted,
	  .story = "halted it stands still, started it goes on from there: the time between does "
		   "not count" },
	{ "written", written, .story = "halted it takes a value, and goes on from that" },
	{ "carry", carry, .story = "it goes on through 2^32 without a step back" },
	{ "halves", halves,
	  .story = "its halves read one by one are those of the whole read between" },
	{ "rate", rate, .story = "the TSC has one rate by it that all brackets allow" },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

#define HPET_CAPABILITIES  0x000
#define HPET_CONFIGURATION 0x010
#define HPET_COUNTER	   0x0f0
#define HPET_ENABLE	   BIT(0)
#define HPET_PERIOD_MAX_FS 100000000U
#define HPET_TIMERS_MIN	   3

#define LOOKS		 1000
#define ROUNDS		 10
#define SHORT_NS	 (100 * NSEC_PER_USEC)
#define RATE_WINDOW	 (200 * NSEC_PER_MSEC)
#define FREQUENCY_WINDOW (50 * NSEC_PER_MSEC)

static struct counter_ops counter;

static bool open_hpet(void)
{
	return refclock_open(&refclock_hpet, &counter);
}

static u32 hpet_read(u32 reg)
{
	return mmio_read32(acpi.hpet_base + reg);
}

static void enable(bool on)
{
	u32 configuration = hpet_read(HPET_CONFIGURATION) & ~HPET_ENABLE;

	mmio_write32(acpi.hpet_base + HPET_CONFIGURATION, configuration | (on ? HPET_ENABLE : 0));
}

static void write_counter(u64 value)
{
	mmio_write32(acpi.hpet_base + HPET_COUNTER, value);
	mmio_write32(acpi.hpet_base + HPET_COUNTER + 4, value >> 32);
}

static void capabilities(void)
{
	u32 low, period_fs;

	if (!open_hpet())
		return;
	low = hpet_read(HPET_CAPABILITIES);
	period_fs = hpet_read(HPET_CAPABILITIES + 4);
	report_info("revision %u, %u timers, %d bits, period %u fs", low & 0xff,
		    (low >> 8 & 0x1f) + 1, counter.mask == UINT64_MAX ? 64 : 32, period_fs);
	report_expect(low & 0xff, "the revision is 0");
	report_expect((low >> 8 & 0x1f) + 1 >= HPET_TIMERS_MIN, "it has %u timers, %d are required",
		      (low >> 8 & 0x1f) + 1, HPET_TIMERS_MIN);
	report_expect(period_fs && period_fs <= HPET_PERIOD_MAX_FS,
		      "the period is %u fs, at most %u are allowed", period_fs, HPET_PERIOD_MAX_FS);
}

static void monotonic(void)
{
	if (open_hpet())
		counter_check_monotonic(&counter);
}

static void cross_cpu(void)
{
	if (smp_count() < 2)
		report_skip("needs 2 CPUs, 1 is up");
	else if (open_hpet())
		counter_check_cross_cpu(&counter, 2);
}

/* The most that the counter can have counted between two TSC values, at either end a tick more. */
static u64 most_ticks(u64 from_tsc, u64 to_tsc)
{
	u64 ticks = mul_div_u64(to_tsc - from_tsc, counter.hz, clock_hz());

	return ticks + ticks * REFCLOCK_TOLERANCE_PPM / 1000000 + 2;
}

/*
 * The counter's value at a halt, and what it is when it was started again: no less, and no more than
 * the time since allows. clock_hz() itself may be by another of the platform's clocks.
 */
static void judge_start(u64 value, u64 before_tsc, const char *what)
{
	u64 now = counter.read(), most = most_ticks(before_tsc, rdtsc_ordered());

	report_expect(((now - value) & counter.mask) <= most,
		      "%s at 0x%lx, the counter is at 0x%lx; it can have counted %lu ticks since",
		      what, value, now, most);
}

static void halted(void)
{
	if (!open_hpet())
		return;
	for (int i = 0; i < ROUNDS; i++) {
		u64 before_tsc, first, second;

		enable(false);
		first = counter.read();
		spin_until(false, SHORT_NS);
		second = counter.read();
		report_expect(first == second, "halted, the counter went from 0x%lx to 0x%lx",
			      first, second);
		before_tsc = rdtsc_ordered();
		enable(true);
		judge_start(second, before_tsc, "halted and started");
	}
}

static void written(void)
{
	static const u64 values[] = { 0, 1, 0x7fffffff, 0x80000000, 0x123456789abcdef0 };
	u64 before, before_tsc;

	if (!open_hpet())
		return;
	enable(false);
	before = counter.read();
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		u64 value = values[i] & counter.mask;

		write_counter(value);
		report_expect(counter.read() == value, "0x%lx was written, 0x%lx is read", value,
			      counter.read());
		before_tsc = rdtsc_ordered();
		enable(true);
		judge_start(value, before_tsc, "written and started");
		enable(false);
	}
	write_counter(before);
	enable(true);
}

static void carry(void)
{
	struct spin_bound bound;
	u64 before, last, now;
	bool backwards = false;

	if (!open_hpet())
		return;
	if (counter.mask != UINT64_MAX) {
		report_skip("the counter has 32 bits");
		return;
	}
	enable(false);
	before = counter.read();
	write_counter(UINT32_MAX - ns_to_ticks(SHORT_NS, counter.hz));
	last = counter.read();
	enable(true);
	spin_start(&bound, NSEC_PER_SEC);
	do {
		now = counter.read();
		backwards = backwards || now < last;
		if (backwards)
			break;
		last = now;
	} while (now < BIT(32) + ns_to_ticks(SHORT_NS, counter.hz) && spin_poll(&bound));
	enable(false);
	write_counter(before);
	enable(true);
	report_expect(!backwards, "the counter went from 0x%lx to 0x%lx", last, now);
	report_expect(now >= BIT(32), "the counter did not come beyond 2^32 in a second: 0x%lx",
		      now);
}

static void halves(void)
{
	if (!open_hpet())
		return;
	if (counter.mask != UINT64_MAX) {
		report_skip("the counter has 32 bits");
		return;
	}
	for (int i = 0; i < LOOKS; i++) {
		u32 high = hpet_read(HPET_COUNTER + 4), low = hpet_read(HPET_COUNTER);
		u64 whole = counter.read();
		u32 low_after = hpet_read(HPET_COUNTER), high_after = hpet_read(HPET_COUNTER + 4);

		if (high != high_after)
			continue;
		if (!report_expect(whole >= ((u64)high << 32 | low) &&
					   whole <= ((u64)high_after << 32 | low_after),
				   "0x%lx was read between 0x%x%08x and 0x%x%08x", whole, high, low,
				   high_after, low_after))
			return;
	}
}

static void rate(void)
{
	refclock_check_rate(&refclock_hpet, RATE_WINDOW);
}

static void frequency_pm_timer(void)
{
	refclock_check_frequency(&refclock_hpet, &refclock_pm_timer, FREQUENCY_WINDOW);
}

static void frequency_pit(void)
{
	refclock_check_frequency(&refclock_hpet, &refclock_pit, FREQUENCY_WINDOW);
}

static void frequency_host(void)
{
	refclock_check_host(&refclock_hpet, FREQUENCY_WINDOW);
}

int main(void)
{
	return report_run("hpet", checks, ARRAY_SIZE(checks));
}
