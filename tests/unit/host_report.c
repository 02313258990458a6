// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The views of --report: what they tell of a run, that nothing a guest prints becomes markup, and
 * what is said of a file that holds no results.
 */
#include "host_support.h"

#include <fcntl.h>
#include "figures.h"
#include "plot.h"
#include "record.h"
#include "report.h"
#include "util/error.h"
#include "util/markup.h"

/* Every text that a guest or a foreign file decides holds what is markup somewhere. */
#define NASTY "<b>&\"'|*_`\x01]]>"

static json_t *check_record(const char *name, const char *verdict, const char *reason)
{
	json_t *check =
		json_pack("{s:s, s:s, s:b, s:b, s:[s]}", "name", name, "verdict", verdict,
			  "unexpected_pass", 0, "has_sub_checks", 0, "diagnostics", "saw " NASTY);

	if (reason)
		json_object_set_new(check, "reason", json_string(reason));
	return check;
}

static json_t *test_record(const char *key, const char *verdict)
{
	return json_pack("{s:s, s:s, s:i, s:s, s:f, s:[], s:[]}", "key", key, "arch", "x86_64",
			 "repetition", 1, "verdict", verdict, "duration_ms", 1500.0, "checks",
			 "measurements");
}

static void add_check(json_t *test, json_t *check)
{
	json_array_append_new(json_object_get(test, "checks"), check);
}

static json_t *bench_record(const char *name, double median, const char *floor)
{
	static const char *const figures[] = {
		"overhead", "overhead-error", "min", "p50", "p95", "p99", "max", "mean"
	};
	json_t *bench = json_pack("{s:s, s:s, s:s, s:i, s:i, s:i, s:i, s:f}", "kind", "bench",
				  "name", name, "unit", "ticks", "hz", 62500000, "n", 10000,
				  "batch", 1, "zeros", 0, "sd", 0.5);

	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		json_object_set_new(bench, figures[i], json_real(median));
	if (floor)
		json_object_set_new(bench, "floor", json_string(floor));
	return bench;
}

/* As of a check that failed. */
static void add_story(json_t *check)
{
	json_object_set_new(check, "story", json_string("It is " NASTY));
	json_object_set_new(check, "guards", json_string("A1,K2"));
	json_object_set_new(check, "cpu", json_integer(2));
}

/* One test with a check of each verdict, one that did not boot, one with benchmarks. */
static json_t *make_run(void)
{
	json_t *mixed = test_record("x86_64/mixed", "error");
	json_t *dead = test_record("x86_64/dead", "timeout");
	json_t *bench = test_record("arm64/bench", "pass");

	add_check(mixed, check_record("good", "pass", NULL));
	add_check(mixed, check_record("skipped", "skip", "no " NASTY));
	add_check(mixed, check_record("known", "xfail", "a defect"));
	add_check(mixed, check_record("bad", "fail", NULL));
	add_story(json_array_get(json_object_get(mixed, "checks"), 3));
	add_check(mixed, check_record("broken", "error", "reason " NASTY));
	json_object_set_new(dead, "reason", json_string("no end after 5 s"));
	json_object_set_new(dead, "log_tail", json_string("last\nwords " NASTY));
	add_check(bench, check_record("read", "pass", NULL));
	json_array_append_new(json_object_get(bench, "measurements"),
			      bench_record("native", 3, NULL));
	json_array_append_new(json_object_get(bench, "measurements"),
			      bench_record("trapped" NASTY, 219, "native"));
	return json_pack("{s:i, s:s, s:s, s:b, s:{s:{s:s}}, s:{s:i, s:i, s:i, s:i}, s:[o, o, o]}",
			 "schema", 1, "options", "--accel tcg", "started", "2026-12-01T04:06:06Z",
			 "complete", 1, "environment", "host", "cpu", "CPU " NASTY, "totals",
			 "planned", 3, "passed", 1, "failed", 2, "skipped", 0, "tests", mixed, dead,
			 bench);
}

static char *make_view(const struct report_format *format)
{
	json_t *run = make_run();
	struct text out = { 0 };
	struct error err;

	if (format->write(run, ".", &out, &err))
		fail_msg("%s: %s", format->name, err.text);
	json_decref(run);
	return text_take(&out);
}

static void junit_tells_every_verdict(void **state)
{
	char *xml = make_view(&report_format_junit);

	expect_contains(xml, "name=\"x86_64/mixed\" package=\"x86_64\" id=\"0\" tests=\"5\" "
			     "failures=\"1\" errors=\"1\" skipped=\"2\" time=\"1.500\" "
			     "timestamp=\"2026-12-01T04:06:06\"");
	expect_contains(xml, "<testcase classname=\"x86_64.mixed\" name=\"good\" time=\"0\"/>");
	expect_contains(xml, "<skipped message=\"failed as expected: a defect\"/>");
	expect_contains(xml, "<failure message=\"saw &lt;b&gt;&amp;&quot;'|*_`\\x01]]&gt;\" "
			     "type=\"fail\">saw &lt;b&gt;");
	expect_contains(xml, "\ninvariant: It is &lt;b&gt;&amp;&quot;'|*_`\\x01]]&gt;\n"
			     "reported by: vCPU 2\nguards against: A1,K2\n"
			     "again: ./run_tests.sh --accel tcg --append check=bad x86_64/mixed\n"
			     "</failure>");
	expect_contains(xml, "type=\"error\">");
	expect_contains(xml, "name=\"the test itself\" time=\"0\">\n      "
			     "<error message=\"no end after 5 s\" type=\"timeout\">last\nwords ");
	assert_null(strstr(xml, "<b>"));
	assert_null(strchr(xml, '\x01'));
	free(xml);
}

static void markdown_has_tables(void **state)
{
	char *md = make_view(&report_format_markdown);

	expect_contains(md, "**1 passed, 2 failed, 0 skipped**\n");
	expect_contains(md, "| x86_64/mixed | **error** | 5 | 1 | 1 | 1 | 0 | 1 | 1 | 1.5 |\n");
	expect_contains(md, "### x86_64/mixed.bad: fail\n");
	expect_contains(md, "\n    again: ./run_tests.sh --accel tcg --append check=bad "
			    "x86_64/mixed\n");
	expect_contains(md, "### x86_64/dead: timeout\n\nno end after 5 s\n\n    last\n    words ");
	expect_contains(md, "| native | ticks | 10000 | 3.00 | 0.500 | 3.00 | 3.00 | 48.0 |  |\n");
	expect_contains(md, "`");
	assert_null(strstr(md, "x86_64/mixed.good"));
	free(md);
}

/* A cell ends at "|" alone, and nothing in it begins a tag or emphasis. */
static void markdown_cell_is_escaped(void **state)
{
	char *md = make_view(&report_format_markdown);

	expect_contains(md,
			"| trapped&lt;b\\>&amp;\"'\\|\\*\\_\\`\\\\x01\\]\\]\\> | ticks | 10000 | "
			"219 | 0.500 | 219 | 219 | 3504 | 73.0 |\n");
	free(md);
}

static void html_tells_all_as_text(void **state)
{
	char *html = make_view(&report_format_html);

	expect_contains(html, "<div class=\"tile fail\"><b>2</b>failed</div>");
	expect_contains(html, "<a href=\"#t1\">x86_64/mixed.bad</a>");
	expect_contains(html, "<a href=\"#t2\">x86_64/dead</a> <span>no end after 5 s</span>"
			      "<pre>last\nwords ");
	expect_contains(html, "<details class=\"test t-error\" id=\"t1\" open>");
	expect_contains(html, "saw &lt;b&gt;&amp;&quot;'|*_`\\x01]]&gt;\n"
			      "invariant: It is &lt;b&gt;");
	expect_contains(html, "<dd>CPU &lt;b&gt;");
	expect_contains(html, "<th>trapped&lt;b&gt;");
	assert_null(strstr(html, "<b>&"));
	assert_null(strchr(html, '\x01'));
	free(html);
}

/* What gnuplot is told has no text of a guest in it. */
static void plots_have_no_foreign_text(void **state)
{
	struct figure_point list[] = { { 0, 5 }, { 40, 2 }, { 41, 3 }, { 1e6, 1 } };
	struct figure_points points = { list, ARRAY_SIZE(list) }, none = { 0 };
	struct plot_interval interval = { "x`id`\"\\$(y)'", -5, 0, 2e6 };
	struct plots p = { 0 };

	assert_int_equal(plot_add_histogram(&p, &points, 16), 0);
	assert_int_equal(plot_add_histogram(&p, &none, 0), 1);
	assert_int_equal(plot_add_intervals(&p, &interval, 1), 2);
	expect_contains(p.scripts[0], "\"1 µs\" 1000");
	expect_contains(p.scripts[0], " 5 "); /* 40 and 41 are one bar */
	expect_contains(p.scripts[0], "\n16");
	expect_contains(p.scripts[2], "set ytics (\"xid(y)\" 0)\n");
	plots_free(&p);
}

static void ktap_is_that_of_the_run(void **state)
{
	char *ktap = make_view(&report_format_ktap);

	expect_contains(ktap, "KTAP version 1\n1..3\n");
	expect_contains(ktap, "    # guards against: A1,K2\n    not ok 4 bad\n");
	expect_contains(ktap, "not ok 2 x86_64/dead # TIMEOUT no end after 5 s\n");
	expect_contains(ktap, "# Totals: pass:1 fail:0 xfail:0 xpass:0 skip:0 error:2\n");
	free(ktap);
}

static void formats_are_named(void **state)
{
	static const char *const bad[] = { "", "pdf", "junit=", "=x", "junitx" };
	struct reports r = { 0 };
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(reports_add(&r, bad[i], &err), -1);
		expect_contains(err.text, "junit, markdown");
	}
	assert_int_equal(reports_add(&r, "junit", &err), 0);
	assert_int_equal(reports_add(&r, "markdown=a=b", &err), 0);
	assert_int_equal(r.count, 2);
	assert_null(r.list[0].path);
	assert_string_equal(r.list[1].path, "a=b");
	reports_free(&r);
}

static void views_go_where_they_should(void **state)
{
	struct reports r = { 0 };
	json_t *run = make_run();
	struct error err;
	char *view;

	assert_int_equal(mkdir("dir", 0777), 0);
	assert_int_equal(json_dump_file(run, "dir/results.json", 0), 0);
	json_decref(run);
	assert_int_equal(reports_add(&r, "junit", &err), 0);
	assert_int_equal(reports_add(&r, "markdown=nowhere/x.md", &err), 0);
	assert_int_equal(reports_add(&r, "ktap=k", &err), 0);
	assert_int_equal(reports_make(&r, "dir", true, &err), -1);
	expect_contains(err.text, "nowhere/x.md");
	view = read_string("dir/junit.xml");
	expect_contains(view, "<testsuites>");
	free(view);
	view = read_string("k");
	expect_contains(view, "1..3");
	free(view);
	reports_free(&r);
}

static void expect_no_run(const char *content, const char *said)
{
	struct error err = { "" };

	write_string("file", content);
	assert_null(record_load("file", &err));
	expect_contains(err.text, "file");
	expect_contains(err.text, said);
}

static void what_is_no_result_is_refused(void **state)
{
	struct error err;

	expect_no_run("", "no JSON");
	expect_no_run("{\"schema\": 1, \"tests\": [\n{\"key\"", "file:2:");
	expect_no_run("[]", "no results of this suite");
	expect_no_run("{\"schema\": 1}", "no results of this suite");
	expect_no_run("{\"schema\": 7, \"tests\": []}", "schema 7");
	expect_no_run("{\"schema\": 1, \"tests\": [5]}", "key or repetition");
	assert_null(record_load("absent", &err));
	expect_contains(err.text, "absent");
	assert_null(record_load(".", &err));
	expect_contains(err.text, "./results.json");
}

/* Views of a file in which a byte or a word is not as it should be: refused or made, never a crash. */
static void damaged_results_do_no_harm(void **state)
{
	static const struct report_format *const formats[] = {
		&report_format_ktap,
		&report_format_junit,
		&report_format_markdown,
		&report_format_html,
	};
	json_t *run = make_run();
	char *whole = json_dumps(run, 0);
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	u64 seed = 20261201;

	json_decref(run);
	/* Every page without plots would be a line. */
	fflush(stderr);
	assert_true(dup2(null, STDERR_FILENO) >= 0);
	for (int i = 0; i < 500; i++) {
		struct text damaged = { 0 }, out = { 0 };
		struct error err;

		text_append(&damaged, whole);
		mutate(&damaged, &seed);
		write_bytes("file", text_string(&damaged), damaged.len);
		run = record_load("file", &err);
		for (size_t f = 0; run && f < ARRAY_SIZE(formats); f++)
			formats[f]->write(run, ".", &out, &err);
		json_decref(run);
		text_free(&damaged);
		text_free(&out);
	}
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	free(whole);
}

static void xml_has_no_forbidden_character(void **state)
{
	struct text t = { 0 };

	text_append_xml(&t, "a\x1b[31m\t\n\x7f\xef\xbf\xbe\xef\xbf\xbf\xc3\xa4");
	assert_string_equal(text_string(&t), "a\\x1b[31m\t\n\\x7f\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4");
	text_free(&t);
}

static void figures_have_three_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} table[] = {
		{ 0, "0" },	  { 0.1234, "0.123" },	{ 3, "3.00" },	   { -12.34, "-12.3" },
		{ 219.6, "220" }, { 123456, "123456" }, { 1e20, "1e+20" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct text t = { 0 };

		text_append_figure(&t, table[i].value);
		assert_string_equal(text_string(&t), table[i].text);
		text_free(&t);
	}
}

static void histogram_is_put_together(void **state)
{
	json_t *test = test_record("x86_64/t", "pass");
	json_t *list = json_object_get(test, "measurements");
	json_t *tests = json_pack("[o, O]", test, test); /* two boots */
	struct figure_points p;

	json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", "histogram", "name", "a",
					      "buckets", "40:2,56:1"));
	json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", "histogram", "name", "b",
					      "buckets", "1:1"));
	json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "kind", "histogram", "name", "a",
					      "buckets", "8:7,16:inf,24:1"));
	p = figure_histogram(tests, "x86_64/t", "a");
	assert_int_equal(p.count, 3);
	assert_true(p.list[0].x == 8 && p.list[0].y == 14);
	assert_true(p.list[2].x == 56 && p.list[2].y == 2);
	figure_points_free(&p);
	assert_int_equal(figure_histogram(tests, "x86_64/t", "c").count, 0);
	assert_int_equal(figure_histogram(tests, "x86_64/u", "a").count, 0);
	json_decref(tests);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(junit_tells_every_verdict),
		cmocka_unit_test(markdown_has_tables),
		cmocka_unit_test(markdown_cell_is_escaped),
		cmocka_unit_test(html_tells_all_as_text),
		cmocka_unit_test(plots_have_no_foreign_text),
		cmocka_unit_test(ktap_is_that_of_the_run),
		cmocka_unit_test(formats_are_named),
		cmocka_unit_test_setup_teardown(views_go_where_they_should, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(what_is_no_result_is_refused, scratch_enter,
						scratch_leave),
		cmocka_unit_test_setup_teardown(damaged_results_do_no_harm, scratch_enter,
						scratch_leave),
		cmocka_unit_test(xml_has_no_forbidden_character),
		cmocka_unit_test(figures_have_three_digits),
		cmocka_unit_test(histogram_is_put_together),
	};

	/* Without gnuplot, installed or not. */
	setenv("PATH", "/nowhere", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
