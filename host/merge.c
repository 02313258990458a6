// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Joins result directories: which records are taken, what is said of where they come from, and the
 * logs that go with them.
 */
#include "merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "record.h"
#include "util/file.h"
#include "util/memory.h"
#include "util/text.h"

#define LOG_MAX (64u << 20) /* bytes */

struct part {
	const char *dir;
	json_t *run;
};

/* One test's record, and the part that it is from. */
struct merged_test {
	json_t *record; /* the part's */
	const struct part *part;
	struct test test; /* what the results need of it: name, architecture, place */
};

struct merge {
	const struct merge_spec *spec;
	struct part *parts;
	size_t nr_parts;
	struct merged_test *tests;
	size_t nr_tests;
	unsigned missing; /* tests that a part had planned and not run */
};

/* ---- which records ----------------------------------------------------------------------------- */

static bool same_test(const json_t *a, const json_t *b)
{
	return !strcmp(record_string(a, "key"), record_string(b, "key")) &&
	       record_count(a, "repetition") == record_count(b, "repetition");
}

static struct merged_test *find(struct merge *m, const json_t *record)
{
	for (size_t i = 0; i < m->nr_tests; i++) {
		if (same_test(m->tests[i].record, record))
			return &m->tests[i];
	}
	return NULL;
}

/* In the order of unittests.cfg; what is not in it comes behind. */
static unsigned line_of(const struct config *config, const char *key)
{
	for (size_t i = 0; i < config->count; i++) {
		if (!strcmp(config->tests[i].key, key))
			return config->tests[i].line;
	}
	return UINT32_MAX;
}

/* It becomes a file's: that of a log. */
static bool is_name(const char *name)
{
	return *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")];
}

static int add(struct merge *m, const struct part *part, json_t *record, struct error *err)
{
	const char *key = record_string(record, "key");
	int arch = arch_from_name(record_string(record, "arch"));

	if (arch < 0 || !is_name(record_string(record, "name")))
		return error_set(err, "%s: '%s' is no test: its name or architecture is none",
				 part->dir, key);
	m->tests = memory_resize(m->tests, m->nr_tests + 1, sizeof(*m->tests));
	m->tests[m->nr_tests++] = (struct merged_test){
		.record = record,
		.part = part,
		.test = {
			.name = (char *)record_string(record, "name"),
			.key = (char *)key,
			.image = (char *)record_string(record, "image"),
			.arch = arch,
			.line = line_of(m->spec->config, key),
		},
	};
	return 0;
}

/* Both have it: the more severe one stands. */
static void settle(struct merged_test *there, const struct part *part, json_t *record)
{
	enum verdict old = record_verdict(there->record), new = record_verdict(record);

	if (old == new)
		return;
	fprintf(stderr, "run_tests.sh: %s: %s in %s, %s in %s: the more severe is taken\n",
		there->test.key, verdict_name(old), there->part->dir, verdict_name(new), part->dir);
	if (new < old)
		return;
	there->record = record;
	there->part = part;
	there->test.name = (char *)record_string(record, "name");
	there->test.key = (char *)record_string(record, "key");
	there->test.image = (char *)record_string(record, "image");
}

static int take_part(struct merge *m, const struct part *part, struct error *err)
{
	json_t *tests = json_object_get(part->run, "tests");
	unsigned planned = record_count(json_object_get(part->run, "totals"), "planned");
	size_t count = json_array_size(tests);

	for (size_t i = 0; i < count; i++) {
		json_t *record = json_array_get(tests, i);
		struct merged_test *there = find(m, record);

		if (there)
			settle(there, part, record);
		else if (add(m, part, record, err))
			return -1;
	}
	m->missing += planned > count ? planned - count : 0;
	return 0;
}

static int load(struct merge *m, struct error *err)
{
	char *const *dirs = m->spec->dirs;

	m->parts = memory_zalloc((words_count(dirs) + 1) * sizeof(*m->parts));
	for (; dirs[m->nr_parts]; m->nr_parts++) {
		struct part *part = &m->parts[m->nr_parts];

		part->dir = dirs[m->nr_parts];
		part->run = record_load(part->dir, err);
		if (!part->run)
			return -1;
	}
	for (size_t i = 0; i < m->nr_parts; i++) {
		if (take_part(m, &m->parts[i], err))
			return -1;
	}
	return 0;
}

/* ---- where they come from ---------------------------------------------------------------------- */

/* The first part's environment, and under "merged" every part's. */
static json_t *environment_of(const struct merge *m)
{
	json_t *environment = json_deep_copy(json_object_get(m->parts[0].run, "environment"));
	json_t *merged = json_array();

	if (!environment)
		environment = json_object();
	for (size_t i = 0; i < m->nr_parts; i++) {
		const json_t *run = m->parts[i].run;
		json_t *part = json_object();

		json_object_set_new(part, "from", json_string(m->parts[i].dir));
		json_object_set(part, "started", json_object_get(run, "started"));
		json_object_set(part, "command", json_object_get(run, "command"));
		json_object_set(part, "environment", json_object_get(run, "environment"));
		json_array_append_new(merged, part);
	}
	json_object_set_new(environment, "merged", merged);
	return environment;
}

/* The way back from policy_to_json(); what this runner does not know stays unknown. */
static struct policy policy_of(const json_t *clocks)
{
	struct policy policy = { 0 };
	struct error ignored;

	for (void *c = json_object_iter((json_t *)clocks); c;
	     c = json_object_iter_next((json_t *)clocks, c)) {
		json_t *actions = json_object_iter_value(c);

		for (void *a = json_object_iter(actions); a;
		     a = json_object_iter_next(actions, a)) {
			const char *promise = json_string_value(json_object_iter_value(a));
			char *text = text_format("%s.%s=%s", json_object_iter_key(c),
						 json_object_iter_key(a), promise ? promise : "");

			policy_override(&policy, text, &ignored);
			free(text);
		}
	}
	return policy;
}

/* How each architecture was run, by the first part that ran it. */
static size_t targets_of(const struct merge *m, struct results_target targets[ARCH_COUNT])
{
	bool have[ARCH_COUNT] = { false };
	size_t count = 0;

	for (size_t i = 0; i < m->nr_parts; i++) {
		const json_t *list = json_object_get(m->parts[i].run, "targets");

		for (size_t j = 0; j < json_array_size(list); j++) {
			const json_t *target = json_array_get(list, j);
			int arch = arch_from_name(record_string(target, "arch"));
			int accel = accel_from_name(record_string(target, "accel"));

			if (arch < 0 || accel < 0 || have[arch])
				continue;
			have[arch] = true;
			targets[count++] = (struct results_target){
				.arch = arch,
				.vmm = record_text(target, "vmm"),
				.accel = accel,
				.accel_reason = record_text(target, "accel_reason"),
				.vmm_version = record_text(target, "vmm_version"),
				.vmm_path = record_text(target, "vmm_path"),
				.cpu = record_text(target, "cpu"),
				.exact = accel == ACCEL_ICOUNT,
				.policy = policy_of(json_object_get(target, "policy")),
			};
		}
	}
	return count;
}

/* ---- writing ----------------------------------------------------------------------------------- */

/* The log that a record names, to the place of its own in out. One that is missing is left out. */
static int copy_log(const struct merged_test *t, json_t *record, struct results *out,
		    struct error *err)
{
	const char *name = record_string(record, "log");
	struct test_result result = {
		.test = &t->test,
		.repetition = record_count(record, "repetition"),
	};
	char *path = text_format("%s/%s", t->part->dir, name);
	struct text content = { 0 };
	struct error unread;
	FILE *log;
	bool torn;

	if (!text_starts_with(name, "logs/") || strstr(name, "..") ||
	    file_read(path, LOG_MAX, &content, &unread)) {
		json_object_del(record, "log");
		free(path);
		return 0;
	}
	free(path);
	log = results_open_log(out, &result, err);
	if (!log) {
		text_free(&content);
		return -1;
	}
	fwrite(text_string(&content), 1, content.len, log);
	text_free(&content);
	torn = ferror(log);
	torn |= fclose(log) != 0;
	if (torn)
		error_set(err, "%s/%s: %s", results_dir(out), result.log, strerror(errno));
	json_object_set_new(record, "log", json_string(result.log));
	free(result.log);
	return torn ? -1 : 0;
}

static int write_tests(const struct merge *m, struct results *out, struct error *err)
{
	int result = 0;

	for (size_t i = 0; i < m->nr_tests && !result; i++) {
		json_t *record = json_deep_copy(m->tests[i].record);

		result = copy_log(&m->tests[i], record, out, err) ||
			 results_add_record(out, &m->tests[i].test, record, err);
		json_decref(record);
	}
	return result ? -1 : 0;
}

static void merge_free(struct merge *m)
{
	for (size_t i = 0; i < m->nr_parts; i++)
		json_decref(m->parts[i].run);
	free(m->parts);
	free(m->tests);
}

int merge_results(const struct merge_spec *spec, struct results *out, struct error *err)
{
	struct merge m = { .spec = spec };
	struct results_target targets[ARCH_COUNT];
	int result = load(&m, err);

	if (!result) {
		size_t nr_targets = targets_of(&m, targets);

		results_begin(out, environment_of(&m), spec->argc, spec->argv,
			      record_string(m.parts[0].run, "options"), targets, nr_targets,
			      m.nr_tests + m.missing);
		result = write_tests(&m, out, err);
	}
	merge_free(&m);
	return result;
}
