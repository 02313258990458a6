// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes scripts for gnuplot and takes its plots apart again.
 */
#include "plot.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "util/memory.h"
#include "util/process.h"

#define TIMEOUT_NS     60000000000ull
#define BATCH	       32 /* plots of one gnuplot: less than process_capture() takes */
#define CELLS_OF_TWO   8  /* bars to a power of two: a guest's buckets are four times as fine */
#define WIDTH	       360
#define HEIGHT	       190
#define HEIGHT_OF_NONE 60 /* of a plot of lines */
#define HEIGHT_OF_LINE 20

static size_t add(struct plots *p, struct text *script)
{
	p->scripts = memory_resize(p->scripts, p->count + 1, sizeof(*p->scripts));
	p->scripts[p->count] = text_take(script);
	return p->count++;
}

/* A document of its own on stdout. Colours are the page's: host/report_html_style.c. */
static void begin_plot(struct text *t, size_t height)
{
	text_printf(t,
		    "reset\nset encoding utf8\n"
		    "set terminal svg size %d,%zu dynamic noenhanced font 'sans-serif,12'\n"
		    "set output '/dev/stdout'\nset border 3\nset tics nomirror\n"
		    "set style fill solid 1 noborder\nunset key\n",
		    WIDTH, height);
}

/* "20 ns", "5 µs"; a plain number where the unit is none of time. */
static void append_label(struct text *t, double value, bool is_time)
{
	static const char *const units[] = { "ns", "µs", "ms", "s" };
	size_t unit = 0;

	if (!is_time || value == 0) {
		text_printf(t, "%g", value);
		return;
	}
	for (; fabs(value) >= 1000 && unit + 1 < ARRAY_SIZE(units); unit++)
		value /= 1000;
	text_printf(t, "%g %s", value, units[unit]);
}

static void append_tic(struct text *t, double at, bool is_time, bool first)
{
	text_append(t, first ? "\"" : ", \"");
	append_label(t, at, is_time);
	text_printf(t, "\" %.9g", at);
}

/* 1, 2, 5, 10 … in a narrow range, powers of ten in one of two decades, of a thousand in a wide one. */
static void append_log_tics(struct text *t, double low, double high, bool is_time)
{
	double decades = log10(high / low);
	int step = decades > 8 ? 3 : decades > 5 ? 2 : 1;
	bool first = true;

	text_append(t, "set xtics (");
	for (int e = floor(log10(low)); e <= ceil(log10(high)); e++) {
		for (int digit = 1; digit <= 5; digit += digit == 1 ? 1 : 3) {
			double at = digit * pow(10, e);

			if (at < low || at > high || (digit > 1 && decades > 1.5) || e % step)
				continue;
			append_tic(t, at, is_time, first);
			first = false;
		}
	}
	text_append(t, ")\n");
}

/* One bar a cell: gnuplot wants its middle, its height and its width. */
static void append_bars(struct text *t, const struct figure_points *points, double scale)
{
	size_t i = 0;

	text_append(t, "plot '-' using 1:2:3 with boxes\n");
	while (i < points->count) {
		double cell, count = 0, low, high;

		if (points->list[i].x <= 0) {
			i++;
			continue;
		}
		cell = floor(log2(points->list[i].x) * CELLS_OF_TWO);
		low = exp2(cell / CELLS_OF_TWO) * scale;
		high = exp2((cell + 1) / CELLS_OF_TWO) * scale;
		for (; i < points->count && floor(log2(points->list[i].x) * CELLS_OF_TWO) == cell;
		     i++)
			count += points->list[i].y;
		text_printf(t, "%.9g %.9g %.9g\n", (low + high) / 2, count, high - low);
	}
	text_append(t, "e\n");
}

size_t plot_add_histogram(struct plots *p, const struct figure_points *points, double unit_ns)
{
	double scale = unit_ns > 0 ? unit_ns : 1, low = 1, high = 10;
	struct text t = { 0 };

	for (size_t i = points->count; i-- > 0;) {
		if (points->list[i].x > 0)
			low = points->list[i].x * scale;
	}
	if (points->count && points->list[points->count - 1].x > 0)
		high = points->list[points->count - 1].x * scale;
	low /= 1.5;
	high = MAX(high * 1.5, low * 8);
	begin_plot(&t, HEIGHT);
	text_append(&t, "set logscale xy\nset mxtics 1\nset mytics 1\nset format y '%.0s%c'\n");
	text_printf(&t, "set xrange [%.9g:%.9g]\nset yrange [0.7:*]\n", low, high);
	append_log_tics(&t, low, high, unit_ns > 0);
	append_bars(&t, points, scale);
	return add(p, &t);
}

static void append_name(struct text *t, const char *s)
{
	for (; *s; s++) {
		if (isalnum((unsigned char)*s) || strchr("/_.-() ", *s))
			text_append_char(t, *s);
	}
}

/* About three round steps from low to high, 0 among them. */
static void append_linear_tics(struct text *t, double low, double high)
{
	double rough = MAX((high - low) / 3, 1), power = pow(10, floor(log10(rough)));
	double step = power * (rough / power > 5 ? 10 : rough / power > 2 ? 5 : 2);

	text_printf(t, "set xrange [%.9g:%.9g]\nset xtics (", low - step / 4, high + step / 4);
	for (double i = ceil(low / step); i <= floor(high / step); i++)
		append_tic(t, i * step, true, i == ceil(low / step));
	text_append(t, ")\n");
}

size_t plot_add_intervals(struct plots *p, const struct plot_interval *list, size_t count)
{
	double least = 0, most = 0;
	struct text t = { 0 };

	begin_plot(&t, HEIGHT_OF_NONE + HEIGHT_OF_LINE * count);
	for (size_t i = 0; i < count; i++) {
		least = MIN(least, list[i].low);
		most = MAX(most, list[i].high);
	}
	text_printf(&t, "set yrange [%zu:-1]\nset xzeroaxis\nset grid xtics\nset ytics (", count);
	for (size_t i = 0; i < count; i++) {
		text_append(&t, i ? ", \"" : "\"");
		append_name(&t, list[i].label);
		text_printf(&t, "\" %zu", i);
	}
	text_append(&t, ")\n");
	append_linear_tics(&t, least, most);
	text_append(&t, "plot '-' using 1:2:3:4 with xerrorbars pt 7 ps 0.6\n");
	for (size_t i = 0; i < count; i++)
		text_printf(&t, "%.9g %zu %.9g %.9g\n", list[i].middle, i, list[i].low,
			    list[i].high);
	text_append(&t, "e\n");
	return add(p, &t);
}

/* Up to BATCH plots from the first on; their documents one after the other. */
static int run_gnuplot(const struct plots *p, size_t first, struct text *out, struct error *err)
{
	static char *const argv[] = { "gnuplot", "-d", "-", NULL };
	struct text script = { 0 }, said = { 0 };
	int status, ret;

	for (size_t i = first; i < MIN(first + BATCH, p->count); i++)
		text_append(&script, p->scripts[i]);
	text_append(&script, "unset output\n");
	ret = process_capture(argv, text_string(&script), TIMEOUT_NS, out, &said, &status, err);
	if (!ret && status) {
		char *how = process_status_text(status);

		ret = error_set(err, "gnuplot %s: %s", how, text_string(&said));
		free(how);
	}
	text_free(&script);
	text_free(&said);
	return ret;
}

/* The <svg> elements of the output, which is none of a guest's. */
static int take_svgs(struct plots *p, size_t first, const char *out, struct error *err)
{
	static const char end[] = "</svg>";

	for (size_t i = first; i < MIN(first + BATCH, p->count); i++) {
		const char *from = strstr(out, "<svg"), *to = from ? strstr(from, end) : NULL;

		if (!to)
			return error_set(err, "gnuplot drew %zu plots of %zu", i, p->count);
		out = to + strlen(end);
		p->svgs[i] = text_copy_bytes(from, out - from);
	}
	return 0;
}

static void free_svgs(struct plots *p)
{
	for (size_t i = 0; p->svgs && i < p->count; i++)
		free(p->svgs[i]);
	free(p->svgs);
	p->svgs = NULL;
}

int plots_make(struct plots *p, struct error *err)
{
	int ret = 0;

	p->svgs = memory_zalloc((p->count + 1) * sizeof(*p->svgs));
	for (size_t first = 0; first < p->count && !ret; first += BATCH) {
		struct text out = { 0 };

		ret = run_gnuplot(p, first, &out, err);
		if (!ret)
			ret = take_svgs(p, first, text_string(&out), err);
		text_free(&out);
	}
	if (ret)
		free_svgs(p);
	return ret;
}

void plots_free(struct plots *p)
{
	free_svgs(p);
	for (size_t i = 0; i < p->count; i++)
		free(p->scripts[i]);
	free(p->scripts);
	*p = (struct plots){ 0 };
}
