// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Limits of costs: how they are written, and what they say of measurements.
 */
#include "host_support.h"

#include "cost_limits.h"

static const char measured[] =
	"[{\"name\": \"trap\", \"kind\": \"histogram\", \"p50\": 1}, "
	"{\"name\": \"trap\", \"kind\": \"bench\", \"p50\": 219, \"class\": \"trapped\"}, "
	"{\"name\": \"floor\", \"kind\": \"bench\", \"p50\": 3, \"class\": \"native\"}, "
	"{\"name\": \"nothing\", \"kind\": \"bench\", \"p50\": 0}]";

static struct test test = { .name = "read", .key = "arm64/read", .arch = ARCH_ARM64 };
static struct test_result result;

/* The check that the limit becomes; it holds until the next call. */
static const struct check_result *limit(char *text)
{
	struct circumstances c = { .arch = ARCH_ARM64, .vmm = "kvm", .accel = ACCEL_KVM };

	test.limits = text;
	test_result_free(&result);
	test_result_init(&result, &test, 1);
	json_decref(result.measurements);
	result.measurements = json_loads(measured, 0, NULL);
	test_result_add_check(&result, "trap")->verdict = VERDICT_PASS;
	limits_apply(&result, &c);
	return &result.checks[result.nr_checks - 1];
}

static void test_verdicts(void **state)
{
	const struct check_result *check = limit("trap/floor <= 73");

	assert_string_equal(check->name, "limit-trap-floor");
	assert_int_equal(check->verdict, VERDICT_PASS);
	assert_int_equal(check->raw, VERDICT_PASS);
	check = limit("trap/floor <= 72.9");
	assert_int_equal(check->verdict, VERDICT_FAIL);
	assert_string_equal(check->diagnostics[0],
			    "trap 219.00, floor 3.00 (medians): ratio 73.000, at most 72.9");
}

static void test_conditions(void **state)
{
	assert_int_equal(limit("trap/floor <= 1 if class=trapped")->verdict, VERDICT_FAIL);
	assert_int_equal(limit("trap/floor <= 1 if vmm=kvm accel=kvm")->verdict, VERDICT_FAIL);
	assert_int_equal(limit("trap/floor <= 1 if class=native")->verdict, VERDICT_SKIP);
	assert_string_equal(limit("trap/floor <= 1 if accel=kvm vmm=qemu")->reason,
			    "the limit holds where vmm=qemu");
}

static void test_not_measured(void **state)
{
	assert_string_equal(limit("other/floor <= 1")->reason, "other was not measured");
	assert_string_equal(limit("trap/other <= 1")->reason, "other was not measured");
	expect_contains(limit("trap/nothing <= 1")->reason, "the floor nothing is 0");
}

static void test_several(void **state)
{
	limit("trap/floor <= 100, floor/trap <= 0.001");
	assert_int_equal(result.nr_checks, 3);
	assert_int_equal(result.checks[1].verdict, VERDICT_PASS);
	assert_int_equal(result.checks[2].verdict, VERDICT_FAIL);
	limit(NULL);
	assert_int_equal(result.nr_checks, 1);
}

static void test_texts(void **state)
{
	static const char *const good[] = { "a/b <= 1", "a-b/c.d <= 1.5e3",
					    "a/b <= 1 if class=native, c/d <= 2" };
	static const char *const bad[] = {
		"",
		",",
		"a",
		"a/b",
		"a/b < 1",
		"/b <= 1",
		"a/ <= 1",
		"a/b/c <= 1",
		"a/b <= x",
		"a/b <= 0",
		"a/b <= -1",
		"a/b <= nan",
		"a/b <= 1 if",
		"a/b <= 1 class=native",
		"a/b <= 1 if class=",
		"a/b <= 1 if host=x",
		"a/b <= 1, c",
	};
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		if (limits_check_text(good[i], &err))
			fail_msg("refused: %s", err.text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (!limits_check_text(bad[i], &err))
			fail_msg("taken: '%s'", bad[i]);
	}
}

static int leave(void **state)
{
	test_result_free(&result);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verdicts),     cmocka_unit_test(test_conditions),
		cmocka_unit_test(test_not_measured), cmocka_unit_test(test_several),
		cmocka_unit_test(test_texts),
	};

	return cmocka_run_group_tests_name("limits", tests, NULL, leave);
}
