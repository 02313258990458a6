/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a number of measured values come to: percentiles, mean, standard deviation, and a histogram.
 * There is no floating point: a value is in fixed point, with STATS_FRACTION_BITS bits behind the
 * binary point, so that a sum over a batch of up to 2^STATS_FRACTION_BITS operations, whose size is
 * a power of two, is divided by it without any loss.
 */
#ifndef STATS_H
#define STATS_H

#include "types.h"

#define STATS_FRACTION_BITS 10
#define STATS_ONE	    (1UL << STATS_FRACTION_BITS)
/* Greatest value: its square, some millions of times, is still a number of 128 bits. */
#define STATS_MAX (BIT(52) - 1)

/* All in fixed point but n and zeros. */
struct stats {
	u64 n;
	u64 zeros; /* how many of the values are 0 */
	u64 min, p50, p95, p99, max;
	u64 mean; /* rounded down, as is sd */
	u64 sd;	  /* of a sample: n - 1 in the denominator; 0 where n is 1 */
};

/* Sorts the values; n > 0. A percentile is the least value that so many percent do not exceed. */
void stats_of(u64 *values, u64 n, struct stats *out);

/* Of sorted values: the least that percent (0 to 100) of them do not exceed. n > 0. */
u64 stats_percentile(const u64 *sorted, u64 n, unsigned int percent);

/* The integer square root, rounded down. */
u64 sqrt_u128(u128 value);

/*
 * Writes a value as a decimal number, rounded to three places, without zeros at the end: "219",
 * "3.5". Returns buf, which has room for STATS_TEXT_MAX bytes.
 */
#define STATS_TEXT_MAX 24
const char *stats_text(char *buf, u64 value);

/*
 * Log-linear buckets: from every power of two to the next there are STATS_BUCKETS of equal width, so
 * none is wider than a STATS_BUCKETS-th of the values in it; below STATS_BUCKETS / STATS_ONE each
 * value has its own. These two are the inverse of one another where value is the least of a bucket.
 */
#define STATS_BUCKETS 32
unsigned int stats_bucket(u64 value);
u64 stats_bucket_low(unsigned int bucket);

#endif
