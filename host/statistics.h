/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statistics of benchmarks, on the medians of boots. No distribution is assumed: intervals are
 * bootstrapped, the test is of ranks and its tail is counted, not approximated, as far as that is
 * feasible. What is drawn at random comes from a seed, so that the same data give the same figures.
 * docs/measuring.md says what each is good for.
 */
#ifndef HOST_STATISTICS_H
#define HOST_STATISTICS_H

#include "types.h"

/* A stream of random numbers; random_start() begins it. */
struct random {
	unsigned short state[3]; /* erand48(3) */
};

void random_start(struct random *r, u64 seed);
/* Below n, each as likely as the other; n is at least 1. */
size_t random_below(struct random *r, size_t n);
/* A random order of 0 … n - 1. */
void random_order(struct random *r, size_t *order, size_t n);

struct interval {
	double low, high;
};

/* Of n values, at least one, in any order. */
double median_of(const double *values, size_t n);
double mean_of(const double *values, size_t n);
/* With n - 1; 0 for a single value. */
double deviation_of(const double *values, size_t n);

/* Bootstrapped intervals (percentile) of 95 %: of the median, and of median(b) / median(a). */
struct interval median_interval(const double *values, size_t n, u64 seed);
struct interval ratio_interval(const double *a, size_t nr_a, const double *b, size_t nr_b,
			       u64 seed);

/*
 * The two-sided p-value of Mann and Whitney's test (Ann. Math. Statist. 18, 1947): how likely ranks
 * at least as uneven as these are where both come from the same distribution. Ties have middle ranks,
 * and the p-value is that of all divisions of these very values. Exact up to RANK_EXACT_MAX values
 * in both together, normal with corrections for ties and continuity above.
 */
#define RANK_EXACT_MAX 80
double rank_test(const double *a, size_t nr_a, const double *b, size_t nr_b);

/* The least p-value that so many values can give: all of one below all of the other. */
double rank_test_least(size_t nr_a, size_t nr_b);

/* Holm's correction (Scand. J. Statist. 6, 1979) of n p-values, in place. */
void holm_correct(double *p, size_t n);

/*
 * The least slowdown of b against a that rank_test() at level alpha finds 95 times in 100, and that
 * is then seen as at least threshold: 0.031 is 3.1 %. Simulated from the spread of these values.
 * INFINITY where so few values can find nothing.
 */
double least_detectable(const double *a, size_t nr_a, const double *b, size_t nr_b, double alpha,
			double threshold, u64 seed);

#endif
