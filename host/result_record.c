// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From a test's record back to its result.
 */
#include "result_record.h"

#include "results_json.h"
#include "util/memory.h"
#include "util/text.h"

static char *get_text(const json_t *object, const char *key)
{
	return text_copy(json_string_value(json_object_get(object, key)));
}

static u64 get_ns(const json_t *object, const char *key)
{
	double ms = json_number_value(json_object_get(object, key));

	return ms > 0 ? (u64)(ms * 1000000 + 0.5) : 0;
}

/* A name that is none (results_record_check() looks at "verdict" alone) counts as fallback. */
static enum verdict get_verdict(const json_t *object, const char *key, enum verdict fallback)
{
	const char *name = json_string_value(json_object_get(object, key));
	int verdict = name ? verdict_from_name(name) : -1;

	return verdict < 0 ? fallback : (enum verdict)verdict;
}

static char **get_texts(const json_t *array)
{
	size_t count = json_array_size(array);
	char **texts;

	if (count == 0)
		return NULL;
	texts = memory_zalloc((count + 1) * sizeof(*texts));
	for (size_t i = 0; i < count; i++) {
		const char *s = json_string_value(json_array_get(array, i));

		texts[i] = text_copy(s ? s : "");
	}
	return texts;
}

static void add_check(struct test_result *r, const json_t *record)
{
	const char *name = json_string_value(json_object_get(record, "name"));
	const json_t *cpu = json_object_get(record, "cpu");
	struct check_result *check = test_result_add_check(r, name);

	check->verdict = get_verdict(record, "verdict", VERDICT_ERROR);
	check->raw = get_verdict(record, "raw_verdict", check->verdict);
	check->reason = get_text(record, "reason");
	check->story = get_text(record, "story");
	check->guards = get_text(record, "guards");
	check->cpu = json_is_integer(cpu) ? (int)json_integer_value(cpu) : -1;
	check->diagnostics = get_texts(json_object_get(record, "diagnostics"));
	check->unexpected_pass = json_is_true(json_object_get(record, "unexpected_pass"));
	check->has_children = json_is_true(json_object_get(record, "has_sub_checks"));
}

int test_result_from_record(struct test_result *r, const struct test *test, const json_t *record,
			    struct error *err)
{
	const json_t *checks;

	test_result_init(r, test, 1);
	if (results_record_check(record, err))
		return -1;
	r->repetition = json_integer_value(json_object_get(record, "repetition"));
	r->verdict = get_verdict(record, "verdict", VERDICT_ERROR);
	r->raw = get_verdict(record, "raw_verdict", r->verdict);
	r->reason = get_text(record, "reason");
	r->unexpected_pass = json_is_true(json_object_get(record, "unexpected_pass"));
	r->start_ns = get_ns(record, "start_ms");
	r->duration_ns = get_ns(record, "duration_ms");
	r->boot_ns = get_ns(record, "boot_ms");
	r->log = get_text(record, "log");
	r->log_tail = get_text(record, "log_tail");
	r->vmm_stderr = get_text(record, "stderr");
	r->command = get_text(record, "command");
	r->backtrace = get_text(record, "backtrace");
	checks = json_object_get(record, "checks");
	for (size_t i = 0; i < json_array_size(checks); i++)
		add_check(r, json_array_get(checks, i));
	json_array_extend(r->measurements, json_object_get(record, "measurements"));
	json_array_extend(r->calls, json_object_get(record, "calls"));
	return 0;
}
