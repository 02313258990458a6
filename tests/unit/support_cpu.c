// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The architecture's part of libcflat, as far as it is no matter of CPUs: clock, stack, name.
 */
#include <time.h>

#include "support.h"

s64 clock_step_ticks = 1;
u64 clock_now_ticks;
bool clock_is_real;

uintptr_t unit_stack_begin, unit_stack_end, unit_load_offset;
void (*unit_on_is_stack)(void);

void (*unit_relax)(void);
__thread bool unit_irqs_on = true;

u64 clock_ticks(void)
{
	struct timespec now;

	if (!clock_is_real)
		return clock_now_ticks += clock_step_ticks;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

u64 clock_hz(void)
{
	return 1000000000;
}

const char *clock_hz_source(void)
{
	return "the test";
}

bool arch_is_stack(uintptr_t address)
{
	if (unit_on_is_stack)
		unit_on_is_stack();
	return address >= unit_stack_begin && address < unit_stack_end;
}

uintptr_t arch_load_offset(void)
{
	return unit_load_offset;
}

const char *arch_name(void)
{
	return "unit";
}
