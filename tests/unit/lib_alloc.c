// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * alloc.c: what it gives is aligned, zeroed, in range and given once; what it cannot give is said.
 */
#include "support.h"

#define POOL_SIZE (256 * 1024)

static u8 *pool;

static int setup(void **state)
{
	pool = malloc(POOL_SIZE);
	memset(pool, 0xa5, POOL_SIZE);
	alloc_init((uintptr_t)pool, (uintptr_t)pool + POOL_SIZE);
	return 0;
}

static int teardown(void **state)
{
	free(pool);
	return 0;
}

static bool is_zero(const u8 *p, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (p[i])
			return false;
	}
	return true;
}

static void test_random_sizes_and_alignments(void **state)
{
	u8 *end = pool;

	random_start(unit_seed());
	while (alloc_left() > 9000) {
		size_t size = random_below(5000), align = 1UL << random_below(12);
		u8 *p = alloc_aligned(size, align);

		if (p < end || p + size > pool + POOL_SIZE || (uintptr_t)p % align ||
		    !is_zero(p, size))
			fail_seeded("%zu bytes aligned to %zu at %p", size, align, (void *)p);
		/* In use: what comes later has to leave it alone. */
		memset(p, 0x5a, size);
		end = p + size;
		assert_int_equal(alloc_left(), pool + POOL_SIZE - end);
	}
}

static void test_alignment_of_the_plain_calls(void **state)
{
	alloc_aligned(1, 1);
	assert_int_equal((uintptr_t)alloc(1) % 16, 0);
	assert_int_equal((uintptr_t)alloc_pages(2) % PAGE_SIZE, 0);
}

static void test_all_of_it_can_be_had(void **state)
{
	u8 *p = alloc_aligned(POOL_SIZE, 1);

	assert_ptr_equal(p, pool);
	assert_int_equal(alloc_left(), 0);
	assert_true(is_zero(p, POOL_SIZE));
	/* Nothing is still to be had. */
	assert_ptr_equal(alloc_aligned(0, 1), pool + POOL_SIZE);
}

struct request {
	size_t size, align;
};

static void ask(void *arg)
{
	const struct request *r = arg;

	alloc_aligned(r->size, r->align);
}

static void ask_pages(void *arg)
{
	alloc_pages(*(size_t *)arg);
}

static void test_more_than_there_is(void **state)
{
	static struct request requests[] = {
		{ POOL_SIZE + 1, 1 },	   { SIZE_MAX, 1 },  { SIZE_MAX, 4096 },
		{ SIZE_MAX - 4095, 4096 }, { 1, 1UL << 63 }, { SIZE_MAX / 2, 16 },
		{ POOL_SIZE, 1UL << 30 },  { 0, 1UL << 63 },
	};
	size_t pages[] = { SIZE_MAX, SIZE_MAX / PAGE_SIZE + 1, 1UL << 52,
			   POOL_SIZE / PAGE_SIZE + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		expect_panic(ask, &requests[i], "out of memory");
	expect_panic(ask_pages, &pages[0], "alloc_pages(18446744073709551615): more than");
	expect_panic(ask_pages, &pages[1], "more than the address space");
	expect_panic(ask_pages, &pages[2], "more than the address space");
	expect_panic(ask_pages, &pages[3], "out of memory");
}

static void test_a_failed_call_takes_nothing(void **state)
{
	size_t left = alloc_left();
	static struct request too_much = { POOL_SIZE + 1, 1 };

	expect_panic(ask, &too_much, "262144 left");
	assert_int_equal(alloc_left(), left);
}

static void test_alignments_that_are_none(void **state)
{
	static struct request requests[] = { { 1, 0 }, { 1, 3 }, { 1, 4097 }, { 1, SIZE_MAX } };

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++)
		expect_panic(ask, &requests[i], "no power of two");
}

static void test_an_empty_or_reversed_range(void **state)
{
	static struct request one = { 1, 1 };

	alloc_init(0x2000, 0x1000);
	assert_int_equal(alloc_left(), 0);
	expect_panic(ask, &one, "out of memory");
	/* At the very end of the address space nothing may wrap. */
	alloc_init(UINTPTR_MAX - 15, UINTPTR_MAX);
	one.align = 4096;
	expect_panic(ask, &one, "out of memory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_random_sizes_and_alignments, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alignment_of_the_plain_calls, setup, teardown),
		cmocka_unit_test_setup_teardown(test_all_of_it_can_be_had, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_than_there_is, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_failed_call_takes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alignments_that_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_empty_or_reversed_range, setup, teardown),
	};

	return cmocka_run_group_tests_name("alloc", tests, NULL, NULL);
}
