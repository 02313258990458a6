// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a guest prints and what becomes of it: good output, every way of forging or breaking it, and
 * random bytes. Everything is fed whole and byte by byte.
 */
#include "host_support.h"

#include "guest_ktap.h"
#include "guest_output.h"

static struct test test = { .name = "demo", .arch = ARCH_X86_64, .image = "demo", .smp = 2 };

struct heard {
	unsigned int hellos, panics, backtraces, ends;
	struct text calls;
};

static void on_hello(void *ctx)
{
	((struct heard *)ctx)->hellos++;
}

static void on_call(void *ctx, json_t *fields)
{
	char *text = json_dumps(fields, JSON_SORT_KEYS | JSON_COMPACT);

	text_append(&((struct heard *)ctx)->calls, text);
	free(text);
}

static void on_panic(void *ctx, bool backtrace)
{
	((struct heard *)ctx)->panics++;
	((struct heard *)ctx)->backtraces += backtrace;
}

static void on_end(void *ctx)
{
	((struct heard *)ctx)->ends++;
}

static const struct guest_output_events events = { on_hello, on_call, on_panic, on_end };

/* Feeds in parts of this many bytes. */
static void read_output(const char *data, size_t len, size_t part, struct test_result *result,
			struct heard *heard)
{
	struct guest_output *g;

	memset(heard, 0, sizeof(*heard));
	test_result_init(result, &test, 1);
	g = guest_output_new(result, &events, heard);
	for (size_t at = 0; at < len; at += part)
		guest_output_feed(g, data + at, MIN(part, len - at));
	guest_output_finish(g, NULL);
	guest_output_free(g);
}

#define HELLO "@ktt hello version=1 arch=x86_64 image=demo\n"
#define BEGIN HELLO "KTAP version 1\n"

/* The result of a text; the same whether it comes at once or in pieces. */
static struct test_result result_of(const char *text)
{
	struct test_result whole, pieces;
	struct heard heard;

	read_output(text, strlen(text), 1, &pieces, &heard);
	text_free(&heard.calls);
	read_output(text, strlen(text), strlen(text) + 1, &whole, &heard);
	text_free(&heard.calls);
	assert_int_equal(whole.verdict, pieces.verdict);
	assert_int_equal(whole.nr_checks, pieces.nr_checks);
	if (whole.reason)
		assert_string_equal(whole.reason, pieces.reason);
	else
		assert_null(pieces.reason);
	test_result_free(&pieces);
	return whole;
}

static void expect_good(const char *text)
{
	struct test_result r = result_of(text);

	if (r.reason)
		fail_msg("'%s' for: %s", r.reason, text);
	assert_int_equal(r.verdict, VERDICT_SKIP); /* the test's own; its checks are for judge() */
	test_result_free(&r);
}

static void expect_error(const char *text, const char *reason)
{
	struct test_result r = result_of(text);

	if (r.verdict != VERDICT_ERROR)
		fail_msg("no error for: %s", text);
	expect_contains(r.reason, reason);
	test_result_free(&r);
}

/* ---- good output ------------------------------------------------------------------------------ */

static void expect_result(const struct check_result *c, const char *name, enum verdict verdict,
			  const char *reason)
{
	assert_string_equal(c->name, name);
	assert_int_equal(c->verdict, verdict);
	assert_int_equal(c->raw, verdict);
	if (reason)
		assert_string_equal(c->reason, reason);
	else
		assert_null(c->reason);
}

static void test_every_verdict(void **state)
{
	struct test_result r =
		result_of("SeaBIOS (version 1)\r\n" HELLO "KTAP version 1\r\n1..6\r\n"
			  "# first, 1 of 2\nok 1 monotonic\nsome log\n"
			  "# stood still\n# at 0x10\nnot ok 2 cross-cpu\n"
			  "ok 3 width # SKIP no such counter\nok 4 bracket # XFAIL known\n"
			  "not ok 5 frequency # ERROR no stamp\n"
			  "not ok 6 slow # TIMEOUT\n@ktt end checks=6 failed=3\n");

	assert_null(r.reason);
	assert_int_equal(r.nr_checks, 6);
	expect_result(&r.checks[0], "monotonic", VERDICT_PASS, NULL);
	assert_string_equal(r.checks[0].diagnostics[0], "first, 1 of 2");
	assert_null(r.checks[0].diagnostics[1]);
	expect_result(&r.checks[1], "cross-cpu", VERDICT_FAIL, NULL);
	assert_string_equal(r.checks[1].diagnostics[1], "at 0x10");
	expect_result(&r.checks[2], "width", VERDICT_SKIP, "no such counter");
	assert_null(r.checks[2].diagnostics);
	expect_result(&r.checks[3], "bracket", VERDICT_XFAIL, "known");
	expect_result(&r.checks[4], "frequency", VERDICT_ERROR, "no stamp");
	expect_result(&r.checks[5], "slow", VERDICT_TIMEOUT, NULL);
	test_result_free(&r);
}

static void test_sub_checks(void **state)
{
	struct test_result r =
		result_of(BEGIN "1..2\n    KTAP version 1\n    1..2\n    # note\n    ok 1 two\n"
				"        KTAP version 1\n        1..1\n        not ok 1 deep\n"
				"    not ok 2 four\nnot ok 1 cross-cpu\nok 2 two\n"
				"@ktt end checks=3 failed=1\n");

	assert_null(r.reason);
	assert_int_equal(r.nr_checks, 5);
	expect_result(&r.checks[0], "cross-cpu/two", VERDICT_PASS, NULL);
	assert_string_equal(r.checks[0].diagnostics[0], "note");
	expect_result(&r.checks[1], "cross-cpu/four/deep", VERDICT_FAIL, NULL);
	expect_result(&r.checks[2], "cross-cpu/four", VERDICT_FAIL, NULL);
	expect_result(&r.checks[3], "cross-cpu", VERDICT_FAIL, NULL);
	assert_false(r.checks[0].has_children);
	assert_true(r.checks[2].has_children);
	assert_true(r.checks[3].has_children);
	expect_result(&r.checks[4], "two", VERDICT_PASS, NULL);
	test_result_free(&r);
}

static void test_log_is_no_matter(void **state)
{
	expect_good(BEGIN "1..1\nokay\n  ok 1 indented by two\n@ktt nonsense a=b\n@kt end\n"
			  "not okay\nok 1 only\n@ktt end checks=1 failed=0\n");
}

static void test_nothing_counts_after_the_end(void **state)
{
	expect_good(BEGIN "1..1\nok 1 only\n@ktt end checks=1 failed=0\n"
			  "not ok 2 late\n@ktt panic text=late\n");
}

static void test_long_line_is_log(void **state)
{
	struct text t = { 0 };

	text_append(&t, BEGIN "1..1\n");
	for (int i = 0; i < 1 << 20; i++)
		text_append_char(&t, 'x');
	text_append(&t, "\n# ");
	for (int i = 0; i < GUEST_LINE_MAX; i++)
		text_append_char(&t, 'y');
	text_append(&t, "\nok 1 only\n@ktt end checks=1 failed=0\n");
	expect_good(t.data);
	text_free(&t);
}

static void test_nul_and_controls(void **state)
{
	static const char text[] = BEGIN "1..1\nok 1 on\0ly\n# \033[31mred\xff\nok 1 only # SKIP "
					 "a\033b\n@ktt end checks=1 failed=0\n";
	struct test_result r;
	struct heard heard;

	read_output(text, sizeof(text) - 1, 7, &r, &heard);
	assert_null(r.reason);
	assert_int_equal(r.nr_checks, 1);
	expect_result(&r.checks[0], "only", VERDICT_SKIP, "a\\x1bb");
	assert_string_equal(r.checks[0].diagnostics[0], "\\x1b[31mred\\xff");
	test_result_free(&r);
}

static void test_skip_of_the_whole(void **state)
{
	struct test_result r =
		result_of(BEGIN "1..0 # SKIP no EL2 here\n@ktt end checks=0 failed=0\n");

	assert_int_equal(r.verdict, VERDICT_SKIP);
	assert_string_equal(r.reason, "no EL2 here");
	test_result_free(&r);
}

static void test_listing(void **state)
{
	struct test_result r = result_of(HELLO "@ktt check name=one guards=A1 text=Story.\n"
					       "@ktt check name=two\n@ktt end checks=0 failed=0\n");

	assert_int_equal(r.verdict, VERDICT_SKIP);
	assert_string_equal(r.reason, "the image listed its 2 checks");
	test_result_free(&r);
}

static void test_failures_are_explained(void **state)
{
	struct test_result r = result_of(
		BEGIN
		"1..3\n"
		"    KTAP version 1\n    1..3\n"
		"@ktt check name=a/x cpu=1 guards=A1,K2 text=X is <b>well</b>.\n"
		"    not ok 1 x\n"
		"    not ok 2 xx\n"
		"@ktt check name=a/xz cpu=2\n"
		"    not ok 3 z\n"
		"not ok 1 a\n"
		"@ktt check name=b text=B.\nok 2 b\n"
		"@ktt check name=c text=Another.\n@ktt check name=c cpu=2 text=C.\nnot ok 3 c\n"
		"@ktt end checks=5 failed=4\n");

	assert_string_equal(r.checks[0].story, "X is <b>well</b>.");
	assert_string_equal(r.checks[0].guards, "A1,K2");
	assert_int_equal(r.checks[0].cpu, 1);
	/* Neither the next check's, nor one of a like name, nor one that passed, nor a foreign CPU. */
	assert_null(r.checks[1].story);
	assert_int_equal(r.checks[1].cpu, -1);
	assert_int_equal(r.checks[2].cpu, -1);
	assert_null(r.checks[3].story);
	assert_null(r.checks[4].story);
	assert_string_equal(r.checks[5].story, "C.");
	assert_int_equal(r.checks[5].cpu, -1);
	test_result_free(&r);
}

static void test_measurements(void **state)
{
	struct test_result r = result_of(
		BEGIN "1..1\n@ktt measure name=trap unit=ns n=1000 p50=12.5 pc=0x10 max=-3 big=1e3 "
		      "huge=99999999999999999999 inf=inf e=e text=a b=c\n"
		      "ok 1 only\n@ktt end checks=1 failed=0\n");
	char *text = json_dumps(r.measurements, JSON_SORT_KEYS | JSON_COMPACT);

	assert_string_equal(text, "[{\"big\":1000.0,\"e\":\"e\",\"huge\":1e20,\"inf\":\"inf\","
				  "\"max\":-3,\"n\":1000,\"name\":\"trap\",\"p50\":12.5,"
				  "\"pc\":\"0x10\",\"text\":\"a b=c\",\"unit\":\"ns\"}]");
	free(text);
	test_result_free(&r);
}

static void test_events(void **state)
{
	static const char text[] = BEGIN "1..1\n@ktt call id=1 action=echo when=now text=x  y=z \n"
					 "ok 1 only\n@ktt end checks=1 failed=0\n@ktt call id=2\n";
	struct test_result r;
	struct heard heard;

	read_output(text, strlen(text), 3, &r, &heard);
	assert_int_equal(heard.hellos, 1);
	assert_int_equal(heard.ends, 1);
	assert_string_equal(text_string(&heard.calls), "{\"action\":\"echo\",\"id\":\"1\","
						       "\"text\":\"x  y=z \",\"when\":\"now\"}");
	text_free(&heard.calls);
	test_result_free(&r);
}

static void test_panic(void **state)
{
	static const char text[] = BEGIN "1..2\nok 1 first\nhalf a li\n@ktt panic text=it broke\n"
					 "@ktt backtrace pc=0x10,0x2f\n";
	struct test_result r;
	struct heard heard;
	struct guest_output *g;
	const u64 *pcs;
	size_t count;

	test_result_init(&r, &test, 1);
	memset(&heard, 0, sizeof(heard));
	g = guest_output_new(&r, &events, &heard);
	guest_output_feed(g, text, strlen(text));
	assert_int_equal(heard.panics, 2);
	assert_int_equal(heard.backtraces, 1);
	pcs = guest_output_backtrace(g, &count);
	assert_int_equal(count, 2);
	assert_int_equal(pcs[0], 0x10);
	assert_int_equal(pcs[1], 0x2f);
	assert_false(guest_output_ended(g));
	guest_output_finish(g, "the guest powered its machine off");
	assert_string_equal(r.reason, "panic after check 'first': it broke");
	guest_output_free(g);
	test_result_free(&r);
}

/* ---- what is wrong ---------------------------------------------------------------------------- */

static void test_forgeries(void **state)
{
	static const struct {
		const char *text, *reason;
	} cases[] = {
		{ BEGIN "1..1\nok 1 a\nok 2 b\n", "beyond its plan of 1" },
		{ BEGIN "ok 1 a\n", "before its plan" },
		{ HELLO "ok 1 a\n", "without a KTAP version line" },
		{ HELLO "1..1\n", "without a KTAP version line" },
		{ "ok 1 a\n", "before the hello line" },
		{ BEGIN "1..1\n1..2\n", "a second plan '1..2'" },
		{ BEGIN "1..1\nKTAP version 1\n", "a second KTAP version line" },
		{ HELLO "KTAP version 2\n", "it speaks 'KTAP version 2'" },
		{ BEGIN "1..2\nok 2 b\n", "verdict number 2 where 1 is due" },
		{ BEGIN "1..2\nok 1 a\nok 1 a\n", "verdict number 1 where 2 is due" },
		{ BEGIN "1..2\nok 1 a\nok 2 a\n", "two checks of the name 'a'" },
		{ BEGIN "1..1\nok 1\n", "a verdict line that is none" },
		{ BEGIN "1..1\nok a\n", "a verdict line that is none" },
		{ BEGIN "1..1\nok 1 two words\n", "a verdict line that is none" },
		{ BEGIN "1..1\nok 99999999999999999999999 a\n", "a verdict line that is none" },
		{ BEGIN "1..1\nok 1 a # TODO later\n", "a verdict line that is none" },
		{ BEGIN "1..1\nnot ok 1 a # SKIP contradicts\n", "a verdict line that is none" },
		{ BEGIN "1..1\nok 1 a # ERROR contradicts\n", "a verdict line that is none" },
		{ BEGIN "1..999999\n", "a plan that is none" },
		{ BEGIN "1..\n", "a plan that is none" },
		{ BEGIN "1..2 # SKIP some\n", "a plan that is none" },
		{ BEGIN "1..1\n    ok 1 a\n", "without a KTAP version line" },
		{ BEGIN "    KTAP version 1\n", "before the plan of the one around it" },
		{ BEGIN "1..1\n        KTAP version 1\n", "without one around it" },
		{ BEGIN "1..1\n    KTAP version 1\n    1..2\n    ok 1 a\nok 1 b\n",
		  "1 of 2 sub-checks of 'b' reported" },
		{ BEGIN "1..1\n    KTAP version 1\n    1..1\n    not ok 1 a\nok 1 b\n",
		  "better than its sub-checks" },
		{ BEGIN
		  "1..1\n    KTAP version 1\n    # Subtest: c\n    1..1\n    ok 1 a\nok 1 b\n",
		  "end with the verdict of 'b'" },
		{ BEGIN "1..1\nok 1 a\n@ktt end checks=2 failed=0\n", "the image counts 2 and 0" },
		{ BEGIN "1..1\nnot ok 1 a\n@ktt end checks=1 failed=0\n",
		  "1 of them failed; the image counts 1 and 0" },
		{ BEGIN "1..1\nok 1 a\n@ktt end\n", "an end line without the numbers" },
		{ BEGIN "1..1\n" HELLO, "the machine was reset" },
		{ BEGIN "1..1\n@ktt measure unit=ns\n", "a measurement without a name" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		expect_error(cases[i].text, cases[i].reason);
}

static void test_missing_parts(void **state)
{
	expect_error("", "no hello line");
	expect_error("garbage without an end", "no hello line");
	expect_error(HELLO, "no plan");
	expect_error(HELLO "@ktt end checks=0 failed=0\n", "no plan");
	expect_error(BEGIN "1..3\nok 1 a\n", "1 of 3 checks reported");
	expect_error(BEGIN "1..1\nok 1 a\n", "no end line after check 'a'");
	expect_error(BEGIN "1..1\nok 1 a", "0 of 1 checks reported");
}

static void test_hello_is_compared(void **state)
{
	expect_error("@ktt hello version=2 arch=x86_64 image=demo\n",
		     "version 2 of the protocol, the runner 1");
	expect_error("@ktt hello version=1 arch=arm64 image=demo\n",
		     "the image is for arm64, the test for x86_64");
	expect_error("@ktt hello version=1 arch=x86_64 image=other\n",
		     "calls itself 'other', the test's is 'demo'");
	expect_error("@ktt hello version=1\n", "a hello line without");
}

static void test_unfinished_sub_checks_keep_a_name(void **state)
{
	struct test_result r = result_of(
		BEGIN
		"1..1\n    KTAP version 1\n    # Subtest: cross-cpu\n    1..2\n    ok 1 two\n");

	assert_int_equal(r.verdict, VERDICT_ERROR);
	expect_result(&r.checks[0], "cross-cpu/two", VERDICT_PASS, NULL);
	test_result_free(&r);
	r = result_of(BEGIN "1..1\n    KTAP version 1\n    1..2\n    ok 1 two\n");
	expect_result(&r.checks[0], "unfinished/two", VERDICT_PASS, NULL);
	test_result_free(&r);
}

/* A verdict that the caller knows stands, unless the guest had done worse before. */
static void test_caller_verdict(void **state)
{
	static const char *const texts[] = { BEGIN "1..2\nok 1 a\n",
					     BEGIN "1..1\nok 1 a\nok 2 b\n" };
	static const enum verdict expected[] = { VERDICT_TIMEOUT, VERDICT_ERROR };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct heard heard = { 0 };
		struct test_result r;
		struct guest_output *g;

		test_result_init(&r, &test, 1);
		g = guest_output_new(&r, &events, &heard);
		guest_output_feed(g, texts[i], strlen(texts[i]));
		assert_string_equal(guest_output_position(g), "after check 'a'");
		r.verdict = VERDICT_TIMEOUT;
		r.raw = VERDICT_TIMEOUT;
		r.reason = text_copy("too late");
		guest_output_finish(g, NULL);
		assert_int_equal(r.verdict, expected[i]);
		guest_output_free(g);
		test_result_free(&r);
	}
}

static void test_why_the_guest_is_gone(void **state)
{
	struct heard heard = { 0 };
	struct test_result r;
	struct guest_output *g;

	test_result_init(&r, &test, 1);
	g = guest_output_new(&r, &events, &heard);
	guest_output_feed(g, BEGIN, strlen(BEGIN));
	guest_output_finish(g, "the guest reset its machine");
	assert_int_equal(r.verdict, VERDICT_ERROR);
	assert_string_equal(r.reason, "the guest reset its machine (before its first check)");
	guest_output_free(g);
	test_result_free(&r);
}

/* What came between the two halves, and what the reader made of it. */
static char *reset_between(const char *before, bool expected, const char *after)
{
	struct heard heard = { 0 };
	struct test_result r;
	struct guest_output *g;
	char *reason;

	test_result_init(&r, &test, 1);
	g = guest_output_new(&r, &events, &heard);
	guest_output_feed(g, before, strlen(before));
	guest_output_expect_reset(g, true);
	if (!expected)
		guest_output_expect_reset(g, false);
	guest_output_feed(g, after, strlen(after));
	guest_output_finish(g, NULL);
	reason = text_copy(r.reason);
	assert_int_equal(heard.hellos, 1);
	guest_output_free(g);
	test_result_free(&r);
	return reason;
}

static void expect_reason(char *reason, const char *expected)
{
	if (expected)
		expect_contains(reason, expected);
	else
		assert_null(reason);
	free(reason);
}

static void test_reset(void **state)
{
	static const char rest[] = "KTAP version 1\n1..1\nok 1 a\n@ktt end checks=1 failed=0\n";
	char *again = text_format(HELLO "%s", rest), *twice = text_format(HELLO HELLO "%s", rest);

	expect_reason(reset_between(HELLO "half a li", true, again), NULL);
	expect_reason(reset_between(HELLO, true, twice), "the image began again");
	expect_reason(reset_between(HELLO, false, again), "the image began again");
	expect_reason(reset_between(BEGIN, true, again), "the image began again");
	free(again);
	free(twice);
}

/* ---- random ----------------------------------------------------------------------------------- */

/* Whatever comes, no crash, and never a verdict of more checks than were planned. */
static void test_mutations(void **state)
{
	static const char good[] =
		BEGIN "1..3\n    KTAP version 1\n    1..2\n    ok 1 two\n    ok 2 four # SKIP no\n"
		      "ok 1 cross-cpu\n@ktt call id=1 action=stamp when=now\n# x\nnot ok 2 rate\n"
		      "@ktt measure name=a p50=1.5\nok 3 width # XFAIL b\n@ktt panic text=p\n"
		      "@ktt backtrace pc=0x1,0x2\n@ktt end checks=4 failed=1\n";
	u64 seed = 0x6b74743164656d6f;

	for (int round = 0; round < 20000; round++) {
		struct text t = { 0 };
		struct test_result r;
		struct heard heard;
		char *dump;

		text_append(&t, good);
		mutate(&t, &seed);
		read_output(text_string(&t), t.len, 1 + random_next(&seed) % 64, &r, &heard);
		for (size_t i = 0; i < r.nr_checks; i++)
			assert_non_null(r.checks[i].name);
		dump = json_dumps(r.measurements, 0);
		assert_non_null(dump);
		free(dump);
		text_free(&heard.calls);
		test_result_free(&r);
		text_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_verdict),
		cmocka_unit_test(test_sub_checks),
		cmocka_unit_test(test_log_is_no_matter),
		cmocka_unit_test(test_nothing_counts_after_the_end),
		cmocka_unit_test(test_long_line_is_log),
		cmocka_unit_test(test_nul_and_controls),
		cmocka_unit_test(test_skip_of_the_whole),
		cmocka_unit_test(test_listing),
		cmocka_unit_test(test_failures_are_explained),
		cmocka_unit_test(test_measurements),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_panic),
		cmocka_unit_test(test_forgeries),
		cmocka_unit_test(test_missing_parts),
		cmocka_unit_test(test_hello_is_compared),
		cmocka_unit_test(test_unfinished_sub_checks_keep_a_name),
		cmocka_unit_test(test_caller_verdict),
		cmocka_unit_test(test_why_the_guest_is_gone),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_mutations),
	};

	return cmocka_run_group_tests_name("guest output", tests, NULL, NULL);
}
