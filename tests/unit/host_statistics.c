// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The statistics of benchmarks against figures that were worked out by hand or stand in tables, and
 * the two promises of a comparison: few false alarms, and no slowdown missed that it says it finds.
 */
#include "host_support.h"

#include <math.h>
#include "statistics.h"

#define ALPHA	  0.01
#define THRESHOLD 0.02
#define BOOTS	  10

#define near(a, b) assert_true(fabs((a) - (b)) < 1e-9)

/* ---- figures of one sample -------------------------------------------------------------------- */

static void test_median_mean_deviation(void **state)
{
	const double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };

	near(median_of(odd, 3), 2);
	near(median_of(even, 4), 2.5);
	near(median_of(one, 1), 7);
	near(mean_of(even, 4), 2.5);
	near(deviation_of(even, 4), sqrt(5.0 / 3));
	near(deviation_of(one, 1), 0);
}

static void test_intervals(void **state)
{
	double values[BOOTS], doubled[BOOTS];
	struct interval i, again;

	for (int n = 0; n < BOOTS; n++) {
		values[n] = 100 + n;
		doubled[n] = 2 * values[n];
	}
	i = median_interval(values, BOOTS, 1);
	again = median_interval(values, BOOTS, 1);
	assert_true(i.low >= 100 && i.low < 104.5 && i.high > 104.5 && i.high <= 109);
	near(i.low, again.low);
	near(i.high, again.high);
	i = ratio_interval(values, BOOTS, doubled, BOOTS, 1);
	assert_true(i.low < 2 && i.low > 1.8 && i.high > 2 && i.high < 2.2);
	i = median_interval(values, 1, 1);
	near(i.low, 100);
	near(i.high, 100);
}

static void test_order(void **state)
{
	size_t order[50], again[50];
	bool seen[50] = { 0 };
	struct random r;

	random_start(&r, 7);
	random_order(&r, order, 50);
	random_start(&r, 7);
	random_order(&r, again, 50);
	assert_memory_equal(order, again, sizeof(order));
	for (size_t i = 0; i < 50; i++)
		seen[order[i]] = true;
	for (size_t i = 0; i < 50; i++)
		assert_true(seen[i]);
	random_start(&r, 8);
	random_order(&r, again, 50);
	assert_memory_not_equal(order, again, sizeof(order));
}

/* ---- the test of ranks ------------------------------------------------------------------------ */

static void test_ranks_apart(void **state)
{
	const double low[] = { 1, 2, 3 }, high[] = { 4, 5, 6 };

	/* Of 20 divisions of six values, two are as uneven. */
	near(rank_test(low, 3, high, 3), 0.1);
	near(rank_test(high, 3, low, 3), 0.1);
	near(rank_test_least(3, 3), 0.1);
	near(rank_test_least(10, 10), 2.0 / 184756);
	near(rank_test_least(1, 1), 1);
}

static void test_ranks_mixed(void **state)
{
	/* U is 5 of 30; 19 of the 462 divisions have that or less, by enumeration. */
	const double a[] = { 1, 2, 4, 5, 8 }, b[] = { 3, 6, 7, 9, 10, 11 };
	size_t below = 0;

	for (int i = 0; i < 5; i++) {
		for (int j = 0; j < 6; j++)
			below += a[i] > b[j];
	}
	assert_int_equal(below, 5);
	near(rank_test(a, 5, b, 6), 2 * 19 / 462.0);
}

static void test_ranks_tied(void **state)
{
	const double same[] = { 5, 5, 5, 5, 5 }, a[] = { 1, 1, 2 }, b[] = { 2, 3, 3 };

	near(rank_test(same, 5, same, 5), 1);
	/*
	 * Middle ranks 1.5 1.5 3.5 3.5 5.5 5.5, whose sums of three lie around 10.5. b's is 14.5; of
	 * the 20 choices 2 have 14.5 (both 5.5 with either 3.5) and 2 have 6.5.
	 */
	near(rank_test(a, 3, b, 3), 4.0 / 20);
}

/* At the border between counting and the normal tail both say the same. */
static void test_ranks_many(void **state)
{
	double a[60], b[60], exact, normal;

	for (int i = 0; i < 60; i++) {
		a[i] = i * 7 % 60;
		b[i] = i * 7 % 60 + 9.5;
	}
	exact = rank_test(a, 40, b, 40);
	normal = rank_test(a, 41, b, 40);
	assert_true(exact > 0.001 && exact < 0.2);
	assert_true(fabs(exact - normal) < 0.25 * exact);
}

static void test_holm(void **state)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, one[] = { 0.2 }, high[] = { 0.9, 0.8 };

	holm_correct(p, 4);
	near(p[0], 0.03);
	near(p[1], 0.06);
	near(p[2], 0.06);
	near(p[3], 0.02);
	holm_correct(one, 1);
	near(one[0], 0.2);
	holm_correct(high, 2);
	near(high[0], 1);
	near(high[1], 1);
}

/* ---- promises --------------------------------------------------------------------------------- */

/* Boots as they are seen: around one value, with outliers, at two values, in coarse steps. */
enum boots {
	BOOTS_NORMAL,
	BOOTS_OUTLIERS,
	BOOTS_BIMODAL,
	BOOTS_COARSE,
	BOOTS_KINDS
};

struct source {
	struct random random;
	enum boots kind;
	double spread;
};

static double uniform(struct source *s)
{
	return (random_below(&s->random, 1 << 24) + 0.5) / (1 << 24);
}

/* The sum of twelve uniform numbers has a variance of 1. */
static double normal(struct source *s)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += uniform(s);
	return sum;
}

static double boot(struct source *s)
{
	double value = exp(s->spread * normal(s));

	switch (s->kind) {
	case BOOTS_OUTLIERS:
		return 1000 * value * (uniform(s) < 0.1 ? 1.1 : 1);
	case BOOTS_BIMODAL:
		return 1000 * (uniform(s) < 0.5 ? 1 : 1 + 2 * s->spread) * pow(value, 0.25);
	case BOOTS_COARSE:
		return round(40 * value);
	default:
		return 1000 * value;
	}
}

static void record(struct source *s, double *boots, size_t n)
{
	for (size_t i = 0; i < n; i++)
		boots[i] = boot(s);
}

static void resample(struct random *r, const double *pool, size_t nr_pool, double slowdown,
		     double *to)
{
	for (size_t i = 0; i < BOOTS; i++)
		to[i] = pool[random_below(r, nr_pool)] * (1 + slowdown);
}

static double change_found(const double *a, const double *b)
{
	double change = median_of(b, BOOTS) / median_of(a, BOOTS) - 1;

	return rank_test(a, BOOTS, b, BOOTS) <= ALPHA && fabs(change) >= THRESHOLD ? change : 0;
}

/* A kernel with itself, a hundred times: at most one comparison says slower. */
static void test_false_alarms(void **state)
{
	for (enum boots kind = 0; kind < BOOTS_KINDS; kind++) {
		struct source s = { .kind = kind, .spread = 0.02 };
		double pool[4 * BOOTS], a[BOOTS], b[BOOTS];
		int alarms = 0;

		random_start(&s.random, 11 + kind);
		record(&s, pool, 4 * BOOTS);
		for (int i = 0; i < 100; i++) {
			resample(&s.random, pool, 4 * BOOTS, 0, a);
			resample(&s.random, pool, 4 * BOOTS, 0, b);
			alarms += change_found(a, b) > 0;
		}
		if (alarms > 1)
			fail_msg("kind %d: %d false alarms in 100 comparisons", kind, alarms);
	}
}

/*
 * A slowdown of the size that a comparison names, injected into the boots that it compared, is found
 * 95 times in 100. Each time is a draw: over 10 recordings of each kind on the whole.
 */
static void test_power(void **state)
{
	for (enum boots kind = 0; kind < BOOTS_KINDS; kind++) {
		struct source s = { .kind = kind, .spread = 0.02 };
		int found = 0;

		random_start(&s.random, 21 + kind);
		for (int recording = 0; recording < 10; recording++) {
			double pool[2 * BOOTS], a[BOOTS], b[BOOTS], detectable;

			record(&s, pool, 2 * BOOTS);
			detectable = least_detectable(pool, BOOTS, pool + BOOTS, BOOTS, ALPHA,
						      THRESHOLD, recording);
			for (int i = 0; i < 100; i++) {
				resample(&s.random, pool, 2 * BOOTS, 0, a);
				resample(&s.random, pool, 2 * BOOTS, detectable, b);
				found += change_found(a, b) > 0;
			}
		}
		if (found < 950)
			fail_msg("kind %d: found %d slowdowns of 1000", kind, found);
	}
}

/* Where the boots of both sides spread by at most 2 %, ten of each find 5 %. */
static void test_detectable_is_small(void **state)
{
	struct source s = { .kind = BOOTS_NORMAL, .spread = 0.02 };
	size_t quiet = 0;

	random_start(&s.random, 31);
	for (size_t i = 0; i < 40; i++) {
		double a[BOOTS], b[BOOTS], spread, found;

		record(&s, a, BOOTS);
		record(&s, b, BOOTS);
		spread = MAX(deviation_of(a, BOOTS) / mean_of(a, BOOTS),
			     deviation_of(b, BOOTS) / mean_of(b, BOOTS));
		found = least_detectable(a, BOOTS, b, BOOTS, ALPHA, THRESHOLD, i);
		if (spread <= 0.02 && found > 0.05)
			fail_msg("spread %.4f: only %.4f would be found", spread, found);
		quiet += spread <= 0.02;
	}
	assert_true(quiet >= 10);
}

static void test_detectable_limits(void **state)
{
	const double few[] = { 100, 101, 102 }, quiet[] = { 5, 5, 5, 5, 5, 5, 5, 5, 5, 5 };

	assert_true(isinf(least_detectable(few, 3, few, 3, ALPHA, THRESHOLD, 1)));
	/* Without any noise the threshold is all that is in the way. */
	near(least_detectable(quiet, 10, quiet, 10, ALPHA, THRESHOLD, 1), THRESHOLD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_median_mean_deviation),
		cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ranks_apart),
		cmocka_unit_test(test_ranks_mixed),
		cmocka_unit_test(test_ranks_tied),
		cmocka_unit_test(test_ranks_many),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_false_alarms),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_detectable_is_small),
		cmocka_unit_test(test_detectable_limits),
	};

	return cmocka_run_group_tests_name("statistics", tests, NULL, NULL);
}
