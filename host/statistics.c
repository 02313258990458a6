// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Medians, their bootstrap, a test of ranks with its exact tail, and what that test can find.
 */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "util/memory.h"

#define RESAMPLES   2000 /* the ends of an interval of 95 % are then the 50th values from the ends */
#define SIMULATIONS 1000
/*
 * A slowdown of the size that least_detectable() gives is to be found 95 times in 100. The spread it
 * is computed from is itself an estimate from few values, so it aims higher.
 */
#define POWER 0.97
/* Noise on each redrawn value, in standard deviations: few values have no value between them. */
#define SMOOTHING 0.1

/* ---- random numbers --------------------------------------------------------------------------- */

void random_start(struct random *r, u64 seed)
{
	for (size_t i = 0; i < ARRAY_SIZE(r->state); i++)
		r->state[i] = seed >> (16 * i);
	/* Neighbouring seeds begin with neighbouring numbers. */
	for (int i = 0; i < 8; i++)
		erand48(r->state);
}

size_t random_below(struct random *r, size_t n)
{
	return erand48(r->state) * n;
}

void random_order(struct random *r, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t other = random_below(r, i + 1);

		order[i] = order[other];
		order[other] = i;
	}
}

/* Of the standard normal distribution (Box and Muller, Ann. Math. Statist. 29, 1958). */
static double random_normal(struct random *r)
{
	double radius = sqrt(-2 * log(1 - erand48(r->state)));

	return radius * cos(2 * M_PI * erand48(r->state));
}

static void redraw(struct random *r, const double *from, size_t nr_from, double *to, size_t nr_to)
{
	for (size_t i = 0; i < nr_to; i++)
		to[i] = from[random_below(r, nr_from)];
}

/* ---- figures of one sample -------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), compare_doubles);
}

static double *copy_of(const double *values, size_t n)
{
	double *copy = memory_resize(NULL, n, sizeof(*copy));

	memcpy(copy, values, n * sizeof(*copy));
	return copy;
}

static double median_in_place(double *values, size_t n)
{
	sort(values, n);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

double median_of(const double *values, size_t n)
{
	double *copy = copy_of(values, n);
	double median = median_in_place(copy, n);

	free(copy);
	return median;
}

double mean_of(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum / n;
}

double deviation_of(const double *values, size_t n)
{
	double mean = mean_of(values, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return n > 1 ? sqrt(sum / (n - 1)) : 0;
}

/* ---- intervals -------------------------------------------------------------------------------- */

/* The middle 95 % of RESAMPLES values; sorts them. */
static struct interval middle(double *values)
{
	size_t tail = RESAMPLES / 40;

	sort(values, RESAMPLES);
	return (struct interval){ values[tail - 1], values[RESAMPLES - tail] };
}

struct interval median_interval(const double *values, size_t n, u64 seed)
{
	double *drawn = memory_resize(NULL, n, sizeof(*drawn)), medians[RESAMPLES];
	struct random r;

	random_start(&r, seed);
	for (size_t i = 0; i < RESAMPLES; i++) {
		redraw(&r, values, n, drawn, n);
		medians[i] = median_in_place(drawn, n);
	}
	free(drawn);
	return middle(medians);
}

struct interval ratio_interval(const double *a, size_t nr_a, const double *b, size_t nr_b, u64 seed)
{
	double *drawn = memory_resize(NULL, MAX(nr_a, nr_b), sizeof(*drawn)), ratios[RESAMPLES];
	struct random r;

	random_start(&r, seed);
	for (size_t i = 0; i < RESAMPLES; i++) {
		double base;

		redraw(&r, a, nr_a, drawn, nr_a);
		base = median_in_place(drawn, nr_a);
		redraw(&r, b, nr_b, drawn, nr_b);
		ratios[i] = median_in_place(drawn, nr_b) / base;
	}
	free(drawn);
	return middle(ratios);
}

/* ---- the test of ranks ------------------------------------------------------------------------ */

/*
 * The ranks of n sorted values, doubled so that middle ranks are whole numbers. Returns the sum of
 * t^3 - t over all groups of t ties.
 */
static double rank_sorted(const double *sorted, size_t n, unsigned int *doubled)
{
	double ties = 0;

	for (size_t i = 0, end; i < n; i = end) {
		double t;

		for (end = i + 1; end < n && sorted[end] == sorted[i]; end++)
			;
		for (size_t j = i; j < end; j++)
			doubled[j] = i + 1 + end;
		t = end - i;
		ties += t * t * t - t;
	}
	return ties;
}

static unsigned int rank_of(const double *sorted, size_t n, const unsigned int *doubled,
			    double value)
{
	const double *at = bsearch(&value, sorted, n, sizeof(*sorted), compare_doubles);

	return doubled[at - sorted];
}

/*
 * Counts, for every sum, the choices of "chosen" out of n ranks that have it. The counts are whole
 * numbers that a double holds to 16 digits; the caller frees.
 */
static double *count_sums(const unsigned int *ranks, size_t n, size_t chosen, size_t sum_max)
{
	double *counts = memory_zalloc((chosen + 1) * (sum_max + 1) * sizeof(*counts));

	counts[0] = 1;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = MIN(i + 1, chosen); k > 0; k--) {
			double *row = counts + k * (sum_max + 1);
			const double *before = row - (sum_max + 1);

			for (size_t sum = ranks[i]; sum <= sum_max; sum++)
				row[sum] += before[sum - ranks[i]];
		}
	}
	return counts;
}

/* The part of all choices whose sum is at least as far from the middle as this one. */
static double exact_tail(const unsigned int *ranks, size_t n, size_t chosen, size_t sum)
{
	size_t sum_max = n * (n + 1); /* of all doubled ranks */
	double *counts = count_sums(ranks, n, chosen, sum_max);
	const double *row = counts + chosen * (sum_max + 1);
	double middle = chosen * (n + 1.0), tail = 0, all = 0;

	for (size_t s = 0; s <= sum_max; s++) {
		all += row[s];
		if (fabs(s - middle) >= fabs(sum - middle))
			tail += row[s];
	}
	free(counts);
	return tail / all;
}

/* In doubled ranks; the variance is that of a choice without replacement, less what ties take. */
static double normal_tail(double n, double chosen, double sum, double ties)
{
	double middle = chosen * (n + 1);
	double others = n - chosen;
	double variance = chosen * others / 3 * (n + 1 - ties / (n * (n - 1)));
	double distance = fabs(sum - middle) - 1;

	if (variance <= 0 || distance <= 0)
		return 1;
	return erfc(distance / sqrt(2 * variance));
}

double rank_test(const double *a, size_t nr_a, const double *b, size_t nr_b)
{
	size_t n = nr_a + nr_b, sum = 0;
	double *all = memory_resize(NULL, n, sizeof(*all)), ties, p;
	unsigned int *ranks = memory_resize(NULL, n, sizeof(*ranks));

	memcpy(all, a, nr_a * sizeof(*a));
	memcpy(all + nr_a, b, nr_b * sizeof(*b));
	sort(all, n);
	ties = rank_sorted(all, n, ranks);
	for (size_t i = 0; i < nr_b; i++)
		sum += rank_of(all, n, ranks, b[i]);
	if (n <= RANK_EXACT_MAX)
		p = exact_tail(ranks, n, nr_b, sum);
	else
		p = normal_tail(n, nr_b, sum, ties);
	free(all);
	free(ranks);
	return p;
}

double rank_test_least(size_t nr_a, size_t nr_b)
{
	double p = 2;

	for (size_t i = 1; i <= nr_b; i++)
		p *= (double)i / (nr_a + i);
	return MIN(p, 1.0);
}

void holm_correct(double *p, size_t n)
{
	double *sorted = copy_of(p, n), *corrected = memory_resize(NULL, n, sizeof(*corrected));
	double worst = 0;

	sort(sorted, n);
	for (size_t i = 0; i < n; i++) {
		worst = MAX(worst, MIN(sorted[i] * (n - i), 1.0));
		corrected[i] = worst;
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = 0;

		while (sorted[at] != p[i])
			at++;
		p[i] = corrected[at];
	}
	free(sorted);
	free(corrected);
}

/* ---- power ------------------------------------------------------------------------------------ */

/*
 * Of the nr_a * nr_b pairs, how many must have b above a for a p-value of at most alpha, without
 * ties; more than there are pairs where none is enough.
 */
static size_t pairs_wanted(size_t nr_a, size_t nr_b, double alpha)
{
	size_t n = nr_a + nr_b, sum_max = n * (n + 1), pairs = nr_a * nr_b;
	unsigned int *ranks = memory_resize(NULL, n, sizeof(*ranks));
	double *counts, *row, all = 0, tail = 0;

	for (size_t i = 0; i < n; i++)
		ranks[i] = 2 * (i + 1);
	counts = count_sums(ranks, n, nr_b, sum_max);
	row = counts + nr_b * (sum_max + 1);
	for (size_t s = 0; s <= sum_max; s++)
		all += row[s];
	/* So many pairs make a doubled sum of nr_b * (nr_b + 1) + 2 * pairs. */
	for (pairs++; pairs > 0; pairs--) {
		tail += row[nr_b * (nr_b + 1) + 2 * (pairs - 1)];
		if (2 * tail > alpha * all)
			break;
	}
	free(counts);
	free(ranks);
	return pairs;
}

/* The same by the normal approximation, where counting would take long. */
static size_t pairs_wanted_normal(size_t nr_a, size_t nr_b, double alpha)
{
	size_t n = nr_a + nr_b, low = nr_a * nr_b / 2, high = nr_a * nr_b;

	while (low < high) {
		size_t pairs = (low + high) / 2;
		double sum = nr_b * (nr_b + 1) + 2.0 * pairs;

		if (normal_tail(n, nr_b, sum, 0) <= alpha)
			high = pairs;
		else
			low = pairs + 1;
	}
	return low;
}

/* Logarithms of values against their median: a slowdown is then a shift. */
static void residuals_of(const double *values, size_t n, double *to)
{
	double median = median_of(values, n);

	for (size_t i = 0; i < n; i++)
		to[i] = log(values[i] / median);
}

/*
 * What is left of both samples without a difference between them: what the two are as one, unless
 * they do differ. Returns how many medians were fitted to them.
 */
static int pool_residuals(const double *a, size_t nr_a, const double *b, size_t nr_b, double alpha,
			  double *to)
{
	if (rank_test(a, nr_a, b, nr_b) <= alpha) {
		residuals_of(a, nr_a, to);
		residuals_of(b, nr_b, to + nr_a);
		return 2;
	}
	memcpy(to, a, nr_a * sizeof(*a));
	memcpy(to + nr_a, b, nr_b * sizeof(*b));
	residuals_of(to, nr_a + nr_b, to);
	return 1;
}

struct simulation {
	const double *residuals;
	size_t nr_residuals;
	size_t nr_a, nr_b;
	size_t wanted;
	double smoothing, scale, least_shift;
	double *a, *b, *differences;
};

static void redraw_smoothed(const struct simulation *s, struct random *r, double *to, size_t n)
{
	redraw(r, s->residuals, s->nr_residuals, to, n);
	for (size_t i = 0; i < n; i++)
		to[i] = s->scale * to[i] + s->smoothing * random_normal(r);
}

/* Two samples without a difference: how far has b to be shifted for the test to find it? */
static double simulate(const struct simulation *s, struct random *r)
{
	double shift, rank_shift;

	redraw_smoothed(s, r, s->a, s->nr_a);
	redraw_smoothed(s, r, s->b, s->nr_b);
	for (size_t i = 0; i < s->nr_a; i++) {
		for (size_t j = 0; j < s->nr_b; j++)
			s->differences[i * s->nr_b + j] = s->a[i] - s->b[j];
	}
	sort(s->differences, s->nr_a * s->nr_b);
	rank_shift = s->differences[s->wanted - 1];
	shift = s->least_shift + median_in_place(s->a, s->nr_a) - median_in_place(s->b, s->nr_b);
	return MAX(shift, rank_shift);
}

double least_detectable(const double *a, size_t nr_a, const double *b, size_t nr_b, double alpha,
			double threshold, u64 seed)
{
	size_t n = nr_a + nr_b, pairs = nr_a * nr_b;
	size_t wanted = n <= RANK_EXACT_MAX ? pairs_wanted(nr_a, nr_b, alpha)
					    : pairs_wanted_normal(nr_a, nr_b, alpha);
	double *memory, *residuals, shifts[SIMULATIONS];
	struct simulation s = { .nr_a = nr_a, .nr_b = nr_b, .wanted = wanted };
	struct random r;
	int fitted;

	if (rank_test_least(nr_a, nr_b) > alpha)
		return INFINITY;
	memory = memory_resize(NULL, 2 * n + pairs, sizeof(*memory));
	residuals = memory;
	fitted = pool_residuals(a, nr_a, b, nr_b, alpha, residuals);
	s.residuals = residuals;
	s.nr_residuals = n;
	s.a = memory + n;
	s.b = s.a + nr_a;
	s.differences = s.b + nr_b;
	s.scale = sqrt((double)n / (n - fitted));
	s.smoothing = SMOOTHING * deviation_of(residuals, n);
	s.least_shift = log1p(threshold);
	random_start(&r, seed);
	for (size_t i = 0; i < SIMULATIONS; i++)
		shifts[i] = simulate(&s, &r);
	sort(shifts, SIMULATIONS);
	free(memory);
	return expm1(shifts[(size_t)(POWER * SIMULATIONS)]);
}
