// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What a run of benchmarks chooses by itself, and its table.
 */
#include "host_support.h"

#include "bench.h"

static const char measurement[] =
	"{\"name\": \"%s\", \"kind\": \"bench\", \"unit\": \"ticks\", \"hz\": 1000000000, "
	"\"n\": 100, \"batch\": 1, \"zeros\": 0, \"overhead\": 2, \"overhead-error\": %g, "
	"\"min\": 1, \"p50\": %g, \"p95\": %g, \"p99\": 900, \"max\": 900, \"mean\": %g, "
	"\"sd\": 7.5%s}";

/* One boot of a test that measures a floor of 3 and an operation that is a ratio of it. */
static void add_boot(struct benchmarks *b, int repetition, double cost, bool exact)
{
	struct text t = { 0 };
	json_t *record;

	text_printf(&t,
		    "{\"key\": \"arm64/read\", \"accel\": \"kvm\", \"repetition\": %d, "
		    "\"measurements\": [{\"name\": \"other\", \"unit\": \"ms\"}, ",
		    repetition);
	text_printf(&t, measurement, "floor", 0.0, 3.0, 3.0, 3.0, "");
	text_append(&t, ", ");
	text_printf(&t, measurement, "trap", cost / 50, cost, cost + 1, cost + 2,
		    ", \"floor\": \"floor\", \"class\": \"trapped\"");
	text_append(&t, "]}");
	record = json_loads(text_string(&t), 0, NULL);
	assert_non_null(record);
	benchmarks_add_record(b, record, exact);
	json_decref(record);
	text_free(&t);
}

static char *table(const struct benchmarks *b)
{
	FILE *out = fopen("table", "w");

	bench_print(b, out);
	fclose(out);
	return read_string("table");
}

static void test_choices(void **state)
{
	struct options o = { .bench = true };

	bench_choose(&o, false, 1234);
	assert_int_equal(o.repeat, 10);
	assert_int_equal(o.seed, 1235);
	o = (struct options){ .bench = true };
	bench_choose(&o, true, 1234);
	assert_int_equal(o.repeat, 2);
	assert_int_equal(o.seed, 1);
	o = (struct options){ .bench = true, .boots = 7, .seed = 5 };
	bench_choose(&o, true, 1234);
	assert_int_equal(o.repeat, 7);
	assert_int_equal(o.seed, 5);
}

static void test_where_to_save(void **state)
{
	struct error err;

	assert_int_equal(bench_check_save("file.json", &err), 0);
	assert_int_equal(bench_check_save("./file.json", &err), 0);
	assert_int_equal(bench_check_save("nowhere/file.json", &err), -1);
	expect_contains(err.text, "--save nowhere/file.json: cannot write to nowhere");
}

static void test_gathering(void **state)
{
	struct benchmarks b = { 0 };
	const struct benchmark *trap;

	for (int i = 1; i <= 3; i++)
		add_boot(&b, i, 200 + i, false);
	assert_int_equal(b.count, 2);
	trap = benchmarks_find(&b, "arm64/read/trap");
	assert_non_null(trap);
	assert_int_equal(trap->nr_boots, 3);
	assert_int_equal(trap->boots[2].repetition, 3);
	assert_true(benchmark_median(trap, FIGURE_P50) == 202);
	assert_string_equal(benchmark_floor(&b, trap)->name, "floor");
	assert_null(benchmark_floor(&b, benchmark_floor(&b, trap)));
	benchmarks_free(&b);
}

static void test_table(void **state)
{
	struct benchmarks b = { 0 };
	char *text;

	for (int i = 1; i <= 10; i++)
		add_boot(&b, i, 210, false);
	text = table(&b);
	expect_contains(text, "arm64/read/floor        -       3.00");
	expect_contains(text,
			"arm64/read/trap     70.00     212.00       7.50     211.00     210.00 "
			"[210.00, 210.00]");
	expect_contains(text, "210.0  trapped  (+-4.20: calibration)");
	free(text);
	benchmarks_free(&b);
}

static void test_exact_table(void **state)
{
	struct benchmarks b = { 0 };
	char *text;

	add_boot(&b, 1, 219, true);
	text = table(&b);
	expect_contains(text, "219.00 one boot");
	free(text);
	add_boot(&b, 2, 219, true);
	text = table(&b);
	expect_contains(text, "219.00 exact");
	free(text);
	add_boot(&b, 3, 221, true);
	text = table(&b);
	expect_contains(text, "219.00 219.00 to 221.00");
	free(text);
	benchmarks_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choices),	    cmocka_unit_test(test_where_to_save),
		cmocka_unit_test(test_gathering),   cmocka_unit_test(test_table),
		cmocka_unit_test(test_exact_table),
	};

	return cmocka_run_group_tests_name("bench", tests, scratch_enter, scratch_leave);
}
