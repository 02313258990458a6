// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ACPI power management timer (ACPI 6.4, 4.8.3.3): a counter of 24 or 32 bits at 3.579545 MHz
 * that never stops. Every CPU sees the same one, it never runs backwards but where it wraps, and it
 * runs at its frequency by the machine's other clocks.
 *
 * A hypervisor that computes it from different clocks on different CPUs fails cross-cpu; one that
 * rounds its frequency fails frequency and rate; one that lets more bits show than it has fails
 * width, since guests take the difference modulo its width.
 *
 * Arguments: window-ms=N (300) of the rate: above 4700 it holds a wrap; budget-ms=N.
 */
#include "libcflat.h"
#include "refclocktest.h"

static void width(void);
static void monotonic(void);
static void cross_cpu(void);
static void rate(void);
static void frequency_hpet(void);
static void frequency_pit(void);
static void frequency_host(void);

static const struct check frequency[] = {
	{ "hpet", frequency_hpet, .story = "3.579545 MHz by the HPET" },
	{ "pit", frequency_pit, .story = "3.579545 MHz by the PIT" },
	{ "host", frequency_host, .story = "3.579545 MHz by the host's clock" },
};

static const struct check checks[] = {
	{ "width", width, .story = "no bit above those that the FADT gives it is ever set" },
	{ "monotonic", monotonic, .story = "it never runs backwards on a CPU" },
	{ "cross-cpu", cross_cpu, .story = "nor from one CPU to the next" },
	{ "rate", rate, .story = "the TSC has one rate by it that all brackets allow" },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

#define READS		 10000
#define WINDOW_DEFAULT	 300 /* ms */
#define FREQUENCY_WINDOW (50 * NSEC_PER_MSEC)

static void width(void)
{
	struct counter_ops counter;
	u64 seen = 0;

	if (!refclock_open(&refclock_pm_timer, &counter))
		return;
	for (int i = 0; i < READS; i++)
		seen |= counter.read();
	report_info("%d bits", counter.mask == UINT32_MAX ? 32 : 24);
	report_expect(!(seen & ~counter.mask), "bits 0x%lx are set beyond its width, 0x%lx",
		      seen & ~counter.mask, counter.mask);
}

static void monotonic(void)
{
	struct counter_ops counter;

	if (refclock_open(&refclock_pm_timer, &counter))
		counter_check_monotonic(&counter);
}

static void cross_cpu(void)
{
	struct counter_ops counter;

	if (smp_count() < 2)
		report_skip("needs 2 CPUs, 1 is up");
	else if (refclock_open(&refclock_pm_timer, &counter))
		counter_check_cross_cpu(&counter, 2);
}

static void rate(void)
{
	refclock_check_rate(&refclock_pm_timer,
			    args_u64("window-ms", WINDOW_DEFAULT) * NSEC_PER_MSEC);
}

static void frequency_hpet(void)
{
	refclock_check_frequency(&refclock_pm_timer, &refclock_hpet, FREQUENCY_WINDOW);
}

static void frequency_pit(void)
{
	refclock_check_frequency(&refclock_pm_timer, &refclock_pit, FREQUENCY_WINDOW);
}

static void frequency_host(void)
{
	refclock_check_host(&refclock_pm_timer, FREQUENCY_WINDOW);
}

int main(void)
{
	return report_run("pm-timer", checks, ARRAY_SIZE(checks));
}
