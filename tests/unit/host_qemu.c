// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The QEMU back end: its arguments for every kind of machine, and machines under programs that
 * behave as a QEMU may when it is broken.
 */
#include "host_support.h"

#include "backend.h"
#include "qemu/command_line.h"

/* ---- arguments -------------------------------------------------------------------------------- */

/* The arguments behind the program, as one string. Static. */
static const char *arguments(const struct machine_spec *spec)
{
	static struct text t;
	char **argv = qemu_command_line(spec, 9, 12);

	text_clear(&t);
	assert_string_equal(argv[0], spec->vmm_path);
	text_append_command(&t, argv + 1);
	words_free(argv);
	return text_string(&t);
}

#define COMMON "-nodefaults -no-user-config -display none -no-reboot -S "
#define TAIL                                                          \
	"-chardev socket,id=qmp,fd=12 -mon chardev=qmp,mode=control " \
	"-chardev socket,id=console,fd=9 -serial chardev:console -kernel i -append 'a b'"

static void test_x86_64_arguments(void **state)
{
	struct machine_spec spec = { .arch = ARCH_X86_64,
				     .accel = ACCEL_KVM,
				     .image = "i",
				     .args = "a b",
				     .smp = 4,
				     .memory_mib = 64,
				     .cpu = "max,-arch-capabilities",
				     .firmware = "qboot.rom",
				     .vmm_path = "q" };

	assert_string_equal(arguments(&spec), "-M pc -accel kvm -cpu max,-arch-capabilities -smp 4 "
					      "-m 64 " COMMON "-bios qboot.rom " TAIL);
	spec.accel = ACCEL_TCG;
	spec.firmware = "";
	spec.machine = "hpet=off";
	assert_string_equal(arguments(&spec),
			    "-M pc,hpet=off -accel tcg -cpu max,-arch-capabilities -smp 4 "
			    "-m 64 " COMMON TAIL);
}

static void test_arm64_arguments(void **state)
{
	struct machine_spec spec = { .arch = ARCH_ARM64,
				     .accel = ACCEL_ICOUNT,
				     .image = "i",
				     .args = "a b",
				     .smp = 1,
				     .memory_mib = 32,
				     .el2 = true,
				     .vmm_path = "q" };

	assert_string_equal(arguments(&spec),
			    "-M virt,gic-version=3,virtualization=on -accel tcg,thread=single "
			    "-icount shift=0,sleep=off -rtc base=2026-01-01,clock=vm -seed 1 "
			    "-cpu max,cntfrq=1000000000 -smp 1 -m 32 " COMMON TAIL);
	spec.cpu = "neoverse-n1,cntfrq=62500000";
	assert_non_null(strstr(arguments(&spec), " -cpu neoverse-n1,cntfrq=62500000 -smp"));
	spec.cpu = NULL;
	spec.accel = ACCEL_TCG;
	spec.el2 = false;
	spec.machine = "gic-version=2";
	assert_string_equal(arguments(&spec), "-M virt,gic-version=2 -accel tcg -cpu max -smp 1 "
					      "-m 32 " COMMON TAIL);
	spec.accel = ACCEL_KVM;
	spec.machine = NULL;
	assert_string_equal(arguments(&spec), "-M virt,gic-version=host -accel kvm -cpu max "
					      "-smp 1 -m 32 " COMMON TAIL);
}

/* ---- machines --------------------------------------------------------------------------------- */

struct fixture {
	struct loop *loop;
	struct machine *machine;
	struct text console;
	unsigned int started, exited;
	int kind;
	char *text;
	bool kill_at_exit, kill_at_console;
};

static void kill_machine(struct fixture *f)
{
	qemu_backend.kill(f->machine);
	f->machine = NULL;
	loop_quit(f->loop);
}

static void on_started(void *ctx, const struct action_times *times)
{
	((struct fixture *)ctx)->started++;
}

static void on_console(void *ctx, const char *data, size_t len)
{
	struct fixture *f = ctx;

	text_append_bytes(&f->console, data, len);
	if (f->kill_at_console)
		kill_machine(f);
}

static void on_exited(void *ctx, const struct machine_exit *exit)
{
	struct fixture *f = ctx;

	f->exited++;
	f->kind = exit->kind;
	f->text = text_copy(exit->text);
	if (f->kill_at_exit)
		kill_machine(f);
	else
		loop_quit(f->loop);
}

static const struct machine_events machine_events = { on_started, on_console, on_exited };

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->loop = loop_new();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	if (f->machine)
		qemu_backend.kill(f->machine);
	loop_free(f->loop);
	text_free(&f->console);
	free(f->text);
	free(f);
	return 0;
}

/*
 * A shell script in the place of QEMU. $qmp and $console are its descriptors; bash, since those of
 * other shells have one digit.
 */
static void start(struct fixture *f, const char *script)
{
	struct machine_spec spec = { .arch = ARCH_X86_64,
				     .accel = ACCEL_TCG,
				     .image = "i",
				     .args = "a",
				     .smp = 1,
				     .memory_mib = 32,
				     .vmm_path = "./qemu" };
	char *text = text_format("#!/bin/bash\n"
				 "[[ $* =~ id=qmp,fd=([0-9]+) ]]; qmp=${BASH_REMATCH[1]}\n"
				 "[[ $* =~ id=console,fd=([0-9]+) ]]; console=${BASH_REMATCH[1]}\n"
				 "%s\n",
				 script);
	struct error err;

	write_string("qemu", text);
	chmod("qemu", 0755);
	free(text);
	f->machine = qemu_backend.start(&spec, f->loop, &machine_events, f, &err);
	assert_non_null(f->machine);
}

static void give_up(void *ctx)
{
	loop_quit(ctx);
}

static void run(struct fixture *f)
{
	struct loop_source *bound = loop_add_timer(f->loop, 20000000000ULL, give_up, f->loop);

	loop_run(f->loop);
	loop_remove(f->loop, bound);
}

/* The start of every QEMU that works: "cont" has been answered. */
#define GREET                                                                                      \
	"echo '{\"QMP\": {\"version\": {\"qemu\": {\"micro\": 0, \"minor\": 2, \"major\": 7}}}}' " \
	">&$qmp; read -r -u $qmp; echo '{\"return\": {}, \"id\": 1}' >&$qmp; read -r -u $qmp\n"
#define COME_UP                                                                                \
	GREET "echo '{\"return\": {\"enabled\": false}, \"id\": 2}' >&$qmp; read -r -u $qmp; " \
	      "echo '{\"return\": {}, \"id\": 3}' >&$qmp\n"

static void expect_exit(struct fixture *f, int kind, const char *text)
{
	run(f);
	assert_int_equal(f->exited, 1);
	assert_int_equal(f->kind, kind);
	if (text)
		assert_string_equal(f->text, text);
	else
		assert_null(f->text);
}

static void test_dies_at_start(void **state)
{
	start(*state, "echo first >&2; echo 'out of luck' >&2; exit 1");
	expect_exit(*state, MACHINE_VMM_DIED, "QEMU ended with status 1: out of luck");
}

static void test_dies_of_a_signal(void **state)
{
	start(*state, COME_UP "kill -SEGV $$");
	expect_exit(*state, MACHINE_VMM_DIED, "QEMU was killed by signal 11 (Segmentation fault)");
	assert_int_equal(((struct fixture *)*state)->started, 1);
}

static void test_wrong_accelerator(void **state)
{
	start(*state,
	      GREET "echo '{\"return\": {\"enabled\": true}, \"id\": 2}' >&$qmp; sleep 100");
	expect_exit(*state, MACHINE_VMM_DIED, "asked for tcg, runs under kvm");
	assert_int_equal(((struct fixture *)*state)->started, 0);
}

static void test_speaks_no_qmp(void **state)
{
	start(*state, "echo hello >&$qmp; sleep 100");
	expect_exit(*state, MACHINE_VMM_DIED, "QEMU's monitor sent a line that is no JSON object");
}

static void test_refuses_to_start_the_guest(void **state)
{
	start(*state, GREET "echo '{\"return\": {\"enabled\": false}, \"id\": 2}' >&$qmp; "
			    "read -r -u $qmp; "
			    "echo '{\"error\": {\"desc\": \"no\"}, \"id\": 3}' >&$qmp; sleep 100");
	expect_exit(*state, MACHINE_VMM_DIED, "QEMU did not let the guest run: no");
}

static void shut_down(void **state, const char *reason, int kind, const char *text)
{
	char *script = text_format(COME_UP "echo last words >&$console\n"
					   "echo '{\"event\": \"SHUTDOWN\", \"data\": {\"reason\": "
					   "\"%s\"}}' >&$qmp",
				   reason);
	struct fixture *f = *state;

	start(f, script);
	free(script);
	expect_exit(f, kind, text);
	assert_string_equal(text_string(&f->console), "last words\n");
}

static void test_power_off(void **state)
{
	shut_down(state, "guest-shutdown", MACHINE_POWEROFF, NULL);
}

static void test_reset(void **state)
{
	shut_down(state, "guest-reset", MACHINE_RESET, NULL);
}

static void test_host_signal(void **state)
{
	shut_down(state, "host-signal", MACHINE_VMM_DIED, "QEMU was shut down (host-signal)");
}

static void test_stopped_by_kvm(void **state)
{
	start(*state, COME_UP "echo '{\"event\": \"STOP\"}' >&$qmp; read -r -u $qmp; "
			      "echo '{\"return\": {\"status\": \"internal-error\", "
			      "\"running\": false}, \"id\": 4}' >&$qmp; sleep 100");
	expect_exit(*state, MACHINE_PANICKED, "QEMU stopped the guest (internal-error)");
}

/* Everything that was printed comes before the exit, and stderr is bounded. */
static void test_all_output_is_read(void **state)
{
	struct fixture *f = *state;

	start(f, COME_UP "printf 'x%.0s' {1..200000} >&$console\n"
			 "printf 'e%.0s' {1..100000} >&2; exit 2");
	run(f);
	assert_int_equal(f->kind, MACHINE_VMM_DIED);
	expect_contains(f->text, "QEMU ended with status 2: eeee");
	assert_int_equal(f->console.len, 200000);
	assert_int_equal(strlen(qemu_backend.stderr_text(f->machine)), 65536);
}

/* What a wrapper script leaves behind goes with it. */
static void test_left_behind(void **state)
{
	struct fixture *f = *state;

	start(f, COME_UP "(echo $BASHPID >&$console; exec sleep 1000 >&$console 2>&1) &\n"
			 "while ! kill -0 $! 2>/dev/null; do :; done; exit 3");
	expect_exit(f, MACHINE_VMM_DIED, "QEMU ended with status 3");
}

static void test_console_input(void **state)
{
	struct fixture *f = *state;

	start(f, COME_UP "read -r -u $console line; echo \"got $line\" >&$console; exit 0");
	qemu_backend.console_send(f->machine, "a line\n", 7);
	run(f);
	assert_string_equal(text_string(&f->console), "got a line\n");
}

static void test_killed_in_callbacks(void **state)
{
	struct fixture *f = *state;

	f->kill_at_console = true;
	start(f, COME_UP "echo one >&$console; echo two >&$console; sleep 100");
	run(f);
	assert_null(f->machine);
	assert_int_equal(f->exited, 0);
	f->kill_at_console = false;
	f->kill_at_exit = true;
	start(f, "exit 1");
	run(f);
	assert_null(f->machine);
	assert_int_equal(f->exited, 1);
}

static void test_missing(void **state)
{
	struct fixture *f = *state;
	struct machine_spec spec = { .image = "i", .args = "", .vmm_path = "/nowhere" };
	struct error err;

	assert_null(qemu_backend.start(&spec, f->loop, &machine_events, f, &err));
	assert_string_equal(err.text, "cannot execute /nowhere: No such file or directory");
}

static void test_probe_of_what_is_no_qemu(void **state)
{
	struct vmm_probe probe;

	qemu_backend.probe(ARCH_X86_64, ACCEL_TCG, "/nowhere", &probe);
	assert_false(probe.usable);
	assert_string_equal(probe.detail, "cannot execute /nowhere: No such file or directory");
	qemu_backend.probe(ARCH_ARM64, ACCEL_TCG, "/bin/true", &probe);
	assert_false(probe.usable);
	assert_string_equal(probe.detail, "/bin/true answered no question: it ended with status 0");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64_arguments),
		cmocka_unit_test(test_arm64_arguments),
		TEST(test_dies_at_start),
		TEST(test_dies_of_a_signal),
		TEST(test_wrong_accelerator),
		TEST(test_speaks_no_qmp),
		TEST(test_refuses_to_start_the_guest),
		TEST(test_power_off),
		TEST(test_reset),
		TEST(test_host_signal),
		TEST(test_stopped_by_kvm),
		TEST(test_all_output_is_read),
		TEST(test_left_behind),
		TEST(test_console_input),
		TEST(test_killed_in_callbacks),
		TEST(test_missing),
		TEST(test_probe_of_what_is_no_qemu),
	};

	return cmocka_run_group_tests_name("QEMU back end", tests, scratch_enter, scratch_leave);
}
