// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Percentiles, moments and buckets in fixed point: stats.h.
 */
#include "panic.h"
#include "stats.h"
#include "stdio.h"
#include "stdlib.h"

#define BUCKET_BITS 5 /* log2(STATS_BUCKETS) */

_Static_assert(STATS_BUCKETS == 1 << BUCKET_BITS, "stats.h");

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

u64 stats_percentile(const u64 *sorted, u64 n, unsigned int percent)
{
	u64 rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

u64 sqrt_u128(u128 value)
{
	u64 root = 0;

	for (int bit = 63; bit >= 0; bit--) {
		u64 next = root | BIT(bit);

		if ((u128)next * next <= value)
			root = next;
	}
	return root;
}

/*
 * Two passes: distances from the mean are squared, not the values themselves, whose squares would
 * cancel. The mean that they are taken from is rounded down; the second term takes that back.
 */
static u64 deviation(const u64 *values, u64 n, u64 mean)
{
	u128 squares = 0;
	u64 distances = 0;

	if (n < 2)
		return 0;
	for (u64 i = 0; i < n; i++) {
		s64 distance = (s64)(values[i] - mean);

		squares += (u128)((s128)distance * distance);
		distances += distance; /* all in all from 0 to n - 1 */
	}
	squares -= (u128)distances * distances / n;
	return sqrt_u128(squares / (n - 1));
}

void stats_of(u64 *values, u64 n, struct stats *out)
{
	u128 sum = 0;
	u64 zeros = 0;

	assert(n);
	qsort(values, n, sizeof(values[0]), compare);
	for (u64 i = 0; i < n; i++) {
		sum += values[i];
		zeros += !values[i];
	}
	*out = (struct stats){
		.n = n,
		.zeros = zeros,
		.min = values[0],
		.p50 = stats_percentile(values, n, 50),
		.p95 = stats_percentile(values, n, 95),
		.p99 = stats_percentile(values, n, 99),
		.max = values[n - 1],
		.mean = sum / n,
	};
	out->sd = deviation(values, n, out->mean);
}

const char *stats_text(char *buf, u64 value)
{
	u64 thousandths = (value % STATS_ONE * 1000 + STATS_ONE / 2) / STATS_ONE;
	u64 whole = value / STATS_ONE + thousandths / 1000;
	int places = 3;

	thousandths %= 1000;
	while (places > 0 && thousandths % 10 == 0) {
		thousandths /= 10;
		places--;
	}
	if (places)
		snprintf(buf, STATS_TEXT_MAX, "%lu.%0*lu", whole, places, thousandths);
	else
		snprintf(buf, STATS_TEXT_MAX, "%lu", whole);
	return buf;
}

unsigned int stats_bucket(u64 value)
{
	unsigned int octave;

	if (value < STATS_BUCKETS)
		return value;
	octave = 63 - __builtin_clzll(value) - BUCKET_BITS;
	return (octave << BUCKET_BITS) + (value >> octave);
}

u64 stats_bucket_low(unsigned int bucket)
{
	unsigned int octave = bucket >> BUCKET_BITS;

	if (!octave)
		return bucket;
	octave--;
	return (u64)(bucket - (octave << BUCKET_BITS)) << octave;
}
