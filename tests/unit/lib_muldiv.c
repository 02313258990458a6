// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * muldiv.c: by what defines a quotient (in products alone, no second division to share a mistake
 * with), against plain 128-bit arithmetic where it has no overflow, and at the edges.
 */
#include "support.h"

#define ROUNDS 200000

static const u64 edges[] = {
	0,	    1,		2,	   3,	       999999999,  1000000000,	   1000000001,
	UINT32_MAX, 1ULL << 32, INT64_MAX, 1ULL << 63, 1ULL << 62, UINT64_MAX - 1, UINT64_MAX
};

/* q is a * b / c rounded down, or the largest value and no less than that. */
static bool is_quotient(u64 q, u64 a, u64 b, u64 c)
{
	u128 product = (u128)a * b;

	if (q == UINT64_MAX)
		return (u128)UINT64_MAX * c <= product;
	return (u128)q * c <= product && product - (u128)q * c < c;
}

static void expect_quotient(u64 a, u64 b, u64 c)
{
	u64 q = mul_div_u64(a, b, c);

	if (!is_quotient(q, a, b, c))
		fail_seeded("%llu * %llu / %llu = %llu", (unsigned long long)a,
			    (unsigned long long)b, (unsigned long long)c, (unsigned long long)q);
}

static void test_mul_div_u64(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++)
		expect_quotient(random_edgy_u64(), random_edgy_u64(), random_edgy_u64() | 1);
	for (size_t a = 0; a < ARRAY_SIZE(edges); a++)
		for (size_t b = 0; b < ARRAY_SIZE(edges); b++)
			for (size_t c = 1; c < ARRAY_SIZE(edges); c++)
				expect_quotient(edges[a], edges[b], edges[c]);
}

static void test_mul_div_u64_saturates(void **state)
{
	assert_int_equal(mul_div_u64(UINT64_MAX, UINT64_MAX, UINT64_MAX), UINT64_MAX);
	assert_int_equal(mul_div_u64(UINT64_MAX, UINT64_MAX, UINT64_MAX - 1), UINT64_MAX);
	assert_int_equal(mul_div_u64(UINT64_MAX, UINT64_MAX, 1), UINT64_MAX);
	assert_int_equal(mul_div_u64(1ULL << 32, 1ULL << 32, 1), UINT64_MAX);
	assert_int_equal(mul_div_u64(1ULL << 32, 1ULL << 31, 1), 1ULL << 63);
}

/* In 128 bits, as long as a * b fits: of factors with at most 63 bits it does. */
static s64 mul_div_reference(s64 a, s64 b, s64 c)
{
	s128 q = (s128)a * b / c;

	return q > INT64_MAX ? INT64_MAX : q < INT64_MIN ? INT64_MIN : (s64)q;
}

static void expect_signed(s64 a, s64 b, s64 c)
{
	s64 q = mul_div_s64(a, b, c), wanted = mul_div_reference(a, b, c);

	if (q != wanted)
		fail_seeded("%lld * %lld / %lld = %lld, not %lld", (long long)a, (long long)b,
			    (long long)c, (long long)q, (long long)wanted);
}

static void test_mul_div_s64(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++)
		expect_signed((s64)random_edgy_u64(), (s64)random_edgy_u64(),
			      (s64)(random_edgy_u64() | 1));
	for (size_t a = 0; a < ARRAY_SIZE(edges); a++)
		for (size_t b = 0; b < ARRAY_SIZE(edges); b++)
			for (size_t c = 1; c < ARRAY_SIZE(edges); c++)
				expect_signed((s64)edges[a], (s64)edges[b], (s64)edges[c]);
	assert_int_equal(mul_div_s64(INT64_MIN, INT64_MIN, INT64_MIN), INT64_MIN);
	assert_int_equal(mul_div_s64(INT64_MIN, -1, 1), INT64_MAX);
	assert_int_equal(mul_div_s64(-7, 1, 2), -3);
	assert_int_equal(mul_div_s64(0, -1, 5), 0);
}

/* a * mul by halves of 32 bits, shifted: no wider type than 64 bits. */
static u64 mul_shift_reference(u64 a, u64 mul, unsigned shift)
{
	u64 a0 = (u32)a, a1 = a >> 32, m0 = (u32)mul, m1 = mul >> 32;
	u64 low = a0 * m0, mid = a1 * m0 + (low >> 32), mid2 = a0 * m1 + (u32)mid;
	u64 high = a1 * m1 + (mid >> 32) + (mid2 >> 32);

	low = (mid2 << 32) | (u32)low;
	if (!shift)
		return high ? UINT64_MAX : low;
	if (shift >= 64)
		return high >> (shift - 64);
	return high >> shift ? UINT64_MAX : (high << (64 - shift)) | (low >> shift);
}

static void test_mul_shift_u64(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		u64 a = random_edgy_u64(), mul = random_edgy_u64();
		unsigned shift = (unsigned)random_below(128);
		u64 result = mul_shift_u64(a, mul, shift);

		if (result != mul_shift_reference(a, mul, shift))
			fail_seeded("%#llx * %#llx >> %u = %#llx", (unsigned long long)a,
				    (unsigned long long)mul, shift, (unsigned long long)result);
	}
	assert_int_equal(mul_shift_u64(UINT64_MAX, UINT64_MAX, 127), 1);
	assert_int_equal(mul_shift_u64(UINT64_MAX, UINT64_MAX, 0), UINT64_MAX);
}

/* There and back loses less than one unit of the coarser side. */
static void test_ticks_and_ns_round_trip(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		u64 hz = 1 + random_below(10000000000ULL);
		u64 ticks = random_u64() >> 10 >> random_below(50);
		u64 ns = ticks_to_ns(ticks, hz), back = ns_to_ticks(ns, hz);

		if (ns == UINT64_MAX)
			continue;
		if (back > ticks || ticks - back > hz / NSEC_PER_SEC + 1)
			fail_seeded("%llu ticks at %llu Hz are %llu ns are %llu ticks",
				    (unsigned long long)ticks, (unsigned long long)hz,
				    (unsigned long long)ns, (unsigned long long)back);
	}
	assert_int_equal(ticks_to_ns(62500000, 62500000), NSEC_PER_SEC);
	assert_int_equal(ticks_to_ns(UINT64_MAX, 1), UINT64_MAX);
	assert_int_equal(ticks_to_ns(UINT64_MAX, NSEC_PER_SEC), UINT64_MAX);
	assert_int_equal(ns_to_ticks(NSEC_PER_SEC, 24000000), 24000000);
	assert_int_equal(ns_to_ticks(UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

static void test_error_ppm(void **state)
{
	assert_int_equal(error_ppm(1000000, 1000000), 0);
	assert_int_equal(error_ppm(1000001, 1000000), 1);
	assert_int_equal(error_ppm(999999, 1000000), -1);
	assert_int_equal(error_ppm(0, 1000000), -1000000);
	assert_int_equal(error_ppm(0, UINT64_MAX), -1000000);
	assert_int_equal(error_ppm(UINT64_MAX, 1), INT64_MAX);
	assert_int_equal(error_ppm(UINT64_MAX, UINT64_MAX - 1), 0);
	assert_int_equal(error_ppm(2000000000, 1000000000), 1000000);
}

static void divide_by_zero(void *which)
{
	switch ((intptr_t)which) {
	case 0:
		mul_div_u64(1, 1, 0);
		break;
	case 1:
		mul_div_s64(1, 1, 0);
		break;
	case 2:
		ticks_to_ns(1, 0);
		break;
	case 3:
		error_ppm(1, 0);
		break;
	case 4:
		mul_shift_u64(1, 1, 128);
		break;
	}
}

static void test_what_has_no_result_is_an_assertion(void **state)
{
	for (intptr_t which = 0; which < 5; which++)
		expect_panic(divide_by_zero, (void *)which, "lib/muldiv.c:");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mul_div_u64),
		cmocka_unit_test(test_mul_div_u64_saturates),
		cmocka_unit_test(test_mul_div_s64),
		cmocka_unit_test(test_mul_shift_u64),
		cmocka_unit_test(test_ticks_and_ns_round_trip),
		cmocka_unit_test(test_error_ppm),
		cmocka_unit_test(test_what_has_no_result_is_an_assertion),
	};

	return cmocka_run_group_tests_name("muldiv", tests, NULL, NULL);
}
