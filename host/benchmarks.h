/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What benchmarks gave, boot by boot: gathered from the measurements of tests, and the array
 * "benchmarks" of results.json (docs/results.md).
 */
#ifndef HOST_BENCHMARKS_H
#define HOST_BENCHMARKS_H

#include <jansson.h>
#include "types.h"
#include "util/error.h"

/* The figures of one boot, of one operation, in the benchmark's unit. */
enum bench_figure {
	FIGURE_OVERHEAD,
	FIGURE_OVERHEAD_ERROR,
	FIGURE_MIN,
	FIGURE_P50,
	FIGURE_P95,
	FIGURE_P99,
	FIGURE_MAX,
	FIGURE_MEAN,
	FIGURE_SD,
	FIGURE_COUNT
};

struct bench_boot {
	u64 repetition; /* of the test */
	u64 n, batch, zeros;
	double figures[FIGURE_COUNT];
};

struct benchmark {
	char *key;   /* "arm64/counter-read/cntpct" */
	char *test;  /* "arm64/counter-read": the first part of key */
	char *name;  /* "cntpct": the rest */
	char *unit;  /* "ticks", "cycles" */
	double hz;   /* of the unit; 0: not known */
	char *floor; /* name of a benchmark of the same test, or NULL */
	char *class; /* "native", "trapped", "offset", or NULL */
	char *accel; /* what the guest ran under */
	bool exact;  /* time was counted in instructions (icount): a boot has no luck */
	struct bench_boot *boots;
	size_t nr_boots;
};

struct benchmarks {
	struct benchmark *list; /* in the order in which they first came */
	size_t count;
};

/*
 * Adds all that a test's record has measured (kind=bench); a measurement that lacks a figure is left
 * out. exact: see struct benchmark.
 */
void benchmarks_add_record(struct benchmarks *b, const json_t *record, bool exact);

/* One element of the array, with the figures that were computed of its boots. */
json_t *benchmark_json(const struct benchmark *b);

/* Adds the elements of such an array. -1 with err naming the element that is none. */
int benchmarks_add_json(struct benchmarks *b, const json_t *array, struct error *err);

void benchmarks_free(struct benchmarks *b);

/* By key; NULL where there is none. */
const struct benchmark *benchmarks_find(const struct benchmarks *b, const char *key);

/* The benchmark that this one is to be a ratio of, or NULL. */
const struct benchmark *benchmark_floor(const struct benchmarks *b, const struct benchmark *of);

/* One figure of every boot; the caller frees. */
double *benchmark_values(const struct benchmark *b, enum bench_figure figure);

/* The median over all boots of such a figure. */
double benchmark_median(const struct benchmark *b, enum bench_figure figure);

/* Nanoseconds in one of its units: 0 where they are not known. */
double benchmark_unit_ns(const struct benchmark *b);

/* A seed of its own for each benchmark, the same in every run. */
u64 benchmark_seed(const struct benchmark *b);

#endif
