// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files of measurements: what is read of them, what is refused, and what a comparison of two says.
 */
#include "host_support.h"

#include <math.h>
#include "baseline.h"
#include "compare.h"
#include "compare_environment.h"
#include "compare_report.h"
#include "util/error.h"

#define THRESHOLD 0.02

/* ---- fixtures --------------------------------------------------------------------------------- */

/* n boots around a median, each a little off in a way of its own. */
static void add_boots(struct text *t, size_t n, double median, double step)
{
	for (size_t i = 0; i < n; i++) {
		double p50 = median + step * ((double)(i * 7 % n) - (n - 1) / 2.0);

		text_printf(t,
			    "%s{\"repetition\": %zu, \"n\": 1000, \"batch\": 1, \"zeros\": 0, "
			    "\"overhead\": 2, \"overhead-error\": 0, \"min\": 1, \"p50\": %.3f, "
			    "\"p95\": %.3f, \"p99\": 400, \"max\": 900, \"mean\": %.3f, "
			    "\"sd\": 3.5}",
			    i ? ", " : "", i + 1, p50, p50 + 1, p50);
	}
}

struct fixture {
	const char *accel, *cpu, *governor, *command_line;
	bool exact;
	double hz;
	size_t boots;
	double cntpct, step;
};

static const struct fixture plain = { "kvm", "host", "performance", "quiet", false,
				      1e9,   10,     200,	    0.1 };
static const struct fixture icount = {
	"icount", "max", "performance", "quiet", true, 1e9, 2, 219, 0
};

static void add_benchmark(struct text *t, const struct fixture *f, const char *name, double median)
{
	text_printf(t,
		    "{\"key\": \"arm64/counter-read/%s\", \"test\": \"arm64/counter-read\", "
		    "\"name\": \"%s\", \"unit\": \"ticks\", \"hz\": %.1f, \"accel\": \"%s\", "
		    "\"exact\": %s, \"boots\": [",
		    name, name, f->hz, f->accel, f->exact ? "true" : "false");
	add_boots(t, f->boots, median, f->step);
	text_append(t, "]}");
}

static void write_baseline(const char *path, const struct fixture *f)
{
	struct text t = { 0 };

	text_printf(&t,
		    "{\"schema\": 1, \"tool\": \"kvm-time-tests\", \"started\": "
		    "\"2026-12-01T04:06:06Z\", \"environment\": {\"host\": {\"cpu\": \"N1\", "
		    "\"kernel\": \"6.12\", \"governor\": \"%s\", \"cmdline\": "
		    "\"BOOT_IMAGE=%s %s\"}}, \"targets\": [{\"arch\": \"arm64\", \"vmm\": "
		    "\"qemu\", \"accel\": \"%s\", \"cpu\": \"%s\"}], \"benchmarks\": [",
		    f->governor, path, f->command_line, f->accel, f->cpu);
	add_benchmark(&t, f, "cntvct", 50);
	text_append(&t, ", ");
	add_benchmark(&t, f, "cntpct", f->cntpct);
	text_append(&t, "]}");
	write_bytes(path, t.data, t.len);
	text_free(&t);
}

static struct error err;
static char *output;

static enum compare_outcome compare_written(const char *old, const char *new)
{
	FILE *out = fopen("out", "w");
	enum compare_outcome outcome;

	*err.text = '\0';
	outcome = compare_files(old, new, THRESHOLD, out, &err);
	fclose(out);
	free(output);
	output = read_string("out");
	return outcome;
}

static enum compare_outcome compare_with(const struct fixture *old, const struct fixture *new)
{
	write_baseline("old.json", old);
	write_baseline("new.json", new);
	return compare_written("old.json", "new.json");
}

/* ---- comparisons ------------------------------------------------------------------------------ */

static void test_same(void **state)
{
	assert_int_equal(compare_with(&plain, &plain), COMPARE_SAME);
	expect_contains(output, "2 compared: 0 slower, 0 faster, 2 as before");
	expect_contains(output, "p 1.0000  ~");
	assert_false(contains(output, "warning"));
}

static void test_slower_and_faster(void **state)
{
	struct fixture changed = plain;

	changed.cntpct = 210;
	assert_int_equal(compare_with(&plain, &changed), COMPARE_SLOWER);
	expect_contains(output, "200.00 ->     210.00 ns              +5.0 %");
	expect_contains(output, "slower");
	expect_contains(output, "2 compared: 1 slower, 0 faster, 1 as before");
	changed.cntpct = 190;
	assert_int_equal(compare_with(&plain, &changed), COMPARE_SAME);
	expect_contains(output, "faster");
	expect_contains(output, "2 compared: 0 slower, 1 faster, 1 as before");
}

/* Significant, since all boots of one are above all of the other, and too small to matter. */
static void test_threshold(void **state)
{
	struct fixture changed = plain;

	changed.cntpct = 203;
	assert_int_equal(compare_with(&plain, &changed), COMPARE_SAME);
	expect_contains(output, "below the threshold");
}

static void test_noise(void **state)
{
	struct fixture noisy = plain, changed;

	noisy.step = 10;
	changed = noisy;
	changed.cntpct = 210;
	assert_int_equal(compare_with(&noisy, &changed), COMPARE_SAME);
	expect_contains(output, "2 compared: 0 slower, 0 faster, 2 as before");
}

static void test_too_few_boots(void **state)
{
	struct fixture few = plain, changed;

	few.boots = 3;
	changed = few;
	changed.cntpct = 400;
	assert_int_equal(compare_with(&few, &changed), COMPARE_SAME);
	/* Two lines share 0.01; 2 / C(12, 6) is the first below 0.005. */
	expect_contains(output, "too few boots to tell: each file needs 6");
}

static void test_exact(void **state)
{
	struct fixture changed = icount;

	assert_int_equal(compare_with(&icount, &icount), COMPARE_SAME);
	expect_contains(output, "219.00 ->     219.00 instructions    +0.0 %  ~  equal");
	assert_false(contains(output, "p "));
	changed.cntpct = 220;
	assert_int_equal(compare_with(&icount, &changed), COMPARE_SLOWER);
	expect_contains(output, "slower by 1 instructions");
	changed.cntpct = 215;
	assert_int_equal(compare_with(&icount, &changed), COMPARE_SAME);
	expect_contains(output, "faster by 4 instructions");
}

/* ---- what cannot be compared ------------------------------------------------------------------ */

static void test_environments(void **state)
{
	struct fixture other = plain;

	other.governor = "powersave";
	assert_int_equal(compare_with(&plain, &other), COMPARE_SAME);
	expect_contains(output, "warning: made differently: frequency governor: 'performance', "
				"then 'powersave'");
	/* That the boot loader took another file is the kernel's own difference. */
	assert_false(contains(output, "command line"));
	other = plain;
	other.command_line = "mitigations=off";
	assert_int_equal(compare_with(&plain, &other), COMPARE_SAME);
	expect_contains(output, "kernel command line of the host: 'quiet', then 'mitigations=off'");
	other = plain;
	other.cpu = "neoverse-n1";
	assert_int_equal(compare_with(&plain, &other), COMPARE_FAILED);
	expect_contains(err.text, "arm64: CPU model: 'host', then 'neoverse-n1'");
	assert_int_equal(compare_with(&plain, &icount), COMPARE_FAILED);
	expect_contains(err.text, "accelerator: 'kvm', then 'icount'");
}

static void test_other_clock(void **state)
{
	struct fixture other = plain, exact = icount;

	/* The same time, counted by a clock that is twice as slow. */
	other.hz = 5e8;
	assert_int_equal(compare_with(&plain, &other), COMPARE_SLOWER);
	expect_contains(output, "200.00 ->     400.00 ns");
	exact.hz = 62.5e6;
	assert_int_equal(compare_with(&icount, &exact), COMPARE_FAILED);
	expect_contains(output, "?  ticks of 1000000000 Hz, then of 62500000 Hz");
	expect_contains(err.text, "no benchmark that can be compared");
}

static void test_zero(void **state)
{
	struct fixture zero = plain;

	zero.cntpct = 0;
	zero.step = 0;
	assert_int_equal(compare_with(&zero, &plain), COMPARE_SAME);
	expect_contains(output, "?  a boot's median is 0");
}

/* ---- files ------------------------------------------------------------------------------------ */

static void test_bad_files(void **state)
{
	char *content;

	write_baseline("old.json", &plain);
	assert_int_equal(compare_written("nosuch", "old.json"), COMPARE_FAILED);
	expect_contains(err.text, "nosuch");
	content = read_string("old.json");
	write_bytes("new.json", content, 700);
	free(content);
	assert_int_equal(compare_written("old.json", "new.json"), COMPARE_FAILED);
	expect_contains(err.text, "new.json:1:700: ");
	write_string("new.json", "{\"schema\": 1}");
	assert_int_equal(compare_written("old.json", "new.json"), COMPARE_FAILED);
	expect_contains(err.text, "new.json: this is no results.json");
	write_string("new.json", "{\"schema\": 99, \"tool\": \"kvm-time-tests\"}");
	assert_int_equal(compare_written("old.json", "new.json"), COMPARE_FAILED);
	expect_contains(err.text, "its schema is 99");
	write_string("new.json", "{\"schema\": 1, \"tool\": \"kvm-time-tests\"}");
	assert_int_equal(compare_written("old.json", "new.json"), COMPARE_FAILED);
	expect_contains(err.text, "it has no benchmarks");
	write_string("new.json", "{\"schema\": 1, \"tool\": \"kvm-time-tests\", \"benchmarks\": "
				 "[{\"key\": \"a/b/c\"}]}");
	assert_int_equal(compare_written("old.json", "new.json"), COMPARE_FAILED);
	expect_contains(err.text, "element 0 of \"benchmarks\" (a/b/c) lacks a field");
}

/* Whatever a file has become, it is read or refused, and nothing else. */
static void test_mutated_files(void **state)
{
	u64 seed = 5;
	char *content;

	write_baseline("old.json", &plain);
	content = read_string("old.json");
	for (int i = 0; i < 300; i++) {
		struct text t = { 0 };
		struct baseline b;

		text_append(&t, content);
		mutate(&t, &seed);
		write_bytes("new.json", text_string(&t), t.len);
		text_free(&t);
		if (baseline_load("new.json", &b, &err))
			expect_contains(err.text, "new.json");
		baseline_free(&b);
	}
	free(content);
}

/* What --save wrote is compared like the results it is made of, and is the same when saved again. */
static void test_save(void **state)
{
	char *once, *twice;

	mkdir("results", 0755);
	write_baseline("results/results.json", &plain);
	assert_int_equal(baseline_save("saved.json", "results/results.json", &err), 0);
	assert_int_equal(baseline_save("again.json", "saved.json", &err), 0);
	once = read_string("saved.json");
	twice = read_string("again.json");
	assert_string_equal(once, twice);
	free(once);
	free(twice);
	assert_int_equal(compare_written("results", "saved.json"), COMPARE_SAME);
	expect_contains(output, "2 compared: 0 slower, 0 faster, 2 as before");
}

static int leave(void **state)
{
	free(output);
	return scratch_leave(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),	      cmocka_unit_test(test_slower_and_faster),
		cmocka_unit_test(test_threshold),     cmocka_unit_test(test_noise),
		cmocka_unit_test(test_too_few_boots), cmocka_unit_test(test_exact),
		cmocka_unit_test(test_environments),  cmocka_unit_test(test_other_clock),
		cmocka_unit_test(test_zero),	      cmocka_unit_test(test_bad_files),
		cmocka_unit_test(test_mutated_files), cmocka_unit_test(test_save),
	};

	return cmocka_run_group_tests_name("compare", tests, scratch_enter, leave);
}
