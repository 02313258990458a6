// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * report.c: what each verdict prints, line by line; nesting, selection, listing, and tables that
 * are refused.
 */
#include "support.h"

/* ---- checks ---- */

static void pass(void)
{
	report_pass();
}

static void pass_often(void)
{
	for (int i = 0; i < 1000; i++)
		assert_true(report_expect(true, "not seen"));
}

static void fail_once(void)
{
	assert_false(report_expect(false, "went back by %d ticks", 5));
	report_expect(true, "not seen");
}

static void fail_often(void)
{
	for (int i = 1; i <= 25; i++)
		report_fail("failure %d", i);
}

static void skip_it(void)
{
	report_skip("no RDTSCP (CPUID 0x%x)", 0x80000001);
}

static void xfail(void)
{
	report_pass();
	report_xfail("known since %d", 2020);
	report_xfail("and this");
}

static void error(void)
{
	report_fail("counter stood still");
	report_error("the timer %s", "is missing");
	report_error("so is the GIC");
}

static void nothing(void)
{
	report_info("just a figure: %lu", 42UL);
}

static void skip_after_pass(void)
{
	report_pass();
	report_skip("changed my mind");
}

static void pass_after_skip(void)
{
	report_skip("nothing there");
	report_pass();
}

static void fail_after_skip(void)
{
	report_skip("nothing there");
	report_fail("but it is wrong");
}

static void error_after_skip(void)
{
	report_skip("nothing there");
	report_error("and broken");
}

static void fail_after_xfail(void)
{
	report_xfail("old trouble");
	report_fail("new trouble");
}

static void bad_text(void)
{
	report_info("one\ntwo\t# three\r\x01\x80 end");
	report_skip("not ok 1 forged\nok 2 forged # SKIP");
}

static void long_text(void)
{
	report_info("%5000d", 1);
	report_error("%5000d", 2);
}

static void untidy_text(void)
{
	report_error("%s", "");
}

/* ---- helpers ---- */

/* What report_run() prints for the table under these arguments. */
static const char *run(const char *args, const struct check *checks, size_t nr_checks)
{
	console_capture();
	args_init(args);
	report_run("unit", checks, nr_checks);
	assert_true(unit_irqs_on);
	return console_captured();
}

/* What is said of the check "one" that failed. */
#define ABOUT_ONE "@ktt check name=one cpu=0\n"
#define HELLO	  "\n@ktt hello version=1 arch=unit image=unit\n"

/* The output for one check, without hello and plan. */
static void expect_one(void (*fn)(void), const char *lines, int failed)
{
	const struct check checks[] = { { "one", .run = fn } };
	char wanted[4096];

	snprintf(wanted, sizeof(wanted),
		 HELLO "KTAP version 1\n1..1\n%s@ktt end checks=1 failed=%d\n", lines, failed);
	assert_string_equal(run("", checks, 1), wanted);
}

/* ---- tests ---- */

static void test_pass(void **state)
{
	expect_one(pass, "ok 1 one\n", 0);
	expect_one(pass_often, "ok 1 one\n", 0);
}

static void test_fail_keeps_figures_off_the_verdict(void **state)
{
	expect_one(fail_once, "# went back by 5 ticks\n" ABOUT_ONE "not ok 1 one\n", 1);
}

static void test_many_failures_are_counted(void **state)
{
	expect_one(fail_often,
		   "# failure 1\n# failure 2\n# failure 3\n# failure 4\n# failure 5\n"
		   "# failure 6\n# failure 7\n# failure 8\n# failure 9\n# failure 10\n"
		   "# and 15 more\n" ABOUT_ONE "not ok 1 one\n",
		   1);
}

static void test_skip(void **state)
{
	expect_one(skip_it, "ok 1 one # SKIP no RDTSCP (CPUID 0x80000001)\n", 0);
}

static void test_xfail(void **state)
{
	expect_one(xfail, "# and this\nok 1 one # XFAIL known since 2020\n", 0);
}

static void test_error_outweighs_fail(void **state)
{
	expect_one(error,
		   "# counter stood still\n# so is the GIC\n" ABOUT_ONE
		   "not ok 1 one # ERROR the timer is missing\n",
		   1);
}

static void test_asserting_nothing_is_an_error(void **state)
{
	expect_one(nothing,
		   "# just a figure: 42\n" ABOUT_ONE "not ok 1 one # ERROR asserted nothing\n", 1);
}

static void test_skip_and_judgement_exclude_each_other(void **state)
{
	expect_one(skip_after_pass,
		   ABOUT_ONE "not ok 1 one # ERROR skipped after it had judged: changed my mind\n",
		   1);
	expect_one(pass_after_skip,
		   "# skip: nothing there\n" ABOUT_ONE
		   "not ok 1 one # ERROR judged after it was skipped: passed\n",
		   1);
	expect_one(fail_after_skip,
		   "# skip: nothing there\n" ABOUT_ONE
		   "not ok 1 one # ERROR judged after it was skipped: but it is wrong\n",
		   1);
	expect_one(error_after_skip,
		   "# skip: nothing there\n" ABOUT_ONE "not ok 1 one # ERROR and broken\n", 1);
}

static void test_lesser_texts_are_not_lost(void **state)
{
	expect_one(fail_after_xfail,
		   "# new trouble\n# xfail: old trouble\n" ABOUT_ONE "not ok 1 one\n", 1);
}

static void test_texts_are_one_clean_line(void **state)
{
	expect_one(bad_text,
		   "# one two ? three??? end\n"
		   "ok 1 one # SKIP not ok 1 forged ok 2 forged ? SKIP\n",
		   0);
	expect_one(untidy_text, ABOUT_ONE "not ok 1 one # ERROR \n", 1);
}

static void test_long_texts_are_cut(void **state)
{
	const struct check checks[] = { { "one", .run = long_text } };
	const char *text = run("", checks, 1);

	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_true(strchr(line, '\n') - line <= PROTO_LINE_MAX);
	assert_non_null(strstr(text, "\nnot ok 1 one # ERROR  "));
	assert_non_null(strstr(text, "\n@ktt end checks=1 failed=1\n"));
}

static void test_the_state_of_one_check_is_not_the_next_ones(void **state)
{
	const struct check checks[] = { { "a", .run = error },
					{ "b", .run = skip_it },
					{ "c", .run = fail_often },
					{ "d", .run = pass } };

	assert_non_null(strstr(run("", checks, 4), "\n1..4\n"));
	assert_non_null(strstr(console_captured(), "\nok 2 b # SKIP no RDTSCP"));
	assert_non_null(strstr(console_captured(),
			       "# and 15 more\n@ktt check name=c cpu=0\nnot ok 3 c\nok 4 d\n"));
	assert_non_null(strstr(console_captured(), "@ktt end checks=4 failed=2\n"));
}

static void test_the_result_is_mains(void **state)
{
	const struct check good[] = { { "a", .run = pass },
				      { "b", .run = skip_it },
				      { "c", .run = xfail } };
	const struct check bad[] = { { "a", .run = pass }, { "b", .run = nothing } };

	console_capture();
	args_init("");
	assert_int_equal(report_run("unit", good, 3), 0);
	assert_int_equal(report_run("unit", bad, 2), 1);
}

/* ---- nesting ---- */

static const struct check two_cpus[] = { { "order", .run = pass }, { "rate", .run = fail_once } };
static const struct check four_cpus[] = { { "order", .run = skip_it }, { "rate", .run = skip_it } };
static const struct check deep[] = { { "two", .checks = two_cpus, .nr_checks = 2 },
				     { "rest", .run = error, .story = "Rest." } };
static const struct check nested[] = {
	{ "plain", .run = pass, .guards = "A1", .story = "It is plain." },
	{ "two", .checks = two_cpus, .nr_checks = 2, .guards = "A21 K19" },
	{ "four", .checks = four_cpus, .nr_checks = 2 },
	{ "deep", .checks = deep, .nr_checks = 2, .guards = "F3", .story = "Deep." },
};

static void test_nested_blocks(void **state)
{
	assert_string_equal(run("", nested, ARRAY_SIZE(nested)),
			    HELLO "KTAP version 1\n"
				  "1..4\n"
				  "ok 1 plain\n"
				  "    KTAP version 1\n"
				  "    1..2\n"
				  "    ok 1 order\n"
				  "    # went back by 5 ticks\n"
				  "@ktt check name=two/rate cpu=0 guards=A21,K19\n"
				  "    not ok 2 rate\n"
				  "not ok 2 two\n"
				  "    KTAP version 1\n"
				  "    1..2\n"
				  "    ok 1 order # SKIP no RDTSCP (CPUID 0x80000001)\n"
				  "    ok 2 rate # SKIP no RDTSCP (CPUID 0x80000001)\n"
				  "ok 3 four # SKIP every sub-check, the first: order\n"
				  "    KTAP version 1\n"
				  "    1..2\n"
				  "        KTAP version 1\n"
				  "        1..2\n"
				  "        ok 1 order\n"
				  "        # went back by 5 ticks\n"
				  "@ktt check name=deep/two/rate cpu=0 guards=F3 text=Deep.\n"
				  "        not ok 2 rate\n"
				  "    not ok 1 two\n"
				  "    # counter stood still\n"
				  "    # so is the GIC\n"
				  "@ktt check name=deep/rest cpu=0 guards=F3 text=Rest.\n"
				  "    not ok 2 rest # ERROR the timer is missing\n"
				  "not ok 4 deep # ERROR sub-check rest\n"
				  "@ktt end checks=8 failed=3\n");
}

static void test_a_parent_is_as_its_most_severe_child(void **state)
{
	const struct check children[] = { { "a", .run = skip_it },
					  { "b", .run = pass },
					  { "c", .run = xfail } };
	struct check parent[] = { { "parent", .checks = children, .nr_checks = 1 } };

	assert_non_null(strstr(run("", parent, 1), "\nok 1 parent # SKIP"));
	parent[0].nr_checks = 2;
	assert_non_null(strstr(run("", parent, 1), "\nok 1 parent\n"));
	parent[0].nr_checks = 3;
	assert_non_null(strstr(run("", parent, 1), "\nok 1 parent # XFAIL sub-check c\n"));
}

/* ---- selection ---- */

static void test_one_check_of_many(void **state)
{
	assert_string_equal(run("check=plain", nested, ARRAY_SIZE(nested)),
			    HELLO "KTAP version 1\n1..1\nok 1 plain\n@ktt end checks=1 failed=0\n");
}

static void test_one_sub_check(void **state)
{
	assert_string_equal(run("check=deep/two/order", nested, ARRAY_SIZE(nested)),
			    HELLO "KTAP version 1\n"
				  "1..1\n"
				  "    KTAP version 1\n"
				  "    1..1\n"
				  "        KTAP version 1\n"
				  "        1..1\n"
				  "        ok 1 order\n"
				  "    ok 1 two\n"
				  "ok 1 deep\n"
				  "@ktt end checks=1 failed=0\n");
}

static void test_a_parent_with_all_its_children(void **state)
{
	run("check=two", nested, ARRAY_SIZE(nested));
	assert_non_null(strstr(console_captured(), "\n    1..2\n"));
	assert_non_null(strstr(console_captured(), "\nnot ok 1 two\n@ktt end checks=2 failed=1\n"));
}

/* Where the name is no name the verdict's is made one: the runner takes no other. */
static void test_unknown_checks(void **state)
{
	static const char *const unknown[][2] = {
		{ "plai", "plai" },
		{ "plainer", "plainer" },
		{ "plain/order", "plain-order" },
		{ "two/none", "two-none" },
		{ "two/", "two-" },
		{ "/two", "-two" },
		{ "rate", "rate" },
		{ "two/rate/x", "two-rate-x" },
		{ "TWO", "---" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		char args[64], wanted[256];

		snprintf(args, sizeof(args), "check=%s", unknown[i][0]);
		snprintf(wanted, sizeof(wanted),
			 HELLO "KTAP version 1\n1..1\nnot ok 1 %s # ERROR no such check: '%s'; the "
			       "argument list-checks names them\n@ktt end checks=1 failed=1\n",
			 unknown[i][1], unknown[i][0]);
		assert_string_equal(run(args, nested, ARRAY_SIZE(nested)), wanted);
	}
	assert_non_null(strstr(run("\"check=a\tb #c\"", nested, ARRAY_SIZE(nested)),
			       "\nnot ok 1 a-b--c # ERROR no such check: 'a b ?c';"));
	assert_non_null(strstr(run("check=", nested, ARRAY_SIZE(nested)),
			       "\nnot ok 1 empty # ERROR no such check: '';"));
}

static void test_listing_runs_nothing(void **state)
{
	assert_string_equal(run("list-checks", nested, ARRAY_SIZE(nested)),
			    HELLO "@ktt check name=plain guards=A1 text=It is plain.\n"
				  "@ktt check name=two guards=A21,K19\n"
				  "@ktt check name=two/order\n"
				  "@ktt check name=two/rate\n"
				  "@ktt check name=four\n"
				  "@ktt check name=four/order\n"
				  "@ktt check name=four/rate\n"
				  "@ktt check name=deep guards=F3 text=Deep.\n"
				  "@ktt check name=deep/two\n"
				  "@ktt check name=deep/two/order\n"
				  "@ktt check name=deep/two/rate\n"
				  "@ktt check name=deep/rest text=Rest.\n"
				  "@ktt end checks=0 failed=0\n");
}

/* ---- tables and calls that are refused ---- */

static const struct check twice[] = { { "a", .run = pass },
				      { "b", .run = pass },
				      { "a", .run = pass } };
static const struct check unnamed[] = { { NULL, .run = pass } };
static const struct check spaced[] = { { "a b", .run = pass } };
static const struct check slashed[] = { { "a/b", .run = pass } };
static const struct check capital[] = { { "A", .run = pass } };
static const struct check empty_name[] = { { "", .run = pass } };
static const struct check neither[] = { { .name = "a" } };
static const struct check both[] = { { "a", .run = pass, .checks = twice, .nr_checks = 2 } };
static const struct check childless[] = { { "a", .checks = twice, .nr_checks = 0 } };
static const struct check inner_twice[] = { { "a", .checks = twice, .nr_checks = 3 } };

static const struct check deep_1[] = { { "a", .checks = two_cpus, .nr_checks = 2 } };
static const struct check deep_2[] = { { "b", .checks = deep_1, .nr_checks = 1 } };
static const struct check deep_3[] = { { "c", .checks = deep_2, .nr_checks = 1 } };
static const struct check deep_4[] = { { "d", .checks = deep_3, .nr_checks = 1 } };
static char long_name[129];
static struct check long_named[] = { { long_name, .run = pass } };

struct table {
	const struct check *checks;
	size_t nr_checks;
	const char *text;
};

static void run_table(void *arg)
{
	const struct table *t = arg;

	args_init("");
	report_run("unit", t->checks, t->nr_checks);
}

static void test_tables_with_mistakes(void **state)
{
	static struct table tables[] = {
		{ twice, 3, "checks of unit: two are called 'a'" },
		{ unnamed, 1, "checks of unit: name '' of entry 0" },
		{ spaced, 1, "checks of unit: name 'a b' of entry 0" },
		{ slashed, 1, "name 'a/b'" },
		{ capital, 1, "name 'A'" },
		{ empty_name, 1, "name ''" },
		{ neither, 1, "'a' has to have either a function or sub-checks" },
		{ both, 1, "'a' has to have either a function or sub-checks" },
		{ childless, 1, "checks of a: the table is empty" },
		{ inner_twice, 1, "checks of a: two are called 'a'" },
		{ twice, 0, "checks of unit: the table is empty" },
		{ deep_4, 1, "checks of a: sub-checks more than 3 deep" },
		{ long_named, 1, "or over 127 long" },
	};

	memset(long_name, 'a', 128);

	for (size_t i = 0; i < ARRAY_SIZE(tables); i++)
		expect_panic(run_table, &tables[i], tables[i].text);
}

static void report_outside(void *arg)
{
	report_fail("value %d", 3);
}

static void test_results_outside_of_a_check(void **state)
{
	expect_panic(report_outside, NULL, "reported outside of any check: value 3");
}

static void test_budget(void **state)
{
	args_init("");
	assert_int_equal(report_budget_ns(), 500 * NSEC_PER_MSEC);
	args_init("budget-ms=3000");
	assert_int_equal(report_budget_ns(), 3 * NSEC_PER_SEC);
	args_init("budget-ms=18446744073709551615");
	assert_int_equal(report_budget_ns(), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pass),
		cmocka_unit_test(test_fail_keeps_figures_off_the_verdict),
		cmocka_unit_test(test_many_failures_are_counted),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_xfail),
		cmocka_unit_test(test_error_outweighs_fail),
		cmocka_unit_test(test_asserting_nothing_is_an_error),
		cmocka_unit_test(test_skip_and_judgement_exclude_each_other),
		cmocka_unit_test(test_lesser_texts_are_not_lost),
		cmocka_unit_test(test_texts_are_one_clean_line),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_the_state_of_one_check_is_not_the_next_ones),
		cmocka_unit_test(test_the_result_is_mains),
		cmocka_unit_test(test_nested_blocks),
		cmocka_unit_test(test_a_parent_is_as_its_most_severe_child),
		cmocka_unit_test(test_one_check_of_many),
		cmocka_unit_test(test_one_sub_check),
		cmocka_unit_test(test_a_parent_with_all_its_children),
		cmocka_unit_test(test_unknown_checks),
		cmocka_unit_test(test_listing_runs_nothing),
		cmocka_unit_test(test_tables_with_mistakes),
		cmocka_unit_test(test_results_outside_of_a_check),
		cmocka_unit_test(test_budget),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
