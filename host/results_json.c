// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes a test's record of its result.
 */
#include <string.h>

#include "expected.h"
#include "results_json.h"
#include "util/text.h"

json_t *json_text(const char *s)
{
	struct text t = { 0 };
	json_t *value;

	text_append_utf8(&t, s, strlen(s));
	value = json_stringn(text_string(&t), t.len);
	text_free(&t);
	return value;
}

json_t *json_ms(u64 ns)
{
	return json_real((ns + 500) / 1000 / 1000.0);
}

char *json_line(const json_t *value)
{
	return json_dumps(value, JSON_REAL_PRECISION(15));
}

/* What there is not is left out. */
static void set_text(json_t *object, const char *key, const char *s)
{
	if (s)
		json_object_set_new(object, key, json_text(s));
}

static void set_nonempty(json_t *object, const char *key, const char *s)
{
	if (s && *s)
		set_text(object, key, s);
}

static json_t *texts_json(char *const *texts)
{
	json_t *array = json_array();

	for (size_t i = 0; texts && texts[i]; i++)
		json_array_append_new(array, json_text(texts[i]));
	return array;
}

static void set_expected(json_t *object, const struct expectation *e)
{
	json_t *expected;

	if (!e)
		return;
	expected = json_object();
	set_text(expected, "verdict", verdict_name(e->verdict));
	set_text(expected, "reason", e->reason);
	set_text(expected, "link", e->link);
	set_text(expected, "file", e->file);
	json_object_set_new(expected, "line", json_integer(e->line));
	json_object_set_new(object, "expected", expected);
}

static json_t *check_json(const struct check_result *check)
{
	json_t *object = json_object();

	set_text(object, "name", check->name);
	set_text(object, "verdict", verdict_name(check->verdict));
	set_text(object, "raw_verdict", verdict_name(check->raw));
	set_text(object, "reason", check->reason);
	set_nonempty(object, "story", check->story);
	set_nonempty(object, "guards", check->guards);
	if (check->cpu >= 0)
		json_object_set_new(object, "cpu", json_integer(check->cpu));
	set_expected(object, check->expectation);
	json_object_set_new(object, "unexpected_pass", json_boolean(check->unexpected_pass));
	json_object_set_new(object, "has_sub_checks", json_boolean(check->has_children));
	json_object_set_new(object, "diagnostics", texts_json(check->diagnostics));
	return object;
}

static json_t *checks_json(const struct test_result *r)
{
	json_t *array = json_array();

	for (size_t i = 0; i < r->nr_checks; i++)
		json_array_append_new(array, check_json(&r->checks[i]));
	return array;
}

static void set_test(json_t *record, const struct test *test)
{
	set_text(record, "key", test->key);
	set_text(record, "name", test->name);
	set_text(record, "arch", arch_to_name(test->arch));
	set_text(record, "image", test->image);
	set_text(record, "args", test->args);
	if (test->faults)
		json_object_set_new(record, "faults", texts_json(test->faults));
	json_object_set_new(record, "smp", json_integer(test->smp));
	json_object_set_new(record, "memory_mib", json_integer(test->memory_mib));
}

json_t *results_record(const struct test_result *r, const struct results_target *target)
{
	json_t *record = json_object();

	set_test(record, r->test);
	if (target) {
		set_text(record, "vmm", target->vmm);
		set_text(record, "accel", accel_to_name(target->accel));
	}
	json_object_set_new(record, "repetition", json_integer(r->repetition));
	set_text(record, "verdict", verdict_name(r->verdict));
	set_text(record, "raw_verdict", verdict_name(r->raw));
	set_expected(record, r->expectation);
	json_object_set_new(record, "unexpected_pass", json_boolean(r->unexpected_pass));
	set_text(record, "reason", r->reason);
	json_object_set_new(record, "start_ms", json_ms(r->start_ns));
	json_object_set_new(record, "duration_ms", json_ms(r->duration_ns));
	if (r->boot_ns)
		json_object_set_new(record, "boot_ms", json_ms(r->boot_ns));
	set_text(record, "log", r->log);
	set_text(record, "command", r->command);
	set_nonempty(record, "stderr", r->vmm_stderr);
	set_nonempty(record, "backtrace", r->backtrace);
	set_nonempty(record, "log_tail", r->log_tail);
	json_object_set_new(record, "checks", checks_json(r));
	json_object_set(record, "measurements", r->measurements);
	json_object_set(record, "calls", r->calls);
	return record;
}

json_t *results_target_json(const struct results_target *target)
{
	json_t *object = json_object();

	set_text(object, "arch", arch_to_name(target->arch));
	set_text(object, "vmm", target->vmm);
	set_text(object, "accel", accel_to_name(target->accel));
	set_text(object, "accel_reason", target->accel_reason);
	set_text(object, "vmm_version", target->vmm_version);
	set_text(object, "vmm_path", target->vmm_path);
	set_text(object, "cpu", target->cpu);
	set_text(object, "restore", target->restore);
	if (target->preempt_us)
		json_object_set_new(object, "preempt_us", json_integer(target->preempt_us));
	json_object_set_new(object, "policy", policy_to_json(&target->policy));
	return object;
}

static bool is_verdict(const json_t *value)
{
	const char *name = json_string_value(value);

	return name && verdict_from_name(name) >= 0;
}

int results_record_check(const json_t *record, struct error *err)
{
	json_t *checks = json_object_get(record, "checks");

	if (!json_is_string(json_object_get(record, "key")) ||
	    !json_is_integer(json_object_get(record, "repetition")))
		return error_set(err, "a test's record without key or repetition");
	if (!is_verdict(json_object_get(record, "verdict")))
		return error_set(err, "the record of %s has no verdict that is one",
				 json_string_value(json_object_get(record, "key")));
	if (!json_is_array(checks))
		return error_set(err, "the record of %s has no array of checks",
				 json_string_value(json_object_get(record, "key")));
	for (size_t i = 0; i < json_array_size(checks); i++) {
		const json_t *check = json_array_get(checks, i);

		if (!json_is_string(json_object_get(check, "name")) ||
		    !is_verdict(json_object_get(check, "verdict")))
			return error_set(err, "check %zu of the record of %s lacks name or verdict",
					 i, json_string_value(json_object_get(record, "key")));
	}
	return 0;
}
