/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The real-time clock of the PC, an MC146818 and its registers.
 */
#ifndef ARCH_RTC_H
#define ARCH_RTC_H

#include "types.h"

#define RTC_SECONDS	  0x00
#define RTC_SECONDS_ALARM 0x01
#define RTC_A		  0x0a
#define RTC_B		  0x0b
#define RTC_C		  0x0c
#define RTC_D		  0x0d

#define RTC_A_UPDATE	   BIT(7) /* an update is under way, or will be within 244 us */
#define RTC_A_RATE	   0x0f
#define RTC_B_HOURS_24	   BIT(1)
#define RTC_B_BINARY	   BIT(2)
#define RTC_B_UPDATE_IRQ   BIT(4)
#define RTC_B_ALARM_IRQ	   BIT(5)
#define RTC_B_PERIODIC_IRQ BIT(6)
#define RTC_B_SET	   BIT(7) /* updates are held */
#define RTC_C_UPDATE	   BIT(4) /* flags; a read of the register clears them */
#define RTC_C_ALARM	   BIT(5)
#define RTC_C_PERIODIC	   BIT(6)
#define RTC_D_VALID	   BIT(7)

u8 rtc_read(u8 reg);
void rtc_write(u8 reg, u8 value);

/* Whether there is one; if not, why is said. */
bool rtc_probe(const char **why);

struct rtc_time {
	u32 year, month, day, hour, minute, second;
};

/* A time read outside of updates, twice the same. false where there was none to be had. */
bool rtc_read_time(struct rtc_time *time);

/* Seconds since 1970, taking the time for UTC. */
u64 rtc_to_unix(const struct rtc_time *time);

#endif
