// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text helpers, error texts, names of verdicts and architectures.
 */
#include "host_support.h"

#include "arch.h"
#include "util/error.h"
#include "verdict.h"

static void buffer_grows(void **state)
{
	struct text t = { 0 };

	assert_string_equal(text_string(&t), "");
	for (int i = 0; i < 10000; i++)
		text_printf(&t, "%d,", i % 10);
	assert_int_equal(t.len, 20000);
	assert_int_equal(strlen(t.data), 20000);
	assert_memory_equal(t.data + 19996, "8,9,", 5);
	text_clear(&t);
	assert_string_equal(text_string(&t), "");
	text_append_bytes(&t, "a\0b", 3);
	assert_int_equal(t.len, 3);
	assert_memory_equal(t.data, "a\0b", 4);
	text_free(&t);
	assert_null(t.data);
}

static void empty_text_is_taken_as_string(void **state)
{
	struct text t = { 0 };
	char *s = text_take(&t);

	assert_string_equal(s, "");
	free(s);
}

static void words_are_quoted_for_a_shell(void **state)
{
	char *argv[] = { "run", "--x=1", "two words", "it's", "", "$HOME", "a*", NULL };
	struct text t = { 0 };

	text_append_command(&t, argv);
	assert_string_equal(t.data, "run --x=1 'two words' 'it'\\''s' '' '$HOME' 'a*'");
	text_free(&t);
}

static void words_are_taken_once(void **state)
{
	char *words[] = { "b", "a", "b", "b", "c", "a", NULL };
	char **unique = words_unique(words), *joined = words_join(unique, " ");

	assert_string_equal(joined, "b a c");
	free(joined);
	words_free(unique);
}

static void expect_utf8(const char *data, size_t len, const char *expected)
{
	struct text t = { 0 };

	text_append_utf8(&t, data, len);
	assert_string_equal(text_string(&t), expected);
	text_free(&t);
}

static void invalid_utf8_is_escaped(void **state)
{
	expect_utf8("plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", 17,
		    "plain \xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	expect_utf8("a\0b", 3, "a\\x00b");
	expect_utf8("\xff\xfe", 2, "\\xff\\xfe");
	expect_utf8("\xc0\xaf", 2, "\\xc0\\xaf");		    /* overlong '/' */
	expect_utf8("\xe0\x80\xaf", 3, "\\xe0\\x80\\xaf");	    /* overlong */
	expect_utf8("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");	    /* a surrogate */
	expect_utf8("\xf4\x90\x80\x80", 4, "\\xf4\\x90\\x80\\x80"); /* above U+10FFFF */
	expect_utf8("\xe2\x82", 2, "\\xe2\\x82");		    /* cut off */
	expect_utf8("\xe2\x82z", 3, "\\xe2\\x82z");
}

static void words_are_split_and_joined(void **state)
{
	char **words = words_split(" a,, b\tc ", ", \t");
	char *joined = words_join(words, "|");

	assert_int_equal(words_count(words), 3);
	assert_string_equal(joined, "a|b|c");
	assert_true(words_have(words, "b"));
	assert_false(words_have(words, ""));
	assert_false(words_have(NULL, "b"));
	assert_true(words_any(", x", ", "));
	assert_false(words_any(", ", ", "));
	free(joined);
	words_free(words);
	words = words_split("", ",");
	assert_null(words[0]);
	words_free(words);
}

static void text_is_trimmed(void **state)
{
	char s[] = " \t a b \r\n";
	char blank[] = "   ";

	assert_string_equal(text_trim(s), "a b");
	assert_string_equal(text_trim(blank), "");
}

static void numbers_are_strict(void **state)
{
	static const char *const bad[] = { "",
					   "-1",
					   "+1",
					   "1x",
					   " 1",
					   "1 ",
					   "0x10",
					   "65",
					   "0",
					   "18446744073709551616",
					   "99999999999999999999999999" };
	u64 value = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(text_to_u64(bad[i], 1, 64, &value), -1);
		assert_int_equal(value, 7);
	}
	assert_int_equal(text_to_u64("64", 1, 64, &value), 0);
	assert_int_equal(value, 64);
	assert_int_equal(text_to_u64("18446744073709551615", 0, UINT64_MAX, &value), 0);
	assert_true(value == UINT64_MAX);
}

static void nearest_name_is_found(void **state)
{
	static const char *const names[] = { "selftest", "counter", "smp", NULL };
	char huge[1000];

	memset(huge, 'x', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_string_equal(text_nearest("selftst", names), "selftest");
	assert_string_equal(text_nearest("cuonter", names), "counter");
	assert_string_equal(text_nearest("sm", names), "smp");
	assert_null(text_nearest("nosuch", names));
	assert_null(text_nearest("", names));
	assert_null(text_nearest(huge, names));
}

static void errors_are_prefixed_and_cut(void **state)
{
	struct error err;
	char huge[3000];

	memset(huge, 'y', sizeof(huge) - 1);
	huge[sizeof(huge) - 1] = '\0';
	assert_int_equal(error_set(&err, "no %s", "space"), -1);
	assert_int_equal(error_prefix(&err, "file %d", 1), -1);
	assert_string_equal(err.text, "file 1: no space");
	error_prefix(&err, "%s", huge);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
}

static void verdicts_have_names_and_order(void **state)
{
	for (int v = 0; v < VERDICT_COUNT; v++)
		assert_int_equal(verdict_from_name(verdict_name(v)), v);
	assert_int_equal(verdict_from_name("failed"), -1);
	assert_string_equal(verdict_name(VERDICT_XFAIL), "xfail");
	assert_int_equal(verdict_worse(VERDICT_PASS, VERDICT_SKIP), VERDICT_PASS);
	assert_int_equal(verdict_worse(VERDICT_TIMEOUT, VERDICT_FAIL), VERDICT_TIMEOUT);
	assert_int_equal(verdict_worse(VERDICT_TIMEOUT, VERDICT_ERROR), VERDICT_ERROR);
}

static void archs_and_accels_have_names(void **state)
{
	assert_int_equal(arch_from_name("arm64"), ARCH_ARM64);
	assert_int_equal(arch_from_name("aarch64"), -1);
	assert_string_equal(arch_to_name(ARCH_X86_64), "x86_64");
	assert_int_equal(accel_from_name("icount"), ACCEL_ICOUNT);
	assert_int_equal(accel_from_name("xen"), -1);
	assert_string_equal(accel_to_name(ACCEL_KVM), "kvm");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buffer_grows),
		cmocka_unit_test(empty_text_is_taken_as_string),
		cmocka_unit_test(words_are_quoted_for_a_shell),
		cmocka_unit_test(words_are_taken_once),
		cmocka_unit_test(invalid_utf8_is_escaped),
		cmocka_unit_test(words_are_split_and_joined),
		cmocka_unit_test(text_is_trimmed),
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(nearest_name_is_found),
		cmocka_unit_test(errors_are_prefixed_and_cut),
		cmocka_unit_test(verdicts_have_names_and_order),
		cmocka_unit_test(archs_and_accels_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
