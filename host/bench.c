// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Chooses boots and seed, and prints the table in the columns that patch letters use.
 */
#include "bench.h"

#include <errno.h>
#include <libgen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "baseline.h"
#include "statistics.h"
#include "util/text.h"

#define BOOTS	    10
#define BOOTS_EXACT 2 /* one would do: the second shows that it does */

/* A calibration that is off by more than this part of a figure is told with it. */
#define OVERHEAD_ERROR_TOLD 0.01

void bench_choose(struct options *o, bool exact, u64 start_ns)
{
	o->repeat = o->boots ? o->boots : exact ? BOOTS_EXACT : BOOTS;
	if (!o->seed && exact)
		o->seed = 1; /* the order is part of what is exact */
	else if (!o->seed)
		o->seed = start_ns % 0xffffffff + 1;
}

int bench_check_save(const char *path, struct error *err)
{
	char *copy = text_copy(path);
	const char *dir = dirname(copy);
	int result = 0;

	if (access(dir, W_OK))
		result = error_set(err, "--save %s: cannot write to %s: %s", path, dir,
				   strerror(errno));
	free(copy);
	return result;
}

int bench_finish(const struct options *o, const struct results *results, struct error *err)
{
	if (!o->ktap && !o->stream)
		bench_print(results_benchmarks(results), stdout);
	if (!o->save)
		return 0;
	if (!results_benchmarks(results)->count)
		return error_set(err, "nothing is saved in %s: no benchmark was measured", o->save);
	return baseline_save(o->save, results_dir(results), err);
}

/* ---- the table -------------------------------------------------------------------------------- */

static int name_width(const struct benchmarks *b)
{
	int width = 9;

	for (size_t i = 0; i < b->count; i++)
		width = MAX(width, (int)strlen(b->list[i].key));
	return width;
}

/* "[218.5, 219.5]"; of exact figures, whether boots agree. Malloced. */
static char *interval_text(const struct benchmark *b)
{
	double *medians = benchmark_values(b, FIGURE_P50);
	struct interval i;
	char *text;

	if (b->exact) {
		i = (struct interval){ INFINITY, -INFINITY };
		for (size_t n = 0; n < b->nr_boots; n++) {
			i.low = MIN(i.low, medians[n]);
			i.high = MAX(i.high, medians[n]);
		}
		text = i.low == i.high ? text_copy(b->nr_boots > 1 ? "exact" : "one boot")
				       : text_format("%.2f to %.2f", i.low, i.high);
	} else {
		i = median_interval(medians, b->nr_boots, benchmark_seed(b));
		text = text_format("[%.2f, %.2f]", i.low, i.high);
	}
	free(medians);
	return text;
}

/* "73.00" times the floor, or "-". Malloced. */
static char *ratio_text(const struct benchmarks *all, const struct benchmark *b)
{
	const struct benchmark *floor = benchmark_floor(all, b);
	double base = floor ? benchmark_median(floor, FIGURE_P50) : 0;

	if (base <= 0)
		return text_copy("-");
	return text_format("%.2f", benchmark_median(b, FIGURE_P50) / base);
}

static char *ns_text(const struct benchmark *b, double units)
{
	double unit_ns = benchmark_unit_ns(b);

	return unit_ns > 0 ? text_format("%.1f", units * unit_ns) : text_copy("-");
}

static void print_row(const struct benchmarks *all, const struct benchmark *b, int width, FILE *out)
{
	double median = benchmark_median(b, FIGURE_P50);
	double error = benchmark_median(b, FIGURE_OVERHEAD_ERROR);
	char *ratio = ratio_text(all, b), *interval = interval_text(b), *ns = ns_text(b, median);

	fprintf(out, "%-*s %8s %10.2f %10.2f %10.2f %10.2f %-18s %-6s %9s", width, b->key, ratio,
		benchmark_median(b, FIGURE_MEAN), benchmark_median(b, FIGURE_SD),
		benchmark_median(b, FIGURE_P95), median, interval, b->unit, ns);
	if (b->class)
		fprintf(out, "  %s", b->class);
	if (error > OVERHEAD_ERROR_TOLD * median)
		fprintf(out, "  (+-%.2f: calibration)", error);
	fputc('\n', out);
	free(ratio);
	free(interval);
	free(ns);
}

void bench_print(const struct benchmarks *b, FILE *out)
{
	int width = name_width(b);

	if (!b->count)
		return;
	fprintf(out, "%-*s %8s %10s %10s %10s %10s %-18s %-6s %9s\n", width, "", "ratio", "average",
		"sd", "p95", "median", "95 % of median", "unit", "median ns");
	for (size_t i = 0; i < b->count; i++)
		print_row(b, &b->list[i], width, out);
	fflush(out);
}
