// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads and writes files of measurements.
 */
#include "baseline.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "results_json.h"
#include "util/file.h"
#include "util/memory.h"

#define FILE_MAX (1u << 30)

static const char *const head_fields[] = { "schema",	  "tool",    "started",
					   "environment", "targets", "bench" };

static char *file_of(const char *path)
{
	struct stat st;

	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return text_format("%s/results.json", path);
	return text_copy(path);
}

static json_t *load_json(const char *path, struct error *err)
{
	struct text content = { 0 };
	json_error_t where;
	json_t *root;

	if (file_read(path, FILE_MAX, &content, err))
		return NULL;
	root = json_loadb(text_string(&content), content.len, JSON_REJECT_DUPLICATES, &where);
	text_free(&content);
	if (!root)
		error_set(err, "%s:%d:%d: %s: the file is damaged or was cut short; make it anew",
			  path, where.line, where.column, where.text);
	return root;
}

static int check_head(const json_t *root, struct error *err)
{
	const char *tool = json_string_value(json_object_get(root, "tool"));
	json_int_t schema = json_integer_value(json_object_get(root, "schema"));

	if (!tool || strcmp(tool, "kvm-time-tests"))
		return error_set(err, "this is no results.json of kvm-time-tests and no file that "
				      "--save wrote");
	if (schema != RESULTS_SCHEMA_VERSION)
		return error_set(err, "its schema is %lld, this suite reads %d", (long long)schema,
				 RESULTS_SCHEMA_VERSION);
	if (!json_array_size(json_object_get(root, "benchmarks")))
		return error_set(err, "it has no benchmarks: make them with --bench");
	return 0;
}

static json_t *head_of(const json_t *root)
{
	json_t *head = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(head_fields); i++) {
		json_t *value = json_object_get(root, head_fields[i]);

		if (value)
			json_object_set(head, head_fields[i], value);
	}
	return head;
}

int baseline_load(const char *path, struct baseline *b, struct error *err)
{
	json_t *root;
	int result;

	*b = (struct baseline){ .path = file_of(path) };
	root = load_json(b->path, err);
	if (!root)
		return -1;
	result = check_head(root, err);
	if (!result)
		result = benchmarks_add_json(&b->benchmarks, json_object_get(root, "benchmarks"),
					     err);
	if (result)
		error_prefix(err, "%s", b->path);
	b->head = head_of(root);
	json_decref(root);
	return result;
}

void baseline_free(struct baseline *b)
{
	free(b->path);
	json_decref(b->head);
	benchmarks_free(&b->benchmarks);
	*b = (struct baseline){ 0 };
}

void baseline_append_benchmarks(const struct benchmarks *b, struct text *out)
{
	text_append(out, ",\n  \"benchmarks\": [");
	for (size_t i = 0; i < b->count; i++) {
		json_t *value = benchmark_json(&b->list[i]);
		char *line = json_line(value);

		text_printf(out, "%s\n    %s", i ? "," : "", line);
		free(line);
		json_decref(value);
	}
	text_printf(out, "%s]", b->count ? "\n  " : "");
}

int baseline_save(const char *path, const char *results_json, struct error *err)
{
	struct text out = { 0 };
	struct baseline b;
	int result = baseline_load(results_json, &b, err);

	if (!result) {
		char *head = json_dumps(b.head, JSON_INDENT(2) | JSON_REAL_PRECISION(15));

		text_append_bytes(&out, head, strlen(head) - strlen("\n}"));
		free(head);
		baseline_append_benchmarks(&b.benchmarks, &out);
		text_append(&out, "\n}\n");
		result = file_write(path, out.data, out.len, err);
	}
	text_free(&out);
	baseline_free(&b);
	return result;
}
