// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Keeps what a run has given so far, and writes results.json and ktap.txt anew after every test.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "baseline.h"
#include "benchmarks.h"
#include "ktap.h"
#include "results.h"
#include "results_dir.h"
#include "results_json.h"
#include "util/loop.h"
#include "util/memory.h"
#include "util/text.h"

/* One test, as text: a run's files are put together many times. */
struct entry {
	unsigned line; /* place in unittests.cfg, by which entries are sorted, then arch … */
	enum arch arch;
	unsigned repetition; /* … and repetition */
	char *json;
	struct ktap_test ktap;
	bool streamed;
};

struct results {
	struct results_dir dir;
	u64 start_ns;
	json_t *head; /* results.json without its tests */
	struct entry *entries;
	size_t count;
	size_t planned;
	struct results_target targets[ARCH_COUNT]; /* vmm, accel and exact alone; by arch */
	char *vmms[ARCH_COUNT];
	struct results_totals totals;
	struct benchmarks benchmarks;
	unsigned tests_by_verdict[VERDICT_COUNT];
	unsigned checks_by_verdict[VERDICT_COUNT];
	size_t nr_streamed;
	bool finished;
	bool stream_ended;
};

/* The wall clock's time when the monotonic clock was start_ns. */
static char *utc_at(u64 start_ns)
{
	time_t start = time(NULL) - (now_ns() - start_ns) / 1000000000;
	char buf[32];
	struct tm tm;

	gmtime_r(&start, &tm);
	strftime(buf, sizeof(buf), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return text_copy(buf);
}

static json_t *by_verdict_json(const unsigned *by_verdict)
{
	json_t *object = json_object();

	for (int v = 0; v < VERDICT_COUNT; v++)
		json_object_set_new(object, verdict_name(v), json_integer(by_verdict[v]));
	return object;
}

static json_t *totals_json(const struct results *r)
{
	json_t *object = json_object();

	json_object_set_new(object, "planned", json_integer(r->planned));
	json_object_set_new(object, "passed", json_integer(r->totals.passed));
	json_object_set_new(object, "failed", json_integer(r->totals.failed));
	json_object_set_new(object, "skipped", json_integer(r->totals.skipped));
	json_object_set_new(object, "xfailed", json_integer(r->totals.xfailed));
	json_object_set_new(object, "unexpected_passes", json_integer(r->totals.unexpected_passes));
	json_object_set_new(object, "tests", by_verdict_json(r->tests_by_verdict));
	json_object_set_new(object, "checks", by_verdict_json(r->checks_by_verdict));
	return object;
}

/* The head's last brace makes room for the tests, one a line. */
static void append_json(struct results *r, struct text *out)
{
	char *head;

	json_object_set_new(r->head, "duration_ms", json_ms(now_ns() - r->start_ns));
	json_object_set_new(r->head, "totals", totals_json(r));
	head = json_dumps(r->head, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	text_append_bytes(out, head, strlen(head) - strlen("\n}"));
	free(head);
	text_append(out, ",\n  \"tests\": [");
	for (size_t i = 0; i < r->count; i++)
		text_printf(out, "%s\n    %s", i ? "," : "", r->entries[i].json);
	text_printf(out, "%s]", r->count ? "\n  " : "");
	/* They are made of the tests' measurements, at length: once, in the end. */
	if (r->finished && r->benchmarks.count)
		baseline_append_benchmarks(&r->benchmarks, out);
	text_append(out, "\n}\n");
}

static void append_ktap(const struct results *r, struct text *out)
{
	ktap_begin(out, r->planned);
	for (size_t i = 0; i < r->count; i++)
		ktap_add(out, i + 1, &r->entries[i].ktap);
	if (r->finished)
		ktap_end(out, r->planned, r->count, r->tests_by_verdict,
			 r->totals.unexpected_passes);
}

static int write_files(struct results *r, struct error *err)
{
	struct text json = { 0 }, ktap = { 0 };
	int ret;

	append_json(r, &json);
	append_ktap(r, &ktap);
	ret = results_dir_write(&r->dir, "results.json", &json, err);
	if (!ret)
		ret = results_dir_write(&r->dir, "ktap.txt", &ktap, err);
	text_free(&json);
	text_free(&ktap);
	return ret;
}

struct results *results_open(const char *dir, u64 start_ns, struct error *err)
{
	struct results *r = memory_zalloc(sizeof(*r));
	char *started = utc_at(start_ns);

	r->start_ns = start_ns;
	r->head = json_pack("{s:i, s:s, s:s, s:f, s:b, s:b, s:s, s:{}, s:[]}", "schema",
			    RESULTS_SCHEMA_VERSION, "tool", "kvm-time-tests", "started", started,
			    "duration_ms", 0.0, "complete", 0, "interrupted", 0, "command", "",
			    "environment", "targets");
	free(started);
	if (results_dir_open(&r->dir, dir, err) || write_files(r, err)) {
		results_free(r);
		return NULL;
	}
	return r;
}

const char *results_dir(const struct results *r)
{
	return r->dir.path;
}

const struct benchmarks *results_benchmarks(const struct results *r)
{
	return &r->benchmarks;
}

void results_begin(struct results *r, json_t *environment, int argc, char **argv,
		   const char *options, const struct results_target *targets, size_t nr_targets,
		   size_t nr_planned)
{
	struct text command = { 0 };
	struct error ignored;
	json_t *array = json_array();

	for (int i = 0; i < argc; i++) {
		if (i)
			text_append_char(&command, ' ');
		text_append_quoted(&command, argv[i]);
	}
	for (size_t i = 0; i < nr_targets; i++) {
		enum arch arch = targets[i].arch;

		json_array_append_new(array, results_target_json(&targets[i]));
		free(r->vmms[arch]);
		r->vmms[arch] = text_copy(targets[i].vmm);
		r->targets[arch] = (struct results_target){
			.arch = arch,
			.vmm = r->vmms[arch],
			.accel = targets[i].accel,
			.exact = targets[i].exact,
		};
	}
	json_object_set_new(r->head, "command", json_text(text_string(&command)));
	json_object_set_new(r->head, "options", json_text(options));
	json_object_set_new(r->head, "environment", environment);
	json_object_set_new(r->head, "targets", array);
	text_free(&command);
	r->planned = nr_planned;
	/* A disk that is full says so again after the first test, where it can be told. */
	write_files(r, &ignored);
}

FILE *results_open_log(struct results *r, struct test_result *result, struct error *err)
{
	const struct test *test = result->test;
	struct text path = { 0 };

	text_printf(&path, "logs/%s/%s", arch_to_name(test->arch), test->name);
	if (result->repetition > 1)
		text_printf(&path, ".%u", result->repetition);
	text_append(&path, ".log");
	free(result->log);
	result->log = text_take(&path);
	return results_dir_open_file(&r->dir, result->log, err);
}

FILE *results_open_side_log(struct results *r, enum arch arch, const char *name, struct error *err)
{
	char *path = text_format("logs/%s/%s.log", arch_to_name(arch), name);
	FILE *f = results_dir_open_file(&r->dir, path, err);

	free(path);
	return f;
}

void results_set_environment(struct results *r, const char *name, json_t *value)
{
	json_t *environment = json_object_get(r->head, "environment");
	json_t *machines = json_object_get(environment, "kernel_mode");

	if (!machines) {
		machines = json_object();
		json_object_set_new(environment, "kernel_mode", machines);
	}
	json_object_set_new(machines, name, value);
}

void results_set_bench(struct results *r, unsigned boots, u64 seed)
{
	json_object_set_new(r->head, "bench",
			    json_pack("{s:i, s:I}", "boots", (int)boots, "seed", (json_int_t)seed));
}

static void count_check(struct results *r, const json_t *check)
{
	const char *verdict = json_string_value(json_object_get(check, "verdict"));

	r->totals.unexpected_passes += json_is_true(json_object_get(check, "unexpected_pass"));
	if (!json_is_true(json_object_get(check, "has_sub_checks")))
		r->checks_by_verdict[verdict_from_name(verdict)]++;
}

static void count_test(struct results *r, const json_t *record)
{
	enum verdict verdict =
		verdict_from_name(json_string_value(json_object_get(record, "verdict")));
	const json_t *checks = json_object_get(record, "checks");

	r->tests_by_verdict[verdict]++;
	switch (verdict) {
	case VERDICT_SKIP:
		r->totals.skipped++;
		break;
	case VERDICT_XFAIL:
		r->totals.xfailed++;
		r->totals.passed++;
		break;
	case VERDICT_PASS:
		r->totals.passed++;
		break;
	default:
		r->totals.failed++;
		break;
	}
	r->totals.unexpected_passes += json_is_true(json_object_get(record, "unexpected_pass"));
	for (size_t i = 0; i < json_array_size(checks); i++)
		count_check(r, json_array_get(checks, i));
}

static bool comes_before(const struct entry *a, const struct entry *b)
{
	if (a->line != b->line)
		return a->line < b->line;
	if (a->arch != b->arch)
		return a->arch < b->arch;
	return a->repetition < b->repetition;
}

static void insert(struct results *r, const struct entry *entry)
{
	size_t at = r->count;

	r->entries = memory_resize(r->entries, r->count + 1, sizeof(*r->entries));
	for (; at && comes_before(entry, &r->entries[at - 1]); at--)
		r->entries[at] = r->entries[at - 1];
	r->entries[at] = *entry;
	r->count++;
}

int results_add_record(struct results *r, const struct test *test, json_t *record,
		       struct error *err)
{
	struct entry entry = { .line = test->line, .arch = test->arch };

	if (results_record_check(record, err))
		return -1;
	entry.repetition = json_integer_value(json_object_get(record, "repetition"));
	entry.json = json_line(record);
	ktap_test_make(&entry.ktap, record);
	insert(r, &entry);
	count_test(r, record);
	benchmarks_add_record(&r->benchmarks, record, r->targets[test->arch].exact);
	return write_files(r, err);
}

int results_add(struct results *r, const struct test_result *result, struct error *err)
{
	const struct results_target *target = &r->targets[result->test->arch];
	json_t *record = results_record(result, target->vmm ? target : NULL);
	int ret = results_add_record(r, result->test, record, err);

	json_decref(record);
	return ret;
}

int results_finish(struct results *r, bool interrupted, struct results_totals *totals,
		   struct error *err)
{
	bool complete = !interrupted && r->count >= r->planned;

	r->finished = true;
	json_object_set_new(r->head, "complete", json_boolean(complete));
	json_object_set_new(r->head, "interrupted", json_boolean(interrupted));
	*totals = r->totals;
	return write_files(r, err);
}

void results_ktap_stream(struct results *r, FILE *out)
{
	struct text t = { 0 };
	bool first = !r->nr_streamed && !r->stream_ended;

	if (first && (r->count || r->finished))
		ktap_begin(&t, r->planned);
	for (size_t i = 0; i < r->count; i++) {
		struct entry *entry = &r->entries[i];

		if (entry->streamed)
			continue;
		entry->streamed = true;
		ktap_add(&t, ++r->nr_streamed, &entry->ktap);
	}
	if (r->finished && !r->stream_ended) {
		r->stream_ended = true;
		ktap_end(&t, r->planned, r->count, r->tests_by_verdict,
			 r->totals.unexpected_passes);
	}
	fputs(text_string(&t), out);
	fflush(out);
	text_free(&t);
}

void results_free(struct results *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->count; i++) {
		free(r->entries[i].json);
		ktap_test_free(&r->entries[i].ktap);
	}
	free(r->entries);
	for (int arch = 0; arch < ARCH_COUNT; arch++)
		free(r->vmms[arch]);
	benchmarks_free(&r->benchmarks);
	json_decref(r->head);
	results_dir_close(&r->dir);
	free(r);
}
