// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One HTML page with all of a run: it needs no network and no script, and forbids itself both, so
 * that nothing a guest printed can do more than be read.
 */
#include "report_html.h"

#include <string.h>
#include "record.h"
#include "report.h"
#include "util/markup.h"

#define OBJECT_DEPTH_MAX 4

void html_add_verdict(struct text *out, enum verdict verdict)
{
	text_printf(out, "<span class=\"verdict %s\">%s</span>", verdict_name(verdict),
		    verdict_name(verdict));
}

void html_add_element(struct text *out, const char *tag, const char *text)
{
	if (!text || !*text)
		return;
	text_printf(out, "<%s>", tag);
	text_append_xml(out, text);
	text_printf(out, "</%s>", tag);
}

/* ---- summary --------------------------------------------------------------------------------- */

static void add_tile(struct text *out, const char *class, unsigned count, const char *label)
{
	text_printf(out, "<div class=\"tile %s\"><b>%u</b>%s</div>", count ? class : "none", count,
		    label);
}

/* A bar of the tests' verdicts, each as wide as its part. */
static void add_bar(struct text *out, const json_t *totals)
{
	const json_t *tests = json_object_get(totals, "tests");

	text_append(out, "<div class=\"bar\" aria-hidden=\"true\">");
	for (int v = VERDICT_COUNT - 1; v >= 0; v--) {
		unsigned count = record_count(tests, verdict_name(v));

		if (count)
			text_printf(out, "<i class=\"%s\" style=\"flex-grow:%u\"></i>",
				    verdict_name(v), count);
	}
	text_append(out, "</div>\n");
}

static void add_state(struct text *out, const json_t *run)
{
	if (record_flag(run, "interrupted"))
		text_append(out, "<p class=\"warning\">The run was interrupted: only some of its "
				 "tests are here.</p>\n");
	else if (!record_flag(run, "complete"))
		text_append(out, "<p class=\"warning\">The run is not complete: it goes on, or was "
				 "killed.</p>\n");
	if (json_array_size(json_object_get(json_object_get(run, "environment"), "faults")))
		text_append(out, "<p class=\"warning\">These machines were made wrong on purpose "
				 "(--fault): the results are of no real machine.</p>\n");
}

static void add_summary(struct text *out, const json_t *run)
{
	const json_t *totals = json_object_get(run, "totals");
	const json_t *checks = json_object_get(totals, "checks");
	const json_t *targets = json_object_get(run, "targets");
	unsigned nr_checks = 0;

	for (int v = 0; v < VERDICT_COUNT; v++)
		nr_checks += record_count(checks, verdict_name(v));
	text_append(out, "<header>\n<h1>kvm-time-tests</h1>\n<p class=\"when\">");
	text_append_xml(out, record_string(run, "started"));
	text_printf(out, ", %.1f s, %u tests, %u checks</p>\n",
		    record_number(run, "duration_ms") / 1000, record_count(totals, "planned"),
		    nr_checks);
	for (size_t i = 0; i < json_array_size(targets); i++) {
		const json_t *t = json_array_get(targets, i);
		char *how = text_format("%s %s, %s, CPU %s", record_string(t, "vmm"),
					record_string(t, "vmm_version"), record_string(t, "accel"),
					record_string(t, "cpu"));

		text_append(out, "<p class=\"target\"><b>");
		text_append_xml(out, record_string(t, "arch"));
		text_append(out, "</b> ");
		text_append_xml(out, how);
		text_append(out, "</p>\n");
		free(how);
	}
	add_state(out, run);
	text_append(out, "<div class=\"tiles\">");
	add_tile(out, "pass", record_count(totals, "passed"), "passed");
	add_tile(out, "fail", record_count(totals, "failed"), "failed");
	add_tile(out, "skip", record_count(totals, "skipped"), "skipped");
	add_tile(out, "xfail", record_count(totals, "xfailed"), "failed as expected");
	add_tile(out, "error", record_count(totals, "unexpected_passes"), "unexpected passes");
	text_append(out, "</div>\n");
	add_bar(out, totals);
	text_append(out, "</header>\n");
}

/* ---- environment ----------------------------------------------------------------------------- */

static void add_value(struct text *out, const json_t *value, unsigned int depth);

static void add_object(struct text *out, const json_t *object, unsigned int depth)
{
	const json_t *value;
	const char *key;

	text_append(out, "<dl>");
	json_object_foreach((json_t *)object, key, value) {
		html_add_element(out, "dt", key);
		text_append(out, "<dd>");
		add_value(out, value, depth + 1);
		text_append(out, "</dd>");
	}
	text_append(out, "</dl>");
}

/* Any JSON, up to a depth that no run has. */
static void add_value(struct text *out, const json_t *value, unsigned int depth)
{
	if (json_is_string(value)) {
		text_append_xml(out, json_string_value(value));
	} else if (json_is_object(value) && depth < OBJECT_DEPTH_MAX) {
		add_object(out, value, depth);
	} else if (json_is_array(value) && depth < OBJECT_DEPTH_MAX) {
		for (size_t i = 0; i < json_array_size(value); i++) {
			text_append(out, "<div>");
			add_value(out, json_array_get(value, i), depth + 1);
			text_append(out, "</div>");
		}
	} else {
		char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));

		text_append_xml(out, text ? text : "");
		free(text);
	}
}

static void add_environment(struct text *out, const json_t *run)
{
	const json_t *environment = json_object_get(run, "environment");

	text_append(out, "<section id=\"environment\">\n<h2>Environment</h2>\n"
			 "<details><summary>Host, suite, machines</summary>\n");
	add_object(out, environment, 0);
	html_add_element(out, "h3", "How each architecture was run");
	add_value(out, json_object_get(run, "targets"), 0);
	html_add_element(out, "h3", "Command");
	html_add_element(out, "pre", record_text(run, "command"));
	text_append(out, "</details>\n</section>\n");
}

static int write_html(const json_t *run, const char *dir, struct text *out, struct error *err)
{
	text_append(out,
		    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
		    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		    "style-src 'unsafe-inline'\">\n"
		    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		    "<meta name=\"color-scheme\" content=\"light dark\">\n"
		    "<title>kvm-time-tests ");
	text_append_xml(out, record_string(run, "started"));
	text_printf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", report_html_style);
	add_summary(out, run);
	text_append(out, "<main>\n");
	html_add_failures(out, run);
	html_add_tests(out, run, dir);
	html_add_figures(out, run);
	add_environment(out, run);
	text_append(out, "</main>\n</body>\n</html>\n");
	return 0;
}

const struct report_format report_format_html = { "html", "report.html", write_html };
