// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads measurements. They come from guests: nothing about them is taken for granted.
 */
#include "figures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "record.h"
#include "util/memory.h"

enum figure_kind figure_kind_of(const json_t *measurement)
{
	static const char *const names[] = {
		[FIGURE_BENCH] = "bench",
		[FIGURE_HISTOGRAM] = "histogram",
	};
	const char *kind = record_string(measurement, "kind");

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!strcmp(names[i], kind))
			return i;
	}
	return FIGURE_OTHER;
}

size_t figures_count(const json_t *test, enum figure_kind kind)
{
	const json_t *list = json_object_get(test, "measurements");
	size_t count = 0;

	for (size_t i = 0; i < json_array_size(list); i++)
		count += figure_kind_of(json_array_get(list, i)) == kind;
	return count;
}

static bool is_figure(const json_t *m, enum figure_kind kind, const char *name)
{
	return figure_kind_of(m) == kind && !strcmp(record_string(m, "name"), name);
}

const json_t *figure_find(const json_t *test, enum figure_kind kind, const char *name)
{
	const json_t *list = json_object_get(test, "measurements");

	for (size_t i = 0; i < json_array_size(list); i++) {
		if (is_figure(json_array_get(list, i), kind, name))
			return json_array_get(list, i);
	}
	return NULL;
}

double figure_unit_ns(const json_t *measurement)
{
	double hz = record_number(measurement, "hz");

	if (!strcmp(record_string(measurement, "unit"), "ns"))
		return 1;
	return hz > 0 ? 1e9 / hz : 0;
}

double figure_floor_ratio(const json_t *test, const json_t *bench)
{
	const char *name = record_text(bench, "floor");
	const json_t *floor = name ? figure_find(test, FIGURE_BENCH, name) : NULL;
	double own = record_number(bench, "p50"), least = record_number(floor, "p50");

	/* Only where both are of one unit. */
	if (!floor || least <= 0 ||
	    strcmp(record_string(bench, "unit"), record_string(floor, "unit")) ||
	    record_number(bench, "hz") != record_number(floor, "hz"))
		return 0;
	return own / least;
}

void text_append_figure(struct text *t, double value)
{
	double size = fabs(value);
	int digits = size >= 100 || size == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;

	text_printf(t, size < 1e15 ? "%.*f" : "%.*g", size < 1e15 ? digits : 6, value);
}

/* "X:Y,X:Y": up to the first that is none. */
static void take_points(struct figure_points *p, const char *s)
{
	struct figure_point point;
	char *end;

	while (*s) {
		point.x = strtod(s, &end);
		if (end == s || *end != ':')
			return;
		s = end + 1;
		point.y = strtod(s, &end);
		if (end == s || !isfinite(point.x) || !isfinite(point.y))
			return;
		/* The room doubles whenever it is used up. */
		if (!(p->count & (p->count - 1)))
			p->list = memory_resize(p->list, p->count ? p->count * 2 : 1,
						sizeof(*p->list));
		p->list[p->count++] = point;
		s = end + (*end == ',');
	}
}

static int compare_points(const void *a, const void *b)
{
	const struct figure_point *p = a, *q = b;

	return p->x < q->x ? -1 : p->x > q->x;
}

/* In the order of x; what has the same x becomes one. */
static void merge_points(struct figure_points *p)
{
	size_t kept = 0;

	if (!p->count)
		return;
	qsort(p->list, p->count, sizeof(*p->list), compare_points);
	for (size_t i = 1; i < p->count; i++) {
		if (p->list[i].x == p->list[kept].x)
			p->list[kept].y += p->list[i].y;
		else
			p->list[++kept] = p->list[i];
	}
	p->count = kept + 1;
}

struct figure_points figure_histogram(const json_t *tests, const char *key, const char *name)
{
	struct figure_points p = { 0 };

	for (size_t i = 0; i < json_array_size(tests); i++) {
		const json_t *test = json_array_get(tests, i);
		const json_t *list = json_object_get(test, "measurements");

		if (strcmp(record_string(test, "key"), key))
			continue;
		for (size_t j = 0; j < json_array_size(list); j++) {
			const json_t *m = json_array_get(list, j);

			if (is_figure(m, FIGURE_HISTOGRAM, name))
				take_points(&p, record_string(m, "buckets"));
		}
	}
	merge_points(&p);
	return p;
}

void figure_points_free(struct figure_points *p)
{
	free(p->list);
	*p = (struct figure_points){ 0 };
}
