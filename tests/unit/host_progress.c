// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The report: what is printed for every kind of result, and nothing where KTAP is asked for.
 */
#include "host_support.h"

#include <fcntl.h>
#include "progress.h"

struct fixture {
	struct options options;
	struct progress *progress;
	struct test test;
	struct test_result result;
	int saved; /* the real stdout */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int fd = open("stdout", O_CREAT | O_TRUNC | O_WRONLY, 0600);

	fflush(stdout);
	f->saved = dup(STDOUT_FILENO);
	dup2(fd, STDOUT_FILENO);
	close(fd);
	f->test = (struct test){ .name = "demo", .key = "x86_64/demo", .arch = ARCH_X86_64 };
	test_result_init(&f->result, &f->test, 1);
	f->result.duration_ns = 1240000000;
	f->result.log = text_copy("logs/x86_64/demo.log");
	f->progress = progress_new(&f->options, "results/now", 1);
	*state = f;
	return 0;
}

static void restore_stdout(struct fixture *f)
{
	if (f->saved < 0)
		return;
	fflush(stdout);
	dup2(f->saved, STDOUT_FILENO);
	close(f->saved);
	f->saved = -1;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	restore_stdout(f);
	progress_free(f->progress);
	test_result_free(&f->result);
	free(f);
	return 0;
}

static void add_check(struct fixture *f, const char *name, enum verdict verdict, const char *reason,
		      const char *diagnostic)
{
	struct check_result *c = test_result_add_check(&f->result, name);

	c->verdict = verdict;
	c->raw = verdict;
	c->reason = text_copy(reason);
	if (diagnostic)
		c->diagnostics = words_split(diagnostic, "\n");
}

static void set(struct fixture *f, enum verdict verdict, const char *reason)
{
	f->result.verdict = verdict;
	f->result.raw = verdict;
	f->result.reason = text_copy(reason);
}

static void expect_printed(struct fixture *f, const char *expected)
{
	char *text;

	restore_stdout(f);
	text = read_string("stdout");
	assert_string_equal(text, expected);
	free(text);
}

static void test_pass(void **state)
{
	struct fixture *f = *state;

	add_check(f, "one", VERDICT_PASS, NULL, "figures");
	add_check(f, "two", VERDICT_PASS, NULL, NULL);
	set(f, VERDICT_PASS, NULL);
	progress_result(f->progress, &f->result);
	expect_printed(f, "PASS     x86_64/demo                    2 checks  1.2 s\n");
}

static void test_fail(void **state)
{
	struct fixture *f = *state;

	add_check(f, "one", VERDICT_PASS, NULL, NULL);
	add_check(f, "two", VERDICT_FAIL, NULL, "stood still\nat 0x10");
	f->result.checks[1].story = text_copy("It never stands still.");
	f->result.checks[1].guards = text_copy("A1,K2");
	f->result.checks[1].cpu = 3;
	add_check(f, "three", VERDICT_SKIP, "no such clock", NULL);
	add_check(f, "four", VERDICT_SKIP, "no such clock", NULL);
	add_check(f, "five", VERDICT_XFAIL, "known so", NULL);
	set(f, VERDICT_FAIL, NULL);
	progress_result(f->progress, &f->result);
	expect_printed(f,
		       "FAIL     x86_64/demo                    5 checks, 2 skipped, 1 failed as "
		       "expected, 1 failed  1.2 s\n"
		       "    FAIL two\n"
		       "      # stood still\n"
		       "      # at 0x10\n"
		       "      invariant: It never stands still.\n"
		       "      reported by: vCPU 3\n"
		       "      guards against: A1,K2\n"
		       "      again: ./run_tests.sh --append check=two x86_64/demo\n"
		       "    XFAIL five: known so\n"
		       "    SKIP three, four: no such clock\n"
		       "    log: results/now/logs/x86_64/demo.log\n");
}

static void test_error(void **state)
{
	struct fixture *f = *state;

	set(f, VERDICT_ERROR, "panic: broke");
	f->result.backtrace = text_copy("0x10 main at demo.c:1\n");
	f->result.log_tail = text_copy("last\nwords\n");
	f->result.vmm_stderr = text_copy("out of luck\n");
	f->result.command = text_copy("qemu -M pc");
	progress_result(f->progress, &f->result);
	expect_printed(f, "ERROR    x86_64/demo                   no checks  1.2 s\n"
			  "    panic: broke\n"
			  "    backtrace:\n"
			  "      0x10 main at demo.c:1\n"
			  "    end of the log:\n"
			  "      last\n"
			  "      words\n"
			  "    the VMM's stderr:\n"
			  "      out of luck\n"
			  "    command:\n"
			  "      qemu -M pc\n"
			  "    log: results/now/logs/x86_64/demo.log\n");
}

static void test_skip(void **state)
{
	struct fixture *f = *state;

	add_check(f, "one", VERDICT_SKIP, "no such clock", NULL);
	set(f, VERDICT_SKIP, "no such clock");
	progress_result(f->progress, &f->result);
	expect_printed(f, "SKIP     x86_64/demo                    1 check, 1 skipped  1.2 s\n"
			  "    no such clock\n");
}

static void test_unexpected_pass(void **state)
{
	struct fixture *f = *state;
	struct expectation e = { .file = "expected/tcg.cfg",
				 .line = 7,
				 .verdict = VERDICT_FAIL,
				 .reason = "was broken" };

	add_check(f, "one", VERDICT_PASS, NULL, NULL);
	f->result.checks[0].unexpected_pass = true;
	f->result.checks[0].expectation = &e;
	set(f, VERDICT_PASS, NULL);
	progress_result(f->progress, &f->result);
	expect_printed(f, "PASS     x86_64/demo                    1 check   1.2 s\n"
			  "    PASS one\n"
			  "      passed, but expected/tcg.cfg:7 expects it to fail (was broken)\n");
}

static void test_totals(void **state)
{
	struct fixture *f = *state;
	struct results_totals totals = { .passed = 3, .failed = 1, .skipped = 2, .xfailed = 1 };

	progress_totals(f->progress, &totals);
	expect_printed(f, "1 of the passed failed as expected\n"
			  "results: results/now\n"
			  "3 passed, 1 failed, 2 skipped\n");
}

static void test_nothing_beside_ktap(void **state)
{
	struct fixture *f = *state;
	struct results_totals totals = { .passed = 1 };

	progress_free(f->progress);
	f->options.ktap = true;
	f->progress = progress_new(&f->options, "results/now", 1);
	set(f, VERDICT_ERROR, "panic");
	progress_result(f->progress, &f->result);
	progress_note(f->progress, "a note");
	progress_totals(f->progress, &totals);
	expect_printed(f, "");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_pass),
		TEST(test_fail),
		TEST(test_error),
		TEST(test_skip),
		TEST(test_unexpected_pass),
		TEST(test_totals),
		TEST(test_nothing_beside_ktap),
	};

	return cmocka_run_group_tests_name("report", tests, scratch_enter, scratch_leave);
}
