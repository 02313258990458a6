// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From raw verdicts to judged ones: every combination of checks, the test's own trouble, and what is
 * expected of either.
 */
#include "host_support.h"

#include "judge.h"

static struct test test = { .name = "counter", .arch = ARCH_X86_64, .key = "x86_64/counter" };

static const struct circumstances here = {
	.arch = ARCH_X86_64,
	.vmm = "qemu",
	.accel = ACCEL_TCG,
	.kernel = "6.12.4",
};

struct fixture {
	struct test_result result;
	struct expectations expected;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	test_result_init(&f->result, &test, 1);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	test_result_free(&f->result);
	expected_free(&f->expected);
	free(f);
	return 0;
}

static struct check_result *add(struct fixture *f, const char *name, enum verdict verdict,
				const char *reason)
{
	struct check_result *check = test_result_add_check(&f->result, name);

	check->verdict = check->raw = verdict;
	check->reason = text_copy(reason);
	return check;
}

static void trouble(struct fixture *f, enum verdict verdict, const char *reason)
{
	f->result.verdict = f->result.raw = verdict;
	f->result.reason = text_copy(reason);
}

/* Judges with an expected/ of this one file. */
static struct test_result *judged(struct fixture *f, const char *expected)
{
	struct mistakes m = { 0 };

	mkdir("expected", 0777);
	write_string("expected/a.cfg", expected);
	assert_int_equal(expected_read("expected", &f->expected, &m), 0);
	judge(&f->result, &f->expected, &here);
	return &f->result;
}

static void most_severe_check_is_the_tests_verdict(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_PASS, NULL);
	add(*state, "b", VERDICT_FAIL, NULL);
	add(*state, "c", VERDICT_SKIP, "no c");
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_FAIL);
	assert_int_equal(r->raw, VERDICT_FAIL);
	assert_null(r->reason);
	assert_int_equal(r->checks[2].verdict, VERDICT_SKIP);
}

static void one_skip_skips_no_test(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_SKIP, "no a");
	add(*state, "b", VERDICT_PASS, NULL);
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_PASS);
	assert_null(r->reason);
}

static void all_skipped_is_a_skip(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_SKIP, "no PMU");
	add(*state, "b", VERDICT_SKIP, "no b");
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_SKIP);
	assert_string_equal(r->reason, "no PMU");
}

static void image_that_skips_as_a_whole(void **state)
{
	struct test_result *r;

	trouble(*state, VERDICT_SKIP, "no EL2");
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_SKIP);
	assert_string_equal(r->reason, "no EL2");
}

static void no_check_is_an_error(void **state)
{
	struct test_result *r = judged(*state, "");

	assert_int_equal(r->verdict, VERDICT_ERROR);
	assert_string_equal(r->reason, "the image reported no check: it asserted nothing");
}

static void error_of_a_check_is_told(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_FAIL, NULL);
	add(*state, "b", VERDICT_ERROR, "asserted nothing");
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_ERROR);
	assert_string_equal(r->reason, "b: asserted nothing");
}

static void own_trouble_is_worse_than_passed_checks(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_PASS, NULL);
	trouble(*state, VERDICT_TIMEOUT, "no end within 2 s");
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_TIMEOUT);
	assert_string_equal(r->reason, "no end within 2 s");
}

static void expected_fail_is_an_xfail(void **state)
{
	struct test_result *r;

	add(*state, "frequency", VERDICT_FAIL, NULL);
	add(*state, "monotonic", VERDICT_PASS, NULL);
	r = judged(*state, "[counter.frequency]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->verdict, VERDICT_XFAIL);
	assert_int_equal(r->raw, VERDICT_FAIL);
	assert_int_equal(r->checks[0].verdict, VERDICT_XFAIL);
	assert_int_equal(r->checks[0].raw, VERDICT_FAIL);
	assert_string_equal(r->checks[0].reason, "known");
	assert_ptr_equal(r->checks[0].expectation, &((struct fixture *)*state)->expected.list[0]);
	assert_true(((struct fixture *)*state)->expected.list[0].matched);
	assert_string_equal(r->reason, "frequency: known");
	assert_false(r->unexpected_pass);
}

static void expectation_of_one_check_covers_no_other(void **state)
{
	struct test_result *r;

	add(*state, "frequency", VERDICT_FAIL, NULL);
	add(*state, "monotonic", VERDICT_FAIL, NULL);
	r = judged(*state, "[counter.frequency]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->checks[0].verdict, VERDICT_XFAIL);
	assert_int_equal(r->checks[1].verdict, VERDICT_FAIL);
	assert_int_equal(r->verdict, VERDICT_FAIL);
}

static void another_verdict_than_expected_stands(void **state)
{
	struct test_result *r;

	add(*state, "frequency", VERDICT_ERROR, "broken");
	r = judged(*state, "[counter.frequency]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->checks[0].verdict, VERDICT_ERROR);
	assert_string_equal(r->checks[0].reason, "broken");
	assert_false(r->checks[0].unexpected_pass);
	assert_int_equal(r->verdict, VERDICT_ERROR);
	assert_false(((struct fixture *)*state)->expected.list[0].matched);
}

static void pass_that_was_not_expected_is_marked(void **state)
{
	struct test_result *r;

	add(*state, "frequency", VERDICT_PASS, NULL);
	add(*state, "skipped", VERDICT_SKIP, "no");
	r = judged(*state, "[counter.*]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->verdict, VERDICT_PASS);
	assert_true(r->checks[0].unexpected_pass);
	assert_false(r->checks[1].unexpected_pass);
	assert_false(((struct fixture *)*state)->expected.list[0].matched);
}

static void expected_trouble_of_the_test(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_PASS, NULL);
	trouble(*state, VERDICT_TIMEOUT, "no end within 2 s");
	r = judged(*state, "[counter]\nverdict = timeout\nreason = RDTSCP kills it\n");
	assert_int_equal(r->verdict, VERDICT_XFAIL);
	assert_int_equal(r->raw, VERDICT_TIMEOUT);
	assert_string_equal(r->reason, "RDTSCP kills it (timeout: no end within 2 s)");
	assert_non_null(r->expectation);
}

static void expected_trouble_hides_no_failing_check(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_FAIL, NULL);
	trouble(*state, VERDICT_TIMEOUT, "no end within 2 s");
	r = judged(*state, "[counter]\nverdict = timeout\nreason = known\n");
	assert_int_equal(r->verdict, VERDICT_FAIL);
	assert_int_equal(r->raw, VERDICT_TIMEOUT);
}

static void other_trouble_than_expected_stands(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_PASS, NULL);
	trouble(*state, VERDICT_ERROR, "panic");
	r = judged(*state, "[counter]\nverdict = timeout\nreason = known\n");
	assert_int_equal(r->verdict, VERDICT_ERROR);
	assert_string_equal(r->reason, "panic");
	assert_false(r->unexpected_pass);
}

/* A panic with an ERROR of a check that is expected: the panic is the test's own and stands. */
static void expected_error_of_a_check_hides_no_panic(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_ERROR, "known to be odd");
	trouble(*state, VERDICT_ERROR, "panic");
	r = judged(*state, "[counter.a]\nverdict = error\nreason = known\n");
	assert_int_equal(r->checks[0].verdict, VERDICT_XFAIL);
	assert_string_equal(r->checks[0].reason, "known (error: known to be odd)");
	assert_int_equal(r->verdict, VERDICT_ERROR);
	assert_string_equal(r->reason, "panic");
}

static void test_that_is_expected_to_fail(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_FAIL, NULL);
	add(*state, "b", VERDICT_PASS, NULL);
	r = judged(*state, "[counter]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->verdict, VERDICT_XFAIL);
	assert_string_equal(r->reason, "known");
	assert_int_equal(r->checks[0].verdict, VERDICT_FAIL);
}

static void test_that_passes_unexpectedly(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_PASS, NULL);
	r = judged(*state, "[counter]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->verdict, VERDICT_PASS);
	assert_true(r->unexpected_pass);
}

static void parent_is_judged_by_its_sub_checks(void **state)
{
	struct test_result *r;

	add(*state, "cross-cpu/2", VERDICT_PASS, NULL);
	add(*state, "cross-cpu/4", VERDICT_FAIL, NULL);
	add(*state, "cross-cpu", VERDICT_FAIL, NULL)->has_children = true;
	add(*state, "cross", VERDICT_PASS, NULL);
	r = judged(*state, "[counter.cross-cpu/4]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->checks[1].verdict, VERDICT_XFAIL);
	assert_int_equal(r->checks[2].verdict, VERDICT_XFAIL);
	assert_int_equal(r->checks[2].raw, VERDICT_FAIL);
	assert_int_equal(r->verdict, VERDICT_XFAIL);
	assert_string_equal(r->reason, "cross-cpu/4: known");
}

static void parents_nest(void **state)
{
	struct test_result *r;

	add(*state, "a/b/c", VERDICT_FAIL, NULL);
	add(*state, "a/b", VERDICT_FAIL, NULL)->has_children = true;
	add(*state, "a/d", VERDICT_PASS, NULL);
	add(*state, "a", VERDICT_FAIL, NULL)->has_children = true;
	r = judged(*state, "[counter.a/b/c]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->checks[1].verdict, VERDICT_XFAIL);
	assert_int_equal(r->checks[3].verdict, VERDICT_XFAIL);
	assert_int_equal(r->verdict, VERDICT_XFAIL);
}

static void parents_own_trouble_stands(void **state)
{
	struct test_result *r;

	add(*state, "a/b", VERDICT_FAIL, NULL);
	add(*state, "a", VERDICT_ERROR, "clean-up went wrong")->has_children = true;
	r = judged(*state, "[counter.a/b]\nverdict = fail\nreason = known\n");
	assert_int_equal(r->checks[1].verdict, VERDICT_ERROR);
	assert_int_equal(r->verdict, VERDICT_ERROR);
}

/* The image's own XFAIL is neither a failure nor an unexpected pass. */
static void xfail_by_the_image(void **state)
{
	struct test_result *r;

	add(*state, "a", VERDICT_XFAIL, "by design");
	r = judged(*state, "");
	assert_int_equal(r->verdict, VERDICT_XFAIL);
	assert_string_equal(r->reason, "a: by design");
}

#define judge_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		judge_test(most_severe_check_is_the_tests_verdict),
		judge_test(one_skip_skips_no_test),
		judge_test(all_skipped_is_a_skip),
		judge_test(image_that_skips_as_a_whole),
		judge_test(no_check_is_an_error),
		judge_test(error_of_a_check_is_told),
		judge_test(own_trouble_is_worse_than_passed_checks),
		judge_test(expected_fail_is_an_xfail),
		judge_test(expectation_of_one_check_covers_no_other),
		judge_test(another_verdict_than_expected_stands),
		judge_test(pass_that_was_not_expected_is_marked),
		judge_test(expected_trouble_of_the_test),
		judge_test(expected_trouble_hides_no_failing_check),
		judge_test(other_trouble_than_expected_stands),
		judge_test(expected_error_of_a_check_hides_no_panic),
		judge_test(test_that_is_expected_to_fail),
		judge_test(test_that_passes_unexpectedly),
		judge_test(parent_is_judged_by_its_sub_checks),
		judge_test(parents_nest),
		judge_test(parents_own_trouble_stands),
		judge_test(xfail_by_the_image),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
