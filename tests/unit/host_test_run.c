// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The course of a test against a VMM that is a script in this file: what ends it, which verdict that
 * is, what is kept; and host calls, with what goes back to the guest.
 */
#include "host_support.h"

#include <time.h>
#include "host_call.h"
#include "test_run.h"

/* ---- a VMM of paper --------------------------------------------------------------------------- */

struct machine {
	const struct machine_events *events;
	void *ctx;
};

static struct {
	char *args, *image, *cpu;
	struct text sent; /* to the guest's console */
	const char *stderr_text;
	bool start_fails;
	unsigned int alive;
	struct machine *machine;
} paper;

static struct machine *paper_start(const struct machine_spec *spec, struct loop *loop,
				   const struct machine_events *events, void *ctx,
				   struct error *err)
{
	struct machine *m;

	free(paper.args);
	free(paper.image);
	free(paper.cpu);
	paper.args = text_copy(spec->args);
	paper.image = text_copy(spec->image);
	paper.cpu = text_copy(spec->cpu);
	if (paper.start_fails) {
		error_set(err, "cannot execute paper: it is paper");
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	m->events = events;
	m->ctx = ctx;
	paper.alive++;
	paper.machine = m;
	return m;
}

static void paper_send(struct machine *m, const char *data, size_t len)
{
	assert_ptr_equal(m, paper.machine);
	text_append_bytes(&paper.sent, data, len);
}

static void paper_kill(struct machine *m)
{
	assert_ptr_equal(m, paper.machine);
	paper.machine = NULL;
	paper.alive--;
	free(m);
}

static const char *paper_command(const struct machine *m)
{
	return "paper -kernel image";
}

static const char *paper_stderr(const struct machine *m)
{
	return paper.stderr_text ? paper.stderr_text : "";
}

static const struct backend paper_backend = {
	.kind = VMM_QEMU,
	.name = "paper",
	.start = paper_start,
	.console_send = paper_send,
	.kill = paper_kill,
	.command = paper_command,
	.stderr_text = paper_stderr,
};

/* ---- a run of it ------------------------------------------------------------------------------ */

struct fixture {
	struct loop *loop;
	struct target target;
	struct test test;
	struct test_result result;
	struct test_run *run;
	FILE *log;
	unsigned int done;
};

static void on_done(void *ctx)
{
	struct fixture *f = ctx;

	f->done++;
	loop_quit(f->loop);
}

/* An arm64 image is enough of a file when its header says so. */
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
	write_image();
	f->loop = loop_new();
	f->target.arch = ARCH_ARM64;
	f->target.backend = &paper_backend;
	f->target.accel = ACCEL_TCG;
	f->target.usable = true;
	strcpy(f->target.probe.cpu, "max");
	f->test = (struct test){ .name = "demo",
				 .arch = ARCH_ARM64,
				 .key = "arm64/demo",
				 .image = "demo",
				 .args = "a b=c",
				 .smp = 3,
				 .memory_mib = 32,
				 .timeout_s = 30 };
	test_result_init(&f->result, &f->test, 1);
	f->log = fopen("log", "w");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	test_run_free(f->run);
	assert_int_equal(paper.alive, 0);
	test_result_free(&f->result);
	loop_free(f->loop);
	fclose(f->log);
	free(paper.args);
	free(paper.image);
	free(paper.cpu);
	text_free(&paper.sent);
	memset(&paper, 0, sizeof(paper));
	free(f);
	return 0;
}

static void start(struct fixture *f, const char *append)
{
	struct test_run_spec spec = {
		.loop = f->loop,
		.target = &f->target,
		.result = &f->result,
		.log = f->log,
		.images = ".",
		.append = append,
		.timeout_s = 0,
	};

	f->run = test_run_start(&spec, on_done, f);
}

static void say(const char *text)
{
	paper.machine->events->console(paper.machine->ctx, text, strlen(text));
}

static void end(int kind, const char *text)
{
	struct machine_exit exit = { .kind = kind, .text = text };

	paper.machine->events->exited(paper.machine->ctx, &exit);
}

static void expect_end(struct fixture *f, enum verdict verdict, const char *reason)
{
	assert_int_equal(f->done, 1);
	assert_int_equal(paper.alive, 0);
	assert_int_equal(f->result.verdict, verdict);
	if (reason)
		assert_string_equal(f->result.reason, reason);
	else
		assert_null(f->result.reason);
}

#define HELLO "@ktt hello version=1 arch=arm64 image=demo\n"
#define GOOD  HELLO "KTAP version 1\n1..1\nok 1 only\n@ktt end checks=1 failed=0\n"

static void test_good_run(void **state)
{
	struct fixture *f = *state;
	char *log;

	paper.stderr_text = "warning: \033[1mpaper\n";
	start(f, "check=only");
	assert_string_equal(paper.args, "a b=c cpus=3 check=only");
	assert_string_equal(paper.image, "./arm64/arm/demo.img");
	assert_string_equal(paper.cpu, "max");
	say(GOOD);
	expect_end(f, VERDICT_SKIP, NULL);
	assert_int_equal(f->result.nr_checks, 1);
	assert_true(f->result.boot_ns > 0);
	assert_true(f->result.duration_ns >= f->result.boot_ns);
	assert_string_equal(f->result.command, "paper -kernel image");
	assert_string_equal(f->result.vmm_stderr, "warning: \\x1b[1mpaper\n");
	assert_null(f->result.log_tail);
	fflush(f->log);
	log = read_string("log");
	assert_string_equal(log, GOOD);
	free(log);
}

static void test_exits(void **state)
{
	static const struct {
		int kind;
		const char *text, *reason;
	} cases[] = {
		{ MACHINE_POWEROFF, NULL,
		  "the guest powered its machine off before its end line (before its first "
		  "check)" },
		{ MACHINE_RESET, NULL, "the guest reset its machine (before its first check)" },
		{ MACHINE_PANICKED, "the VMM stopped the guest (internal-error)",
		  "the VMM stopped the guest (internal-error) (before its first check)" },
		{ MACHINE_VMM_DIED, "paper was killed by signal 11 (Segmentation fault)",
		  "paper was killed by signal 11 (Segmentation fault) (before its first check)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		void *fresh;
		struct fixture *f;

		assert_int_equal(setup(&fresh), 0);
		f = fresh;
		start(f, NULL);
		say(HELLO);
		end(cases[i].kind, cases[i].text);
		expect_end(f, VERDICT_ERROR, cases[i].reason);
		assert_string_equal(f->result.log_tail, HELLO);
		teardown(&fresh);
	}
}

static void test_failed_start(void **state)
{
	struct fixture *f = *state;

	paper.start_fails = true;
	start(f, NULL);
	assert_int_equal(f->done, 0); /* told from the loop only */
	loop_run(f->loop);
	expect_end(f, VERDICT_ERROR, "cannot execute paper: it is paper");
}

static void test_missing_image(void **state)
{
	struct fixture *f = *state;

	f->test.image = "absent";
	start(f, NULL);
	loop_run(f->loop);
	expect_end(f, VERDICT_ERROR,
		   "./arm64/arm/absent.img: No such file or directory: build it "
		   "(make), or see --images");
}

static void test_time_limit(void **state)
{
	struct fixture *f = *state;

	f->test.timeout_s = 1;
	start(f, NULL);
	say(HELLO "KTAP version 1\n1..2\nok 1 first\n");
	loop_run(f->loop);
	expect_end(f, VERDICT_TIMEOUT, "no end after 1 s; last seen after check 'first'");
	expect_contains(f->result.log_tail, "ok 1 first\n");
}

static void test_time_limit_of_a_silent_vmm(void **state)
{
	struct fixture *f = *state;

	f->test.timeout_s = 1;
	start(f, NULL);
	loop_run(f->loop);
	expect_end(f, VERDICT_TIMEOUT, "the VMM did not start the guest within 1 s");
}

/* A panic ends the test with its backtrace, or soon after without one. */
static void test_panics(void **state)
{
	struct fixture *f = *state;

	start(f, NULL);
	say(HELLO "@ktt panic text=broke\n");
	assert_int_equal(f->done, 0);
	say("@ktt backtrace pc=0x10\n");
	expect_end(f, VERDICT_ERROR, "panic before its first check: broke");
	expect_contains(f->result.backtrace, "0x10");
}

static void test_panic_without_backtrace(void **state)
{
	struct fixture *f = *state;

	start(f, NULL);
	say(HELLO "@ktt panic text=broke\n");
	loop_run(f->loop);
	expect_end(f, VERDICT_ERROR, "panic before its first check: broke");
	assert_null(f->result.backtrace);
}

static void test_flood(void **state)
{
	static char line[4096];
	struct fixture *f = *state;

	memset(line, 'x', sizeof(line) - 2);
	line[sizeof(line) - 2] = '\n';
	start(f, NULL);
	say(HELLO);
	for (size_t said = 0; said <= TEST_LOG_MAX && !f->done; said += strlen(line))
		say(line);
	expect_end(f, VERDICT_ERROR,
		   "it printed more than 2 MiB and was stopped (before its first check)");
	assert_int_equal(ftell(f->log), TEST_LOG_MAX);
}

/* The run can be ended from outside at any time. */
static void test_cancel(void **state)
{
	struct fixture *f = *state;

	start(f, NULL);
	say(HELLO "@ktt panic text=broke\n@ktt call id=1 action=echo when=after-ms=10\n");
	test_run_free(f->run);
	f->run = NULL;
	assert_int_equal(paper.alive, 0);
	assert_int_equal(f->done, 0);
}

/* ---- host calls ------------------------------------------------------------------------------- */

static void quit(void *ctx)
{
	loop_quit(ctx);
}

static void expect_reply(const char *call, const char *reply)
{
	text_clear(&paper.sent);
	say(call);
	assert_string_equal(text_string(&paper.sent), reply);
}

static void test_calls(void **state)
{
	struct fixture *f = *state;
	char *calls;

	start(f, NULL);
	say(HELLO);
	expect_reply("@ktt call id=1 action=echo when=now text=a  b c=d\n",
		     "@ktt reply id=1 status=ok text=a  b c=d\n");
	expect_reply("@ktt call id=2 action=levitate when=now\n",
		     "@ktt reply id=2 status=unsupported text=this runner knows no such action\n");
	expect_reply("@ktt call action=echo\n",
		     "@ktt reply id=0 status=error text=a call needs a number as its id\n");
	expect_reply("@ktt call id=3 action=echo when=later\n",
		     "@ktt reply id=3 status=error text=when= is neither now nor after-ms=N\n");
	expect_reply("@ktt call id=4 action=stamp when=after-ms=5\n",
		     "@ktt reply id=4 status=unsupported text=this action is done at once or not "
		     "at all\n");
	calls = json_dumps(f->result.calls, JSON_COMPACT | JSON_SORT_KEYS);
	expect_contains(calls, "{\"action\":\"echo\",\"id\":1,\"reply\":{\"text\":\"a  b c=d\"},"
			       "\"status\":\"ok\",\"text\":\"a  b c=d\",\"when\":\"now\"}");
	expect_contains(calls, "\"status\":\"unsupported\"");
	assert_int_equal(json_array_size(f->result.calls), 5);
	free(calls);
}

/* Which the paper VMM has none of. */
static void test_host_actions(void **state)
{
	struct fixture *f = *state;

	f->target.policy = "counter.pause=running timer.restore=frozen";
	start(f, NULL);
	say(HELLO);
	expect_reply("@ktt call id=1 action=generation when=now\n",
		     "@ktt reply id=1 status=ok generation=1\n");
	expect_reply("@ktt call id=2 action=policy when=now\n",
		     "@ktt reply id=2 status=ok counter-pause=running counter-restore=unknown "
		     "counter-migrate=unknown physical-pause=unknown physical-restore=unknown "
		     "physical-migrate=unknown kvmclock-pause=unknown kvmclock-restore=unknown "
		     "kvmclock-migrate=unknown timer-pause=unknown timer-restore=frozen "
		     "timer-migrate=unknown\n");
	expect_reply("@ktt call id=3 action=pause when=now\n",
		     "@ktt reply id=3 status=error text=ms= is no number from 0 to 3600000\n");
	expect_reply("@ktt call id=4 action=migrate when=now count=1001\n",
		     "@ktt reply id=4 status=error text=count= is no number from 0 to 1000\n");
	expect_reply(
		"@ktt call id=5 action=pause when=now ms=1\n",
		"@ktt reply id=5 status=unsupported text=the VMM paper cannot pause a guest\n");
	expect_reply(
		"@ktt call id=6 action=reset when=now\n",
		"@ktt reply id=6 status=unsupported text=the VMM paper cannot reset a guest\n");
	text_clear(&paper.sent);
	say("@ktt call id=7 action=load when=after-ms=1 for-ms=1\n");
	while (!paper.sent.len) {
		loop_add_timer(f->loop, 1000000, quit, f->loop);
		loop_run(f->loop);
	}
	expect_contains(text_string(&paper.sent), "@ktt reply id=7 status=ok generation=1 "
						  "stop-before-raw-ns=");
}

/* The time limit and a death name the action that was under way. */
static void test_end_in_an_action(void **state)
{
	struct fixture *f = *state;

	start(f, NULL);
	say(HELLO "@ktt call id=1 action=load when=now for-ms=60000\n");
	end(MACHINE_VMM_DIED, "paper was torn");
	expect_end(f, VERDICT_ERROR,
		   "during the host action 'load': paper was torn (before its first check)");
}

static void test_limit_in_an_action(void **state)
{
	struct fixture *f = *state;

	f->test.timeout_s = 1;
	start(f, NULL);
	say(HELLO "@ktt call id=1 action=load when=now for-ms=60000\n");
	loop_run(f->loop);
	expect_end(f, VERDICT_TIMEOUT,
		   "no end after 1 s; last seen before its first check; the host action 'load' was "
		   "under way");
}

static void test_stamp(void **state)
{
	struct fixture *f = *state;
	unsigned long long raw_ns, realtime_ns;
	struct timespec before, after;

	start(f, NULL);
	say(HELLO);
	clock_gettime(CLOCK_MONOTONIC_RAW, &before);
	say("@ktt call id=9 action=stamp when=now\n");
	clock_gettime(CLOCK_MONOTONIC_RAW, &after);
	assert_int_equal(sscanf(text_string(&paper.sent),
				"@ktt reply id=9 status=ok raw-ns=%llu realtime-ns=%llu\n", &raw_ns,
				&realtime_ns),
			 2);
	assert_in_range(raw_ns, before.tv_sec * 1000000000ULL + before.tv_nsec,
			after.tv_sec * 1000000000ULL + after.tv_nsec);
	assert_in_range(realtime_ns / 1000000000, time(NULL) - 1, time(NULL));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_good_run),
		TEST(test_exits),
		TEST(test_failed_start),
		TEST(test_missing_image),
		TEST(test_time_limit),
		TEST(test_time_limit_of_a_silent_vmm),
		TEST(test_panics),
		TEST(test_panic_without_backtrace),
		TEST(test_flood),
		TEST(test_cancel),
		TEST(test_calls),
		TEST(test_stamp),
		TEST(test_host_actions),
		TEST(test_end_in_an_action),
		TEST(test_limit_in_an_action),
	};

	return cmocka_run_group_tests_name("test run", tests, scratch_enter, scratch_leave);
}
