// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Markdown to paste into a patch letter, a merge request or a comment: what was run, a line a test,
 * what failed and why, and the benchmarks.
 */
#include <stdlib.h>
#include <string.h>
#include "failure.h"
#include "figures.h"
#include "record.h"
#include "report.h"
#include "util/markup.h"
#include "util/printable.h"

static void add_cell(struct text *out, const char *s)
{
	text_append_char(out, ' ');
	text_append_markdown(out, s);
	text_append(out, " |");
}

/* The lines as a code block: four blanks before each, which no content can end. */
static void add_code(struct text *out, const char *lines)
{
	text_append_char(out, '\n');
	while (*lines) {
		size_t len = strcspn(lines, "\n");

		text_append(out, "    ");
		text_append_printable(out, lines, len, false);
		text_append_char(out, '\n');
		lines += len + (lines[len] == '\n');
	}
	text_append_char(out, '\n');
}

static void add_item(struct text *out, const char *label, const char *value)
{
	if (!*value)
		return;
	text_append(out, "- ");
	text_append_markdown(out, label);
	text_append(out, ": ");
	text_append_markdown(out, value);
	text_append_char(out, '\n');
}

static void add_environment(struct text *out, const json_t *run)
{
	const json_t *environment = json_object_get(run, "environment");
	const json_t *host = json_object_get(environment, "host");
	const json_t *suite = json_object_get(environment, "suite");
	const json_t *targets = json_object_get(run, "targets");
	char *version =
		text_format("%s %s", record_string(suite, "version"), record_string(suite, "git"));

	add_item(out, "host", record_string(host, "cpu"));
	add_item(out, "host kernel", record_string(host, "kernel"));
	for (size_t i = 0; i < json_array_size(targets); i++) {
		const json_t *t = json_array_get(targets, i);
		char *how = text_format("%s %s, %s (%s), CPU %s", record_string(t, "vmm"),
					record_string(t, "vmm_version"), record_string(t, "accel"),
					record_string(t, "accel_reason"), record_string(t, "cpu"));

		add_item(out, record_string(t, "arch"), how);
		free(how);
	}
	add_item(out, "suite", text_trim(version));
	add_item(out, "started", record_string(run, "started"));
	free(version);
}

static void add_totals(struct text *out, const json_t *run)
{
	const json_t *totals = json_object_get(run, "totals");

	text_printf(out, "\n**%u passed, %u failed, %u skipped**", record_count(totals, "passed"),
		    record_count(totals, "failed"), record_count(totals, "skipped"));
	if (record_count(totals, "xfailed"))
		text_printf(out, " (%u of the passed failed as expected)",
			    record_count(totals, "xfailed"));
	if (record_count(totals, "unexpected_passes"))
		text_printf(out, "; %u unexpected passes",
			    record_count(totals, "unexpected_passes"));
	if (!record_flag(run, "complete"))
		text_append(out, "; **the run is not complete**");
	text_append(out, "\n\n");
}

/* "12 checks, 1 failed": pass is not told. */
static void add_counts(struct text *out, const json_t *test)
{
	const json_t *checks = json_object_get(test, "checks");
	unsigned by[VERDICT_COUNT] = { 0 }, count = 0;

	for (size_t i = 0; i < json_array_size(checks); i++) {
		if (!record_is_leaf(json_array_get(checks, i)))
			continue;
		by[record_verdict(json_array_get(checks, i))]++;
		count++;
	}
	text_printf(out, " %u |", count);
	for (int v = VERDICT_PASS; v < VERDICT_COUNT; v++)
		text_printf(out, " %u |", by[v]);
	text_printf(out, " %u |", by[VERDICT_SKIP]);
}

static void add_tests(struct text *out, const json_t *tests)
{
	text_append(out, "| test | verdict | checks | pass | xfail | fail | timeout | error | skip "
			 "| seconds |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < json_array_size(tests); i++) {
		const json_t *test = json_array_get(tests, i);
		char *title = record_test_title(test);
		bool bad = record_verdict(test) >= VERDICT_FAIL;

		text_append_char(out, '|');
		add_cell(out, title);
		text_printf(out, bad ? " **%s** |" : " %s |", verdict_name(record_verdict(test)));
		add_counts(out, test);
		text_printf(out, " %.1f |\n", record_number(test, "duration_ms") / 1000);
		free(title);
	}
}

static void add_failed_check(struct text *out, const json_t *run, const json_t *test,
			     const json_t *check)
{
	struct failure failure = failure_of_record(run, test, check);
	struct text details = { 0 };
	char *title = record_test_title(test);

	text_append(out, "\n### ");
	text_append_markdown(out, title);
	text_append_char(out, '.');
	text_append_markdown(out, record_string(check, "name"));
	text_printf(out, ": %s\n", verdict_name(record_verdict(check)));
	if (record_text(check, "reason"))
		text_printf(&details, "%s\n", record_text(check, "reason"));
	failure_add_figures(&details, "", json_object_get(check, "diagnostics"));
	failure_describe(&details, "", &failure);
	if (details.len)
		add_code(out, text_string(&details));
	text_free(&details);
	free(title);
}

/* What broke the test itself. */
static void add_failed_test(struct text *out, const json_t *test)
{
	char *title = record_test_title(test);

	text_append(out, "\n### ");
	text_append_markdown(out, title);
	text_printf(out, ": %s\n\n", verdict_name(record_verdict(test)));
	text_append_markdown(out, record_string(test, "reason"));
	text_append_char(out, '\n');
	if (record_text(test, "backtrace"))
		add_code(out, record_text(test, "backtrace"));
	else if (record_text(test, "log_tail"))
		add_code(out, record_text(test, "log_tail"));
	free(title);
}

static void add_failures(struct text *out, const json_t *run)
{
	const json_t *tests = json_object_get(run, "tests");
	struct text failures = { 0 };

	for (size_t i = 0; i < json_array_size(tests); i++) {
		const json_t *test = json_array_get(tests, i);
		const json_t *checks = json_object_get(test, "checks");
		bool told = false;

		for (size_t j = 0; j < json_array_size(checks); j++) {
			const json_t *check = json_array_get(checks, j);

			if (!record_is_leaf(check) || record_verdict(check) < VERDICT_FAIL)
				continue;
			add_failed_check(&failures, run, test, check);
			told |= record_verdict(check) >= record_verdict(test);
		}
		if (!told && record_verdict(test) >= VERDICT_FAIL)
			add_failed_test(&failures, test);
	}
	if (failures.len)
		text_printf(out, "\n## Failures\n%s", text_string(&failures));
	text_free(&failures);
}

static void add_bench(struct text *out, const json_t *test, const json_t *bench)
{
	static const char *const fields[] = { "mean", "sd", "p95", "p50" };
	double unit_ns = figure_unit_ns(bench), ratio = figure_floor_ratio(test, bench);

	text_append_char(out, '|');
	add_cell(out, record_string(bench, "name"));
	add_cell(out, record_string(bench, "unit"));
	text_printf(out, " %.0f |", record_number(bench, "n"));
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		text_append_char(out, ' ');
		text_append_figure(out, record_number(bench, fields[i]));
		text_append(out, " |");
	}
	text_append_char(out, ' ');
	if (unit_ns > 0)
		text_append_figure(out, record_number(bench, "p50") * unit_ns);
	text_append(out, " | ");
	if (ratio > 0)
		text_append_figure(out, ratio);
	text_append(out, " |\n");
}

static void add_benchmarks(struct text *out, const json_t *tests)
{
	bool titled = false;

	for (size_t i = 0; i < json_array_size(tests); i++) {
		const json_t *test = json_array_get(tests, i);
		const json_t *list = json_object_get(test, "measurements");
		char *title;

		if (!figures_count(test, FIGURE_BENCH))
			continue;
		title = record_test_title(test);
		text_printf(out, "%s\n### ", titled ? "" : "\n## Benchmarks\n");
		text_append_markdown(out, title);
		text_append(out, "\n\n| benchmark | unit | n | average | std dev | 95th | median | "
				 "median ns | × floor |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n");
		for (size_t j = 0; j < json_array_size(list); j++) {
			if (figure_kind_of(json_array_get(list, j)) == FIGURE_BENCH)
				add_bench(out, test, json_array_get(list, j));
		}
		titled = true;
		free(title);
	}
}

static int write_markdown(const json_t *run, const char *dir, struct text *out, struct error *err)
{
	const json_t *tests = json_object_get(run, "tests");

	text_append(out, "# kvm-time-tests\n\n");
	add_environment(out, run);
	add_totals(out, run);
	add_tests(out, tests);
	add_failures(out, run);
	add_benchmarks(out, tests);
	return 0;
}

const struct report_format report_format_markdown = { "markdown", "report.md", write_markdown };
