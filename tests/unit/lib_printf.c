// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * printf.c against the C library's snprintf: by hand-picked formats, and by formats from a seeded
 * generator.
 */
#include <limits.h>

#include "support.h"

#define GENERATED     100000
#define GUARD	      0x5a
#define BUFFER	      512
#define LONGEST_FIELD 90

/* Both results of one call, into buffers whose rest has to stay untouched. */
struct results {
	char theirs[BUFFER], ours[BUFFER];
	int their_len, our_len;
};

static void results_init(struct results *r)
{
	memset(r, 0, sizeof(*r));
	memset(r->theirs, GUARD, sizeof(r->theirs));
	memset(r->ours, GUARD, sizeof(r->ours));
}

static bool results_differ(const struct results *r)
{
	return r->their_len != r->our_len || memcmp(r->theirs, r->ours, sizeof(r->theirs));
}

/* size: of the buffer given to both. */
#define EXPECT_SAME(size, ...)                                                                     \
	do {                                                                                       \
		struct results r;                                                                  \
                                                                                                   \
		results_init(&r);                                                                  \
		r.their_len = snprintf(r.theirs, size, __VA_ARGS__);                               \
		r.our_len = cflat_snprintf(r.ours, size, __VA_ARGS__);                             \
		if (results_differ(&r))                                                            \
			fail_msg("%s: theirs '%.*s' (%d), ours '%.*s' (%d)", #__VA_ARGS__, BUFFER, \
				 r.theirs, r.their_len, BUFFER, r.ours, r.our_len);                \
	} while (0)

/* What the compiler would warn of is what is tested. */
#pragma GCC diagnostic ignored "-Wformat"
#pragma GCC diagnostic ignored "-Wformat-truncation"
#pragma GCC diagnostic ignored "-Wformat-overflow"
#pragma GCC diagnostic ignored "-Wformat-zero-length"

static void test_integers_at_their_limits(void **state)
{
	EXPECT_SAME(BUFFER, "%d %d %d", 0, INT_MIN, INT_MAX);
	EXPECT_SAME(BUFFER, "%i %u %x %X %o", INT_MIN, UINT_MAX, UINT_MAX, UINT_MAX, UINT_MAX);
	EXPECT_SAME(BUFFER, "%ld %ld %lu", LONG_MIN, LONG_MAX, ULONG_MAX);
	EXPECT_SAME(BUFFER, "%lld %llu %llx %llo", LLONG_MIN, ULLONG_MAX, ULLONG_MAX, ULLONG_MAX);
	EXPECT_SAME(BUFFER, "%hhd %hhu %hd %hu", (signed char)-128, (unsigned char)255,
		    (short)-32768, (unsigned short)65535);
	EXPECT_SAME(BUFFER, "%zu %zd %td %jd %ju", (size_t)-1, (ssize_t)-1, (ptrdiff_t)-1,
		    INTMAX_MIN, UINTMAX_MAX);
}

static void test_zero_and_its_precisions(void **state)
{
	EXPECT_SAME(BUFFER, "[%.0d] [%.d] [%+.0d] [% .0d] [%5.0d] [%-5.0d]", 0, 0, 0, 0, 0, 0);
	EXPECT_SAME(BUFFER, "[%#x] [%#X] [%#o] [%#.0x] [%#.0o] [%#5.0o]", 0, 0, 0, 0, 0, 0);
	EXPECT_SAME(BUFFER, "[%.3x] [%#.3x] [%#8.3x] [%#08x] [%#o] [%#.3o]", 5, 5, 5, 5, 8, 8);
}

static void test_flags_that_override_others(void **state)
{
	EXPECT_SAME(BUFFER, "[%+d] [% d] [%+05d] [% 05d] [%-5d] [%-+5d]", 7, 7, 7, 7, 7, 7);
	EXPECT_SAME(BUFFER, "[%08d] [%08d] [%08.3d] [%#08x]", -7, 7, -7, 7);
}

static void test_strings_and_characters(void **state)
{
	static const char unterminated[3] = { 'a', 'b', 'c' };

	EXPECT_SAME(BUFFER, "[%s] [%10s] [%-10s] [%.2s] [%10.2s] [%.0s]", "time", "time", "time",
		    "time", "time", "time");
	EXPECT_SAME(BUFFER, "[%.*s]", 3, unterminated);
	EXPECT_SAME(BUFFER, "[%c] [%3c] [%-3c]", 'a', 'b', 'c');
	EXPECT_SAME(BUFFER, "[%c]", '\0');
	EXPECT_SAME(BUFFER, "100%% %%d%c", '!');
	EXPECT_SAME(BUFFER, "%s", "");
	EXPECT_SAME(BUFFER, "");
}

static void test_null_string(void **state)
{
	const char *volatile null = NULL;

	EXPECT_SAME(BUFFER, "[%s] [%10s] [%.6s] [%.5s] [%.0s] [%-8s]", null, null, null, null, null,
		    null);
}

static void test_pointers(void **state)
{
	void *p = (void *)0xffff800012345678, *volatile null = NULL;

	EXPECT_SAME(BUFFER, "[%p] [%20p] [%-20p]", p, p, p);
	EXPECT_SAME(BUFFER, "[%p] [%20p] [%-20p]", null, null, null);
}

static void test_width_and_precision_as_arguments(void **state)
{
	EXPECT_SAME(BUFFER, "[%*d] [%-*d] [%*d] [%0*d]", 6, 42, 6, 42, -6, 42, 6, 42);
	EXPECT_SAME(BUFFER, "[%.*d] [%.*d] [%*.*d] [%*.*d]", 4, 42, -4, 42, 8, 4, 42, -8, 4, 42);
	EXPECT_SAME(BUFFER, "[%-*.*s] [%.*s]", 10, 2, "time", -1, "time");
}

static void test_every_buffer_size(void **state)
{
	for (size_t size = 0; size < 40; size++) {
		EXPECT_SAME(size, "%s: %+08d, %#lx, %-6c|", "counter", -42, 0xfeedUL, 'x');
		EXPECT_SAME(size, "%30d", 7);
		EXPECT_SAME(size, "%.30d", 7);
	}
	assert_int_equal(cflat_snprintf(NULL, 0, "%d", 1234), 4);
}

/*
 * A length beyond INT_MAX is -1 (ISO C and glibc's EOVERFLOW), and finding out takes no time, which
 * is why glibc is not asked here: it writes the padding, or allocates it.
 */
static void test_lengths_beyond_int(void **state)
{
	char buf[8];

	assert_int_equal(cflat_snprintf(buf, sizeof(buf), "%*d", INT_MAX, 1), INT_MAX);
	assert_string_equal(buf, "       ");
	assert_int_equal(cflat_snprintf(buf, sizeof(buf), "%*d%d", INT_MAX, 1, 1), -1);
	assert_int_equal(cflat_snprintf(buf, sizeof(buf), "%.*d", INT_MAX - 1, 1), INT_MAX - 1);
	assert_string_equal(buf, "0000000");
	assert_int_equal(cflat_snprintf(NULL, 0, "%*d", INT_MIN, 1), -1);
	assert_int_equal(cflat_snprintf(NULL, 0, "%99999999999999999999d", 1), -1);
}

static void test_unknown_conversion_is_shown(void **state)
{
	char buf[32];
	/* Not a literal, or the compiler would say what it is here that the library should show. */
	const char *volatile formats[] = { "a%yb", "%-5.3y", "%", "a%l" };
	const char *wanted[] = { "a%yb", "%-5.3y", "%", "a%l" };

	for (size_t i = 0; i < ARRAY_SIZE(wanted); i++) {
		assert_int_equal(cflat_snprintf(buf, sizeof(buf), formats[i]), strlen(wanted[i]));
		assert_string_equal(buf, wanted[i]);
	}
}

/* A generated conversion: what stands in the format, and what it takes. */
struct generated {
	char fmt[64];
	bool star_width, star_precision;
	int width, precision;
	const char *length; /* "hh", "h", "", "l", "ll", "z", "t", "j" */
	char conversion;
	u64 value;
	const char *text;
	size_t size;
};

static const char *const texts[] = { "", "a", "cntvct", "100% of it",
				     "a longer text than most widths are, by a good deal" };

/* A flag where C defines what it does for the conversion, or says that it does nothing. */
static bool flag_applies(char flag, char conversion)
{
	switch (flag) {
	case '#':
		return strchr("xXo", conversion);
	case '0':
		return strchr("dixXou", conversion);
	case '+':
	case ' ':
		return strchr("diu", conversion) || strchr("xXo", conversion);
	}
	return true;
}

static char *append_size(char *out, bool star, int n)
{
	return out + (star ? sprintf(out, "*") : sprintf(out, "%d", abs(n)));
}

static void generate(struct generated *g)
{
	static const char flags[] = "-+ 0#", conversions[] = "diuxXocsp";
	static const char *const lengths[] = { "hh", "h", "", "l", "ll", "z", "t", "j" };
	char *out = g->fmt;

	memset(g, 0, sizeof(*g));
	g->conversion = conversions[random_below(sizeof(conversions) - 1)];
	g->length = strchr("csp", g->conversion) ? "" : lengths[random_below(ARRAY_SIZE(lengths))];
	out += sprintf(out, "<%%");
	for (size_t i = 0; flags[i]; i++) {
		if (!random_below(3) && flag_applies(flags[i], g->conversion))
			*out++ = flags[i];
	}
	if (random_below(2)) {
		g->star_width = random_below(2);
		g->width = (int)random_below(LONGEST_FIELD) - (g->star_width ? 40 : 0);
		/* A literal 0 would be the flag. */
		if (g->star_width || g->width)
			out = append_size(out, g->star_width, g->width);
	}
	if (random_below(2) && !strchr("cp", g->conversion)) {
		g->star_precision = random_below(2);
		g->precision = (int)random_below(40) - (g->star_precision ? 10 : 0);
		*out++ = '.';
		if (g->star_precision || random_below(8))
			out = append_size(out, g->star_precision, g->precision);
	}
	sprintf(out, "%s%c>", g->length, g->conversion);
	g->value = random_edgy_u64();
	g->text = texts[random_below(ARRAY_SIZE(texts))];
	g->size = random_below(4) ? BUFFER : random_below(LONGEST_FIELD);
}

/* One call with the arguments that the conversion takes. */
#define CALL(fn, buf, g, argument)                                                      \
	((g)->star_width && (g)->star_precision                                         \
		 ? fn(buf, (g)->size, (g)->fmt, (g)->width, (g)->precision, argument)   \
	 : (g)->star_width     ? fn(buf, (g)->size, (g)->fmt, (g)->width, argument)     \
	 : (g)->star_precision ? fn(buf, (g)->size, (g)->fmt, (g)->precision, argument) \
			       : fn(buf, (g)->size, (g)->fmt, argument))

#define CALL_BOTH(r, g, argument)                                            \
	do {                                                                 \
		(r)->their_len = CALL(snprintf, (r)->theirs, g, argument);   \
		(r)->our_len = CALL(cflat_snprintf, (r)->ours, g, argument); \
	} while (0)

static void call_both(struct results *r, const struct generated *g)
{
	if (g->conversion == 's')
		CALL_BOTH(r, g, g->text);
	else if (g->conversion == 'p')
		CALL_BOTH(r, g, (void *)(uintptr_t)(g->value | 1));
	else if (g->conversion == 'c' || !g->length[0] || g->length[0] == 'h')
		CALL_BOTH(r, g, (int)g->value);
	else
		CALL_BOTH(r, g, g->value);
}

static void test_generated_formats(void **state)
{
	random_start(unit_seed());
	for (unsigned i = 0; i < GENERATED; i++) {
		struct generated g;
		struct results r;

		generate(&g);
		results_init(&r);
		call_both(&r, &g);
		if (results_differ(&r))
			fail_seeded("format %u '%s' width %d precision %d value %#llx size %zu: "
				    "theirs '%.*s' (%d), ours '%.*s' (%d)",
				    i, g.fmt, g.width, g.precision, (unsigned long long)g.value,
				    g.size, BUFFER, r.theirs, r.their_len, BUFFER, r.ours,
				    r.our_len);
	}
}

/* Several conversions in one format, each of which has to take its own argument and no other. */
static void test_generated_sequences(void **state)
{
	static const char *const conversions[] = {
		"%ld",	   "%lx",    "%#lo",   "%+ld",	"%20lu",
		"%-20ld|", "%020lx", "%.25ld", "%%%lX", "%lu%%"
	};

	random_start(unit_seed() + 1);
	for (unsigned i = 0; i < GENERATED / 10; i++) {
		u64 v[8];
		char fmt[256] = "";
		struct results r;

		for (size_t n = 0; n < ARRAY_SIZE(v); n++) {
			v[n] = random_edgy_u64();
			strcat(fmt, texts[random_below(3)]);
			strcat(fmt, conversions[random_below(ARRAY_SIZE(conversions))]);
		}
		results_init(&r);
		r.their_len = snprintf(r.theirs, BUFFER, fmt, v[0], v[1], v[2], v[3], v[4], v[5],
				       v[6], v[7]);
		r.our_len = cflat_snprintf(r.ours, BUFFER, fmt, v[0], v[1], v[2], v[3], v[4], v[5],
					   v[6], v[7]);
		if (results_differ(&r))
			fail_seeded("format %u '%s': theirs '%s' (%d), ours '%s' (%d)", i, fmt,
				    r.theirs, r.their_len, r.ours, r.our_len);
	}
}

static void test_printf_is_one_write(void **state)
{
	console_capture();
	assert_int_equal(cflat_printf("%s=%d %*s\n", "cpu", 3, 500, "x"), 507);
	assert_int_equal(console_writes(), 1);
	assert_int_equal(strlen(console_captured()), 507);
	assert_int_equal(cflat_printf("%s", ""), 0);
	assert_true(unit_irqs_on);
}

/* In the middle of a long text nothing else may begin: interrupts are off at every write. */
static unsigned interrupted_writes;

static void note_irqs(const char *buf, size_t len)
{
	interrupted_writes += unit_irqs_on;
}

static void test_printf_of_long_texts_is_whole(void **state)
{
	static char wanted[100001];

	console_capture();
	console_on_write = note_irqs;
	interrupted_writes = 0;
	for (size_t i = 0; i < sizeof(wanted) - 1; i++)
		wanted[i] = (char)('a' + i % 23);
	for (size_t len = 1000; len < 1100; len++) {
		console_capture();
		console_on_write = note_irqs;
		assert_int_equal(cflat_printf("%.*s", (int)len, wanted), len);
		assert_int_equal(strlen(console_captured()), len);
		assert_memory_equal(console_captured(), wanted, len);
	}
	console_capture();
	console_on_write = note_irqs;
	assert_int_equal(cflat_printf("%s", wanted), sizeof(wanted) - 1);
	assert_string_equal(console_captured(), wanted);
	assert_int_equal(interrupted_writes, 0);
	assert_true(unit_irqs_on);
	/* The lock was given back. */
	cflat_printf("%s", "more");
	assert_string_equal(console_captured() + sizeof(wanted) - 1, "more");
}

static void test_printf_of_impossible_widths_ends(void **state)
{
	console_capture();
	assert_int_equal(cflat_printf("%*d\n", INT_MIN, 1), -1);
	assert_true(strlen(console_captured()) < 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_integers_at_their_limits),
		cmocka_unit_test(test_zero_and_its_precisions),
		cmocka_unit_test(test_flags_that_override_others),
		cmocka_unit_test(test_strings_and_characters),
		cmocka_unit_test(test_null_string),
		cmocka_unit_test(test_pointers),
		cmocka_unit_test(test_width_and_precision_as_arguments),
		cmocka_unit_test(test_every_buffer_size),
		cmocka_unit_test(test_lengths_beyond_int),
		cmocka_unit_test(test_unknown_conversion_is_shown),
		cmocka_unit_test(test_generated_formats),
		cmocka_unit_test(test_generated_sequences),
		cmocka_unit_test(test_printf_is_one_write),
		cmocka_unit_test(test_printf_of_long_texts_is_whole),
		cmocka_unit_test(test_printf_of_impossible_widths_ends),
	};

	return cmocka_run_group_tests_name("printf", tests, NULL, NULL);
}
