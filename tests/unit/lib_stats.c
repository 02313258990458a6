// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stats.c: against definitions that share no arithmetic with it (counting, long double), at the edges
 * of fixed point, and buckets as the inverse of their lower ends.
 */
#include <math.h>

#include "support.h"
#include "../../lib/stats.h"

#define ROUNDS 300
#define MOST   2000

static void test_square_roots(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < 100000; i++) {
		u128 value = (u128)random_edgy_u64() << 64 | random_edgy_u64();
		u64 root;

		value >>= random_below(128);
		root = sqrt_u128(value);
		if ((u128)root * root > value ||
		    (root != UINT64_MAX && (u128)(root + 1) * (root + 1) <= value))
			fail_seeded("the root of %#llx:%016llx is %#llx",
				    (unsigned long long)(value >> 64), (unsigned long long)value,
				    (unsigned long long)root);
	}
	assert_int_equal(sqrt_u128(0), 0);
	assert_true(sqrt_u128(~(u128)0) == UINT64_MAX);
}

static u64 count_not_above(const u64 *values, u64 n, u64 limit)
{
	u64 count = 0;

	for (u64 i = 0; i < n; i++)
		count += values[i] <= limit;
	return count;
}

/* So many percent do not exceed it, and fewer do not exceed anything smaller. */
static void expect_percentile(const u64 *values, u64 n, u64 value, unsigned int percent)
{
	bool enough = count_not_above(values, n, value) * 100 >= n * percent;
	bool least = !value || count_not_above(values, n, value - 1) * 100 < n * percent;

	if (!enough || !least)
		fail_seeded("%llu is not the percentile %u of %llu values",
			    (unsigned long long)value, percent, (unsigned long long)n);
}

static void expect_moments(const u64 *values, u64 n, const struct stats *s)
{
	long double mean = 0, squares = 0, sd;

	for (u64 i = 0; i < n; i++)
		mean += (long double)values[i] / n;
	for (u64 i = 0; i < n; i++)
		squares += ((long double)values[i] - mean) * ((long double)values[i] - mean);
	sd = n > 1 ? sqrtl(squares / (n - 1)) : 0;
	if (fabsl(s->mean - mean) > 1 + mean * 1e-15L || fabsl(s->sd - sd) > 1 + sd * 1e-9L)
		fail_seeded("mean %llu and sd %llu, not %Lf and %Lf", (unsigned long long)s->mean,
			    (unsigned long long)s->sd, mean, sd);
}

static void test_random_values(void **state)
{
	static u64 values[MOST];

	random_start(unit_seed());
	for (int round = 0; round < ROUNDS; round++) {
		u64 n = 1 + random_below(round < 100 ? 5 : MOST);
		u64 limit = (random_edgy_u64() & STATS_MAX) + 1;
		struct stats s;

		for (u64 i = 0; i < n; i++)
			values[i] = random_below(limit);
		stats_of(values, n, &s);
		assert_int_equal(s.n, n);
		assert_int_equal(s.min, values[0]);
		assert_int_equal(s.max, values[n - 1]);
		assert_int_equal(s.zeros, count_not_above(values, n, 0));
		expect_percentile(values, n, s.p50, 50);
		expect_percentile(values, n, s.p95, 95);
		expect_percentile(values, n, s.p99, 99);
		expect_moments(values, n, &s);
	}
}

static void test_the_greatest_values_do_not_overflow(void **state)
{
	static u64 values[MOST];
	struct stats s;

	for (u64 i = 0; i < MOST; i++)
		values[i] = i % 2 ? STATS_MAX : 0;
	stats_of(values, MOST, &s);
	assert_int_equal(s.mean, STATS_MAX / 2);
	/* Half of the width, by n / (n - 1) more for a sample. */
	assert_true(s.sd >= STATS_MAX / 2 && s.sd - STATS_MAX / 2 < STATS_MAX / 2 / 1000);
}

static void test_one_value_has_no_deviation(void **state)
{
	u64 value = 7;
	struct stats s;

	stats_of(&value, 1, &s);
	assert_int_equal(s.sd, 0);
	assert_int_equal(s.p99, 7);
}

static void expect_text(u64 value, const char *text)
{
	char buf[STATS_TEXT_MAX];

	assert_string_equal(stats_text(buf, value), text);
}

static void test_texts(void **state)
{
	expect_text(0, "0");
	expect_text(1, "0.001");
	expect_text(STATS_ONE, "1");
	expect_text(219 * STATS_ONE, "219");
	expect_text(7 * STATS_ONE / 2, "3.5");
	expect_text(3 * STATS_ONE + STATS_ONE / 16, "3.063");
	expect_text(2 * STATS_ONE - 1, "1.999");
	expect_text(10 * STATS_ONE + 10, "10.01");
	expect_text(UINT64_MAX, "18014398509481983.999");
}

static void expect_bucket_of(u64 value)
{
	unsigned int bucket = stats_bucket(value);
	u64 low = stats_bucket_low(bucket), next = stats_bucket_low(bucket + 1);

	if (low > value || (next > low && next <= value) || stats_bucket(low) != bucket ||
	    (next > low && next - low > MAX(1, low / STATS_BUCKETS)))
		fail_seeded("%#llx is in the bucket %u, [%#llx, %#llx)", (unsigned long long)value,
			    bucket, (unsigned long long)low, (unsigned long long)next);
}

static void test_buckets(void **state)
{
	random_start(unit_seed());
	for (u64 value = 0; value < 10000; value++)
		expect_bucket_of(value);
	for (int i = 0; i < 100000; i++)
		expect_bucket_of(random_edgy_u64());
	expect_bucket_of(UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_square_roots),
		cmocka_unit_test(test_random_values),
		cmocka_unit_test(test_the_greatest_values_do_not_overflow),
		cmocka_unit_test(test_one_value_has_no_deviation),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_buckets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
