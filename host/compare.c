// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Compares by ranks of boots, or by equality where time is made of instructions.
 */
#include "compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "util/memory.h"
#include "util/text.h"

/* One clock measured twice differs by some 100 ppm; two clocks by more than this part. */
#define SAME_HZ 0.01

/* The medians of the boots of one side, in the row's unit. */
struct sample {
	double *values;
	size_t n;
};

/* ---- can they be compared? -------------------------------------------------------------------- */

static bool same_hz(const struct benchmark *a, const struct benchmark *b)
{
	return fabs(a->hz - b->hz) <= SAME_HZ * MAX(a->hz, b->hz);
}

static bool any_zero(const struct benchmark *b)
{
	for (size_t i = 0; i < b->nr_boots; i++) {
		if (b->boots[i].figures[FIGURE_P50] <= 0)
			return true;
	}
	return false;
}

/* Why not, malloced, or NULL. */
static char *obstacle(const struct benchmark *old, const struct benchmark *new)
{
	if (!new)
		return text_copy("only in the old file");
	if (!old)
		return text_copy("only in the new file");
	if (old->exact != new->exact)
		return text_format("instructions cannot be compared with time (the %s one is of "
				   "icount)",
				   old->exact ? "old" : "new");
	if (strcmp(old->unit, new->unit) != 0)
		return text_format("measured in %s, then in %s", old->unit, new->unit);
	if (old->exact && !same_hz(old, new))
		return text_format("%s of %.0f Hz, then of %.0f Hz", old->unit, old->hz, new->hz);
	if (!old->exact && (any_zero(old) || any_zero(new)))
		return text_copy("a boot's median is 0: less than its clock can tell");
	return NULL;
}

/* ---- exact figures ---------------------------------------------------------------------------- */

static void range_of(const struct benchmark *b, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < b->nr_boots; i++) {
		*low = MIN(*low, b->boots[i].figures[FIGURE_P50]);
		*high = MAX(*high, b->boots[i].figures[FIGURE_P50]);
	}
}

/* Where boots differ by themselves, only what lies outside of all of them is a change. */
static void compare_exact(struct compare_row *row)
{
	double old_low, old_high, new_low, new_high;

	range_of(row->old, &old_low, &old_high);
	range_of(row->new, &new_low, &new_high);
	if (new_low > old_high)
		row->change = CHANGE_SLOWER;
	else if (new_high < old_low)
		row->change = CHANGE_FASTER;
	else
		row->change = CHANGE_NONE;
}

/* ---- statistics ------------------------------------------------------------------------------- */

static struct sample take_sample(const struct benchmark *b, double scale)
{
	struct sample s = { benchmark_values(b, FIGURE_P50), b->nr_boots };

	for (size_t i = 0; i < s.n; i++)
		s.values[i] *= scale;
	return s;
}

static void take_samples(const struct compare_row *row, struct sample *old, struct sample *new)
{
	bool ns = !strcmp(row->unit, "ns");

	*old = take_sample(row->old, ns ? benchmark_unit_ns(row->old) : 1);
	*new = take_sample(row->new, ns ? benchmark_unit_ns(row->new) : 1);
}

/* All that can be said of one benchmark without the others. */
static void describe(struct compare_row *row)
{
	struct sample old, new;

	row->exact = row->old->exact;
	row->unit = !row->exact && row->old->hz > 0 && row->new->hz > 0 ? "ns" : row->old->unit;
	take_samples(row, &old, &new);
	row->before = median_of(old.values, old.n);
	row->after = median_of(new.values, new.n);
	if (!row->exact) {
		row->interval = ratio_interval(old.values, old.n, new.values, new.n,
					       benchmark_seed(row->old));
		row->p = rank_test(old.values, old.n, new.values, new.n);
	}
	free(old.values);
	free(new.values);
}

static size_t boots_needed(double alpha)
{
	size_t n = 1;

	while (rank_test_least(n, n) > alpha)
		n++;
	return n;
}

/* alpha: what is left for this one benchmark, when all others claim nothing. */
static void tell_power(struct compare_row *row, double alpha, double threshold)
{
	struct sample old, new;

	take_samples(row, &old, &new);
	row->detectable = least_detectable(old.values, old.n, new.values, new.n, alpha, threshold,
					   benchmark_seed(row->old));
	if (isinf(row->detectable))
		row->boots_needed = boots_needed(alpha);
	free(old.values);
	free(new.values);
}

static void decide(struct compare_row *row, double threshold)
{
	double change = row->after / row->before - 1;

	if (row->p > COMPARE_ALPHA || fabs(change) < threshold)
		row->change = CHANGE_NONE;
	else
		row->change = change > 0 ? CHANGE_SLOWER : CHANGE_FASTER;
}

static bool is_statistical(const struct compare_row *row)
{
	return row->change != CHANGE_UNKNOWN && !row->exact;
}

/* The p-values are corrected together, so they are decided on together. */
static void decide_all(struct comparison *c)
{
	double *p = memory_resize(NULL, c->count + 1, sizeof(*p));
	size_t n = 0;

	for (size_t i = 0; i < c->count; i++) {
		if (is_statistical(&c->rows[i]))
			p[n++] = c->rows[i].p;
	}
	holm_correct(p, n);
	for (size_t i = 0, at = 0; i < c->count; i++) {
		struct compare_row *row = &c->rows[i];

		if (!is_statistical(row))
			continue;
		row->p = p[at++];
		tell_power(row, COMPARE_ALPHA / n, c->threshold);
		decide(row, c->threshold);
	}
	free(p);
}

/* ---- the whole -------------------------------------------------------------------------------- */

static void add_row(struct comparison *c, const struct benchmark *old, const struct benchmark *new)
{
	struct compare_row *row;

	c->rows = memory_resize(c->rows, c->count + 1, sizeof(*c->rows));
	row = &c->rows[c->count++];
	*row = (struct compare_row){ .old = old, .new = new };
	row->reason = obstacle(old, new);
	if (row->reason) {
		row->change = CHANGE_UNKNOWN;
		return;
	}
	c->compared++;
	describe(row);
	if (row->exact)
		compare_exact(row);
}

void compare_benchmarks(const struct benchmarks *old, const struct benchmarks *new,
			double threshold, struct comparison *c)
{
	*c = (struct comparison){ .threshold = threshold };
	for (size_t i = 0; i < old->count; i++)
		add_row(c, &old->list[i], benchmarks_find(new, old->list[i].key));
	for (size_t i = 0; i < new->count; i++) {
		if (!benchmarks_find(old, new->list[i].key))
			add_row(c, NULL, &new->list[i]);
	}
	decide_all(c);
	for (size_t i = 0; i < c->count; i++) {
		c->slower += c->rows[i].change == CHANGE_SLOWER;
		c->faster += c->rows[i].change == CHANGE_FASTER;
	}
}

void comparison_free(struct comparison *c)
{
	for (size_t i = 0; i < c->count; i++)
		free(c->rows[i].reason);
	free(c->rows);
	*c = (struct comparison){ 0 };
}
