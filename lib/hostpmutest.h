/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cycle counter that counts while the host acts: its value is kept, and it goes on, before the
 * guest touches any of its registers.
 */
#ifndef HOSTPMUTEST_H
#define HOSTPMUTEST_H

#include "types.h"

struct cycle_counter {
	const char *name;
	/* The counter on this CPU set to value and counting; then what it was before. */
	void (*start)(u64 value);
	void (*stop)(void);
	u64 (*read)(void);
	u64 mask;
	u64 value; /* to begin with: beyond 32 bits where it has more */
	/* So much work that it must count at least this. */
	void (*work)(void);
	u64 work_least;
	const char *(*diagnosis)(void); /* why it may not count */
};

/*
 * report_run() with a check for each action of host_action_kinds(). find() is called on CPU 0 in each
 * of them: the counter, or NULL after report_skip().
 */
int host_pmu_report_run(const char *image, const struct cycle_counter *(*find)(void));

#endif
