// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The directory of a run: results.json, ktap.txt, logs and "latest"; what a full disk, a wrong path
 * and a second run at the same time do to them.
 */
#include "host_support.h"

#include <errno.h>
#include <signal.h>
#include <sys/resource.h>

#include "expected.h"
#include "results.h"
#include "util/loop.h"

static struct test tests[] = {
	{ .name = "counter", .arch = ARCH_X86_64, .key = "x86_64/counter", .line = 3 },
	{ .name = "counter", .arch = ARCH_ARM64, .key = "arm64/counter", .line = 3 },
	{ .name = "timer", .arch = ARCH_X86_64, .key = "x86_64/timer", .line = 9 },
};

static const struct results_target targets[] = {
	{ ARCH_X86_64, "qemu", ACCEL_TCG, "no /dev/kvm", "7.2.22", "/usr/bin/qemu-x", "max" },
	{ ARCH_ARM64, "qemu", ACCEL_ICOUNT, "--accel", "7.2.22", "/usr/bin/qemu-a", NULL },
};

static char *argv_of_run[] = { "runner", "--jobs", "2", "it's", NULL };

static int setup(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(tests); i++) {
		tests[i].image = tests[i].name;
		tests[i].args = "a=1";
		tests[i].smp = 4;
		tests[i].memory_mib = 32;
	}
	unsetenv("KTT_RESULTS");
	unsetenv("KTT_ROOT");
	return scratch_enter(state);
}

static struct results *begin(const char *dir, size_t planned)
{
	struct error err = { "" };
	struct results *r = results_open(dir, now_ns(), &err);

	if (!r)
		fail_msg("results_open: %s", err.text);
	results_begin(r, json_pack("{s:{s:s}}", "host", "kernel", "6.12"), 4, argv_of_run,
		      "--accel tcg", targets, ARRAY_SIZE(targets), planned);
	return r;
}

static void add_simple(struct results *r, const struct test *test, unsigned repetition,
		       enum verdict verdict, const char *reason)
{
	struct test_result result;
	struct error err;

	test_result_init(&result, test, repetition);
	result.verdict = result.raw = verdict;
	result.reason = text_copy(reason);
	if (results_add(r, &result, &err))
		fail_msg("results_add: %s", err.text);
	test_result_free(&result);
}

static struct results_totals finish(struct results *r, bool interrupted)
{
	struct results_totals totals;
	struct error err;

	if (results_finish(r, interrupted, &totals, &err))
		fail_msg("results_finish: %s", err.text);
	results_free(r);
	return totals;
}

static json_t *load_json(const char *path)
{
	json_error_t error;
	json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

	if (!root)
		fail_msg("%s:%d: %s", path, error.line, error.text);
	return root;
}

/* The value at a path as "tests.0.checks.1.name". */
static json_t *at(json_t *value, const char *path)
{
	char **words = words_split(path, ".");

	for (size_t i = 0; words[i] && value; i++) {
		if (json_is_array(value))
			value = json_array_get(value, strtoul(words[i], NULL, 10));
		else
			value = json_object_get(value, words[i]);
	}
	words_free(words);
	if (!value)
		fail_msg("nothing at %s", path);
	return value;
}

#define has_string(root, path, s)  assert_string_equal(json_string_value(at(root, path)), s)
#define has_number(root, path, n)  assert_int_equal(json_integer_value(at(root, path)), n)
#define has_boolean(root, path, b) assert_int_equal(json_is_true(at(root, path)), b)

static void fill_all(struct test_result *result, const struct expectation *expectation)
{
	struct check_result *check;

	result->verdict = VERDICT_FAIL;
	result->raw = VERDICT_FAIL;
	result->start_ns = 1500000;
	result->duration_ns = 67123456;
	result->boot_ns = 51000499;
	result->command = text_copy("qemu -kernel 'a b'");
	result->vmm_stderr = text_copy("warning \xff");
	result->log_tail = text_copy("last\nlines\033[0m");
	result->backtrace = text_copy("0x10 main at x86/counter.c:9");
	json_array_append_new(result->measurements,
			      json_pack("{s:s, s:f}", "name", "hvc", "p50", 1.5));
	json_array_append_new(result->calls, json_pack("{s:s}", "action", "stamp"));
	check = test_result_add_check(result, "monotonic");
	check->verdict = check->raw = VERDICT_PASS;
	check = test_result_add_check(result, "frequency");
	check->verdict = VERDICT_XFAIL;
	check->raw = VERDICT_FAIL;
	check->reason = text_copy("known");
	check->diagnostics = words_split("off by 7 ppm|second", "|");
	check->expectation = expectation;
}

static void every_field_is_recorded(void **state)
{
	struct expectation expectation = { .verdict = VERDICT_FAIL,
					   .reason = "known",
					   .link = "docs/f.md",
					   .file = "expected/a.cfg",
					   .line = 5 };
	struct results *r = begin("fields", 1);
	struct test_result result;
	struct error err;
	json_t *root;
	FILE *log;

	test_result_init(&result, &tests[0], 1);
	fill_all(&result, &expectation);
	log = results_open_log(r, &result, &err);
	assert_non_null(log);
	fputs("hello\n", log);
	fclose(log);
	assert_int_equal(results_add(r, &result, &err), 0);
	test_result_free(&result);
	finish(r, false);

	root = load_json("fields/results.json");
	has_number(root, "schema", RESULTS_SCHEMA_VERSION);
	has_string(root, "tool", "kvm-time-tests");
	assert_true(json_real_value(at(root, "duration_ms")) < 60000);
	assert_int_equal(strlen(json_string_value(at(root, "started"))), 20);
	assert_true(json_is_real(at(root, "duration_ms")));
	has_boolean(root, "complete", true);
	has_boolean(root, "interrupted", false);
	has_string(root, "command", "runner --jobs 2 'it'\\''s'");
	has_string(root, "environment.host.kernel", "6.12");
	has_string(root, "targets.0.arch", "x86_64");
	has_string(root, "targets.0.accel_reason", "no /dev/kvm");
	has_string(root, "targets.1.accel", "icount");
	has_string(root, "tests.0.key", "x86_64/counter");
	has_string(root, "tests.0.vmm", "qemu");
	has_string(root, "tests.0.accel", "tcg");
	has_number(root, "tests.0.repetition", 1);
	has_number(root, "tests.0.smp", 4);
	has_string(root, "tests.0.verdict", "fail");
	assert_true(json_real_value(at(root, "tests.0.duration_ms")) == 67.123);
	assert_true(json_real_value(at(root, "tests.0.boot_ms")) == 51.0);
	assert_true(json_real_value(at(root, "tests.0.start_ms")) == 1.5);
	has_string(root, "tests.0.log", "logs/x86_64/counter.log");
	has_string(root, "tests.0.command", "qemu -kernel 'a b'");
	has_string(root, "tests.0.stderr", "warning \\xff");
	has_string(root, "tests.0.log_tail", "last\nlines\033[0m");
	has_string(root, "tests.0.backtrace", "0x10 main at x86/counter.c:9");
	has_string(root, "tests.0.checks.0.name", "monotonic");
	has_string(root, "tests.0.checks.1.verdict", "xfail");
	has_string(root, "tests.0.checks.1.raw_verdict", "fail");
	has_string(root, "tests.0.checks.1.expected.link", "docs/f.md");
	has_number(root, "tests.0.checks.1.expected.line", 5);
	has_string(root, "tests.0.checks.1.diagnostics.1", "second");
	assert_true(json_real_value(at(root, "tests.0.measurements.0.p50")) == 1.5);
	has_string(root, "tests.0.calls.0.action", "stamp");
	json_decref(root);
	assert_int_equal(access("fields/logs/x86_64/counter.log", R_OK), 0);
}

static void order_is_the_configs(void **state)
{
	struct results *r = begin("order", 4);
	struct results_totals totals;
	json_t *root;
	char *ktap;

	add_simple(r, &tests[2], 1, VERDICT_FAIL, NULL);
	add_simple(r, &tests[1], 1, VERDICT_SKIP, "no EL2 # here");
	add_simple(r, &tests[0], 2, VERDICT_XFAIL, "known");
	add_simple(r, &tests[0], 1, VERDICT_PASS, NULL);
	totals = finish(r, false);
	assert_int_equal(totals.passed, 2);
	assert_int_equal(totals.xfailed, 1);
	assert_int_equal(totals.failed, 1);
	assert_int_equal(totals.skipped, 1);

	root = load_json("order/results.json");
	has_string(root, "tests.0.key", "x86_64/counter");
	has_number(root, "tests.1.repetition", 2);
	has_string(root, "tests.2.key", "arm64/counter");
	has_string(root, "tests.3.key", "x86_64/timer");
	has_number(root, "totals.passed", 2);
	has_number(root, "totals.tests.skip", 1);
	json_decref(root);

	ktap = read_string("order/ktap.txt");
	assert_string_equal(ktap, "KTAP version 1\n"
				  "1..4\n"
				  "ok 1 x86_64/counter\n"
				  "ok 2 x86_64/counter repetition 2 # XFAIL known\n"
				  "ok 3 arm64/counter # SKIP no EL2 # here\n"
				  "not ok 4 x86_64/timer\n"
				  "# Totals: pass:1 fail:1 xfail:1 xpass:0 skip:1 error:0\n");
	free(ktap);
}

static struct check_result *add_check(struct test_result *result, const char *name,
				      enum verdict verdict, const char *reason)
{
	struct check_result *check = test_result_add_check(result, name);

	check->verdict = check->raw = verdict;
	check->reason = text_copy(reason);
	return check;
}

static void ktap_nests_checks(void **state)
{
	struct expectation expectation = {
		.verdict = VERDICT_FAIL, .reason = "known", .file = "expected/a.cfg", .line = 5
	};
	struct results *r = begin("ktap", 1);
	struct test_result result;
	struct check_result *check;
	struct error err;
	char *ktap;

	test_result_init(&result, &tests[0], 1);
	result.verdict = result.raw = VERDICT_ERROR;
	result.reason = text_copy("panic:\nbad");
	result.backtrace = text_copy("0x1 a\n0x2 b\n");
	add_check(&result, "plain", VERDICT_PASS, NULL)->diagnostics = words_split("7 ppm", "|");
	add_check(&result, "cross/2", VERDICT_PASS, NULL);
	add_check(&result, "cross/4/x", VERDICT_SKIP, "no x");
	add_check(&result, "cross/4", VERDICT_SKIP, "no x")->has_children = true;
	check = add_check(&result, "cross", VERDICT_FAIL, NULL);
	check->has_children = true;
	check->diagnostics = words_split("cpu 3 is behind|by 8 ticks", "|");
	check = add_check(&result, "odd#name", VERDICT_PASS, NULL);
	check->unexpected_pass = true;
	check->expectation = &expectation;
	add_check(&result, "last", VERDICT_TIMEOUT, "no answer");
	add_check(&result, "orphan/1", VERDICT_PASS, NULL);
	assert_int_equal(results_add(r, &result, &err), 0);
	test_result_free(&result);
	assert_int_equal(finish(r, false).unexpected_passes, 1);
	ktap = read_string("ktap/ktap.txt");
	assert_string_equal(ktap, "KTAP version 1\n"
				  "1..1\n"
				  "    KTAP version 1\n"
				  "    1..5\n"
				  "    ok 1 plain\n"
				  "        KTAP version 1\n"
				  "        1..2\n"
				  "        ok 1 2\n"
				  "            KTAP version 1\n"
				  "            1..1\n"
				  "            ok 1 x # SKIP no x\n"
				  "        ok 2 4 # SKIP no x\n"
				  "    # cpu 3 is behind\n"
				  "    # by 8 ticks\n"
				  "    not ok 2 cross\n"
				  "    # unexpected pass: expected/a.cfg:5 says fail: known\n"
				  "    ok 3 odd\\#name\n"
				  "    not ok 4 last # TIMEOUT no answer\n"
				  "    ok 5 orphan/1\n"
				  "# backtrace: 0x1 a\n"
				  "# backtrace: 0x2 b\n"
				  "not ok 1 x86_64/counter # ERROR panic: bad\n"
				  "# Totals: pass:0 fail:0 xfail:0 xpass:1 skip:0 error:1\n");
	free(ktap);
}

static void files_are_whole_after_every_test(void **state)
{
	struct results *r = begin("whole", 2);
	json_t *root = load_json("whole/results.json");
	char *ktap;

	has_boolean(root, "complete", false);
	assert_int_equal(json_array_size(at(root, "tests")), 0);
	json_decref(root);
	add_simple(r, &tests[2], 1, VERDICT_PASS, NULL);
	root = load_json("whole/results.json");
	has_string(root, "tests.0.key", "x86_64/timer");
	has_number(root, "totals.planned", 2);
	has_boolean(root, "complete", false);
	json_decref(root);
	ktap = read_string("whole/ktap.txt");
	assert_string_equal(ktap, "KTAP version 1\n1..2\nok 1 x86_64/timer\n");
	free(ktap);
	finish(r, true);
	root = load_json("whole/results.json");
	has_boolean(root, "interrupted", true);
	has_boolean(root, "complete", false);
	json_decref(root);
	ktap = read_string("whole/ktap.txt");
	expect_contains(ktap, "# the run was cut short: 1 of 2 tests have no result\n");
	free(ktap);
}

static void garbage_of_a_guest_is_valid_json(void **state)
{
	struct results *r = begin("garbage", 1);
	struct test_result result;
	struct check_result *check;
	u64 seed = 42;
	char bytes[300];
	struct error err;
	json_t *root;

	test_result_init(&result, &tests[0], 1);
	result.verdict = result.raw = VERDICT_ERROR;
	for (int i = 0; i < 50; i++) {
		for (size_t j = 0; j < sizeof(bytes); j++)
			bytes[j] = 1 + random_next(&seed) % 255;
		bytes[sizeof(bytes) - 1] = '\0';
		check = add_check(&result, bytes, VERDICT_FAIL, bytes);
		check->diagnostics = words_split(bytes, "\n");
	}
	result.reason = text_copy(bytes);
	result.log_tail = text_copy(bytes);
	assert_int_equal(results_add(r, &result, &err), 0);
	test_result_free(&result);
	finish(r, false);
	root = load_json("garbage/results.json");
	assert_int_equal(json_array_size(at(root, "tests.0.checks")), 50);
	json_decref(root);
}

static void expect_refused(const char *dir, const char *expected)
{
	struct error err = { "" };
	struct results *r = results_open(dir, now_ns(), &err);

	assert_null(r);
	assert_string_equal(err.text, expected);
}

static void places_that_cannot_be_written(void **state)
{
	write_string("file", "precious");
	expect_refused("file", "file: is not a directory; name another with -o");
	expect_refused("file/below", "file/below: the directory cannot be made: Not a directory; "
				     "name another directory with -o");
	expect_refused("/dev/full", "/dev/full: is not a directory; name another with -o");
	expect_refused("/proc/nowhere/x", "/proc/nowhere/x: the directory cannot be made: No such "
					  "file or directory; name another directory with -o");
	mkdir("taken", 0777);
	mkdir("taken/results.json", 0777);
	expect_refused("taken", "taken/results.json: cannot be written: Is a directory; name "
				"another directory with -o");
}

/* RLIMIT_FSIZE stands for the full disk: write() fails in the middle of the file. */
static void failed_write_keeps_the_old_file(void **state)
{
	struct rlimit old, limit;
	struct results *r = begin("full", 2);
	struct results_totals totals;
	struct test_result result;
	struct error err = { "" };
	char *before, *after;

	add_simple(r, &tests[0], 1, VERDICT_PASS, NULL);
	before = read_string("full/results.json");
	test_result_init(&result, &tests[1], 1);
	result.verdict = VERDICT_PASS;
	result.log_tail = memset(calloc(1, 20001), 'x', 20000);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 8192;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(results_add(r, &result, &err), -1);
	assert_string_equal(err.text, "full/results.json: cannot be written: File too large; name "
				      "another directory with -o");
	err.text[0] = '\0';
	assert_int_equal(results_finish(r, false, &totals, &err), -1);
	expect_contains(err.text, "full/results.json: cannot be written");
	assert_int_equal(totals.passed, 2);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	after = read_string("full/results.json");
	assert_string_equal(after, before);
	assert_int_equal(access("full/.results.json.new", F_OK), -1);
	free(before);
	free(after);
	test_result_free(&result);
	results_free(r);
}

static void no_half_written_file_is_seen_while_a_run_goes_on(void **state)
{
	struct results *r = begin("atomic", 1);
	struct stat before, after;

	assert_int_equal(stat("atomic/results.json", &before), 0);
	add_simple(r, &tests[0], 1, VERDICT_PASS, NULL);
	assert_int_equal(stat("atomic/results.json", &after), 0);
	/* Replaced, not rewritten: who has the old one open reads all of it. */
	assert_true(before.st_ino != after.st_ino);
	finish(r, false);
}

static void runs_of_one_second_get_directories_of_their_own(void **state)
{
	struct error err = { "" };
	struct results *runs[5];
	char target[256] = "";

	setenv("KTT_RESULTS", "base/deep", 1);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
		runs[i] = results_open(NULL, now_ns(), &err);
		if (!runs[i])
			fail_msg("%s", err.text);
		assert_true(text_starts_with(results_dir(runs[i]), "base/deep/2"));
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(results_dir(runs[i]), results_dir(runs[j]));
	}
	assert_true(readlink("base/deep/latest", target, sizeof(target) - 1) > 0);
	assert_string_equal(target, strrchr(results_dir(runs[4]), '/') + 1);
	assert_int_equal(access("base/deep/latest/results.json", R_OK), 0);
	for (size_t i = 0; i < ARRAY_SIZE(runs); i++)
		results_free(runs[i]);
	unsetenv("KTT_RESULTS");
	setenv("KTT_ROOT", "suite", 1);
	runs[0] = results_open(NULL, now_ns(), &err);
	assert_true(text_starts_with(results_dir(runs[0]), "suite/results/2"));
	results_free(runs[0]);
	unsetenv("KTT_ROOT");
}

static void one_directory_has_one_run_at_a_time(void **state)
{
	struct results *r = begin("mine", 1);

	expect_refused("mine", "mine: another run writes there; name another directory with -o");
	finish(r, false);
	results_free(begin("mine", 1));
}

static void repetitions_have_logs_of_their_own(void **state)
{
	struct results *r = begin("logs-of", 2);
	struct test_result result;
	struct error err;

	test_result_init(&result, &tests[1], 3);
	fclose(results_open_log(r, &result, &err));
	assert_string_equal(result.log, "logs/arm64/counter.3.log");
	assert_int_equal(access("logs-of/logs/arm64/counter.3.log", R_OK), 0);
	test_result_free(&result);
	unlink("logs-of/logs/arm64/counter.3.log");
	mkdir("logs-of/logs/arm64/counter.3.log", 0777);
	test_result_init(&result, &tests[1], 3);
	assert_null(results_open_log(r, &result, &err));
	assert_string_equal(err.text, "logs-of/logs/arm64/counter.3.log: cannot be opened for "
				      "writing: Is a directory; name another directory with -o");
	test_result_free(&result);
	finish(r, true);
}

static char *streamed(struct results *r)
{
	FILE *file = fopen("stream", "w");

	results_ktap_stream(r, file);
	fclose(file);
	return read_string("stream");
}

static void expect_streamed(struct results *r, const char *expected)
{
	char *text = streamed(r);

	assert_string_equal(text, expected);
	free(text);
}

static void ktap_streams_what_is_new(void **state)
{
	struct results *r = begin("streamed", 2);
	struct results_totals totals;
	struct error err;

	expect_streamed(r, "");
	add_simple(r, &tests[2], 1, VERDICT_PASS, NULL);
	expect_streamed(r, "KTAP version 1\n1..2\nok 1 x86_64/timer\n");
	expect_streamed(r, "");
	add_simple(r, &tests[0], 1, VERDICT_ERROR, "x");
	expect_streamed(r, "not ok 2 x86_64/counter # ERROR x\n");
	assert_int_equal(results_finish(r, false, &totals, &err), 0);
	expect_streamed(r, "# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:1\n");
	expect_streamed(r, "");
	results_free(r);
}

static void ktap_at_the_end_is_the_file(void **state)
{
	struct results *r = begin("stream-end", 2);
	struct results_totals totals;
	struct error err;
	char *text, *file;

	add_simple(r, &tests[2], 1, VERDICT_PASS, NULL);
	add_simple(r, &tests[0], 1, VERDICT_FAIL, NULL);
	assert_int_equal(results_finish(r, false, &totals, &err), 0);
	text = streamed(r);
	file = read_string("stream-end/ktap.txt");
	assert_string_equal(text, file);
	free(text);
	free(file);
	results_free(r);
}

static void records_of_another_runner_are_checked(void **state)
{
	static const char *const bad[] = {
		"[]",
		"{}",
		"{\"key\": \"a/b\", \"repetition\": \"1\"}",
		"{\"key\": \"a/b\", \"repetition\": 1, \"verdict\": \"good\"}",
		"{\"key\": \"a/b\", \"repetition\": 1, \"verdict\": \"pass\", \"checks\": {}}",
		"{\"key\": \"a/b\", \"repetition\": 1, \"verdict\": \"pass\", \"checks\": [1]}",
		"{\"key\": \"a/b\", \"repetition\": 1, \"verdict\": \"pass\", \"checks\": "
		"[{\"name\": \"c\"}]}",
	};
	struct results *r = begin("records", 1);
	struct test_result result;
	struct error err;
	json_t *record;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		record = json_loads(bad[i], 0, NULL);
		if (!results_add_record(r, &tests[0], record, &err))
			fail_msg("taken for a record: %s", bad[i]);
		json_decref(record);
	}
	test_result_init(&result, &tests[0], 1);
	fill_all(&result, NULL);
	record = results_record(&result, &targets[0]);
	assert_int_equal(results_add_record(r, &tests[0], record, &err), 0);
	json_decref(record);
	test_result_free(&result);
	assert_int_equal(finish(r, false).failed, 1);
}

int main(void)
{
	const struct CMUnitTest unit_tests[] = {
		cmocka_unit_test(every_field_is_recorded),
		cmocka_unit_test(order_is_the_configs),
		cmocka_unit_test(ktap_nests_checks),
		cmocka_unit_test(files_are_whole_after_every_test),
		cmocka_unit_test(garbage_of_a_guest_is_valid_json),
		cmocka_unit_test(places_that_cannot_be_written),
		cmocka_unit_test(failed_write_keeps_the_old_file),
		cmocka_unit_test(no_half_written_file_is_seen_while_a_run_goes_on),
		cmocka_unit_test(runs_of_one_second_get_directories_of_their_own),
		cmocka_unit_test(one_directory_has_one_run_at_a_time),
		cmocka_unit_test(repetitions_have_logs_of_their_own),
		cmocka_unit_test(ktap_streams_what_is_new),
		cmocka_unit_test(ktap_at_the_end_is_the_file),
		cmocka_unit_test(records_of_another_runner_are_checked),
	};

	return cmocka_run_group_tests(unit_tests, setup, scratch_leave);
}
