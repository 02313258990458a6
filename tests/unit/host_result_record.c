// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a test's record back to its result: all fields, only the required ones, and what is none.
 */
#include "host_support.h"

#include "result_record.h"
#include "results_json.h"

static struct test test = { .name = "counter", .arch = ARCH_ARM64, .key = "arm64/counter" };

static const char full_record[] =
	"{\"key\": \"arm64/counter\", \"name\": \"counter\", \"arch\": \"arm64\", \"repetition\": "
	"3,"
	" \"verdict\": \"xfail\", \"raw_verdict\": \"fail\", \"unexpected_pass\": true,"
	" \"reason\": \"known\", \"start_ms\": 1.5, \"duration_ms\": 2215.103, \"boot_ms\": 0.001,"
	" \"log\": \"logs/arm64/counter.log\", \"command\": \"vmm --x\", \"stderr\": \"e\","
	" \"backtrace\": \"f\", \"log_tail\": \"t\", \"checks\": ["
	"{\"name\": \"a/b\", \"verdict\": \"skip\", \"raw_verdict\": \"pass\", \"reason\": \"r\","
	" \"diagnostics\": [\"one\", 2], \"unexpected_pass\": true, \"has_sub_checks\": false},"
	"{\"name\": \"a\", \"verdict\": \"pass\", \"raw_verdict\": \"pass\","
	" \"has_sub_checks\": true, \"diagnostics\": []}],"
	" \"measurements\": [{\"name\": \"m\", \"n\": 18446744073709551}], \"calls\": [{\"id\": "
	"1}]}";

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *record = json_loads(text, 0, &error);

	if (!record)
		fail_msg("%d: %s", error.column, error.text);
	return record;
}

static void test_all_fields(void **state)
{
	json_t *record = parse(full_record);
	struct test_result r;
	struct error err;

	if (test_result_from_record(&r, &test, record, &err))
		fail_msg("%s", err.text);
	assert_int_equal(r.repetition, 3);
	assert_int_equal(r.verdict, VERDICT_XFAIL);
	assert_int_equal(r.raw, VERDICT_FAIL);
	assert_true(r.unexpected_pass);
	assert_string_equal(r.reason, "known");
	assert_int_equal(r.start_ns, 1500000);
	assert_int_equal(r.duration_ns, 2215103000);
	assert_int_equal(r.boot_ns, 1000);
	assert_string_equal(r.log, "logs/arm64/counter.log");
	assert_string_equal(r.command, "vmm --x");
	assert_string_equal(r.vmm_stderr, "e");
	assert_string_equal(r.backtrace, "f");
	assert_string_equal(r.log_tail, "t");
	assert_int_equal(r.nr_checks, 2);
	assert_string_equal(r.checks[0].name, "a/b");
	assert_int_equal(r.checks[0].verdict, VERDICT_SKIP);
	assert_int_equal(r.checks[0].raw, VERDICT_PASS);
	assert_string_equal(r.checks[0].diagnostics[0], "one");
	assert_string_equal(r.checks[0].diagnostics[1], ""); /* no text, but its place */
	assert_null(r.checks[0].diagnostics[2]);
	assert_true(r.checks[0].unexpected_pass);
	assert_false(r.checks[0].has_children);
	assert_true(r.checks[1].has_children);
	assert_null(r.checks[1].diagnostics);
	assert_int_equal(
		json_integer_value(json_object_get(json_array_get(r.measurements, 0), "n")),
		18446744073709551);
	assert_int_equal(json_array_size(r.calls), 1);
	test_result_free(&r);
	json_decref(record);
}

/* Each record with one field taken out either is refused or gives a result; neither crashes. */
static void test_field_missing(void **state)
{
	json_t *whole = parse(full_record);
	const char *key;
	json_t *value;
	size_t refused = 0;

	json_object_foreach(whole, key, value) {
		json_t *record = json_deep_copy(whole);
		struct test_result r;
		struct error err = { "" };

		json_object_del(record, key);
		if (test_result_from_record(&r, &test, record, &err)) {
			refused++;
			expect_contains(err.text, key);
		}
		test_result_free(&r);
		json_decref(record);
	}
	assert_true(refused > 0 && refused < json_object_size(whole));
	json_decref(whole);
}

/* The same with a value of another type in its place. */
static void test_field_of_wrong_type(void **state)
{
	static const char *const values[] = { "null", "[]", "{}", "-1", "1e300", "\"x\"", "[[1]]" };
	json_t *whole = parse(full_record);
	const char *key;
	json_t *value;

	json_object_foreach(whole, key, value) {
		for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
			json_t *record = json_deep_copy(whole);
			struct test_result r;
			struct error err = { "" };

			json_object_set_new(record, key,
					    json_loads(values[i], JSON_DECODE_ANY, NULL));
			if (test_result_from_record(&r, &test, record, &err))
				assert_true(strlen(err.text) > 0);
			test_result_free(&r);
			json_decref(record);
		}
	}
	json_decref(whole);
}

static void test_no_record(void **state)
{
	static const char *const texts[] = { "{}", "[]", "\"x\"", "1" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		json_t *record = json_loads(texts[i], JSON_DECODE_ANY, NULL);
		struct test_result r;
		struct error err = { "" };

		assert_int_equal(test_result_from_record(&r, &test, record, &err), -1);
		assert_true(strlen(err.text) > 0);
		test_result_free(&r);
		json_decref(record);
	}
}

int main(void)
{
	const struct CMUnitTest all[] = {
		cmocka_unit_test(test_all_fields),
		cmocka_unit_test(test_field_missing),
		cmocka_unit_test(test_field_of_wrong_type),
		cmocka_unit_test(test_no_record),
	};

	return cmocka_run_group_tests(all, NULL, NULL);
}
