/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measured values of one kind, for their distribution.
 */
#ifndef SAMPLES_H
#define SAMPLES_H

#include "types.h"

#define SAMPLES_MAX 1024

struct samples {
	size_t count;
	u64 value[SAMPLES_MAX];
};

/* What comes after SAMPLES_MAX values is left out. */
void samples_add(struct samples *s, u64 value);

/* The value below which percent of them lie (0: the least, 100: the greatest); sorts. count > 0. */
u64 samples_at_percent(struct samples *s, unsigned int percent);

/* "what: n=… min=… p50=… p95=… p99=… max=… unit" as report_info(). */
void samples_info(struct samples *s, const char *what, const char *unit);

#endif
