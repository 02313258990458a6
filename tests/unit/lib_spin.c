// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * spin.c: a wait ends by its condition, by the clock, or by polls where the clock is of no use.
 */
#include "support.h"

static u32 relaxes;

static void count_relax(void)
{
	relaxes++;
}

static int setup(void **state)
{
	clock_is_real = false;
	clock_now_ticks = 1000;
	clock_step_ticks = 1;
	relaxes = 0;
	unit_relax = count_relax;
	return 0;
}

static void test_a_condition_that_is_true_needs_no_poll(void **state)
{
	assert_true(spin_until(true, 0));
	assert_int_equal(relaxes, 0);
}

static void test_every_poll_relaxes(void **state)
{
	assert_false(spin_until(false, 100));
	/* The clock goes on by 1 ns a poll. */
	assert_int_equal(relaxes, 100);
}

static void test_a_condition_that_comes_true(void **state)
{
	assert_true(spin_until(relaxes == 50, 100));
	assert_int_equal(relaxes, 50);
}

/* The clock may take one long step while the vCPU does not run: the condition has the last word. */
static void test_a_condition_that_comes_true_with_the_last_poll(void **state)
{
	clock_step_ticks = 1000000;
	assert_true(spin_until(relaxes == 1, 100));
}

static void test_the_limit_is_a_time(void **state)
{
	struct spin_bound b;

	clock_step_ticks = 0;
	spin_start(&b, 1000);
	clock_now_ticks += 999;
	assert_true(spin_poll(&b));
	clock_now_ticks += 1;
	assert_false(spin_poll(&b));
	assert_false(b.clock_stuck);
	spin_start(&b, UINT64_MAX);
	clock_now_ticks += 1ULL << 62;
	assert_true(spin_poll(&b));
}

static void test_a_counter_that_wraps(void **state)
{
	struct spin_bound b;

	clock_step_ticks = 0;
	clock_now_ticks = UINT64_MAX - 10;
	spin_start(&b, 1000);
	clock_now_ticks += 500;
	assert_true(spin_poll(&b));
	clock_now_ticks += 500;
	assert_false(spin_poll(&b));
}

/* A step back neither ends the wait nor makes it longer than the steps forward are in sum. */
static void test_a_clock_that_steps_back(void **state)
{
	struct spin_bound b;

	clock_step_ticks = 0;
	spin_start(&b, 1000);
	clock_now_ticks += 600;
	assert_true(spin_poll(&b));
	clock_now_ticks -= 5000;
	assert_true(spin_poll(&b));
	clock_now_ticks += 399;
	assert_true(spin_poll(&b));
	clock_now_ticks += 1;
	assert_false(spin_poll(&b));
}

static void test_a_clock_that_stands_still(void **state)
{
	struct spin_bound b;

	clock_step_ticks = 0;
	spin_start(&b, 1000);
	while (spin_poll(&b))
		;
	assert_true(b.clock_stuck);
	assert_int_equal(relaxes, SPIN_STUCK_POLLS);
}

static void test_a_clock_that_runs_backwards(void **state)
{
	struct spin_bound b;

	clock_step_ticks = -3;
	spin_start(&b, 1000);
	while (spin_poll(&b))
		;
	assert_true(b.clock_stuck);
	assert_int_equal(relaxes, SPIN_STUCK_POLLS);
}

static void wait_for_ever(void *arg)
{
	spin_until_or_die(false, 5 * NSEC_PER_MSEC, "the other CPU to answer");
}

static void test_a_wait_that_must_not_fail(void **state)
{
	clock_step_ticks = 1000;
	expect_panic(wait_for_ever, NULL, "the other CPU to answer: not within 5 ms");
	clock_step_ticks = 0;
	expect_panic(wait_for_ever, NULL,
		     "the other CPU to answer: the clock (the test) stood still at 0x3e8 for "
		     "20000000 polls");
	spin_until_or_die(true, 0, "nothing");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_a_condition_that_is_true_needs_no_poll, setup),
		cmocka_unit_test_setup(test_every_poll_relaxes, setup),
		cmocka_unit_test_setup(test_a_condition_that_comes_true, setup),
		cmocka_unit_test_setup(test_a_condition_that_comes_true_with_the_last_poll, setup),
		cmocka_unit_test_setup(test_the_limit_is_a_time, setup),
		cmocka_unit_test_setup(test_a_counter_that_wraps, setup),
		cmocka_unit_test_setup(test_a_clock_that_steps_back, setup),
		cmocka_unit_test_setup(test_a_clock_that_stands_still, setup),
		cmocka_unit_test_setup(test_a_clock_that_runs_backwards, setup),
		cmocka_unit_test_setup(test_a_wait_that_must_not_fail, setup),
	};

	return cmocka_run_group_tests_name("spin", tests, NULL, NULL);
}
