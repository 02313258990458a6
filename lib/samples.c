// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Distributions for the reader.
 */
#include "report.h"
#include "samples.h"
#include "stdlib.h"

void samples_add(struct samples *s, u64 value)
{
	if (s->count < SAMPLES_MAX)
		s->value[s->count++] = value;
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

u64 samples_at_percent(struct samples *s, unsigned int percent)
{
	qsort(s->value, s->count, sizeof(s->value[0]), compare);
	return s->value[(s->count - 1) * percent / 100];
}

void samples_info(struct samples *s, const char *what, const char *unit)
{
	if (!s->count) {
		report_info("%s: n=0", what);
		return;
	}
	report_info("%s: n=%zu min=%lu p50=%lu p95=%lu p99=%lu max=%lu %s", what, s->count,
		    samples_at_percent(s, 0), samples_at_percent(s, 50), samples_at_percent(s, 95),
		    samples_at_percent(s, 99), samples_at_percent(s, 100), unit);
}
