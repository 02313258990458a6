/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Last words. panic() prints the message and a backtrace as protocol lines, then stops the machine;
 * the runner makes an ERROR of it and puts names to the addresses.
 */
#ifndef PANIC_H
#define PANIC_H

#include "types.h"

NORETURN void panic(const char *fmt, ...) PRINTF_LIKE(1, 2);

/* panic() for a handler: the backtrace starts at pc and the frame pointer fp. */
NORETURN void panic_at(uintptr_t pc, uintptr_t fp, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* One backtrace line, innermost first; pc = 0 starts at the caller. */
void backtrace_print(uintptr_t pc, uintptr_t fp);

#define assert(cond)                                                                     \
	do {                                                                             \
		if (!(cond))                                                             \
			panic("%s:%d: assertion failed: %s", __FILE__, __LINE__, #cond); \
	} while (0)

/*
 * For the arch: stops this machine for good (power off where there is a way, else a sleep without
 * interrupts). Where stack frames may lie, so that a backtrace reads no wild memory. What to
 * subtract from a run-time address for the link-time one.
 */
NORETURN void arch_stop(void);
bool arch_is_stack(uintptr_t address);
uintptr_t arch_load_offset(void);

#endif
