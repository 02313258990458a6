// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host actions under QEMU: what is asked over QMP, in which order, and what is made of the answers, with
 * a shell script in QEMU's place.
 */
#include "host_support.h"

#include "backend.h"

struct fixture {
	struct loop *loop;
	struct machine *machine;
	void (*act)(struct fixture *f); /* when the guest runs */
	unsigned int started, done;
	struct error err; /* of the last action; "" on success */
	struct action_times times;
	char *end; /* the exit's text */
};

static void on_started(void *ctx, const struct action_times *times)
{
	struct fixture *f = ctx;

	f->started++;
	f->act(f);
}

static void on_console(void *ctx, const char *data, size_t len)
{
}

static void on_exited(void *ctx, const struct machine_exit *exit)
{
	struct fixture *f = ctx;

	f->end = text_copy(exit->text);
	loop_quit(f->loop);
}

static const struct machine_events machine_events = { on_started, on_console, on_exited };

static void on_done(void *ctx, const struct error *err, const struct action_times *times)
{
	struct fixture *f = ctx;

	f->done++;
	memset(&f->err, 0, sizeof(f->err));
	if (err)
		f->err = *err;
	else
		f->times = *times;
	loop_quit(f->loop);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->loop = loop_new();
	unlink("asked");
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->machine)
		qemu_backend.kill(f->machine);
	loop_free(f->loop);
	free(f->end);
	free(f);
	return 0;
}

static void give_up(void *ctx)
{
	loop_quit(ctx);
}

/* Until an action is done or the machine has ended. */
static void run(struct fixture *f)
{
	loop_add_timer(f->loop, 20000000000ULL, give_up, f->loop);
	loop_run(f->loop);
}

/*
 * A QEMU of this version that comes up, then runs the script. In it "answer VALUE" and "refuse TEXT"
 * take a command, which goes to the file asked without its id, and "event NAME DATA" tells one.
 */
static void start(struct fixture *f, const char *version, const char *script)
{
	struct machine_spec spec = { .arch = ARCH_X86_64,
				     .accel = ACCEL_TCG,
				     .image = "i",
				     .args = "a",
				     .smp = 2,
				     .memory_mib = 32,
				     .vmm_path = "./qemu" };
	unsigned int major, minor;
	struct error err;
	char *text;

	sscanf(version, "%u.%u", &major, &minor);
	text = text_format(
		"#!/bin/bash\n"
		"[[ $* =~ id=qmp,fd=([0-9]+) ]]; qmp=${BASH_REMATCH[1]}\n"
		"id=0\n"
		"take() { read -r -u $qmp line; id=$((id + 1))\n"
		"  sed 's/,\"id\":[0-9]*//' <<<\"$line\" >>asked; }\n"
		"answer() { take; echo \"{\\\"return\\\": $1, \\\"id\\\": $id}\" >&$qmp; }\n"
		"refuse() { take; echo \"{\\\"error\\\": {\\\"desc\\\": \\\"$1\\\"}, \\\"id\\\": "
		"$id}\" >&$qmp; }\n"
		"event() { echo \"{\\\"event\\\": \\\"$1\\\", \\\"data\\\": $2}\" >&$qmp; }\n"
		"echo '{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 0, \"minor\": %u, "
		"\"major\": %u}}}}' >&$qmp\n"
		"answer '{}'; answer '{\"enabled\": false}'; answer '{}'; : >asked\n"
		"%s\nsleep 100\n",
		minor, major, script);
	write_string("qemu", text);
	chmod("qemu", 0755);
	free(text);
	f->machine = qemu_backend.start(&spec, f->loop, &machine_events, f, &err);
	assert_non_null(f->machine);
	run(f);
}

static void expect_asked(const char *expected)
{
	char *asked = read_string("asked");

	assert_string_equal(asked, expected);
	free(asked);
}

static void expect_done(const struct fixture *f, const char *error)
{
	assert_int_equal(f->done, 1);
	assert_string_equal(f->err.text, error);
}

/* ---- pause and resume --------------------------------------------------------------------------- */

static void pause_it(struct fixture *f)
{
	qemu_backend.pause(f->machine, on_done, f);
}

static void test_pause_and_resume(void **state)
{
	struct fixture *f = *state;
	u64 before_ns = host_time_now().raw_ns;

	f->act = pause_it;
	start(f, "7.2", "answer '{}'; event STOP '{}'; answer '{}'");
	expect_done(f, "");
	assert_in_range(f->times.stop_before.raw_ns, before_ns, f->times.stop_after.raw_ns);
	assert_true(f->times.stop_after.realtime_ns >= f->times.stop_before.realtime_ns);
	assert_int_equal(f->times.run_before.raw_ns, 0);
	before_ns = f->times.stop_after.raw_ns;
	f->done = 0;
	qemu_backend.resume(f->machine, on_done, f);
	run(f);
	expect_done(f, "");
	assert_in_range(f->times.run_before.raw_ns, before_ns, f->times.run_after.raw_ns);
	expect_asked("{\"execute\":\"stop\"}\n{\"execute\":\"cont\"}\n");
	assert_null(f->end);
}

static void test_pause_is_refused(void **state)
{
	struct fixture *f = *state;

	f->act = pause_it;
	start(f, "7.2", "refuse 'not now'");
	expect_done(f, "QEMU did not pause the guest: not now");
}

/* Its end says more than an action without an answer. */
static void test_dies_in_an_action(void **state)
{
	struct fixture *f = *state;

	f->act = pause_it;
	start(f, "7.2", "take; kill -9 $$");
	assert_int_equal(f->done, 0);
	assert_string_equal(f->end, "QEMU was killed by signal 9 (Killed)");
}

/* ---- save and migrate --------------------------------------------------------------------------- */

#define CAPABILITIES                                                      \
	"{\"execute\":\"migrate-set-capabilities\",\"arguments\":"        \
	"{\"capabilities\":[{\"capability\":\"events\",\"state\":true}]}" \
	"}\n"

static void save_it(struct fixture *f)
{
	qemu_backend.save(f->machine, "state", on_done, f);
}

/* Done when QEMU has left the state in which it would refuse to go on. */
static void test_save(void **state)
{
	struct fixture *f = *state;

	f->act = save_it;
	start(f, "8.2",
	      "answer '{}'; answer '{}'; event MIGRATION '{\"status\": \"active\"}'\n"
	      "event MIGRATION '{\"status\": \"completed\"}'\n"
	      "answer '{\"status\": \"finish-migrate\"}'; answer '{\"status\": \"postmigrate\"}'");
	expect_done(f, "");
	expect_asked(CAPABILITIES
		     "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"file:state\"}}\n"
		     "{\"execute\":\"query-status\"}\n{\"execute\":\"query-status\"}\n");
}

/* Older ones take a descriptor, of which this script makes nothing. */
static void test_save_by_descriptor(void **state)
{
	struct fixture *f = *state;

	f->act = save_it;
	start(f, "8.1",
	      "answer '{}'; answer '{}'; answer '{}'; event MIGRATION '{\"status\": "
	      "\"completed\"}'; answer '{\"status\": \"postmigrate\"}'");
	expect_done(f, "");
	expect_asked("{\"execute\":\"getfd\",\"arguments\":{\"fdname\":\"state\"}}\n" CAPABILITIES
		     "{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"fd:state\"}}\n"
		     "{\"execute\":\"query-status\"}\n");
}

static void test_save_fails(void **state)
{
	struct fixture *f = *state;

	f->act = save_it;
	start(f, "10.0",
	      "answer '{}'; answer '{}'; event MIGRATION '{\"status\": \"failed\"}'\n"
	      "answer '{\"status\": \"failed\", \"error-desc\": \"No space left on device\"}'");
	expect_done(f, "QEMU did not save the guest: No space left on device");
}

static void test_save_is_refused(void **state)
{
	struct fixture *f = *state;

	f->act = save_it;
	start(f, "10.0", "answer '{}'; refuse 'no such protocol'");
	expect_done(f, "QEMU did not save the guest: no such protocol");
}

static void migrate_it(struct fixture *f)
{
	qemu_backend.migrate(f->machine, STDIN_FILENO, on_done, f);
}

static void test_migrate(void **state)
{
	struct fixture *f = *state;

	f->act = migrate_it;
	start(f, "10.0",
	      "answer '{}'; answer '{}'; answer '{}'; event STOP '{}'\n"
	      "event MIGRATION '{\"status\": \"completed\"}'");
	expect_done(f, "");
	assert_in_range(f->times.stop_after.raw_ns, f->times.stop_before.raw_ns,
			host_time_now().raw_ns);
}

static void test_migration_that_loses_writes(void **state)
{
	struct fixture *f = *state;

	f->act = migrate_it;
	start(f, "7.2", "");
	assert_true(f->err.unsupported);
	expect_contains(f->err.text, "QEMU 7.2.0 loses");
}

/* ---- reset, plug -------------------------------------------------------------------------------- */

static void reset_it(struct fixture *f)
{
	qemu_backend.reset(f->machine, on_done, f);
}

/* -no-reboot holds again afterwards. */
static void test_reset(void **state)
{
	struct fixture *f = *state;

	f->act = reset_it;
	start(f, "7.2", "answer '{}'; answer '{}'; event RESET '{\"guest\": false}'; answer '{}'");
	expect_done(f, "");
	expect_asked("{\"execute\":\"set-action\",\"arguments\":{\"reboot\":\"reset\"}}\n"
		     "{\"execute\":\"system_reset\"}\n"
		     "{\"execute\":\"set-action\",\"arguments\":{\"reboot\":\"shutdown\"}}\n");
	assert_true(f->times.run_after.raw_ns >= f->times.stop_after.raw_ns);
	assert_true(f->times.stop_after.raw_ns >= f->times.run_before.raw_ns);
	assert_true(f->times.run_before.raw_ns >= f->times.stop_before.raw_ns);
}

static void plug_it(struct fixture *f)
{
	qemu_backend.plug(f->machine, on_done, f);
}

/* The lowest that is free. */
static void test_plug(void **state)
{
	struct fixture *f = *state;

	f->act = plug_it;
	start(f, "7.2",
	      "answer '[{\"type\": \"t\", \"props\": {\"socket-id\": 3}}, {\"type\": \"t\", "
	      "\"props\": {\"socket-id\": 2}}, {\"type\": \"t\", \"qom-path\": \"p\", "
	      "\"props\": {\"socket-id\": 1}}]'; answer '{}'");
	expect_done(f, "");
	expect_asked("{\"execute\":\"query-hotpluggable-cpus\"}\n{\"execute\":\"device_add\","
		     "\"arguments\":{\"socket-id\":2,\"driver\":\"t\",\"id\":\"plugged1\"}}\n");
}

static void test_plug_where_there_is_none(void **state)
{
	struct fixture *f = *state;

	f->act = plug_it;
	start(f, "7.2", "refuse 'machine does not support hot-plugging CPUs'");
	assert_true(f->err.unsupported);
	expect_done(f, "QEMU cannot add a vCPU here: machine does not support hot-plugging CPUs");
}

/* Never the runner's own thread, which 0 would be. */
static void affinity_of_it(struct fixture *f)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	qemu_backend.set_affinity(f->machine, &cpus, on_done, f);
}

static void test_affinity_of_no_thread(void **state)
{
	struct fixture *f = *state;

	f->act = affinity_of_it;
	start(f, "7.2", "answer '[{\"cpu-index\": 0}]'");
	expect_done(f, "QEMU did not move a vCPU's thread: it has no number");
}

/* ---- policy ------------------------------------------------------------------------------------- */

static void expect_policy(struct machine_spec spec, const char *expected)
{
	struct text fields = { 0 };
	struct policy policy;

	qemu_backend.policy(&spec, &policy);
	policy_append_fields(&policy, &fields);
	assert_string_equal(text_string(&fields), expected);
	text_free(&fields);
}

#define FROZEN(clock) clock "-pause=frozen " clock "-restore=frozen " clock "-migrate=frozen"
#define RUNS(clock)   clock "-pause=running " clock "-restore=frozen " clock "-migrate=frozen"

static void test_policy(void **state)
{
	struct machine_spec spec = { .arch = ARCH_ARM64, .accel = ACCEL_TCG, .cpu = "max" };

	expect_policy(spec, FROZEN("counter") " " FROZEN("physical") " " FROZEN(
				    "kvmclock") " " FROZEN("timer"));
	spec.accel = ACCEL_KVM;
	expect_policy(spec, FROZEN("counter") " physical-pause=running physical-restore=unknown "
					      "physical-migrate=unknown " FROZEN(
						      "kvmclock") " " FROZEN("timer"));
	spec.cpu = "host,kvm-no-adjvtime=on";
	expect_policy(spec, RUNS("counter") " physical-pause=running physical-restore=unknown "
					    "physical-migrate=unknown " FROZEN("kvmclock") " " RUNS(
						    "timer"));
	spec.arch = ARCH_X86_64;
	expect_policy(spec, RUNS("counter") " " FROZEN("physical") " " FROZEN("kvmclock") " " RUNS(
				    "timer"));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_pause_and_resume),
		TEST(test_pause_is_refused),
		TEST(test_dies_in_an_action),
		TEST(test_save),
		TEST(test_save_by_descriptor),
		TEST(test_save_fails),
		TEST(test_save_is_refused),
		TEST(test_migrate),
		TEST(test_migration_that_loses_writes),
		TEST(test_reset),
		TEST(test_plug),
		TEST(test_plug_where_there_is_none),
		TEST(test_affinity_of_no_thread),
		cmocka_unit_test(test_policy),
	};

	return cmocka_run_group_tests_name("QEMU actions", tests, scratch_enter, scratch_leave);
}
