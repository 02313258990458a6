// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Gathers measurements by benchmark, and turns them to JSON and back.
 */
#include "benchmarks.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include "statistics.h"
#include "util/memory.h"
#include "util/text.h"

static const char *const figure_names[FIGURE_COUNT] = {
	[FIGURE_OVERHEAD] = "overhead",
	[FIGURE_OVERHEAD_ERROR] = "overhead-error",
	[FIGURE_MIN] = "min",
	[FIGURE_P50] = "p50",
	[FIGURE_P95] = "p95",
	[FIGURE_P99] = "p99",
	[FIGURE_MAX] = "max",
	[FIGURE_MEAN] = "mean",
	[FIGURE_SD] = "sd",
};

static const char *get_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static int get_count(const json_t *object, const char *key, u64 *value)
{
	const json_t *number = json_object_get(object, key);

	if (!json_is_integer(number) || json_integer_value(number) < 0)
		return -1;
	*value = json_integer_value(number);
	return 0;
}

/* A measurement and an element of "boots" name their figures alike. */
static int read_boot(const json_t *object, struct bench_boot *boot)
{
	if (get_count(object, "n", &boot->n) || get_count(object, "batch", &boot->batch) ||
	    get_count(object, "zeros", &boot->zeros))
		return -1;
	for (int i = 0; i < FIGURE_COUNT; i++) {
		const json_t *number = json_object_get(object, figure_names[i]);

		boot->figures[i] = json_number_value(number);
		if (!json_is_number(number) || boot->figures[i] < 0)
			return -1;
	}
	return 0;
}

static void add_boot(struct benchmark *b, const struct bench_boot *boot)
{
	b->boots = memory_resize(b->boots, b->nr_boots + 1, sizeof(*b->boots));
	b->boots[b->nr_boots++] = *boot;
}

/* description: what tells "unit", "hz", "floor" and "class". */
static struct benchmark *add_benchmark(struct benchmarks *b, const char *test, const char *name,
				       const json_t *description)
{
	struct benchmark *new;

	b->list = memory_resize(b->list, b->count + 1, sizeof(*b->list));
	new = &b->list[b->count++];
	*new = (struct benchmark){
		.key = text_format("%s/%s", test, name),
		.test = text_copy(test),
		.name = text_copy(name),
		.unit = text_copy(get_text(description, "unit")),
		.hz = json_number_value(json_object_get(description, "hz")),
		.floor = text_copy(get_text(description, "floor")),
		.class = text_copy(get_text(description, "class")),
	};
	return new;
}

const struct benchmark *benchmarks_find(const struct benchmarks *b, const char *key)
{
	for (size_t i = 0; i < b->count; i++) {
		if (!strcmp(b->list[i].key, key))
			return &b->list[i];
	}
	return NULL;
}

/* ---- of a test's record ----------------------------------------------------------------------- */

static void add_measurement(struct benchmarks *b, const json_t *record, const json_t *m, bool exact)
{
	const char *test = get_text(record, "key"), *name = get_text(m, "name");
	const char *kind = get_text(m, "kind"), *accel = get_text(record, "accel");
	struct bench_boot boot;
	struct benchmark *to;
	char *key;

	if (!kind || strcmp(kind, "bench") || !name || !get_text(m, "unit") ||
	    read_boot(m, &boot) || get_count(record, "repetition", &boot.repetition))
		return;
	key = text_format("%s/%s", test, name);
	to = (struct benchmark *)benchmarks_find(b, key);
	free(key);
	if (!to) {
		to = add_benchmark(b, test, name, m);
		to->accel = text_copy(accel ? accel : "");
		to->exact = exact;
	}
	add_boot(to, &boot);
}

void benchmarks_add_record(struct benchmarks *b, const json_t *record, bool exact)
{
	const json_t *measurements = json_object_get(record, "measurements");

	for (size_t i = 0; get_text(record, "key") && i < json_array_size(measurements); i++)
		add_measurement(b, record, json_array_get(measurements, i), exact);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static json_t *boot_json(const struct bench_boot *boot)
{
	json_t *object = json_pack("{s:I, s:I, s:I, s:I}", "repetition",
				   (json_int_t)boot->repetition, "n", (json_int_t)boot->n, "batch",
				   (json_int_t)boot->batch, "zeros", (json_int_t)boot->zeros);

	for (int i = 0; i < FIGURE_COUNT; i++)
		json_object_set_new(object, figure_names[i], json_real(boot->figures[i]));
	return object;
}

json_t *benchmark_json(const struct benchmark *b)
{
	double *medians = benchmark_values(b, FIGURE_P50);
	struct interval interval = median_interval(medians, b->nr_boots, benchmark_seed(b));
	json_t *boots = json_array(), *object;

	for (size_t i = 0; i < b->nr_boots; i++)
		json_array_append_new(boots, boot_json(&b->boots[i]));
	object = json_pack("{s:s, s:s, s:s, s:s, s:f, s:s*, s:s*, s:s, s:b, s:f, s:[ff], s:f, s:o}",
			   "key", b->key, "test", b->test, "name", b->name, "unit", b->unit, "hz",
			   b->hz, "floor", b->floor, "class", b->class, "accel", b->accel, "exact",
			   b->exact, "median", median_of(medians, b->nr_boots), "interval",
			   interval.low, interval.high, "boot_sd",
			   deviation_of(medians, b->nr_boots), "boots", boots);
	free(medians);
	return object;
}

static int add_element(struct benchmarks *b, const json_t *object)
{
	const char *test = get_text(object, "test"), *name = get_text(object, "name");
	const char *accel = get_text(object, "accel");
	const json_t *boots = json_object_get(object, "boots");
	struct benchmark *to;

	if (!test || !name || !accel || !get_text(object, "unit") || !json_array_size(boots))
		return -1;
	to = add_benchmark(b, test, name, object);
	to->accel = text_copy(accel);
	to->exact = json_is_true(json_object_get(object, "exact"));
	for (size_t i = 0; i < json_array_size(boots); i++) {
		const json_t *element = json_array_get(boots, i);
		struct bench_boot boot;

		if (read_boot(element, &boot) || get_count(element, "repetition", &boot.repetition))
			return -1;
		add_boot(to, &boot);
	}
	return 0;
}

int benchmarks_add_json(struct benchmarks *b, const json_t *array, struct error *err)
{
	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *element = json_array_get(array, i);
		const char *key = get_text(element, "key");

		if (key && benchmarks_find(b, key))
			return error_set(err, "benchmark %s is there twice", key);
		if (add_element(b, element))
			return error_set(err, "element %zu of \"benchmarks\" (%s) lacks a field", i,
					 key ? key : "without a key");
	}
	return 0;
}

void benchmarks_free(struct benchmarks *b)
{
	for (size_t i = 0; i < b->count; i++) {
		struct benchmark *bench = &b->list[i];

		free(bench->key);
		free(bench->test);
		free(bench->name);
		free(bench->unit);
		free(bench->floor);
		free(bench->class);
		free(bench->accel);
		free(bench->boots);
	}
	free(b->list);
	*b = (struct benchmarks){ 0 };
}

/* ---- figures ---------------------------------------------------------------------------------- */

const struct benchmark *benchmark_floor(const struct benchmarks *b, const struct benchmark *of)
{
	const struct benchmark *floor;
	char *key;

	if (!of->floor)
		return NULL;
	key = text_format("%s/%s", of->test, of->floor);
	floor = benchmarks_find(b, key);
	free(key);
	return floor;
}

double *benchmark_values(const struct benchmark *b, enum bench_figure figure)
{
	double *values = memory_resize(NULL, b->nr_boots, sizeof(*values));

	for (size_t i = 0; i < b->nr_boots; i++)
		values[i] = b->boots[i].figures[figure];
	return values;
}

double benchmark_median(const struct benchmark *b, enum bench_figure figure)
{
	double *values = benchmark_values(b, figure), median = median_of(values, b->nr_boots);

	free(values);
	return median;
}

double benchmark_unit_ns(const struct benchmark *b)
{
	return b->hz > 0 ? 1e9 / b->hz : 0;
}

u64 benchmark_seed(const struct benchmark *b)
{
	return lzma_crc32((const uint8_t *)b->key, strlen(b->key), 0);
}
