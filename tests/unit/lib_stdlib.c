// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * qsort, strtoul and strtol against the C library's, and str_to_u64.
 */
#include <errno.h>
#include <limits.h>

#include "support.h"

#define MAX_COUNT 3000
#define MAX_SIZE  24

static size_t element_size;
static u64 comparisons;

/* Whole elements: equal ones are then the same bytes, so that a sort has one right outcome. */
static int compare_bytes(const void *a, const void *b)
{
	comparisons++;
	return memcmp(a, b, element_size);
}

static int compare_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	comparisons++;
	return (x > y) - (x < y);
}

/* ceil(log2(n)) for n of at least 1. */
static unsigned log2_up(u64 n)
{
	return n > 1 ? 64 - __builtin_clzll(n - 1) : 0;
}

static void expect_sorts(void *base, size_t count, size_t size,
			 int (*cmp)(const void *, const void *), const char *what)
{
	void *wanted = malloc(count * size + 1);
	u64 limit = 2 * count * log2_up(count) + 2 * count;

	memcpy(wanted, base, count * size);
	qsort(wanted, count, size, cmp);
	comparisons = 0;
	cflat_qsort(base, count, size, cmp);
	if (memcmp(wanted, base, count * size))
		fail_seeded("%s: %zu elements of %zu bytes are not in order", what, count, size);
	if (comparisons > limit)
		fail_seeded("%s: %llu comparisons for %zu elements, at most %llu", what,
			    (unsigned long long)comparisons, count, (unsigned long long)limit);
	free(wanted);
}

static void test_qsort_of_every_size(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 4, 5, 7, 8, 12, 16, 24 };

	random_start(unit_seed());
	for (int round = 0; round < 300; round++) {
		size_t count = random_below(60);
		u8 *base;

		element_size = sizes[random_below(ARRAY_SIZE(sizes))];
		base = malloc(count * element_size + 1);
		/* Few values: many equal elements. */
		for (size_t i = 0; i < count * element_size; i++)
			base[i] = (u8)random_below(3);
		expect_sorts(base, count, element_size, compare_bytes, "random bytes");
		free(base);
	}
}

static void test_qsort_of_unaligned_elements(void **state)
{
	u8 *area = malloc(8 * 100 + 1);

	random_start(unit_seed());
	element_size = 8;
	for (size_t i = 0; i < 801; i++)
		area[i] = (u8)random_u64();
	expect_sorts(area + 1, 100, 8, compare_bytes, "unaligned");
	free(area);
}

/* Inputs that are the worst for one or the other way of sorting. */
static u64 adversarial(int kind, size_t i, size_t count)
{
	switch (kind) {
	case 0:
		return i;
	case 1:
		return count - i;
	case 2:
		return 7;
	case 3:
		return i % 2;
	case 4: /* organ pipe */
		return MIN(i, count - i);
	case 5: /* saw */
		return i % 17;
	case 6: /* bit-reversed */
		return __builtin_bswap64(i * 0x0202020202ULL);
	case 7: /* sorted but for the last */
		return i + 1 == count ? 0 : i;
	default:
		return random_edgy_u64();
	}
}

static void test_qsort_of_adversarial_inputs(void **state)
{
	static u64 base[MAX_COUNT];

	random_start(unit_seed());
	for (int kind = 0; kind < 9; kind++) {
		for (size_t count = 0; count <= MAX_COUNT; count = count * 3 / 2 + 1) {
			char what[32];

			for (size_t i = 0; i < count; i++)
				base[i] = adversarial(kind, i, count);
			snprintf(what, sizeof(what), "input of kind %d", kind);
			expect_sorts(base, count, sizeof(base[0]), compare_u64, what);
		}
	}
}

/*
 * McIlroy's adversary (A killer adversary for quicksort, 1999): values are settled only as they
 * are compared, in the way that makes the sort work most.
 */
static u64 settled[MAX_COUNT], gas, next_solid, candidate;

static int compare_adversary(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	comparisons++;
	if (settled[x] == gas && settled[y] == gas)
		settled[x == candidate ? x : y] = next_solid++;
	if (settled[x] == gas)
		candidate = x;
	else if (settled[y] == gas)
		candidate = y;
	return (settled[x] > settled[y]) - (settled[x] < settled[y]);
}

static void test_qsort_against_an_adversary(void **state)
{
	static u64 base[MAX_COUNT];

	gas = MAX_COUNT;
	next_solid = candidate = 0;
	for (size_t i = 0; i < MAX_COUNT; i++) {
		base[i] = i;
		settled[i] = gas;
	}
	comparisons = 0;
	cflat_qsort(base, MAX_COUNT, sizeof(base[0]), compare_adversary);
	assert_true(comparisons <= 2 * MAX_COUNT * log2_up(MAX_COUNT) + 2 * MAX_COUNT);
	for (size_t i = 1; i < MAX_COUNT; i++)
		assert_true(settled[base[i - 1]] <= settled[base[i]]);
}

static void expect_same_number(const char *text, int base)
{
	char *their_end, *our_end;
	unsigned long theirs = strtoul(text, &their_end, base);
	unsigned long ours = cflat_strtoul(text, &our_end, base);
	long their_signed, our_signed;

	if (theirs != ours || their_end != our_end)
		fail_seeded("strtoul('%s', %d): theirs %lu at %td, ours %lu at %td", text, base,
			    theirs, their_end - text, ours, our_end - text);
	their_signed = strtol(text, &their_end, base);
	our_signed = cflat_strtol(text, &our_end, base);
	if (their_signed != our_signed || their_end != our_end)
		fail_seeded("strtol('%s', %d): theirs %ld at %td, ours %ld at %td", text, base,
			    their_signed, their_end - text, our_signed, our_end - text);
}

static void test_numbers_at_the_limits(void **state)
{
	static const char *const numbers[] = {
		"",
		"0",
		"-0",
		"+",
		"-",
		"0x",
		"0x0",
		"0X1fz",
		"0xg",
		"-0x10",
		"08",
		"017",
		" \t\n12",
		"1 2",
		"0x 1",
		"--1",
		"+-1",
		"zz",
		"9223372036854775807",
		"9223372036854775808",
		"-9223372036854775808",
		"-9223372036854775809",
		"18446744073709551615",
		"18446744073709551616",
		"-18446744073709551615",
		"-18446744073709551616",
		"0xffffffffffffffff",
		"0x10000000000000000",
		"01777777777777777777777",
		"02000000000000000000000",
		"99999999999999999999999999999999999999 tail",
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		expect_same_number(numbers[i], 0);
		for (int base = 2; base <= 36; base++)
			expect_same_number(numbers[i], base);
	}
}

static void test_generated_numbers(void **state)
{
	static const char characters[] = "0011223789abfxXzZ+- \t";

	random_start(unit_seed());
	for (int i = 0; i < 10000; i++) {
		char text[32];

		snprintf(text, sizeof(text), i % 2 ? "%#llx" : "-%llu",
			 (unsigned long long)random_edgy_u64());
		expect_same_number(text, 0);
	}
	for (int i = 0; i < 100000; i++) {
		char text[32];
		size_t len = random_below(sizeof(text));
		int base = (int)random_below(36);

		for (size_t n = 0; n < len; n++)
			text[n] = characters[random_below(sizeof(characters) - 1)];
		text[len] = '\0';
		/* 1 is no base: there 36 stands in for it. */
		expect_same_number(text, base == 1 ? 36 : base);
	}
}

static void test_bad_bases(void **state)
{
	static const int bases[] = { -1, 1, 37, INT_MAX, INT_MIN };
	char *end;

	for (size_t i = 0; i < ARRAY_SIZE(bases); i++) {
		const char *text = "12";

		assert_int_equal(cflat_strtoul(text, &end, bases[i]), 0);
		assert_ptr_equal(end, text);
	}
	assert_int_equal(cflat_strtoul("12", NULL, 10), 12);
	assert_int_equal(cflat_strtol("-12", NULL, 10), -12);
}

static void test_str_to_u64(void **state)
{
	static const char *const bad[] = { "",	   " 1",  "1 ",	     "+1",
					   "-1",   "0x",  "0xg",     "08",
					   "1s",   "1.5", "abc",     "18446744073709551616",
					   "0x1 ", "0b1", "0x1'000", "0x10000000000000000" };
	u64 value = 42;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (str_to_u64(bad[i], &value) || value != 42)
			fail_msg("'%s' was taken for a number", bad[i]);
	}
	assert_true(str_to_u64("18446744073709551615", &value) && value == UINT64_MAX);
	assert_true(str_to_u64("0xFFffFFffFFffFFff", &value) && value == UINT64_MAX);
	assert_true(str_to_u64("017", &value) && value == 15);
	assert_true(str_to_u64("0", &value) && value == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qsort_of_every_size),
		cmocka_unit_test(test_qsort_of_unaligned_elements),
		cmocka_unit_test(test_qsort_of_adversarial_inputs),
		cmocka_unit_test(test_qsort_against_an_adversary),
		cmocka_unit_test(test_numbers_at_the_limits),
		cmocka_unit_test(test_generated_numbers),
		cmocka_unit_test(test_bad_bases),
		cmocka_unit_test(test_str_to_u64),
	};

	return cmocka_run_group_tests_name("stdlib", tests, NULL, NULL);
}
