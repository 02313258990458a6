// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host actions as sequences over a guest's machines, against a VMM that is told by each test what to
 * answer and when.
 */
#include "host_support.h"

#include <dirent.h>
#include <fcntl.h>
#include "guest.h"

/* ---- a VMM on strings -------------------------------------------------------------------------- */

struct machine {
	char letter; /* A for the first */
	const struct machine_events *events;
	void *ctx;
	action_done done;
	void *done_ctx;
	bool pausing; /* what was asked for last */
};

static struct {
	struct text log; /* what was asked of it: "startA pauseA …" */
	struct machine *machines[8];
	unsigned int started;
	bool start_fails;
	char state[16]; /* what it restored from */
} vmm;

static void note(const char *what, const struct machine *m)
{
	text_printf(&vmm.log, "%s%s%c", vmm.log.len ? " " : "", what, m->letter);
}

static struct machine *fake_start(const struct machine_spec *spec, struct loop *loop,
				  const struct machine_events *events, void *ctx, struct error *err)
{
	struct machine *m;

	if (vmm.start_fails) {
		error_set(err, "no more machines");
		return NULL;
	}
	m = calloc(1, sizeof(*m));
	m->letter = 'A' + vmm.started;
	m->events = events;
	m->ctx = ctx;
	vmm.machines[vmm.started++] = m;
	note(spec->restore_path ? "restore" : spec->incoming_fd ? "receive" : "start", m);
	if (spec->restore_path) {
		int fd = open(spec->restore_path, O_RDONLY);

		assert_true(fd >= 0);
		assert_true(read(fd, vmm.state, sizeof(vmm.state) - 1) > 0);
		close(fd);
	}
	return m;
}

static void fake_kill(struct machine *m)
{
	note("kill", m);
	vmm.machines[m->letter - 'A'] = NULL;
	free(m);
}

static void ask(const char *what, struct machine *m, action_done done, void *ctx)
{
	note(what, m);
	m->done = done;
	m->done_ctx = ctx;
	m->pausing = !strcmp(what, "pause") || !strcmp(what, "migrate");
}

static void fake_pause(struct machine *m, action_done done, void *ctx)
{
	ask("pause", m, done, ctx);
}

static void fake_resume(struct machine *m, action_done done, void *ctx)
{
	ask("resume", m, done, ctx);
}

static void fake_save(struct machine *m, const char *path, action_done done, void *ctx)
{
	write_string(path, "state");
	ask("save", m, done, ctx);
}

static void fake_migrate(struct machine *m, int fd, action_done done, void *ctx)
{
	ask("migrate", m, done, ctx);
}

static void fake_reset(struct machine *m, action_done done, void *ctx)
{
	ask("reset", m, done, ctx);
}

static void fake_set_affinity(struct machine *m, const cpu_set_t *cpus, action_done done, void *ctx)
{
	ask(CPU_COUNT(cpus) == 1 ? "bind" : "free", m, done, ctx);
}

static const struct backend backend = {
	.name = "fake",
	.start = fake_start,
	.kill = fake_kill,
	.pause = fake_pause,
	.resume = fake_resume,
	.save = fake_save,
	.migrate = fake_migrate,
	.reset = fake_reset,
	.set_affinity = fake_set_affinity,
};

/* Instants that are easy to tell apart: all four of an action are 1, 2, 3, 4. */
static void answer(unsigned int machine, const char *error)
{
	static const struct action_times all = { { 1, 1 }, { 2, 2 }, { 3, 3 }, { 4, 4 } };
	struct machine *m = vmm.machines[machine];
	action_done done = m->done;
	struct action_times times = all;
	struct error err;

	assert_non_null(done);
	m->done = NULL;
	if (error) {
		error_set(&err, "%s", error);
		done(m->done_ctx, &err, NULL);
		return;
	}
	/* These know nothing of the other end. */
	if (m->pausing)
		memset(&times.run_before, 0, 2 * sizeof(times.run_before));
	done(m->done_ctx, NULL, &times);
}

static void run_begins(unsigned int machine)
{
	static const struct action_times times = { .run_before = { 5, 5 }, .run_after = { 6, 6 } };

	vmm.machines[machine]->events->started(vmm.machines[machine]->ctx, &times);
}

static void says(unsigned int machine, const char *text)
{
	vmm.machines[machine]->events->console(vmm.machines[machine]->ctx, text, strlen(text));
}

static void dies(unsigned int machine, const char *text)
{
	struct machine_exit exit = { .kind = MACHINE_VMM_DIED, .text = text };

	vmm.machines[machine]->events->exited(vmm.machines[machine]->ctx, &exit);
}

/* ---- a guest of it ----------------------------------------------------------------------------- */

struct fixture {
	struct loop *loop;
	struct guest *guest;
	struct loop_source *bound; /* of run_loop() */
	struct text console;
	unsigned int started, done;
	struct error err; /* of the last action; "" on success */
	struct action_times times;
	char *end;
	struct text resets;
};

static void on_started(void *ctx)
{
	((struct fixture *)ctx)->started++;
}

static void on_console(void *ctx, const char *data, size_t len)
{
	text_append_bytes(&((struct fixture *)ctx)->console, data, len);
}

static void on_exited(void *ctx, const struct machine_exit *exit)
{
	struct fixture *f = ctx;

	f->end = text_copy(exit->text);
	guest_kill(f->guest);
}

static void on_reset(void *ctx, bool begins)
{
	text_append(&((struct fixture *)ctx)->resets, begins ? "begins " : "failed ");
}

static const struct guest_events events = { on_started, on_console, on_exited, on_reset };

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

static unsigned int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static unsigned int descriptors_before;

static int setup(void **state)
{
	struct machine_spec spec = { .image = "i" };
	struct fixture *f = calloc(1, sizeof(*f));
	struct error err;

	memset(&vmm, 0, sizeof(vmm));
	f->loop = loop_new();
	descriptors_before = open_descriptors();
	f->guest = guest_new(&backend, f->loop, &spec, &events, f);
	assert_int_equal(guest_start(f->guest, &err), 0);
	run_begins(0);
	assert_int_equal(f->started, 1);
	*state = f;
	return 0;
}

/* Nothing is left of any action, however far it had come. */
static int teardown(void **state)
{
	struct fixture *f = *state;

	guest_free(f->guest);
	for (size_t i = 0; i < ARRAY_SIZE(vmm.machines); i++)
		assert_null(vmm.machines[i]);
	assert_int_equal(open_descriptors(), descriptors_before);
	loop_free(f->loop);
	text_free(&f->console);
	text_free(&f->resets);
	text_free(&vmm.log);
	free(f->end);
	free(f);
	return 0;
}

static void expect_log(const char *log)
{
	assert_string_equal(text_string(&vmm.log), log);
}

static void expect_done(struct fixture *f, const char *error)
{
	assert_int_equal(f->done, 1);
	assert_string_equal(f->err.text, error);
	assert_null(guest_action_name(f->guest));
}

static void expect_times(const struct fixture *f, u64 stop_before, u64 stop_after, u64 run_before,
			 u64 run_after)
{
	assert_int_equal(f->times.stop_before.raw_ns, stop_before);
	assert_int_equal(f->times.stop_after.raw_ns, stop_after);
	assert_int_equal(f->times.run_before.raw_ns, run_before);
	assert_int_equal(f->times.run_after.raw_ns, run_after);
}

static void give_up(void *ctx)
{
	struct fixture *f = ctx;

	f->bound = NULL;
	loop_quit(f->loop);
}

/* Until an action is done, or for some milliseconds. */
static void run_loop(struct fixture *f, u64 ms)
{
	f->bound = loop_add_timer(f->loop, ms * 1000000, give_up, f);
	loop_run(f->loop);
	loop_remove(f->loop, f->bound);
}

/* ---- pause and snapshot ------------------------------------------------------------------------ */

static void test_pause(void **state)
{
	struct fixture *f = *state;
	u64 start_ns = now_ns();

	guest_pause(f->guest, 20000000, on_done, f);
	assert_string_equal(guest_action_name(f->guest), "pause");
	answer(0, NULL);
	run_loop(f, 25);
	assert_true(now_ns() - start_ns >= 20000000);
	expect_log("startA pauseA resumeA");
	assert_int_equal(f->done, 0);
	answer(0, NULL);
	expect_done(f, "");
	expect_times(f, 1, 2, 3, 4);
	assert_int_equal(f->guest->generation, 1);
}

static void test_pause_fails(void **state)
{
	struct fixture *f = *state;

	guest_pause(f->guest, 0, on_done, f);
	answer(0, "it would not");
	expect_done(f, "it would not");
	assert_false(f->err.unsupported);
}

/* A guest that cannot be made to run again is as good as gone. */
static void test_resume_fails(void **state)
{
	struct fixture *f = *state;

	guest_pause(f->guest, 0, on_done, f);
	answer(0, NULL);
	run_loop(f, 5);
	answer(0, "stuck");
	assert_string_equal(f->end, "stuck");
	assert_int_equal(f->done, 0);
}

static void test_snapshot(void **state)
{
	struct fixture *f = *state;

	guest_snapshot(f->guest, on_done, f);
	answer(0, NULL);
	answer(0, NULL);
	answer(0, NULL);
	expect_log("startA pauseA saveA resumeA");
	expect_done(f, "");
	assert_int_equal(f->guest->generation, 1);
}

static void test_snapshot_fails_and_the_guest_goes_on(void **state)
{
	struct fixture *f = *state;

	guest_snapshot(f->guest, on_done, f);
	answer(0, NULL);
	answer(0, "No space left on device");
	assert_int_equal(f->done, 0);
	answer(0, NULL);
	expect_log("startA pauseA saveA resumeA");
	expect_done(f, "No space left on device");
}

/* ---- restore ----------------------------------------------------------------------------------- */

static void test_restore(void **state)
{
	struct fixture *f = *state;

	guest_restore(f->guest, 0, on_done, f);
	answer(0, NULL);
	answer(0, NULL);
	expect_log("startA pauseA saveA killA");
	run_loop(f, 5);
	expect_log("startA pauseA saveA killA restoreB");
	assert_string_equal(vmm.state, "state");
	run_begins(1);
	expect_done(f, "");
	expect_times(f, 1, 2, 5, 6);
	assert_int_equal(f->guest->generation, 2);
	assert_int_equal(f->started, 1);
	says(1, "hello again");
	assert_string_equal(text_string(&f->console), "hello again");
}

static void test_restore_without_a_new_machine(void **state)
{
	struct fixture *f = *state;

	guest_restore(f->guest, 0, on_done, f);
	answer(0, NULL);
	answer(0, NULL);
	vmm.start_fails = true;
	run_loop(f, 5);
	assert_string_equal(f->end, "no more machines");
	assert_int_equal(f->done, 0);
}

static void test_restored_machine_dies(void **state)
{
	struct fixture *f = *state;

	guest_restore(f->guest, 0, on_done, f);
	answer(0, NULL);
	answer(0, NULL);
	run_loop(f, 5);
	dies(1, "the file is cut short");
	assert_string_equal(f->end, "the file is cut short");
	assert_int_equal(f->done, 0);
}

/* ---- migrate ----------------------------------------------------------------------------------- */

/* What the new machine prints waits for the last words of the old one. */
static void test_migrate(void **state)
{
	struct fixture *f = *state;

	guest_migrate(f->guest, 1, on_done, f);
	expect_log("startA receiveB migrateA");
	run_begins(1);
	says(1, "second ");
	says(0, "first ");
	assert_int_equal(f->done, 0);
	answer(0, NULL);
	says(1, "third");
	expect_log("startA receiveB migrateA killA");
	expect_done(f, "");
	expect_times(f, 1, 2, 5, 6);
	assert_int_equal(f->guest->generation, 2);
	assert_string_equal(text_string(&f->console), "first second third");
}

static void test_migrate_twice(void **state)
{
	struct fixture *f = *state;

	guest_migrate(f->guest, 2, on_done, f);
	answer(0, NULL);
	run_begins(1);
	assert_int_equal(f->done, 0);
	answer(1, NULL);
	run_begins(2);
	expect_log("startA receiveB migrateA killA receiveC migrateB killB");
	expect_done(f, "");
	assert_int_equal(f->guest->generation, 3);
}

static void test_migration_fails_and_the_guest_goes_on(void **state)
{
	struct fixture *f = *state;

	guest_migrate(f->guest, 1, on_done, f);
	says(1, "noise");
	dies(1, "QEMU was killed");
	assert_int_equal(f->done, 0);
	answer(0, "Broken pipe");
	expect_done(f, "Broken pipe; the new machine: QEMU was killed");
	says(0, "still here");
	assert_string_equal(text_string(&f->console), "still here");
	assert_int_equal(f->guest->generation, 1);
}

static void test_old_machine_dies_in_a_migration(void **state)
{
	struct fixture *f = *state;

	guest_migrate(f->guest, 1, on_done, f);
	dies(0, "QEMU was killed");
	assert_string_equal(f->end, "QEMU was killed");
	assert_int_equal(f->done, 0);
}

static void test_new_machine_dies_after_a_migration(void **state)
{
	struct fixture *f = *state;

	guest_migrate(f->guest, 1, on_done, f);
	dies(1, "no memory");
	answer(0, NULL);
	assert_string_equal(f->end, "no memory");
}

static void test_no_machine_to_migrate_to(void **state)
{
	struct fixture *f = *state;

	vmm.start_fails = true;
	guest_migrate(f->guest, 1, on_done, f);
	expect_done(f, "no more machines");
}

/* ---- others ------------------------------------------------------------------------------------ */

static void test_reset(void **state)
{
	struct fixture *f = *state;

	guest_reset(f->guest, on_done, f);
	assert_int_equal(f->guest->generation, 2); /* before the VMM has answered */
	answer(0, NULL);
	expect_done(f, "");
	expect_times(f, 1, 2, 3, 4);
	f->done = 0;
	guest_reset(f->guest, on_done, f);
	answer(0, "no");
	expect_done(f, "no");
	assert_int_equal(f->guest->generation, 2);
	assert_string_equal(text_string(&f->resets), "begins begins failed ");
}

static void test_move(void **state)
{
	struct fixture *f = *state;
	cpu_set_t cpus;

	guest_move(f->guest, 1000000, 3000000, on_done, f);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	if (CPU_COUNT(&cpus) < 2) {
		assert_true(f->err.unsupported);
		return;
	}
	while (!f->done) {
		answer(0, NULL);
		run_loop(f, 5);
	}
	expect_contains(text_string(&vmm.log), "startA bindA");
	assert_true(text_ends_with(text_string(&vmm.log), " freeA"));
	expect_done(f, "");
	assert_true(f->times.stop_after.raw_ns - f->times.stop_before.raw_ns >= 3000000);
	assert_int_equal(f->times.stop_before.raw_ns, f->times.run_before.raw_ns);
	assert_int_equal(f->times.stop_after.raw_ns, f->times.run_after.raw_ns);
}

static void test_load(void **state)
{
	struct fixture *f = *state;

	guest_load(f->guest, 1000000, on_done, f);
	run_loop(f, 10000);
	expect_done(f, "");
	assert_true(f->times.run_after.raw_ns - f->times.stop_before.raw_ns >= 1000000);
}

static void test_one_at_a_time(void **state)
{
	struct fixture *f = *state;

	guest_snapshot(f->guest, on_done, f);
	guest_pause(f->guest, 0, on_done, f);
	assert_int_equal(f->done, 1);
	assert_string_equal(f->err.text, "'snapshot' is still under way: one action at a time");
	guest_kill(f->guest);
	guest_pause(f->guest, 0, on_done, f);
	assert_string_equal(f->err.text, "the guest is gone");
}

static void test_unsupported(void **state)
{
	struct fixture *f = *state;

	guest_plug(f->guest, on_done, f);
	expect_done(f, "the VMM fake cannot add a vCPU to a guest that runs");
	assert_true(f->err.unsupported);
	guest_pause_virtually(f->guest, 1, on_done, f);
	assert_true(f->err.unsupported);
}

static void begin_pause(struct fixture *f)
{
	guest_pause(f->guest, 1000000000, on_done, f);
	answer(0, NULL);
}

static void begin_restore(struct fixture *f)
{
	guest_restore(f->guest, 1000000000, on_done, f);
	answer(0, NULL);
	answer(0, NULL);
}

static void begin_migration(struct fixture *f)
{
	guest_migrate(f->guest, 1, on_done, f);
	says(1, "noise");
}

static void begin_load(struct fixture *f)
{
	guest_load(f->guest, 1000000000, on_done, f);
}

/* The test ends while an action is under way; teardown() looks at what is left. */
static void test_killed(void **state)
{
	static void (*const begin[])(struct fixture * f) = { begin_pause, begin_restore,
							     begin_migration, begin_load };

	for (size_t i = 0; i < ARRAY_SIZE(begin); i++) {
		void *fresh;
		struct fixture *f;

		setup(&fresh);
		f = fresh;
		begin[i](f);
		guest_kill(f->guest);
		run_loop(f, 2);
		assert_int_equal(f->done, 0);
		teardown(&fresh);
	}
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_pause),
		TEST(test_pause_fails),
		TEST(test_resume_fails),
		TEST(test_snapshot),
		TEST(test_snapshot_fails_and_the_guest_goes_on),
		TEST(test_restore),
		TEST(test_restore_without_a_new_machine),
		TEST(test_restored_machine_dies),
		TEST(test_migrate),
		TEST(test_migrate_twice),
		TEST(test_migration_fails_and_the_guest_goes_on),
		TEST(test_old_machine_dies_in_a_migration),
		TEST(test_new_machine_dies_after_a_migration),
		TEST(test_no_machine_to_migrate_to),
		TEST(test_reset),
		TEST(test_move),
		TEST(test_load),
		TEST(test_one_at_a_time),
		TEST(test_unsupported),
		cmocka_unit_test(test_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
