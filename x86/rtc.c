// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The real-time clock (MC146818): a time of day with fields in their ranges that goes on by one
 * second a second, an update flag once a second, a periodic flag at its rate, and the host's time of
 * day.
 *
 * A hypervisor that derives the seconds from another clock than the guest's others fails second; one
 * that sets the update flag only with its interrupt enabled fails update-flag; one whose periodic
 * timer catches up what nobody missed fails periodic-flag.
 *
 * Its interrupts stay masked at the I/O APIC and the 8259. Arguments: budget-ms=N.
 */
#include "libcflat.h"
#include <arch/lapic_timer.h>
#include <arch/rtc.h>
#include <arch/tsc.h>

static void valid(void);
static void second(void);
static void update_flag(void);
static void periodic_flag(void);
static void host(void);

static const struct check checks[] = {
	{ "valid", valid,
	  .story = "its time has fields in their ranges, and power was never lost" },
	{ "second", second, .story = "a second of it is one by the TSC" },
	{ "update-flag", update_flag,
	  .story = "the update flag is set once a second, with its interrupt disabled" },
	{ "periodic-flag", periodic_flag,
	  .story = "at 1024 Hz the periodic flag is set, and no more often than that" },
	{ "host", host, .guards = "K8",
	  .story = "it is the host's time of day, but for a time zone" },
};

#define TOLERANCE_PPM 500
#define WAIT_NS	      (1500 * NSEC_PER_MSEC)
#define COARSE_NS     (10 * NSEC_PER_MSEC)
#define NEAR_NS	      (950 * NSEC_PER_MSEC)
#define RATE_1024_HZ  6
#define FLAGS	      100
#define QUARTER_NS    (900 * NSEC_PER_SEC)
/* It counts seconds, and may be read just before it counts the next one. */
#define HOST_ALLOWED_NS (2 * NSEC_PER_SEC)

static bool have_rtc(void)
{
	const char *why;

	if (rtc_probe(&why))
		return true;
	report_skip("%s", why);
	return false;
}

static void valid(void)
{
	struct rtc_time t;

	if (!have_rtc())
		return;
	report_expect(rtc_read(RTC_D) & RTC_D_VALID, "register D says that power was lost");
	report_expect(!(rtc_read(RTC_B) & RTC_B_SET), "register B holds its updates");
	if (!report_expect(rtc_read_time(&t), "it gives no two times that are the same"))
		return;
	report_info("%04u-%02u-%02u %02u:%02u:%02u", t.year, t.month, t.day, t.hour, t.minute,
		    t.second);
	report_expect(t.month >= 1 && t.month <= 12 && t.day >= 1 && t.day <= 31 && t.hour < 24 &&
			      t.minute < 60 && t.second < 60,
		      "its time is %04u-%02u-%02u %02u:%02u:%02u", t.year, t.month, t.day, t.hour,
		      t.minute, t.second);
}

/* The TSC around a change of the seconds. */
struct edge {
	u64 before_tsc, after_tsc;
	u8 second; /* as it is written in the register */
};

/* Looks once every step_ns, or as often as it can. */
static bool find_edge(struct edge *e, u64 step_ns)
{
	struct spin_bound bound;
	u8 first = rtc_read(RTC_SECONDS);

	spin_start(&bound, WAIT_NS);
	e->before_tsc = rdtsc_ordered();
	do {
		u64 before_tsc;

		if (step_ns)
			lapic_timer_sleep_ns(step_ns);
		/* While an update is under way the seconds are anything. */
		if (rtc_read(RTC_A) & RTC_A_UPDATE)
			continue;
		before_tsc = rdtsc_ordered();
		e->second = rtc_read(RTC_SECONDS);
		e->after_tsc = rdtsc_ordered();
		if (e->second != first)
			return true;
		e->before_tsc = before_tsc;
	} while (spin_poll(&bound));
	return report_expect(false, "the seconds do not change in %lu ms", WAIT_NS / NSEC_PER_MSEC);
}

/* In the register's own notation. */
static u32 seconds_between(u8 first, u8 last)
{
	bool binary = rtc_read(RTC_B) & RTC_B_BINARY;
	u32 a = binary ? first : (first >> 4) * 10 + (first & 0xf);
	u32 b = binary ? last : (last >> 4) * 10 + (last & 0xf);

	return (b + 60 - a) % 60;
}

/*
 * The first change is found at leisure, so that the two that count can be awaited from nearby. If
 * this CPU is not run for a while, more than one second passes between them.
 */
static void second(void)
{
	struct edge first, last;
	u64 least_ns, most_ns, wanted_ns, slack_ns;

	if (!have_rtc() || !find_edge(&first, COARSE_NS))
		return;
	lapic_timer_sleep_ns(NEAR_NS);
	if (!find_edge(&first, 0))
		return;
	lapic_timer_sleep_ns(NEAR_NS);
	if (!find_edge(&last, 0))
		return;
	wanted_ns = seconds_between(first.second, last.second) * NSEC_PER_SEC;
	least_ns = ticks_to_ns(last.before_tsc - first.after_tsc, clock_hz());
	most_ns = ticks_to_ns(last.after_tsc - first.before_tsc, clock_hz());
	slack_ns = wanted_ns / 1000000 * TOLERANCE_PPM;
	report_info("%lu s by the RTC are %lu to %lu ns by the TSC", wanted_ns / NSEC_PER_SEC,
		    least_ns, most_ns);
	report_expect(wanted_ns && wanted_ns + slack_ns >= least_ns &&
			      wanted_ns <= most_ns + slack_ns,
		      "%lu s by the RTC are %lu to %lu ns by the TSC", wanted_ns / NSEC_PER_SEC,
		      least_ns, most_ns);
}

/* Interrupts disabled in register B, as it was. */
static u8 disable_interrupts(void)
{
	u8 control = rtc_read(RTC_B);

	rtc_write(RTC_B, control & ~(RTC_B_UPDATE_IRQ | RTC_B_ALARM_IRQ | RTC_B_PERIODIC_IRQ));
	return control;
}

/* Sleeps in steps, so that an idle machine need not be busy for a second. */
static bool wait_for_flag(u8 flag, u64 step_ns)
{
	struct spin_bound bound;

	spin_start(&bound, WAIT_NS);
	do {
		if (rtc_read(RTC_C) & flag)
			return true;
		if (step_ns)
			lapic_timer_sleep_ns(step_ns);
	} while (spin_poll(&bound));
	return rtc_read(RTC_C) & flag;
}

static void update_flag(void)
{
	u8 control;

	if (!have_rtc())
		return;
	control = disable_interrupts();
	if (report_expect(wait_for_flag(RTC_C_UPDATE, COARSE_NS),
			  "the update flag is not set in %lu ms", WAIT_NS / NSEC_PER_MSEC))
		/* The read has cleared it. A second has not passed, or the next one is due. */
		report_expect(!(rtc_read(RTC_C) & RTC_C_UPDATE) ||
				      wait_for_flag(RTC_C_UPDATE, COARSE_NS),
			      "the update flag was set once and is not set again");
	rtc_write(RTC_B, control);
}

/* Period: 1/1024 s; the first comes within one, so n take at least n - 1. */
static void periodic_flag(void)
{
	u8 control, rate;
	u64 start_tsc, elapsed_ns, n = 0, least_ns;

	if (!have_rtc())
		return;
	control = disable_interrupts();
	rate = rtc_read(RTC_A);
	rtc_write(RTC_A, (rate & ~RTC_A_RATE) | RATE_1024_HZ);
	rtc_write(RTC_B, (rtc_read(RTC_B) | RTC_B_PERIODIC_IRQ));
	rtc_read(RTC_C);
	start_tsc = rdtsc_ordered();
	while (n < FLAGS && wait_for_flag(RTC_C_PERIODIC, 0))
		n++;
	elapsed_ns = ticks_to_ns(rdtsc_ordered() - start_tsc, clock_hz());
	rtc_write(RTC_A, rate);
	rtc_write(RTC_B, control);
	rtc_read(RTC_C);
	/* One that waits in a host that lags is delivered late, the next one in time. */
	least_ns = n > 2 ? (n - 2) * NSEC_PER_SEC / 1024 : 0;
	least_ns -= least_ns / 1000000 * TOLERANCE_PPM;
	report_info("%lu flags in %lu us", n, elapsed_ns / NSEC_PER_USEC);
	report_expect(n == FLAGS, "after %lu flags no further one in %lu ms", n,
		      WAIT_NS / NSEC_PER_MSEC);
	report_expect(elapsed_ns >= least_ns,
		      "%lu flags in %lu us: at 1024 Hz they take at least %lu us", n,
		      elapsed_ns / NSEC_PER_USEC, least_ns / NSEC_PER_USEC);
}

static void host(void)
{
	struct rtc_time time;
	struct host_stamp stamp;
	u64 rtc_ns, apart_ns;

	if (args_has("virtual-time")) {
		report_skip("virtual time: the host's clock says nothing about this guest's");
		return;
	}
	if (!have_rtc() || !host_stamp(&stamp))
		return;
	if (!report_expect(rtc_read_time(&time), "it gives no two times that are the same"))
		return;
	rtc_ns = rtc_to_unix(&time) * NSEC_PER_SEC;
	apart_ns = (rtc_ns - stamp.realtime_ns + QUARTER_NS / 2) % QUARTER_NS;
	report_info("the RTC is %ld ms ahead of the host",
		    (s64)(rtc_ns - stamp.realtime_ns) / (s64)NSEC_PER_MSEC);
	report_expect(apart_ns + HOST_ALLOWED_NS >= QUARTER_NS / 2 &&
			      apart_ns <= QUARTER_NS / 2 + HOST_ALLOWED_NS,
		      "by the RTC it is %lu, by the host %lu s after 1970", rtc_ns / NSEC_PER_SEC,
		      stamp.realtime_ns / NSEC_PER_SEC);
}

int main(void)
{
	return report_run("rtc", checks, ARRAY_SIZE(checks));
}
