// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The scheduler with a VMM of paper: how many tests run at a time, that those which measure time run
 * alone, repetitions, tests that are settled without a run, signals, and that no machine is left.
 */
#include "host_support.h"

#include <fcntl.h>
#include <signal.h>
#include "schedule.h"

#define MS 1000000ULL

/* ---- a VMM of paper: a machine says its lines after a while -------------------------------------- */

struct machine {
	struct loop *loop;
	struct loop_source *timer;
	const struct machine_events *events;
	void *ctx;
	char *image;
	bool alone; /* asked for by the argument "alone" */
};

static struct {
	unsigned int alive, most_alive, started;
	bool alone_alive;
	bool not_alone; /* something ran beside a machine that was to be alone */
	u64 lifetime_ns;
} paper;

static void on_timer(void *ctx)
{
	struct machine *m = ctx;
	char *text = text_format("@ktt hello version=1 arch=arm64 image=%s\nKTAP version 1\n1..1\n"
				 "ok 1 only\n@ktt end checks=1 failed=0\n",
				 m->image);

	m->timer = NULL;
	m->events->console(m->ctx, text, strlen(text)); /* kills it */
	free(text);
}

static struct machine *paper_start(const struct machine_spec *spec, struct loop *loop,
				   const struct machine_events *events, void *ctx,
				   struct error *err)
{
	struct machine *m = calloc(1, sizeof(*m));

	m->loop = loop;
	m->events = events;
	m->ctx = ctx;
	m->image = text_copy("demo");
	m->alone = contains(spec->args, "alone");
	if (paper.alone_alive || (m->alone && paper.alive))
		paper.not_alone = true;
	paper.alone_alive |= m->alone;
	paper.started++;
	paper.alive++;
	paper.most_alive = MAX(paper.most_alive, paper.alive);
	m->timer = loop_add_timer(loop, paper.lifetime_ns, on_timer, m);
	return m;
}

static void paper_kill(struct machine *m)
{
	paper.alive--;
	if (m->alone)
		paper.alone_alive = false;
	loop_remove(m->loop, m->timer);
	free(m->image);
	free(m);
}

static void paper_send(struct machine *m, const char *data, size_t len)
{
}

static const char *paper_text(const struct machine *m)
{
	return "";
}

static const struct backend paper_backend = {
	.kind = VMM_QEMU,
	.name = "paper",
	.start = paper_start,
	.console_send = paper_send,
	.kill = paper_kill,
	.command = paper_text,
	.stderr_text = paper_text,
};

/* ---- a run of it -------------------------------------------------------------------------------- */

struct fixture {
	struct config config;
	struct selection selection;
	struct options options;
	struct target targets[ARCH_COUNT];
	struct expectations expectations;
	struct results *results;
	struct progress *progress;
	struct error err;
	int signo;
	char *json; /* results.json */
};

static void write_image(void)
{
	char header[64] = "";

	memcpy(header + 56, "ARMd", 4);
	header[16] = 64; /* image_size */
	mkdir("arm64", 0755);
	mkdir("arm64/arm", 0755);
	write_bytes("arm64/arm/demo.img", header, sizeof(header));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	memset(&paper, 0, sizeof(paper));
	paper.lifetime_ns = 3 * MS;
	write_image();
	f->options.images = text_copy(".");
	f->options.ktap = true; /* no report */
	f->options.repeat = 1;
	f->options.jobs = 2;
	f->targets[ARCH_ARM64] = (struct target){
		.arch = ARCH_ARM64,
		.backend = &paper_backend,
		.vmm_path = text_copy("paper"),
		.accel = ACCEL_TCG,
		.accel_reason = text_copy("as the test wants"),
		.usable = true,
	};
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(paper.alive, 0);
	free(f->json);
	progress_free(f->progress);
	results_free(f->results);
	target_free(&f->targets[ARCH_ARM64]);
	selection_free(&f->selection);
	config_free(&f->config);
	options_free(&f->options);
	free(f);
	return 0;
}

/* Runs a config; returns what schedule_run() does. */
static int run(struct fixture *f, const char *config)
{
	static const bool archs[ARCH_COUNT] = { [ARCH_ARM64] = true };
	static char *argv[] = { "run_tests.sh", NULL };
	struct schedule_spec spec = {
		.options = &f->options,
		.selection = &f->selection,
		.targets = f->targets,
		.expectations = &f->expectations,
		.run_start_ns = now_ns(),
	};
	struct results_target target = target_for_results(&f->targets[ARCH_ARM64]);
	struct results_totals totals;
	int status;

	write_string("tests.cfg", config);
	assert_int_equal(config_load("tests.cfg", &f->config), 0);
	assert_int_equal(select_tests(&f->config, &f->options, archs, &f->selection, &f->err), 0);
	f->results = results_open("results", now_ns(), &f->err);
	assert_non_null(f->results);
	results_begin(f->results, json_object(), 1, argv, "", &target, 1, schedule_planned(&spec));
	f->progress = progress_new(&f->options, "results", schedule_planned(&spec));
	spec.results = f->results;
	spec.progress = f->progress;
	status = schedule_run(&spec, &f->signo, &f->err);
	assert_int_equal(paper.alive, 0);
	results_finish(f->results, f->signo, &totals, &f->err);
	f->json = read_string("results/results.json");
	return status;
}

#define TEST_SECTION(name, keys) "[" name "]\narch = arm64\nimage = demo\n" keys "\n"
#define FIVE                  \
	TEST_SECTION("a", "") \
	TEST_SECTION("b", "") TEST_SECTION("c", "") TEST_SECTION("d", "") TEST_SECTION("e", "")

static void test_one_at_a_time(void **state)
{
	struct fixture *f = *state;

	f->options.jobs = 1;
	assert_int_equal(run(f, FIVE), 0);
	assert_int_equal(paper.started, 5);
	assert_int_equal(paper.most_alive, 1);
}

static void test_several_at_a_time(void **state)
{
	struct fixture *f = *state;

	f->options.jobs = 3;
	assert_int_equal(run(f, FIVE), 0);
	assert_int_equal(paper.started, 5);
	assert_int_equal(paper.most_alive, 3);
}

static void test_repetitions(void **state)
{
	struct fixture *f = *state;

	f->options.repeat = 4;
	assert_int_equal(run(f, TEST_SECTION("a", "")), 0);
	assert_int_equal(paper.started, 4);
	expect_contains(f->json, "\"repetition\": 4");
}

static void test_timing_runs_alone(void **state)
{
	struct fixture *f = *state;

	f->options.jobs = 4;
	f->options.repeat = 2;
	assert_int_equal(run(f, TEST_SECTION("t", "timing = yes\nargs = alone\n")
					FIVE TEST_SECTION("u", "timing = yes\nargs = alone\n")),
			 0);
	assert_int_equal(paper.started, 14);
	assert_int_equal(paper.most_alive, 4);
	assert_false(paper.not_alone);
}

static void test_settled_without_a_run(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(
		run(f, TEST_SECTION("a", "accel = kvm\n") TEST_SECTION("b", "vmm = kvm\n")), 0);
	assert_int_equal(paper.started, 0);
	expect_contains(f->json, "not under the accelerator tcg (key accel in the config)");
	expect_contains(f->json, "not for the VMM paper (key vmm in the config)");
}

static void test_unusable_target(void **state)
{
	struct fixture *f = *state;

	f->targets[ARCH_ARM64].usable = false;
	assert_int_equal(run(f, TEST_SECTION("a", "")), 0);
	assert_int_equal(paper.started, 0);
	expect_contains(f->json, "paper cannot run arm64 guests under tcg here: as the test wants");
}

static void test_missing_image_is_one_error(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(run(f, "[x]\narch = arm64\nimage = absent\n" FIVE), 0);
	assert_int_equal(paper.started, 5);
	expect_contains(f->json, "absent.img: No such file or directory");
}

/* The signal comes while the first tests run; what had ended is on disk. */
static void test_signal(void **state)
{
	struct fixture *f = *state;
	sigset_t term, old;

	paper.lifetime_ns = 60000 * MS;
	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	sigprocmask(SIG_BLOCK, &term, &old);
	kill(getpid(), SIGTERM); /* pending until the scheduler listens */
	assert_int_equal(run(f, FIVE), 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	assert_int_equal(f->signo, SIGTERM);
	assert_int_equal(paper.started, 2);
	expect_contains(f->json, "\"interrupted\": true");
	expect_contains(f->json, "\"complete\": false");
}

/* A full disk ends the run, and says which file. */
static void test_unwritable_results(void **state)
{
	struct fixture *f = *state;

	f->options.jobs = 1;
	mkdir("results", 0755);
	mkdir("results/logs", 0755);
	write_string("results/logs/arm64", "a file in the place of a directory");
	assert_int_equal(run(f, FIVE), -1);
	assert_int_equal(paper.started, 0);
	expect_contains(f->err.text, "results/logs/arm64");
}

static int setup_dir(void **state)
{
	return scratch_enter(state) || setup(state);
}

static int teardown_dir(void **state)
{
	return teardown(state) || scratch_leave(state);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_dir, teardown_dir)
	const struct CMUnitTest tests[] = {
		TEST(test_one_at_a_time),
		TEST(test_several_at_a_time),
		TEST(test_repetitions),
		TEST(test_timing_runs_alone),
		TEST(test_settled_without_a_run),
		TEST(test_unusable_target),
		TEST(test_missing_image_is_one_error),
		TEST(test_signal),
		TEST(test_unwritable_results),
	};

	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
