// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The part of clock.h that is the same for every architecture.
 */
#include "clock.h"
#include "muldiv.h"

u64 clock_ns(void)
{
	return ticks_to_ns(clock_ticks(), clock_hz());
}
