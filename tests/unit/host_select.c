// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which tests a command line means, and what is said where it means none.
 */
#include "host_support.h"

#include "select.h"

static const char config_text[] = "[selftest]\ngroups = self\n\n"
				  "[counter]\ngroups = time cost\ntiming = yes\n\n"
				  "[counter-el2]\narch = arm64\nimage = counter\nel2 = yes\n"
				  "args = el=2\ngroups = time\nsmp = 4\n\n"
				  "[long]\ngroups = slow\ndefault = no\n";

struct fixture {
	struct config config;
	struct options options;
	bool archs[ARCH_COUNT];
	struct selection selection;
	struct error err;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	write_string("tests.cfg", config_text);
	*state = f;
	return config_load("tests.cfg", &f->config);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	selection_free(&f->selection);
	config_free(&f->config);
	words_free(f->options.tests);
	words_free(f->options.groups);
	free(f);
	return 0;
}

/* The keys of what is selected by these names and groups, or the error's text. Static. */
static const char *selected(struct fixture *f, const char *names, const char *groups, bool x86_64,
			    bool arm64)
{
	static struct text t;
	int result;

	text_clear(&t);
	selection_free(&f->selection);
	words_free(f->options.tests);
	words_free(f->options.groups);
	f->options.tests = words_split(names, " ");
	f->options.groups = words_split(groups, " ");
	f->archs[ARCH_X86_64] = x86_64;
	f->archs[ARCH_ARM64] = arm64;
	result = select_tests(&f->config, &f->options, f->archs, &f->selection, &f->err);
	if (result)
		return f->err.text;
	for (size_t i = 0; i < f->selection.count; i++)
		text_printf(&t, "%s%s", i ? " " : "", f->selection.tests[i]->key);
	return text_string(&t);
}

static void test_defaults(void **state)
{
	assert_string_equal(selected(*state, "", "", true, true),
			    "x86_64/selftest arm64/selftest x86_64/counter arm64/counter "
			    "arm64/counter-el2");
	assert_string_equal(selected(*state, "", "", true, false),
			    "x86_64/selftest x86_64/counter");
}

static void test_names(void **state)
{
	assert_string_equal(selected(*state, "counter", "", true, true),
			    "x86_64/counter arm64/counter");
	assert_string_equal(selected(*state, "arm64/counter", "", true, true), "arm64/counter");
	assert_string_equal(selected(*state, "long selftest", "", false, true),
			    "arm64/selftest arm64/long");
}

static void test_groups(void **state)
{
	assert_string_equal(selected(*state, "", "time", true, true),
			    "x86_64/counter arm64/counter arm64/counter-el2");
	assert_string_equal(selected(*state, "", "slow", true, false), "x86_64/long");
	assert_string_equal(selected(*state, "selftest", "cost", true, false),
			    "x86_64/selftest x86_64/counter");
}

static void test_unknown(void **state)
{
	assert_string_equal(selected(*state, "nosuch", "", true, true),
			    "unknown test 'nosuch'; there are: selftest counter counter-el2 long");
	assert_string_equal(selected(*state, "counter countr", "", true, true),
			    "unknown test 'countr' (did you mean 'counter'?); there are: selftest "
			    "counter counter-el2 long");
	assert_string_equal(selected(*state, "", "tiem", true, true),
			    "unknown group 'tiem'; there are: self time cost slow");
	assert_string_equal(selected(*state, "x86_64/counter-el2", "", true, true),
			    "unknown test 'x86_64/counter-el2'; there are: selftest counter "
			    "counter-el2 long");
}

static void test_none_is_left(void **state)
{
	expect_contains(selected(*state, "counter-el2", "", true, false),
			"test 'counter-el2' is not for the architectures of this run");
	expect_contains(selected(*state, "arm64/counter", "", true, false),
			"test 'arm64/counter' is not for the architectures of this run");
}

static void test_list(void **state)
{
	struct fixture *f = *state;
	FILE *file = fopen("list", "w");
	char *text;

	f->options.list = true;
	selected(f, "", "", false, true);
	selection_print(&f->selection, file);
	fclose(file);
	text = read_string("list");
	assert_string_equal(
		text, "selftest     arm64   self       image selftest, 1 vCPU\n"
		      "counter      arm64   time,cost  image counter, 1 vCPU, runs alone\n"
		      "counter-el2  arm64   time       image counter, args el=2, 4 vCPUs, EL2\n"
		      "long         arm64   slow       image long, 1 vCPU, only when asked for\n");
	free(text);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_defaults), TEST(test_names),	      TEST(test_groups),
		TEST(test_unknown),  TEST(test_none_is_left), TEST(test_list),
	};

	return cmocka_run_group_tests_name("selection", tests, scratch_enter, scratch_leave);
}
