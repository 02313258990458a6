// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The tests of the HTML page, and before them what failed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "failure.h"
#include "record.h"
#include "report_html.h"
#include "util/markup.h"

/* Of a longer log the page has the end. */
#define LOG_MAX (64 << 10)

/* ---- checks ---------------------------------------------------------------------------------- */

static bool is_bad(const json_t *object)
{
	return record_verdict(object) >= VERDICT_FAIL;
}

static void add_details(struct text *out, const json_t *run, const json_t *test,
			const json_t *check)
{
	struct failure failure = failure_of_record(run, test, check);
	struct text t = { 0 };

	failure_add_figures(&t, "", json_object_get(check, "diagnostics"));
	if (is_bad(check))
		failure_describe(&t, "", &failure);
	html_add_element(out, "pre", text_string(&t));
	text_free(&t);
}

static void add_expected(struct text *out, const json_t *object)
{
	const json_t *expected = json_object_get(object, "expected");
	char *where;

	if (!record_flag(object, "unexpected_pass") || !expected)
		return;
	where = text_format("passed, but %s:%u says %s: %s", record_string(expected, "file"),
			    record_count(expected, "line"), record_string(expected, "verdict"),
			    record_string(expected, "reason"));
	text_append(out, "<p class=\"warning\">");
	text_append_xml(out, where);
	text_append(out, "</p>");
	free(where);
}

static void add_check(struct text *out, const json_t *run, const json_t *test, const json_t *check)
{
	text_append(out, "<li>");
	html_add_verdict(out, record_verdict(check));
	text_append_char(out, ' ');
	html_add_element(out, "code", record_text(check, "name"));
	text_append_char(out, ' ');
	html_add_element(out, "span", record_text(check, "reason"));
	add_expected(out, check);
	add_details(out, run, test, check);
	text_append(out, "</li>\n");
}

static void add_checks(struct text *out, const json_t *run, const json_t *test)
{
	const json_t *checks = json_object_get(test, "checks");

	text_append(out, "<ul class=\"checks\">\n");
	for (size_t i = 0; i < json_array_size(checks); i++) {
		if (record_is_leaf(json_array_get(checks, i)))
			add_check(out, run, test, json_array_get(checks, i));
	}
	text_append(out, "</ul>\n");
}

/* ---- a test's own ---------------------------------------------------------------------------- */

/*
 * The end of a log that lies in the run's directory; NULL where there is none. The name is the
 * file's: it leads nowhere else, whoever wrote it.
 */
static char *read_log(const char *dir, const char *name, bool *cut)
{
	char *path = text_format("%s/%s", dir, name), *data;
	struct text t = { 0 };
	FILE *f = NULL;
	long size;
	int fd = -1;
	size_t n;

	if (text_starts_with(name, "logs/") && !strstr(name, ".."))
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	free(path);
	if (fd >= 0)
		f = fdopen(fd, "re");
	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0) {
		if (f)
			fclose(f);
		return NULL;
	}
	*cut = size > LOG_MAX;
	fseek(f, *cut ? size - LOG_MAX : 0, SEEK_SET);
	data = malloc(LOG_MAX);
	n = data ? fread(data, 1, LOG_MAX, f) : 0;
	text_append_utf8(&t, data, n);
	free(data);
	fclose(f);
	return text_take(&t);
}

static void add_fold(struct text *out, const char *title, const char *content)
{
	if (!content || !*content)
		return;
	text_append(out, "<details>");
	html_add_element(out, "summary", title);
	html_add_element(out, "pre", content);
	text_append(out, "</details>\n");
}

static void add_log(struct text *out, const json_t *test, const char *dir)
{
	bool cut = false;
	char *log = read_log(dir, record_string(test, "log"), &cut);
	char *title = text_format("%s%s", record_string(test, "log"),
				  cut ? " (its end; the file has all of it)" : "");

	if (log)
		add_fold(out, title, log);
	else
		add_fold(out, "end of the log", record_text(test, "log_tail"));
	free(title);
	free(log);
}

/* What was asked of the host and what came of it, a line each. */
static void add_calls(struct text *out, const json_t *test)
{
	const json_t *calls = json_object_get(test, "calls");
	struct text t = { 0 };

	for (size_t i = 0; i < json_array_size(calls); i++) {
		char *line = json_dumps(json_array_get(calls, i), JSON_COMPACT | JSON_ENCODE_ANY);

		text_printf(&t, "%s\n", line ? line : "");
		free(line);
	}
	add_fold(out, "calls to the host", text_string(&t));
	text_free(&t);
}

static void add_counts(struct text *out, const json_t *test)
{
	const json_t *checks = json_object_get(test, "checks");
	unsigned int by[VERDICT_COUNT] = { 0 };

	for (size_t i = 0; i < json_array_size(checks); i++)
		by[record_verdict(json_array_get(checks, i))] +=
			record_is_leaf(json_array_get(checks, i));
	text_printf(out, "<span class=\"seconds\">%.1f s</span>\n<span class=\"counts\">",
		    record_number(test, "duration_ms") / 1000);
	for (int v = VERDICT_COUNT - 1; v >= 0; v--) {
		if (by[v])
			text_printf(out, "<span class=\"%s\">%u %s</span> ", verdict_name(v), by[v],
				    verdict_name(v));
	}
	text_append(out, "</span>");
}

static void add_test(struct text *out, const json_t *run, const json_t *test, size_t number,
		     const char *dir)
{
	char *title = record_test_title(test);

	text_printf(out, "<details class=\"test t-%s\" id=\"t%zu\"%s><summary>",
		    verdict_name(record_verdict(test)), number, is_bad(test) ? " open" : "");
	html_add_verdict(out, record_verdict(test));
	text_append_char(out, ' ');
	html_add_element(out, "b", title);
	text_append_char(out, ' ');
	add_counts(out, test);
	text_append(out, "</summary>\n");
	html_add_element(out, "p", record_text(test, "reason"));
	add_expected(out, test);
	add_checks(out, run, test);
	add_fold(out, "backtrace", record_text(test, "backtrace"));
	add_fold(out, "what the VMM said", record_text(test, "stderr"));
	add_fold(out, "command", record_text(test, "command"));
	add_calls(out, test);
	add_log(out, test, dir);
	text_append(out, "</details>\n");
	free(title);
}

/* Which are shown is chosen by style alone: the page has no script. */
static const char filter[] = "<input type=\"radio\" name=\"show\" id=\"show-all\" checked>"
			     "<label for=\"show-all\">all</label>\n"
			     "<input type=\"radio\" name=\"show\" id=\"show-not-passed\">"
			     "<label for=\"show-not-passed\">not passed</label>\n"
			     "<input type=\"radio\" name=\"show\" id=\"show-failed\">"
			     "<label for=\"show-failed\">failed</label>\n";

void html_add_tests(struct text *out, const json_t *run, const char *dir)
{
	const json_t *tests = json_object_get(run, "tests");

	text_printf(out, "<section id=\"tests\">\n<h2>Tests</h2>\n%s<div class=\"list\">\n",
		    filter);
	for (size_t i = 0; i < json_array_size(tests); i++)
		add_test(out, run, json_array_get(tests, i), i + 1, dir);
	text_append(out, "</div>\n</section>\n");
}

/* ---- failures -------------------------------------------------------------------------------- */

static void add_failure(struct text *out, const json_t *run, const json_t *test, size_t number,
			const json_t *check)
{
	const json_t *object = check ? check : test;
	char *title = record_test_title(test);

	text_append(out, "<li>");
	html_add_verdict(out, record_verdict(object));
	text_printf(out, " <a href=\"#t%zu\">", number);
	text_append_xml(out, title);
	text_append(out, check ? "." : "");
	text_append_xml(out, record_string(check, "name"));
	text_append(out, "</a> ");
	html_add_element(out, "span", record_text(object, "reason"));
	if (check)
		add_details(out, run, test, check);
	else
		html_add_element(out, "pre",
				 record_text(test, record_text(test, "backtrace") ? "backtrace"
										  : "log_tail"));
	text_append(out, "</li>\n");
	free(title);
}

/* Of a test its checks that failed; itself where none of them is as bad as it is. */
static void add_failures_of(struct text *out, const json_t *run, const json_t *test, size_t number)
{
	const json_t *checks = json_object_get(test, "checks");
	bool told = false;

	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);

		if (!record_is_leaf(check) || !is_bad(check))
			continue;
		add_failure(out, run, test, number, check);
		told |= record_verdict(check) >= record_verdict(test);
	}
	if (!told && is_bad(test))
		add_failure(out, run, test, number, NULL);
}

void html_add_failures(struct text *out, const json_t *run)
{
	const json_t *tests = json_object_get(run, "tests");
	struct text failures = { 0 };

	for (size_t i = 0; i < json_array_size(tests); i++)
		add_failures_of(&failures, run, json_array_get(tests, i), i + 1);
	if (failures.len)
		text_printf(out,
			    "<section id=\"failures\">\n<h2>Failures</h2>\n"
			    "<ul class=\"checks\">\n%s</ul>\n</section>\n",
			    text_string(&failures));
	text_free(&failures);
}
