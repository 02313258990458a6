/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measurements of a test's record as the views show them: benchmarks, histograms, and what is
 * neither. docs/protocol.md has their fields.
 */
#ifndef HOST_FIGURES_H
#define HOST_FIGURES_H

#include <jansson.h>
#include "types.h"
#include "util/text.h"

enum figure_kind {
	FIGURE_BENCH,
	FIGURE_HISTOGRAM,
	FIGURE_OTHER,
};

enum figure_kind figure_kind_of(const json_t *measurement);

/* How many of the test's measurements are of that kind. */
size_t figures_count(const json_t *test, enum figure_kind kind);

/* The measurement of that kind and name, the first part of it; or NULL. */
const json_t *figure_find(const json_t *test, enum figure_kind kind, const char *name);

/*
 * Nanoseconds in one unit of the measurement: 1 for "ns", from "hz" for ticks and cycles; 0 where
 * the measurement does not say.
 */
double figure_unit_ns(const json_t *measurement);

/* The median as a multiple of that of the benchmark's floor, or 0 where there is none. */
double figure_floor_ratio(const json_t *test, const json_t *bench);

/* A number as tables show it: three digits at least, no more behind the point than these need. */
void text_append_figure(struct text *t, double value);

struct figure_point {
	double x, y; /* of a histogram: lower bound of a bucket, count */
};

struct figure_points {
	struct figure_point *list;
	size_t count;
};

/*
 * All parts of a histogram of the tests of that key, all its repetitions together, in the order of
 * its x, each x once. What is no "X:Y" pair of finite numbers is left out.
 */
struct figure_points figure_histogram(const json_t *tests, const char *key, const char *name);
void figure_points_free(struct figure_points *p);

#endif
