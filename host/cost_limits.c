// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads limits of costs, and checks a test's measurements against them.
 */
#include "cost_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "util/memory.h"
#include "util/text.h"

struct limit {
	char *name, *floor;
	double bound;
	char **conditions; /* "class=native" … */
};

static const char *const condition_keys[] = { "class=", "accel=", "vmm=" };

static void limit_free(struct limit *l)
{
	free(l->name);
	free(l->floor);
	words_free(l->conditions);
}

/* ---- text ------------------------------------------------------------------------------------- */

static bool is_condition(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(condition_keys); i++) {
		if (text_starts_with(word, condition_keys[i]) && word[strlen(condition_keys[i])])
			return true;
	}
	return false;
}

/* "a/b". */
static int read_ratio(const char *word, struct limit *l)
{
	const char *slash = strchr(word, '/');

	if (!slash || slash == word || !slash[1] || strchr(slash + 1, '/'))
		return -1;
	l->name = text_copy_bytes(word, slash - word);
	l->floor = text_copy(slash + 1);
	return 0;
}

static int read_bound(const char *word, struct limit *l)
{
	char *end;

	l->bound = strtod(word, &end);
	return end == word || *end || !isfinite(l->bound) || l->bound <= 0 ? -1 : 0;
}

/* One limit; what was read is freed by the caller in any case. */
static int read_limit(const char *text, struct limit *l, struct error *err)
{
	char **words = words_split(text, " \t");
	size_t count = words_count(words);
	bool good;

	*l = (struct limit){ 0 };
	good = count >= 3 && !read_ratio(words[0], l) && !strcmp(words[1], "<=") &&
	       !read_bound(words[2], l);
	good = good && (count == 3 || (count > 4 && !strcmp(words[3], "if")));
	for (size_t i = 4; good && i < count; i++)
		good = is_condition(words[i]);
	if (good && count > 4)
		l->conditions = words_copy(words + 4);
	words_free(words);
	return good ? 0
		    : error_set(err,
				"'%s' is no limit; write it as \"cntpct/cntvct <= 1.5\" or "
				"\"cntpct/cntvct <= 1.5 if class=native accel=kvm\" (conditions "
				"are of class, accel and vmm)",
				text);
}

int limits_check_text(const char *text, struct error *err)
{
	char **texts = words_split(text, ",");
	int result = texts[0] ? 0 : error_set(err, "there is no limit in it");

	for (size_t i = 0; texts[i] && !result; i++) {
		struct limit l;

		result = read_limit(text_trim(texts[i]), &l, err);
		limit_free(&l);
	}
	words_free(texts);
	return result;
}

/* ---- checks ----------------------------------------------------------------------------------- */

static const json_t *find_bench(const struct test_result *r, const char *name)
{
	for (size_t i = 0; i < json_array_size(r->measurements); i++) {
		const json_t *m = json_array_get(r->measurements, i);
		const char *kind = json_string_value(json_object_get(m, "kind"));
		const char *other = json_string_value(json_object_get(m, "name"));

		if (kind && other && !strcmp(kind, "bench") && !strcmp(other, name))
			return m;
	}
	return NULL;
}

static double median_of_bench(const json_t *m)
{
	return json_number_value(json_object_get(m, "p50"));
}

static bool condition_holds(const char *word, const json_t *m, const struct circumstances *c)
{
	const char *value = strchr(word, '=') + 1, *is;

	if (text_starts_with(word, "class="))
		is = json_string_value(json_object_get(m, "class"));
	else if (text_starts_with(word, "accel="))
		is = accel_to_name(c->accel);
	else
		is = c->vmm;
	return is && !strcmp(is, value);
}

/* Why the limit says nothing here, malloced; NULL where it does. */
static char *why_not(const struct limit *l, const json_t *bench, const json_t *floor,
		     const struct circumstances *c)
{
	if (!bench || !floor)
		return text_format("%s was not measured", bench ? l->floor : l->name);
	for (size_t i = 0; l->conditions && l->conditions[i]; i++) {
		if (!condition_holds(l->conditions[i], bench, c))
			return text_format("the limit holds where %s", l->conditions[i]);
	}
	if (median_of_bench(floor) <= 0)
		return text_format("the floor %s is 0: less than its clock can tell", l->floor);
	return NULL;
}

static void apply(const struct limit *l, struct test_result *r, const struct circumstances *c)
{
	const json_t *bench = find_bench(r, l->name), *floor = find_bench(r, l->floor);
	char *name = text_format("limit-%s-%s", l->name, l->floor);
	struct check_result *check = test_result_add_check(r, name);
	double ratio;

	free(name);
	check->reason = why_not(l, bench, floor, c);
	check->verdict = VERDICT_SKIP;
	if (!check->reason) {
		ratio = median_of_bench(bench) / median_of_bench(floor);
		check->verdict = ratio <= l->bound ? VERDICT_PASS : VERDICT_FAIL;
		check->diagnostics = memory_zalloc(2 * sizeof(*check->diagnostics));
		check->diagnostics[0] = text_format(
			"%s %.2f, %s %.2f (medians): ratio %.3f, at most %g", l->name,
			median_of_bench(bench), l->floor, median_of_bench(floor), ratio, l->bound);
	}
	check->raw = check->verdict;
}

void limits_apply(struct test_result *r, const struct circumstances *c)
{
	char **texts;

	/* Where nothing was run there is nothing to say; such a test has its reason. */
	if (!r->test->limits || !r->nr_checks)
		return;
	texts = words_split(r->test->limits, ",");
	for (size_t i = 0; texts[i]; i++) {
		struct error err;
		struct limit l;

		if (!read_limit(text_trim(texts[i]), &l, &err))
			apply(&l, r, c);
		limit_free(&l);
	}
	words_free(texts);
}
