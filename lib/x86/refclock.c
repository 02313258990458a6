// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ACPI PM timer (ACPI 6.4, 4.8.3.3), HPET (IA-PC HPET specification 1.0a, 2.3), PIT channel
 * 0 (8254 data sheet), and the TSC's frequency by them.
 */
#include "muldiv.h"
#include <arch/acpi.h>
#include <arch/cpu.h>
#include <arch/io.h>
#include <arch/mmu.h>
#include <arch/refclock.h>
#include <arch/tsc.h>

#define PM_TIMER_HZ   3579545ULL
#define PIT_HZ	      1193182ULL
#define PROBE_READS   10000
#define EDGE_READS    8
#define WINDOW_READS  10000000U
#define FEMTO_PER_SEC 1000000000000000ULL

#define HPET_CAPABILITIES  0x000
#define HPET_CONFIGURATION 0x010
#define HPET_COUNTER	   0x0f0
#define HPET_COUNT_SIZE	   BIT(13)
#define HPET_ENABLE	   BIT(0)
#define HPET_PERIOD_MAX_FS 100000000ULL

/* Channel 0: its gate is always open; that of channel 2 hangs on a port that microvm has not. */
#define PIT_CHANNEL_0 0x40
#define PIT_COMMAND   0x43
#define PIT_MODE_0    0x30 /* channel 0, low byte then high, mode 0, binary */
#define PIT_READ_BACK 0xc2 /* status and count of channel 0 */
#define PIT_OUT	      BIT(7)
#define PIT_NULL      BIT(6) /* the count written is not in the counter yet */
#define PIT_COUNT     0xffff

static u64 pm_timer_read(void)
{
	return inl(acpi.pm_timer_port);
}

/* Firmware may name a clock that stands still, or that is not decoded and reads all ones. */
static bool advances(struct refclock *clock)
{
	u64 first = clock->read();

	for (int i = 0; i < PROBE_READS; i++) {
		if ((clock->read() & clock->mask) != (first & clock->mask))
			return true;
		cpu_relax();
	}
	return false;
}

static bool pm_timer_probe(const char **why)
{
	*why = "the FADT names no PM timer";
	if (!acpi.pm_timer_port)
		return false;
	refclock_pm_timer.mask = acpi.pm_timer_32bit ? UINT32_MAX : 0xffffff;
	*why = "the PM timer that the FADT names stands still";
	return advances(&refclock_pm_timer);
}

static u64 hpet_read(void)
{
	if (refclock_hpet.mask == UINT64_MAX)
		return mmio_read64(acpi.hpet_base + HPET_COUNTER);
	return mmio_read32(acpi.hpet_base + HPET_COUNTER);
}

static bool hpet_probe(const char **why)
{
	u64 capabilities, period_fs;
	u32 configuration;

	*why = "ACPI has no HPET table";
	if (!acpi.hpet_base)
		return false;
	mmu_map_device(acpi.hpet_base, 1024);
	capabilities = mmio_read32(acpi.hpet_base + HPET_CAPABILITIES) |
		       (u64)mmio_read32(acpi.hpet_base + HPET_CAPABILITIES + 4) << 32;
	period_fs = capabilities >> 32;
	*why = "the HPET's period is 0 or above the 100 ns that its specification allows";
	if (!period_fs || period_fs > HPET_PERIOD_MAX_FS)
		return false;
	refclock_hpet.hz = FEMTO_PER_SEC / period_fs;
	refclock_hpet.mask = capabilities & HPET_COUNT_SIZE ? UINT64_MAX : UINT32_MAX;
	configuration = mmio_read32(acpi.hpet_base + HPET_CONFIGURATION);
	if (!(configuration & HPET_ENABLE))
		mmio_write32(acpi.hpet_base + HPET_CONFIGURATION, configuration | HPET_ENABLE);
	*why = "the HPET's main counter stands still";
	return advances(&refclock_hpet);
}

static bool pit_ran_out;

/* Counts up like the others: from 0 at restart. */
static u64 pit_read(void)
{
	u32 status, low, high;

	outb(PIT_COMMAND, PIT_READ_BACK);
	status = inb(PIT_CHANNEL_0);
	low = inb(PIT_CHANNEL_0);
	high = inb(PIT_CHANNEL_0);
	if (status & PIT_OUT)
		pit_ran_out = true;
	return status & PIT_NULL ? 0 : PIT_COUNT - (high << 8 | low);
}

/* Its output at the end is an interrupt that the I/O APIC and the 8259 keep masked. */
static void pit_restart(void)
{
	outb(PIT_COMMAND, PIT_MODE_0);
	outb(PIT_CHANNEL_0, PIT_COUNT & 0xff);
	outb(PIT_CHANNEL_0, PIT_COUNT >> 8);
	pit_ran_out = false;
}

static bool pit_expired(void)
{
	pit_read();
	return pit_ran_out;
}

static bool pit_probe(const char **why)
{
	pit_restart();
	*why = "there is no PIT: its channel 0 does not count";
	return !pit_expired() && advances(&refclock_pit);
}

struct refclock refclock_pm_timer = {
	.name = "pm-timer",
	.probe = pm_timer_probe,
	.read = pm_timer_read,
	.hz = PM_TIMER_HZ,
};

struct refclock refclock_hpet = {
	.name = "hpet",
	.probe = hpet_probe,
	.read = hpet_read,
};

struct refclock refclock_pit = {
	.name = "pit",
	.probe = pit_probe,
	.read = pit_read,
	.hz = PIT_HZ,
	.mask = PIT_COUNT,
	.restart = pit_restart,
	.expired = pit_expired,
};

struct edge {
	u64 tsc_before, tsc_after;
	u64 clock;
};

/* The tightest of several brackets: being descheduled in one of them only makes that one wide. */
static struct edge read_edge(struct refclock *clock)
{
	struct edge best = { 0, UINT64_MAX, 0 };

	for (int i = 0; i < EDGE_READS; i++) {
		struct edge e;

		e.tsc_before = rdtsc_ordered();
		e.clock = clock->read();
		e.tsc_after = rdtsc_ordered();
		if (e.tsc_after - e.tsc_before < best.tsc_after - best.tsc_before)
			best = e;
	}
	return best;
}

bool refclock_measure_tsc(struct refclock *clock, u64 window_ns, u64 *low_hz, u64 *high_hz)
{
	u64 window = ns_to_ticks(window_ns, clock->hz);
	struct edge begin, end;
	u64 elapsed = 0;

	if (clock->restart)
		clock->restart();
	begin = read_edge(clock);
	for (u32 i = 0; i < WINDOW_READS && elapsed < window; i++) {
		elapsed = (clock->read() - begin.clock) & clock->mask;
		cpu_relax();
	}
	end = read_edge(clock);
	elapsed = (end.clock - begin.clock) & clock->mask;
	if ((clock->expired && clock->expired()) || elapsed < window || elapsed < 2 ||
	    end.tsc_before <= begin.tsc_after)
		return false;
	/* Either read lies somewhere within a tick of the clock. */
	*low_hz = mul_div_u64(end.tsc_before - begin.tsc_after, clock->hz, elapsed + 1);
	*high_hz = mul_div_u64(end.tsc_after - begin.tsc_before, clock->hz, elapsed - 1) + 1;
	return true;
}
