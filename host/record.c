// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads results.json and its members.
 */
#include "record.h"

#include <stdlib.h>
#include <sys/stat.h>
#include "results_json.h"
#include "util/text.h"

const char *record_text(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

const char *record_string(const json_t *object, const char *key)
{
	const char *text = record_text(object, key);

	return text ? text : "";
}

double record_number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

unsigned record_count(const json_t *object, const char *key)
{
	json_int_t n = json_integer_value(json_object_get(object, key));

	return n > 0 && n <= 1000000000 ? n : 0;
}

bool record_flag(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key));
}

enum verdict record_verdict(const json_t *object)
{
	const char *name = record_text(object, "verdict");
	int verdict = name ? verdict_from_name(name) : -1;

	return verdict < 0 ? VERDICT_ERROR : (enum verdict)verdict;
}

bool record_is_leaf(const json_t *check)
{
	return !record_flag(check, "has_sub_checks");
}

char *record_test_title(const json_t *test)
{
	long long repetition = json_integer_value(json_object_get(test, "repetition"));

	if (repetition > 1)
		return text_format("%s (%lld)", record_string(test, "key"), repetition);
	return text_copy(record_string(test, "key"));
}

/* 0 when the whole is what docs/results.md says. */
static int check_run(const json_t *run, const char *path, struct error *err)
{
	const json_t *tests = json_object_get(run, "tests");
	const json_t *schema = json_object_get(run, "schema");

	if (!json_is_integer(schema) || !json_is_array(tests))
		return error_set(err,
				 "%s: no results of this suite: \"schema\" or \"tests\" is missing",
				 path);
	if (json_integer_value(schema) != RESULTS_SCHEMA_VERSION)
		return error_set(err,
				 "%s: it has schema %lld, this runner reads %d: use the suite that "
				 "made it",
				 path, (long long)json_integer_value(schema),
				 RESULTS_SCHEMA_VERSION);
	for (size_t i = 0; i < json_array_size(tests); i++) {
		if (results_record_check(json_array_get(tests, i), err))
			return error_prefix(err, "%s", path);
	}
	return 0;
}

json_t *record_load(const char *path, struct error *err)
{
	struct stat st;
	bool is_dir = !stat(path, &st) && S_ISDIR(st.st_mode);
	char *file = is_dir ? text_format("%s/results.json", path) : text_copy(path);
	json_error_t where;
	json_t *run = json_load_file(file, JSON_REJECT_DUPLICATES, &where);

	if (!run && where.line > 0)
		error_set(err, "%s:%d:%d: not whole, or no JSON: %s", file, where.line,
			  where.column, where.text);
	else if (!run)
		error_set(err, "%s: %s; it wants the directory of a run, or its results.json", file,
			  where.text);
	if (run && check_run(run, file, err)) {
		json_decref(run);
		run = NULL;
	}
	free(file);
	return run;
}
