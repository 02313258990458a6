// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * args.c: words, quotes, precedence, numbers, and what is refused.
 */
#include "support.h"

static void test_values_and_bare_keys(void **state)
{
	args_init("check=monotonic list-checks window-ms=200 empty=");
	assert_string_equal(args_str("check", NULL), "monotonic");
	assert_true(args_has("list-checks"));
	assert_string_equal(args_str("list-checks", "x"), "");
	assert_string_equal(args_str("empty", "x"), "");
	assert_false(args_has("chec"));
	assert_false(args_has("checks"));
	assert_string_equal(args_str("none", "fallback"), "fallback");
	assert_null(args_str("none", NULL));
}

static void test_an_empty_line_has_no_words(void **state)
{
	static const char *const lines[] = { "", " ", "\t\n\r  " };

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		args_init(lines[i]);
		assert_false(args_has(""));
		assert_false(args_has("a"));
	}
}

static void test_words_end_at_any_blank(void **state)
{
	args_init("\ta=1\nb=2\r\nc=3  d=4 ");
	assert_int_equal(args_u64("a", 0), 1);
	assert_int_equal(args_u64("b", 0), 2);
	assert_int_equal(args_u64("c", 0), 3);
	assert_int_equal(args_u64("d", 0), 4);
}

static void test_quotes_hold_spaces(void **state)
{
	args_init("\"a=one two\" b=\"three  four\" c=x\" y\"z d=\"\" \"e f\"");
	assert_string_equal(args_str("a", NULL), "one two");
	assert_string_equal(args_str("b", NULL), "three  four");
	assert_string_equal(args_str("c", NULL), "x yz");
	assert_string_equal(args_str("d", NULL), "");
	assert_true(args_has("e f"));
}

static void test_the_last_of_two_counts(void **state)
{
	args_init("a=1 b=2 a=3 ab=4 b");
	assert_int_equal(args_u64("a", 0), 3);
	assert_string_equal(args_str("b", NULL), "");
	assert_int_equal(args_u64("ab", 0), 4);
}

static void test_a_value_may_hold_equals_signs(void **state)
{
	args_init("a=b=c");
	assert_string_equal(args_str("a", NULL), "b=c");
	assert_false(args_has("b"));
}

static void test_numbers(void **state)
{
	args_init("a=10 b=0x1f c=017 d=18446744073709551615");
	assert_int_equal(args_u64("a", 0), 10);
	assert_int_equal(args_u64("b", 0), 31);
	assert_int_equal(args_u64("c", 0), 15);
	assert_int_equal(args_u64("d", 0), UINT64_MAX);
	assert_int_equal(args_u64("e", 7), 7);
}

static void test_a_second_line_replaces_the_first(void **state)
{
	args_init("a=1 b=2");
	args_init("c=3");
	assert_false(args_has("a"));
	assert_int_equal(args_u64("c", 0), 3);
}

static void test_the_longest_line(void **state)
{
	char line[1024];

	/* Words of one byte: each gets a NUL of its own. */
	for (size_t i = 0; i < sizeof(line); i++)
		line[i] = i % 2 ? ' ' : 'a';
	line[1023] = '\0';
	args_init(line);
	assert_true(args_has("a"));
	memset(line, 'b', 1023);
	args_init(line);
	assert_true(args_has(line));
}

static void init(void *line)
{
	args_init(line);
}

static void test_refused_lines(void **state)
{
	char line[1025];

	memset(line, 'a', sizeof(line));
	line[1024] = '\0';
	expect_panic(init, line, "arguments: 1024 bytes, at most 1023");
	expect_panic(init, "a=\"b c", "arguments: the last \"");
	expect_panic(init, "a=\"\" \"", "arguments: the last \"");
}

static void take_number(void *line)
{
	args_init(line);
	args_u64("n", 0);
}

static void test_refused_numbers(void **state)
{
	expect_panic(take_number, "n=12s", "argument n=12s: not a number");
	expect_panic(take_number, "n=", "argument n=: not a number");
	expect_panic(take_number, "n", "argument n=: not a number");
	expect_panic(take_number, "n=-1", "argument n=-1: not a number");
	expect_panic(take_number, "n=18446744073709551616", "not a number");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values_and_bare_keys),
		cmocka_unit_test(test_an_empty_line_has_no_words),
		cmocka_unit_test(test_words_end_at_any_blank),
		cmocka_unit_test(test_quotes_hold_spaces),
		cmocka_unit_test(test_the_last_of_two_counts),
		cmocka_unit_test(test_a_value_may_hold_equals_signs),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_a_second_line_replaces_the_first),
		cmocka_unit_test(test_the_longest_line),
		cmocka_unit_test(test_refused_lines),
		cmocka_unit_test(test_refused_numbers),
	};

	return cmocka_run_group_tests_name("args", tests, NULL, NULL);
}
