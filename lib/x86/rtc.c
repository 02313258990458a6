// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The real-time clock (MC146818 data sheet; the century at 0x32 as PCs have it).
 */
#include "spin.h"
#include "string.h"
#include <arch/io.h>
#include <arch/rtc.h>

#define RTC_INDEX      0x70
#define RTC_DATA       0x71
#define RTC_CENTURY    0x32
#define READ_ATTEMPTS  20
#define UPDATE_WAIT_NS 1100000000UL
#define HOUR_PM	       0x80

/* Bit 7 of the index masks NMIs: it stays clear. */
u8 rtc_read(u8 reg)
{
	outb(RTC_INDEX, reg);
	return inb(RTC_DATA);
}

void rtc_write(u8 reg, u8 value)
{
	outb(RTC_INDEX, reg);
	outb(RTC_DATA, value);
}

bool rtc_probe(const char **why)
{
	*why = "there is no RTC: its registers read as all ones";
	if (rtc_read(RTC_A) == 0xff && rtc_read(RTC_B) == 0xff && rtc_read(RTC_D) == 0xff)
		return false;
	*why = "there is no RTC: its register D has bits set that are always 0";
	return !(rtc_read(RTC_D) & 0x3f);
}

static u32 number(u8 value, u8 control)
{
	return control & RTC_B_BINARY ? value : (value >> 4) * 10 + (value & 0xf);
}

static void read_once(struct rtc_time *time)
{
	u8 control = rtc_read(RTC_B), hour = rtc_read(0x04);
	u32 century = number(rtc_read(RTC_CENTURY), control);

	time->second = number(rtc_read(RTC_SECONDS), control);
	time->minute = number(rtc_read(0x02), control);
	time->hour = number(hour & ~HOUR_PM, control);
	if (!(control & RTC_B_HOURS_24))
		time->hour = time->hour % 12 + (hour & HOUR_PM ? 12 : 0);
	time->day = number(rtc_read(0x07), control);
	time->month = number(rtc_read(0x08), control);
	time->year = number(rtc_read(0x09), control);
	time->year += (century >= 19 && century <= 21 ? century : 20) * 100;
}

bool rtc_read_time(struct rtc_time *time)
{
	struct rtc_time again;

	for (int i = 0; i < READ_ATTEMPTS; i++) {
		if (!spin_until(!(rtc_read(RTC_A) & RTC_A_UPDATE), UPDATE_WAIT_NS))
			return false;
		read_once(time);
		read_once(&again);
		if (!memcmp(time, &again, sizeof(again)))
			return true;
	}
	return false;
}

/* The number of days before the month in a year that begins with March. */
u64 rtc_to_unix(const struct rtc_time *time)
{
	u64 year = time->month <= 2 ? time->year - 1 : time->year;
	u64 month = (time->month + 9) % 12;
	u64 days = 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 +
		   time->day - 1;

	/* 1970-01-01 by the same count. */
	days -= 719468;
	return ((days * 24 + time->hour) * 60 + time->minute) * 60 + time->second;
}
