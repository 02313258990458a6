// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The 8254 timer's channel 0 (8254 data sheet): it counts down at 1.193182 MHz, once in mode 0, over
 * and over in mode 2; a latched count stays while the counter goes on; and its output goes high when
 * the count is over, not before.
 *
 * A hypervisor that computes the count from a clock of another rate, or rounds it, fails rate and
 * never-early; one that latches again while a latched count waits to be read fails latched.
 *
 * Its interrupt stays masked at the I/O APIC and the 8259. Arguments: budget-ms=N.
 */
#include "libcflat.h"
#include "refclocktest.h"
#include <arch/io.h>
#include <arch/tsc.h>

static void status(void);
static void counts_down(void);
static void latched(void);
static void never_early(void);
static void output(void);
static void periodic(void);
static void rate(void);
static void frequency_pm_timer(void);
static void frequency_hpet(void);
static void frequency_host(void);

static const struct check frequency[] = {
	{ "pm-timer", frequency_pm_timer, .story = "1.193182 MHz by the PM timer" },
	{ "hpet", frequency_hpet, .story = "1.193182 MHz by the HPET" },
	{ "host", frequency_host, .story = "1.193182 MHz by the host's clock" },
};

static const struct check checks[] = {
	{ "status", status, .story = "the read-back command tells the mode that was set" },
	{ "counts-down", counts_down, .story = "the count never goes up before it is over" },
	{ "latched", latched, .story = "a latched count is the one of the latch command" },
	{ "never-early", never_early,
	  .story = "the output is low until the whole count can have passed" },
	{ "output", output, .story = "and high once it is over, until the next count" },
	{ "periodic", periodic, .story = "in mode 2 the count stays in its range and starts anew" },
	{ "rate", rate, .story = "the TSC has one rate by it that all windows allow" },
	{ "frequency", .checks = frequency, .nr_checks = ARRAY_SIZE(frequency) },
};

#define PIT_CHANNEL_0 0x40
#define PIT_COMMAND   0x43
#define PIT_LATCH     0x00 /* channel 0 */
#define PIT_MODE_0    0x30 /* channel 0, low byte then high, binary */
#define PIT_MODE_2    0x34
#define PIT_STATUS    0xe2 /* read-back: status of channel 0 */
#define PIT_OUT	      BIT(7)
#define PIT_NULL      BIT(6)
#define PIT_MODE_BITS 0x3f
#define PIT_HZ	      1193182UL

#define ROUNDS	  10
#define WAIT_NS	  NSEC_PER_SEC
#define WINDOWS	  5
#define ATTEMPTS  40
#define WINDOW_NS (20 * NSEC_PER_MSEC)

static bool have_pit(void)
{
	struct counter_ops counter;

	return refclock_open(&refclock_pit, &counter);
}

static u8 read_status(void)
{
	outb(PIT_COMMAND, PIT_STATUS);
	return inb(PIT_CHANNEL_0);
}

static u32 read_bytes(void)
{
	u32 low = inb(PIT_CHANNEL_0), high = inb(PIT_CHANNEL_0);

	return high << 8 | low;
}

static u32 read_count(void)
{
	outb(PIT_COMMAND, PIT_LATCH);
	return read_bytes();
}

static void start(u8 mode, u32 count)
{
	outb(PIT_COMMAND, mode);
	outb(PIT_CHANNEL_0, count & 0xff);
	outb(PIT_CHANNEL_0, count >> 8 & 0xff);
}

static void status(void)
{
	static const u8 modes[] = { PIT_MODE_0, PIT_MODE_2 };

	if (!have_pit())
		return;
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++) {
		start(modes[i], 0xffff);
		report_expect((read_status() & PIT_MODE_BITS) == modes[i],
			      "the mode was set to 0x%x and reads as 0x%x", modes[i],
			      read_status() & PIT_MODE_BITS);
	}
	start(PIT_MODE_0, 0xffff);
	report_expect(spin_until(!(read_status() & PIT_NULL), WAIT_NS),
		      "the count that was written is not loaded in a second");
}

static void counts_down(void)
{
	u32 last = 0xffff, count;
	u64 reads = 0;

	if (!have_pit())
		return;
	start(PIT_MODE_0, 0xffff);
	spin_until(!(read_status() & PIT_NULL), WAIT_NS);
	/* Once over it goes on from 0xffff (data sheet, mode 0): the last read is left out then. */
	for (;;) {
		count = read_count();
		if (read_status() & PIT_OUT)
			break;
		reads++;
		if (!report_expect(count <= last, "the count went from 0x%x to 0x%x", last, count))
			break;
		last = count;
		if (last < 0x8000)
			break;
	}
	if (!reads)
		report_expect(read_status() & PIT_OUT, "the count cannot be read");
	report_info("%lu reads down to 0x%x", reads, last);
}

/*
 * Latched at once after the start, read when time has passed: the second latch of the same count
 * must not replace it. What it counted until the latch is bracketed by the TSC.
 */
static void latched(void)
{
	if (!have_pit())
		return;
	for (int i = 0; i < ROUNDS; i++) {
		u64 before_tsc = rdtsc_ordered(), most;
		u32 count;

		start(PIT_MODE_0, 0xffff);
		outb(PIT_COMMAND, PIT_LATCH);
		most = mul_div_u64(rdtsc_ordered() - before_tsc, PIT_HZ, clock_hz());
		most += most * REFCLOCK_TOLERANCE_PPM / 1000000 + 2;
		spin_until(false, NSEC_PER_MSEC);
		outb(PIT_COMMAND, PIT_LATCH);
		count = read_bytes();
		report_expect(0xffff - count <= most || most >= 0xffff,
			      "latched after at most %lu ticks, the count is down by %u", most,
			      0xffff - count);
	}
}

/* The count, and the tick that loads it, less what clocks of one machine may be apart. */
static void never_early(void)
{
	u32 early = 0, least = UINT32_MAX;

	if (!have_pit())
		return;
	for (u32 i = 1; i <= ROUNDS; i++) {
		u32 count = 0x100 * i, elapsed;
		u64 start_tsc = rdtsc_ordered();

		start(PIT_MODE_0, count);
		if (!report_expect(spin_until(read_status() & PIT_OUT, WAIT_NS),
				   "the output is not high in a second, the count was 0x%x", count))
			return;
		elapsed = mul_div_u64(rdtsc_ordered() - start_tsc, PIT_HZ, clock_hz());
		elapsed += elapsed * REFCLOCK_TOLERANCE_PPM / 1000000 + 1;
		least = MIN(least, elapsed - MIN(elapsed, count));
		if (elapsed < count)
			early++;
	}
	report_info("%u counts; at least %u ticks later than due", ROUNDS, least);
	report_expect(!early, "the output was high before its count was over %u of %u times", early,
		      ROUNDS);
}

static void output(void)
{
	bool high = true;

	if (!have_pit())
		return;
	start(PIT_MODE_0, 0x100);
	report_expect(spin_until(read_status() & PIT_OUT, WAIT_NS),
		      "the output is not high in a second, the count was 0x100");
	spin_until(false, NSEC_PER_MSEC);
	report_expect(read_status() & PIT_OUT, "the output went low again by itself");
	/* On a busy host the new count may be over as well; not every time. */
	for (int i = 0; i < ATTEMPTS && high; i++) {
		start(PIT_MODE_0, 0xffff);
		high = read_status() & PIT_OUT;
	}
	report_expect(!high, "the output is high after a new count was written");
}

/* Data sheet, mode 2: from the count down to 1, then from the count again. */
static void periodic(void)
{
	u32 count = 0x400, last = 0, now, wraps = 0, beyond = 0;
	struct spin_bound bound;

	if (!have_pit())
		return;
	start(PIT_MODE_2, count);
	spin_until(!(read_status() & PIT_NULL), WAIT_NS);
	spin_start(&bound, WAIT_NS);
	do {
		now = read_count();
		if (now == 0 || now > count)
			beyond++;
		if (now > last)
			wraps++;
		last = now;
	} while (wraps < ROUNDS && spin_poll(&bound));
	start(PIT_MODE_0, 0xffff);
	report_expect(wraps >= ROUNDS, "the count started anew %u times in a second", wraps);
	report_expect(!beyond, "the count was outside of 1 to 0x%x %u times, last 0x%x", count,
		      beyond, now);
}

/* It counts only once through: several windows of its own length instead of one long one. */
static void rate(void)
{
	u64 low = 0, high = UINT64_MAX, window_low, window_high;
	int windows = 0;

	if (!have_pit())
		return;
	for (int i = 0; i < ATTEMPTS && windows < WINDOWS; i++) {
		if (!refclock_measure_tsc(&refclock_pit, WINDOW_NS, &window_low, &window_high))
			continue;
		windows++;
		if (!report_expect(window_low <= high && window_high >= low,
				   "window %d gives %lu to %lu Hz, the former %lu to %lu Hz",
				   windows, window_low, window_high, low, high))
			return;
		low = MAX(low, window_low);
		high = MIN(high, window_high);
	}
	report_info("RDTSC by the PIT: %lu to %lu Hz in %d windows", low, high, windows);
	if (windows < 2)
		report_error("in %d attempts this CPU was not run for more than 35 ms or the PIT "
			     "stood still",
			     ATTEMPTS);
}

static void frequency_pm_timer(void)
{
	refclock_check_frequency(&refclock_pit, &refclock_pm_timer, WINDOW_NS);
}

static void frequency_hpet(void)
{
	refclock_check_frequency(&refclock_pit, &refclock_hpet, WINDOW_NS);
}

static void frequency_host(void)
{
	refclock_check_host(&refclock_pit, WINDOW_NS);
}

int main(void)
{
	return report_run("pit", checks, ARRAY_SIZE(checks));
}
