// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * string.c against the C library: random contents, lengths, alignments and overlaps, in buffers
 * whose surroundings have to stay untouched.
 */
#include "support.h"

#define ROUNDS 20000
#define AREA   160

/* Few different characters, so that searches find something and comparisons go some way. */
static void fill(char *buf, size_t len)
{
	static const char characters[] = "aab\x80\xff";

	for (size_t i = 0; i < len; i++)
		buf[i] = characters[random_below(sizeof(characters) - 1)];
}

static void make_string(char *buf, size_t max)
{
	size_t len = random_below(max);

	fill(buf, len);
	buf[len] = '\0';
}

static int sign(int n)
{
	return (n > 0) - (n < 0);
}

/* Runs a statement with "f" as each library's function on equal areas and compares those after. */
#define EXPECT_SAME_AREA(name, theirs, ours)                                             \
	do {                                                                             \
		size_t d = random_below(40), s = random_below(40), n = random_below(80); \
		char a[AREA], b[AREA];                                                   \
                                                                                         \
		fill(a, sizeof(a));                                                      \
		memcpy(b, a, sizeof(a));                                                 \
		(void)s;                                                                 \
		theirs;                                                                  \
		ours;                                                                    \
		if (memcmp(a, b, sizeof(a)))                                             \
			fail_seeded("%s to %zu from %zu, %zu bytes", name, d, s, n);     \
	} while (0)

static void test_copies_and_fills(void **state)
{
	char source[AREA];

	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		int c = (int)random_u64();

		fill(source, sizeof(source));
		EXPECT_SAME_AREA("memcpy", memcpy(a + d, source + s, n),
				 assert_ptr_equal(cflat_memcpy(b + d, source + s, n), b + d));
		EXPECT_SAME_AREA("memset", memset(a + d, c, n),
				 assert_ptr_equal(cflat_memset(b + d, c, n), b + d));
	}
}

static void test_moves_that_overlap(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++)
		EXPECT_SAME_AREA("memmove", memmove(a + d, a + s, n),
				 assert_ptr_equal(cflat_memmove(b + d, b + s, n), b + d));
}

static void test_string_copies(void **state)
{
	char source[60];

	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		make_string(source, sizeof(source));
		EXPECT_SAME_AREA("strcpy", strcpy(a + d, source),
				 assert_ptr_equal(cflat_strcpy(b + d, source), b + d));
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wstringop-truncation"
		EXPECT_SAME_AREA("strncpy", strncpy(a + d, source, n),
				 assert_ptr_equal(cflat_strncpy(b + d, source, n), b + d));
#pragma GCC diagnostic pop
		EXPECT_SAME_AREA("strcat", (a[d + s] = '\0', strcat(a + d, source)),
				 (b[d + s] = '\0', cflat_strcat(b + d, source)));
	}
}

static void test_comparisons(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		char a[12], b[12];
		size_t n = random_below(sizeof(a) + 1), max = random_below(2 * sizeof(a));

		fill(a, sizeof(a));
		fill(b, sizeof(b));
		if (sign(memcmp(a, b, n)) != sign(cflat_memcmp(a, b, n)))
			fail_seeded("memcmp of %zu bytes", n);
		make_string(a, sizeof(a));
		make_string(b, sizeof(b));
		if (sign(strcmp(a, b)) != sign(cflat_strcmp(a, b)))
			fail_seeded("strcmp('%s', '%s')", a, b);
		if (sign(strncmp(a, b, max)) != sign(cflat_strncmp(a, b, max)))
			fail_seeded("strncmp('%s', '%s', %zu)", a, b, max);
	}
}

static void test_searches(void **state)
{
	static const int wanted[] = { 'a', 'b', 0x80, 0xff, -1, 'x', 0, 256 + 'a' };

	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		char a[30], b[4];
		int c = wanted[random_below(ARRAY_SIZE(wanted))];
		size_t n = random_below(sizeof(a) + 1);

		make_string(a, sizeof(a));
		make_string(b, sizeof(b));
		if (memchr(a, c, n) != cflat_memchr(a, c, n))
			fail_seeded("memchr('%s', %d, %zu)", a, c, n);
		if (strchr(a, c) != cflat_strchr(a, c))
			fail_seeded("strchr('%s', %d)", a, c);
		if (strrchr(a, c) != cflat_strrchr(a, c))
			fail_seeded("strrchr('%s', %d)", a, c);
		if (strstr(a, b) != cflat_strstr(a, b))
			fail_seeded("strstr('%s', '%s')", a, b);
		if (strspn(a, b) != cflat_strspn(a, b) || strcspn(a, b) != cflat_strcspn(a, b))
			fail_seeded("strspn or strcspn('%s', '%s')", a, b);
	}
}

static void test_lengths(void **state)
{
	random_start(unit_seed());
	for (int i = 0; i < ROUNDS; i++) {
		char a[40];
		size_t max = random_below(60);

		make_string(a, sizeof(a));
		assert_int_equal(cflat_strlen(a), strlen(a));
		assert_int_equal(cflat_strnlen(a, max), strnlen(a, max));
	}
	/* Reads no byte beyond the bound. */
	char *unterminated = malloc(5);

	memset(unterminated, 'a', 5);
	assert_int_equal(cflat_strnlen(unterminated, 5), 5);
	free(unterminated);
}

static void test_nothing_of_nothing(void **state)
{
	char c = 'x';

	assert_ptr_equal(cflat_memcpy(&c, &c, 0), &c);
	assert_ptr_equal(cflat_memmove(&c, &c, 0), &c);
	assert_ptr_equal(cflat_memset(&c, 0, 0), &c);
	assert_int_equal(cflat_memcmp(&c, "y", 0), 0);
	assert_null(cflat_memchr(&c, 'x', 0));
	assert_int_equal(cflat_strncmp("a", "b", 0), 0);
	assert_ptr_equal(cflat_strstr(&c, ""), &c);
	assert_int_equal(c, 'x');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_and_fills),
		cmocka_unit_test(test_moves_that_overlap),
		cmocka_unit_test(test_string_copies),
		cmocka_unit_test(test_comparisons),
		cmocka_unit_test(test_searches),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_nothing_of_nothing),
	};

	return cmocka_run_group_tests_name("string", tests, NULL, NULL);
}
