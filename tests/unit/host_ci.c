// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What CI systems ask of the runner: shards that are stable, results that are merged, a diff of
 * expected/, the exit status for git bisect.
 */
#include "host_support.h"

#include "bisect.h"
#include "expected_update.h"
#include "merge.h"
#include "record.h"
#include "select.h"
#include "util/loop.h"

#define KEEP(...) #__VA_ARGS__

/* ---- shards ------------------------------------------------------------------------------------ */

/* The keys of shard/nr of that configuration, with blanks around each. Static. */
static const char *keys_of_shard(const char *config_text, unsigned shard, unsigned nr)
{
	bool archs[ARCH_COUNT] = { true, true };
	struct options o = { .shard = shard, .nr_shards = nr };
	struct selection s;
	struct config config;
	static struct text t;
	struct error err;

	text_clear(&t);
	text_append(&t, " ");
	write_string("shard.cfg", config_text);
	assert_int_equal(config_load("shard.cfg", &config), 0);
	assert_int_equal(select_tests(&config, &o, archs, &s, &err), 0);
	for (size_t i = 0; i < s.count; i++)
		text_printf(&t, "%s ", s.tests[i]->key);
	selection_free(&s);
	config_free(&config);
	return text_string(&t);
}

static void shards_have_every_test_once(void **state)
{
	unsigned total = 0;

	for (unsigned i = 1; i <= 3; i++) {
		char **keys = words_split(keys_of_shard("[a]\n[b]\n[c]\n[d]\n[e]\n", i, 3), " ");

		total += words_count(keys);
		words_free(keys);
	}
	assert_int_equal(total, 10);
	assert_string_equal(keys_of_shard("[a]\n[b]\n", 1, 1),
			    " x86_64/a arm64/a x86_64/b arm64/b ");
}

/* Another order and other tests move none to another shard. */
static void shards_are_stable(void **state)
{
	for (unsigned i = 1; i <= 4; i++) {
		char **keys = words_split(keys_of_shard("[a]\n[b]\n[c]\n", i, 4), " ");

		for (size_t k = 0; keys[k]; k++) {
			char *word = text_format(" %s ", keys[k]);

			expect_contains(keys_of_shard("[z]\n[c]\n[new]\n[a]\n[b]\n", i, 4), word);
			free(word);
		}
		words_free(keys);
	}
}

/* ---- merging ----------------------------------------------------------------------------------- */

static const char test_format[] = KEEP({
	"key" : "x86_64/%s",
	"name" : "%s",
	"arch" : "x86_64",
	"image" : "%s",
	"repetition" : 1,
	"verdict" : "%s",
	"raw_verdict" : "%s",
	"log" : "logs/x86_64/%s.log",
	"checks" : []
});

/* A result directory: one test a "name=verdict" word, each with a log. */
static void write_results(const char *dir, const char *tests, unsigned planned)
{
	char **words = words_split(tests, " "), *path = text_format("%s/results.json", dir);
	struct text t = { 0 };

	mkdir(dir, 0777);
	text_printf(&t,
		    "{\"schema\": 1, \"tool\": \"kvm-time-tests\", \"complete\": true, "
		    "\"started\": \"%s\", \"environment\": {\"host\": {\"kernel\": \"6.1\"}}, "
		    "\"totals\": {\"planned\": %u}, \"targets\": [{\"arch\": \"x86_64\", "
		    "\"vmm\": \"qemu\", \"accel\": \"tcg\", \"policy\": {\"counter\": "
		    "{\"pause\": \"frozen\"}}}], \"options\": \"--accel tcg\", \"tests\": [",
		    dir, planned);
	for (size_t i = 0; words[i]; i++) {
		char *verdict = strchr(words[i], '=') + 1;
		char *log, *logs = text_format("%s/logs", dir);

		verdict[-1] = '\0';
		mkdir(logs, 0777);
		log = text_format("%s/x86_64", logs);
		mkdir(log, 0777);
		free(log);
		log = text_format("%s/x86_64/%s.log", logs, words[i]);
		write_string(log, dir);
		free(log);
		free(logs);
		text_append(&t, i ? ", " : "");
		text_printf(&t, test_format, words[i], words[i], words[i], verdict, verdict,
			    words[i]);
	}
	text_append(&t, "]}\n");
	write_string(path, text_string(&t));
	text_free(&t);
	words_free(words);
	free(path);
}

static int merge(const char *dirs, const char *out_dir, struct results_totals *totals,
		 struct error *err)
{
	char **words = words_split(dirs, " ");
	struct config config = { 0 };
	struct merge_spec spec = { .config = &config, .dirs = words };
	struct results *out = results_open(out_dir, now_ns(), err);
	int result;

	assert_non_null(out);
	result = merge_results(&spec, out, err);
	if (!result)
		result = results_finish(out, false, totals, err);
	results_free(out);
	words_free(words);
	return result;
}

static void results_are_merged(void **state)
{
	struct results_totals totals;
	struct error err;
	const json_t *policy;
	json_t *run;
	char *log;

	write_results("s1", "a=pass b=fail", 2);
	write_results("s2", "c=skip", 1);
	assert_int_equal(merge("s1 s2", "all", &totals, &err), 0);
	assert_int_equal(totals.passed, 1);
	assert_int_equal(totals.failed, 1);
	assert_int_equal(totals.skipped, 1);
	run = record_load("all", &err);
	assert_non_null(run);
	assert_true(record_flag(run, "complete"));
	assert_int_equal(json_array_size(json_object_get(run, "tests")), 3);
	assert_string_equal(record_string(run, "options"), "--accel tcg");
	policy = json_object_get(json_array_get(json_object_get(run, "targets"), 0), "policy");
	assert_string_equal(record_string(json_object_get(policy, "counter"), "pause"), "frozen");
	assert_string_equal(record_string(json_object_get(policy, "timer"), "pause"), "unknown");
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(run, "environment"), "merged")), 2);
	json_decref(run);
	log = read_string("all/logs/x86_64/c.log");
	assert_string_equal(log, "s2");
	free(log);
}

/* A test that two have is taken once: the more severe, with its own log, in either order. */
static void conflicts_keep_the_worse(void **state)
{
	static const char *const orders[] = { "s1 s2", "s2 s1" };
	struct results_totals totals;
	struct error err;
	char *log;

	write_results("s1", "a=pass", 1);
	write_results("s2", "a=fail", 1);
	for (size_t i = 0; i < ARRAY_SIZE(orders); i++) {
		char *out = text_format("conflict%zu", i);
		char *path = text_format("%s/logs/x86_64/a.log", out);

		assert_int_equal(merge(orders[i], out, &totals, &err), 0);
		assert_int_equal(totals.failed, 1);
		assert_int_equal(totals.passed, 0);
		log = read_string(path);
		assert_string_equal(log, "s2");
		free(log);
		free(path);
		free(out);
	}
}

static void what_is_missing_makes_it_incomplete(void **state)
{
	struct results_totals totals;
	struct error err;
	json_t *run;

	write_results("s1", "a=pass", 3);
	assert_int_equal(merge("s1", "part", &totals, &err), 0);
	run = record_load("part", &err);
	assert_false(record_flag(run, "complete"));
	json_decref(run);
}

static void no_results_are_refused(void **state)
{
	struct results_totals totals;
	struct error err;

	mkdir("empty", 0777);
	assert_int_equal(merge("empty", "out1", &totals, &err), -1);
	expect_contains(err.text, "empty/results.json");
	/* A name that would leave the directory of logs. */
	write_results("bad", "a=pass", 1);
	write_string("bad/results.json",
		     "{\"schema\": 1, \"tool\": \"kvm-time-tests\", \"tests\": [{\"key\": \"x\", "
		     "\"name\": \"../x\", \"arch\": \"arm64\", \"repetition\": 1, "
		     "\"verdict\": \"pass\", \"checks\": []}]}");
	assert_int_equal(merge("bad", "out2", &totals, &err), -1);
	expect_contains(err.text, "bad");
}

/* ---- expected/ --------------------------------------------------------------------------------- */

static const char entries[] = "# head of the file\n\n"
			      "# about one\n[counter.one]\nverdict = fail\nreason = r\n\n"
			      "# about gone\n[counter.gone]\nverdict = fail\nreason = r\n\n"
			      "# about two\n[counter.two]\nverdict = fail\nreason = r\n";

static const char run_text[] =
	"{\"targets\": [{\"arch\": \"x86_64\", \"vmm_version\": \"7.2.22\"}], \"tests\": [{"
	"\"key\": \"x86_64/counter\", \"name\": \"counter\", \"arch\": \"x86_64\", \"repetition\": "
	"1,"
	"\"vmm\": \"qemu\", \"accel\": \"tcg\", \"verdict\": \"fail\", \"raw_verdict\": \"fail\","
	"\"command\": \"%s\", \"checks\": ["
	"{\"name\": \"one\", \"verdict\": \"pass\", \"unexpected_pass\": true,"
	" \"expected\": {\"file\": \"expected/a.cfg\", \"line\": 4}},"
	"{\"name\": \"two\", \"verdict\": \"xfail\","
	" \"expected\": {\"file\": \"expected/a.cfg\", \"line\": 14}},"
	"{\"name\": \"three\", \"verdict\": \"fail\", \"diagnostics\": [\"saw 1 # not 2\"]},"
	"{\"name\": \"three/sub\", \"verdict\": \"fail\", \"has_sub_checks\": true}"
	"]}]}";

struct update {
	struct expectations expectations;
	struct config config;
	struct expected_update u;
	json_t *run;
};

static void update_begin(struct update *x, const char *command)
{
	char *json = text_format(run_text, command);
	json_error_t error;

	mkdir("expected", 0777);
	write_string("expected/a.cfg", entries);
	write_string("one.cfg", "[counter]\narch = x86_64\n");
	assert_int_equal(config_load("one.cfg", &x->config), 0);
	assert_int_equal(expected_load("expected", &x->expectations), 0);
	x->run = json_loads(json, 0, &error);
	assert_non_null(x->run);
	x->u = (struct expected_update){ &x->expectations, &x->config, ".", "expected", x->run };
	free(json);
}

static void update_end(struct update *x)
{
	json_decref(x->run);
	expected_free(&x->expectations);
	config_free(&x->config);
}

static void entries_without_a_check_are_told(void **state)
{
	struct text t = { 0 };
	struct update x;

	update_begin(&x, "qemu");
	assert_int_equal(expected_unmatched(&x.u, &t), 1);
	expect_contains(text_string(&t), "expected/a.cfg:9: [counter.gone] matches nothing");
	update_end(&x);
	/* A run of one check has not shown the others. */
	text_clear(&t);
	update_begin(&x, "qemu -append check=one");
	assert_int_equal(expected_unmatched(&x.u, &t), 0);
	update_end(&x);
	text_free(&t);
}

static const char wanted_diff[] =
	"--- a/expected/a.cfg\n+++ b/expected/a.cfg\n@@ -1,15 +1,5 @@\n"
	" # head of the file\n \n"
	"-# about one\n-[counter.one]\n-verdict = fail\n-reason = r\n-\n"
	"-# about gone\n-[counter.gone]\n-verdict = fail\n-reason = r\n-\n"
	" # about two\n [counter.two]\n verdict = fail\n"
	"--- /dev/null\n+++ b/expected/unsorted.cfg\n@@ -0,0 +1,7 @@\n"
	"+[counter.three]\n+verdict = fail\n+arch = x86_64\n+vmm = qemu\n"
	"+accel = tcg\n+qemu = 7.2\n"
	"+reason = to be explained; seen: saw 1   not 2\n";

static void diff_adds_and_removes(void **state)
{
	struct text t = { 0 };
	struct update x;
	struct error err;

	update_begin(&x, "qemu");
	assert_int_equal(expected_diff(&x.u, &t, &err), 0);
	assert_string_equal(text_string(&t), wanted_diff);
	text_free(&t);
	update_end(&x);
}

/* ---- bisect ------------------------------------------------------------------------------------ */

static json_t *bisect_run(const char *booted)
{
	json_error_t error;
	char *json = text_format("{\"targets\": [{\"arch\": \"arm64\"}, {\"arch\": \"x86_64\"}], "
				 "\"environment\": {\"kernel_mode\": {%s}}}",
				 booted);
	json_t *run = json_loads(json, 0, &error);

	assert_non_null(run);
	free(json);
	return run;
}

static void statuses_of_bisect(void **state)
{
	json_t *both = bisect_run("\"arm64\": {}, \"x86_64\": {}");
	json_t *one = bisect_run("\"arm64\": {}");

	assert_int_equal(bisect_status(0, 0, both), 0);
	assert_int_equal(bisect_status(1, 0, both), 1);
	assert_int_equal(bisect_status(2, 0, both), 1);
	assert_int_equal(bisect_status(3, 0, both), 125);
	/* A kernel that did not come up tells nothing, though its tests count as errors. */
	assert_int_equal(bisect_status(1, 0, one), 125);
	assert_int_equal(bisect_status(3, 0, NULL), 125);
	/* git stops where the user does. */
	assert_int_equal(bisect_status(3, 2, both), 130);
	json_decref(both);
	json_decref(one);
}

static int build_status(const char *command)
{
	struct options o = { .kernel = "tree with blanks", .bisect_build = command };

	mkdir(o.kernel, 0777);
	return bisect_build(&o);
}

static void builds_of_bisect(void **state)
{
	assert_int_equal(build_status("touch built; true"), 0);
	assert_int_equal(access("tree with blanks/built", F_OK), 0);
	assert_int_equal(build_status("false"), 125);
	assert_int_equal(build_status("exit 2"), 125);
	assert_int_equal(build_status("no-such-command-of-ours 2>/dev/null"), 125);
	assert_int_equal(build_status("kill -TERM $$"), 128 + 15);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(shards_have_every_test_once),
		cmocka_unit_test(shards_are_stable),
		cmocka_unit_test(results_are_merged),
		cmocka_unit_test(conflicts_keep_the_worse),
		cmocka_unit_test(what_is_missing_makes_it_incomplete),
		cmocka_unit_test(no_results_are_refused),
		cmocka_unit_test(entries_without_a_check_are_told),
		cmocka_unit_test(diff_adds_and_removes),
		cmocka_unit_test(statuses_of_bisect),
		cmocka_unit_test(builds_of_bisect),
	};

	return cmocka_run_group_tests(tests, scratch_enter, scratch_leave);
}
