// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * JUnit XML: what the readers of Jenkins, GitLab and GitHub's actions have in common, and no more.
 * A test of the suite is a testsuite, a check a testcase. An expected failure is "skipped", since
 * the format has no word for it; its message says so. Single checks have no times: the suite's is
 * the test's.
 */
#include <stdlib.h>
#include <string.h>
#include "failure.h"
#include "record.h"
#include "report.h"
#include "util/markup.h"

/* "2026-12-01T04:06:06": the format has no time zone. */
#define TIMESTAMP_LEN 19

enum outcome {
	PASSED,
	SKIPPED,
	FAILED,
	IN_ERROR,
	NR_OUTCOMES
};

static enum outcome outcome_of(const json_t *object)
{
	switch (record_verdict(object)) {
	case VERDICT_SKIP:
	case VERDICT_XFAIL:
		return SKIPPED;
	case VERDICT_PASS:
		return PASSED;
	case VERDICT_FAIL:
		return FAILED;
	default:
		return IN_ERROR;
	}
}

static void add_attribute(struct text *out, const char *name, const char *value)
{
	text_printf(out, " %s=\"", name);
	for (; strchr(value, '\n'); value = strchr(value, '\n') + 1) {
		char *line = text_copy_bytes(value, strcspn(value, "\n"));

		text_append_xml(out, line);
		text_append(out, "&#10;"); /* a bare one reads as a blank */
		free(line);
	}
	text_append_xml(out, value);
	text_append_char(out, '"');
}

/*
 * A trouble that is the test's own (it did not boot, did not end) is told by no check: it gets a
 * case of its own, and so does a test without checks.
 */
static bool has_own_case(const json_t *test)
{
	const json_t *checks = json_object_get(test, "checks");
	enum verdict worst = VERDICT_SKIP;

	for (size_t i = 0; i < json_array_size(checks); i++)
		worst = verdict_worse(worst, record_verdict(json_array_get(checks, i)));
	return !json_array_size(checks) || record_verdict(test) > worst;
}

/* "failed as expected: reason" for an XFAIL, else the reason, else the first line of figures. */
static char *message_of(const json_t *object)
{
	const char *reason = record_text(object, "reason");

	if (!reason)
		reason = json_string_value(
			json_array_get(json_object_get(object, "diagnostics"), 0));
	if (!reason)
		reason = verdict_name(record_verdict(object));
	return text_format("%s%s",
			   record_verdict(object) == VERDICT_XFAIL ? "failed as expected: " : "",
			   reason);
}

/* What a reader needs to know beside the message. */
static void add_details(struct text *out, const json_t *run, const json_t *test,
			const json_t *check)
{
	struct text details = { 0 };

	if (check) {
		struct failure failure = failure_of_record(run, test, check);

		failure_add_figures(&details, "", json_object_get(check, "diagnostics"));
		failure_describe(&details, "", &failure);
	} else {
		text_printf(&details, "%s%s", record_string(test, "backtrace"),
			    record_text(test, "backtrace") ? "\n" : "");
		text_append(&details, record_string(test, "log_tail"));
	}
	text_append_xml(out, text_string(&details));
	text_free(&details);
}

/* check: NULL for the test's own case. */
static void add_case(struct text *out, const json_t *run, const json_t *test, const json_t *check)
{
	static const char *const elements[NR_OUTCOMES] = {
		[SKIPPED] = "skipped", [FAILED] = "failure", [IN_ERROR] = "error"
	};
	const json_t *object = check ? check : test;
	enum outcome outcome = outcome_of(object);
	char *title = record_test_title(test), *message = message_of(object);

	for (char *slash = title; (slash = strchr(slash, '/'));)
		*slash = '.'; /* what readers take for the path to it */
	text_append(out, "    <testcase");
	add_attribute(out, "classname", title);
	add_attribute(out, "name", check ? record_string(check, "name") : "the test itself");
	text_append(out, " time=\"0\"");
	if (outcome == PASSED) {
		text_append(out, "/>\n");
	} else {
		text_printf(out, ">\n      <%s", elements[outcome]);
		add_attribute(out, "message", message);
		if (outcome == SKIPPED) {
			text_append(out, "/>\n");
		} else {
			add_attribute(out, "type", verdict_name(record_verdict(object)));
			text_append_char(out, '>');
			add_details(out, run, test, check);
			text_printf(out, "</%s>\n", elements[outcome]);
		}
		text_append(out, "    </testcase>\n");
	}
	free(title);
	free(message);
}

/* Name and value of what the test was run on. */
static void add_properties(struct text *out, const json_t *test)
{
	static const char *const names[] = { "arch", "image", "args", "vmm", "accel", "command" };

	text_append(out, "    <properties>\n");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *value = record_string(test, names[i]);

		if (!*value)
			continue;
		text_append(out, "      <property");
		add_attribute(out, "name", names[i]);
		add_attribute(out, "value", value);
		text_append(out, "/>\n");
	}
	text_append(out, "    </properties>\n");
}

/* Unexpected passes, which no case can tell, and where the log is. */
static void add_system_out(struct text *out, const json_t *test)
{
	const json_t *checks = json_object_get(test, "checks");

	text_append(out, "    <system-out>");
	if (record_flag(test, "unexpected_pass"))
		text_append(out, "unexpected pass of the test\n");
	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);

		if (!record_flag(check, "unexpected_pass"))
			continue;
		text_append(out, "unexpected pass: ");
		text_append_xml(out, record_string(check, "name"));
		text_append_char(out, '\n');
	}
	text_append_xml(out, record_string(test, "log"));
	text_append(out, "</system-out>\n    <system-err>");
	text_append_xml(out, record_string(test, "stderr"));
	text_append(out, "</system-err>\n");
}

static void add_suite(struct text *out, const json_t *run, const json_t *test, size_t id)
{
	const json_t *checks = json_object_get(test, "checks");
	const json_t *host = json_object_get(json_object_get(run, "environment"), "host");
	bool own = has_own_case(test);
	char *title = record_test_title(test), *started;
	unsigned by[NR_OUTCOMES] = { 0 }, count = own;

	if (own)
		by[outcome_of(test)]++;
	for (size_t i = 0; i < json_array_size(checks); i++) {
		if (!record_is_leaf(json_array_get(checks, i)))
			continue;
		by[outcome_of(json_array_get(checks, i))]++;
		count++;
	}
	text_append(out, "  <testsuite");
	add_attribute(out, "name", title);
	add_attribute(out, "package", record_string(test, "arch"));
	text_printf(out, " id=\"%zu\" tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\"",
		    id, count, by[FAILED], by[IN_ERROR], by[SKIPPED]);
	text_printf(out, " time=\"%.3f\"", record_number(test, "duration_ms") / 1000);
	started = text_copy_bytes(record_string(run, "started"),
				  strnlen(record_string(run, "started"), TIMESTAMP_LEN));
	add_attribute(out, "timestamp", started);
	free(started);
	add_attribute(out, "hostname",
		      *record_string(host, "name") ? record_string(host, "name") : "localhost");
	text_append(out, ">\n");
	add_properties(out, test);
	if (own)
		add_case(out, run, test, NULL);
	for (size_t i = 0; i < json_array_size(checks); i++) {
		if (record_is_leaf(json_array_get(checks, i)))
			add_case(out, run, test, json_array_get(checks, i));
	}
	add_system_out(out, test);
	text_append(out, "  </testsuite>\n");
	free(title);
}

static int write_junit(const json_t *run, const char *dir, struct text *out, struct error *err)
{
	const json_t *tests = json_object_get(run, "tests");

	text_append(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	for (size_t i = 0; i < json_array_size(tests); i++)
		add_suite(out, run, json_array_get(tests, i), i);
	text_append(out, "</testsuites>\n");
	return 0;
}

const struct report_format report_format_junit = { "junit", "junit.xml", write_junit };
