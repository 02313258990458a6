// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What was measured, on the HTML page: a table of the benchmarks and a plot of each distribution,
 * over all boots, and how far restored counters were off.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "benchmarks.h"
#include "figures.h"
#include "plot.h"
#include "record.h"
#include "report_html.h"
#include "util/markup.h"
#include "util/memory.h"

/* The page's figures, as text in which plots are missing, and the plots. */
struct page {
	const json_t *tests;
	struct benchmarks benchmarks;
	struct plots plots;
	size_t drift; /* number of its plot */
	bool has_drift;
};

static void gather(struct page *page)
{
	for (size_t i = 0; i < json_array_size(page->tests); i++) {
		const json_t *test = json_array_get(page->tests, i);

		benchmarks_add_record(&page->benchmarks, test,
				      !strcmp(record_string(test, "accel"), "icount"));
	}
}

/* ---- benchmarks ------------------------------------------------------------------------------ */

static void add_cell(struct text *out, double value)
{
	text_append(out, "<td>");
	text_append_figure(out, value);
	text_append(out, "</td>");
}

static void add_row(struct text *out, const struct page *page, const struct benchmark *b)
{
	static const enum bench_figure columns[] = { FIGURE_MIN, FIGURE_P95,  FIGURE_P99,
						     FIGURE_MAX, FIGURE_MEAN, FIGURE_SD };
	const struct benchmark *floor = benchmark_floor(&page->benchmarks, b);
	double median = benchmark_median(b, FIGURE_P50), unit_ns = benchmark_unit_ns(b);
	double least = floor ? benchmark_median(floor, FIGURE_P50) : 0;

	text_append(out, "<tr>");
	html_add_element(out, "th", b->name);
	text_append(out, "<td>");
	if (unit_ns > 0)
		text_append_figure(out, median * unit_ns);
	text_append(out, "</td><td>");
	if (least > 0)
		text_append_figure(out, median / least);
	text_append(out, "</td>");
	add_cell(out, median);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		add_cell(out, benchmark_median(b, columns[i]));
	text_append(out, "<td>");
	text_append_xml(out, b->unit);
	text_printf(out, "</td><td>%zu</td></tr>\n", b->nr_boots);
}

static void add_table(struct text *out, const struct page *page, const char *test)
{
	text_append(out, "<div class=\"wide\"><table>\n<tr><th>benchmark</th><th>median ns</th>"
			 "<th>× floor</th><th>median</th><th>least</th><th>95th</th><th>99th</th>"
			 "<th>most</th><th>average</th><th>std dev</th><th>unit</th>"
			 "<th>boots</th></tr>\n");
	for (size_t i = 0; i < page->benchmarks.count; i++) {
		if (!strcmp(page->benchmarks.list[i].test, test))
			add_row(out, page, &page->benchmarks.list[i]);
	}
	text_append(out, "</table></div>\n");
}

/* ---- plots ----------------------------------------------------------------------------------- */

/* A plot for each benchmark, in their order. */
static void draw_histograms(struct page *page)
{
	for (size_t i = 0; i < page->benchmarks.count; i++) {
		const struct benchmark *b = &page->benchmarks.list[i];
		struct figure_points points = figure_histogram(page->tests, b->test, b->name);

		plot_add_histogram(&page->plots, &points, benchmark_unit_ns(b));
		figure_points_free(&points);
	}
}

static bool is_drift(const json_t *measurement)
{
	return !strcmp(record_string(measurement, "name"), "restore-drift") &&
	       !strcmp(record_string(measurement, "unit"), "ns");
}

static void draw_drift(struct page *page)
{
	struct plot_interval *list = NULL;
	char **labels = NULL;
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(page->tests); i++) {
		const json_t *test = json_array_get(page->tests, i);
		const json_t *m, *all = json_object_get(test, "measurements");
		size_t j;

		json_array_foreach((json_t *)all, j, m) {
			if (!is_drift(m))
				continue;
			list = memory_resize(list, count + 1, sizeof(*list));
			labels = memory_resize(labels, count + 1, sizeof(*labels));
			labels[count] = record_test_title(test);
			list[count] = (struct plot_interval){
				.label = labels[count],
				.low = record_number(m, "min"),
				.middle = record_number(m, "p50"),
				.high = record_number(m, "max"),
			};
			count++;
		}
	}
	page->has_drift = count;
	if (count)
		page->drift = plot_add_intervals(&page->plots, list, count);
	for (size_t i = 0; i < count; i++)
		free(labels[i]);
	free(labels);
	free(list);
}

static void add_plot(struct text *out, const struct page *page, size_t number, const char *caption)
{
	if (!page->plots.svgs)
		return;
	text_append(out, "<figure>");
	text_append(out, page->plots.svgs[number]);
	html_add_element(out, "figcaption", caption);
	text_append(out, "</figure>\n");
}

/* ---- the sections ---------------------------------------------------------------------------- */

static void add_benchmarks(struct text *out, const struct page *page)
{
	const struct benchmarks *b = &page->benchmarks;
	const char *last = NULL;

	if (!b->count)
		return;
	text_append(out, "<section id=\"benchmarks\">\n<h2>Benchmarks</h2>\n<p>Cost of one "
			 "operation: medians of the boots; below, how often it cost how much, all "
			 "boots together.</p>\n");
	for (size_t i = 0; i < b->count; i++) {
		if (last && !strcmp(last, b->list[i].test))
			continue;
		last = b->list[i].test;
		html_add_element(out, "h3", last);
		add_table(out, page, last);
		text_append(out, "<div class=\"plots\">\n");
		for (size_t j = 0; j < b->count; j++) {
			if (!strcmp(b->list[j].test, last))
				add_plot(out, page, j, b->list[j].name);
		}
		text_append(out, "</div>\n");
	}
	text_append(out, "</section>\n");
}

static void add_drift_row(struct text *out, const char *title, const json_t *m)
{
	static const char *const columns[] = { "min", "p50", "max", "accumulated-low",
					       "accumulated-high" };

	text_append(out, "<tr>");
	html_add_element(out, "th", title);
	text_printf(out, "<td>%u</td>", record_count(m, "n"));
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		add_cell(out, record_number(m, columns[i]));
	text_append(out, "<td>");
	text_append_xml(out, record_string(m, "policy"));
	text_append(out, "</td></tr>\n");
}

static void add_drift(struct text *out, const struct page *page)
{
	if (!page->has_drift)
		return;
	text_append(out,
		    "<section id=\"drift\">\n<h2>Restore drift</h2>\n<p>How far the counter was "
		    "off, in nanoseconds, after each cycle of save and restore (0 is right), "
		    "and after all of them.</p>\n<div class=\"wide\"><table>\n<tr><th>test</th>"
		    "<th>cycles</th><th>least</th><th>median</th><th>most</th>"
		    "<th colspan=\"2\">in all, from … to</th><th>policy</th></tr>\n");
	for (size_t i = 0; i < json_array_size(page->tests); i++) {
		const json_t *test = json_array_get(page->tests, i);
		const json_t *m, *all = json_object_get(test, "measurements");
		char *title = record_test_title(test);
		size_t j;

		json_array_foreach((json_t *)all, j, m) {
			if (is_drift(m))
				add_drift_row(out, title, m);
		}
		free(title);
	}
	text_append(out, "</table></div>\n<div class=\"plots\">\n");
	add_plot(out, page, page->drift, "least, median and most of the cycles");
	text_append(out, "</div>\n</section>\n");
}

void html_add_figures(struct text *out, const json_t *run)
{
	struct page page = { .tests = json_object_get(run, "tests") };
	struct error err;

	gather(&page);
	draw_histograms(&page);
	draw_drift(&page);
	if (page.plots.count && plots_make(&page.plots, &err)) {
		fprintf(stderr, "run_tests.sh: the html report is without plots: %s\n", err.text);
		text_append(out, "<p class=\"warning\">There are no plots: ");
		text_append_xml(out, err.text);
		text_append(out, ". They need gnuplot (Debian: gnuplot-nox).</p>\n");
	}
	add_benchmarks(out, &page);
	add_drift(out, &page);
	plots_free(&page.plots);
	benchmarks_free(&page.benchmarks);
}
