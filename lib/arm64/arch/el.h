/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exception levels: where the image was entered, where it was asked to run (argument el=1, the
 * default, or el=2), and where it runs. Where the two last differ, arch_unmet() (report.h) makes
 * every check a SKIP with the reason.
 */
#ifndef ARCH_EL_H
#define ARCH_EL_H

#include "types.h"

static inline int current_el(void)
{
	u64 current;

	__asm__("mrs %0, CurrentEL" : "=r"(current));
	return current >> 2 & 3;
}

/* The level at which the image was entered: 1 or 2. */
int boot_el(void);

/* The level that the arguments ask for: 1 or 2. */
int wanted_el(void);

#endif
