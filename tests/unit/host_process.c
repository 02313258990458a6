// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Other programs: started, heard, ended, and gone when the process that started them is killed.
 */
#include "host_support.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include "util/loop.h"
#include "util/process.h"

#define SECOND_NS 1000000000ULL

static char *const sleeper[] = { "sleep", "1000", NULL };

static pid_t spawn(char *const *argv, struct error *err)
{
	return process_spawn(
		&(struct process_spec){
			.argv = argv, .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1 },
		err);
}

static void test_program_that_is_missing(void **state)
{
	char *const argv[] = { "/nowhere/qemu", NULL };
	struct error err;

	assert_int_equal(spawn(argv, &err), -1);
	assert_string_equal(err.text, "cannot execute /nowhere/qemu: No such file or directory");
}

static void test_program_that_is_none(void **state)
{
	char *const argv[] = { "./data", NULL };
	struct error err;

	write_string("data", "nonsense\n");
	assert_int_equal(spawn(argv, &err), -1);
	assert_string_equal(err.text, "cannot execute ./data: Permission denied");
	chmod("data", 0755);
	assert_int_equal(spawn(argv, &err), -1);
	assert_string_equal(err.text, "cannot execute ./data: Exec format error");
}

static void test_capture(void **state)
{
	char *const argv[] = { "sh", "-c", "cat; echo wrong >&2; exit 3", NULL };
	struct text out = { 0 }, errors = { 0 };
	struct error err;
	char *how;
	int status;

	assert_int_equal(
		process_capture(argv, "to be said\n", 10 * SECOND_NS, &out, &errors, &status, &err),
		0);
	assert_string_equal(text_string(&out), "to be said\n");
	assert_string_equal(text_string(&errors), "wrong\n");
	how = process_status_text(status);
	assert_string_equal(how, "ended with status 3");
	free(how);
	text_free(&out);
	text_free(&errors);
}

static void test_capture_of_a_program_that_does_not_read(void **state)
{
	char *const argv[] = { "true", NULL };
	struct text out = { 0 }, errors = { 0 }, input = { 0 };
	struct error err;
	int status;

	for (int i = 0; i < 100000; i++)
		text_append(&input, "much more than a socket takes\n");
	assert_int_equal(
		process_capture(argv, input.data, 10 * SECOND_NS, &out, &errors, &status, &err), 0);
	assert_int_equal(status, 0);
	text_free(&input);
}

static void test_capture_is_bounded_in_time(void **state)
{
	/* The shell ends; what it leaves behind holds its output open. */
	char *const argv[] = { "sh", "-c", "sleep 1000 & exit 0", NULL };
	struct text out = { 0 }, errors = { 0 };
	u64 begin_ns = now_ns();
	struct error err;
	int status;

	assert_int_equal(process_capture(argv, NULL, SECOND_NS, &out, &errors, &status, &err), -1);
	assert_string_equal(err.text, "sh did not end within 1 s");
	assert_int_equal(process_capture(sleeper, NULL, SECOND_NS, &out, &errors, &status, &err),
			 -1);
	assert_true(now_ns() - begin_ns < 20 * SECOND_NS);
}

static void test_capture_is_bounded_in_size(void **state)
{
	char *const argv[] = { "yes", NULL };
	struct text out = { 0 }, errors = { 0 };
	struct error err;
	int status;

	assert_int_equal(process_capture(argv, NULL, 60 * SECOND_NS, &out, &errors, &status, &err),
			 -1);
	assert_string_equal(err.text, "yes printed more than 1048576 bytes");
	text_free(&out);
}

static void test_kill(void **state)
{
	struct error err;
	pid_t pid = spawn(sleeper, &err);
	char *how;
	int status;

	assert_true(pid > 0);
	assert_true(process_kill(pid, 10 * SECOND_NS, &status));
	how = process_status_text(status);
	assert_string_equal(how, "was killed by signal 9 (Killed)");
	free(how);
	assert_int_equal(kill(pid, 0), -1);
}

/* Only what it was given: no descriptor of ours beyond the first three. */
static void test_nothing_is_inherited(void **state)
{
	char *const argv[] = { "sh", "-c", "ls /proc/self/fd | tr '\\n' ' '", NULL };
	struct text out = { 0 }, errors = { 0 };
	struct error err;
	int status;

	/* ls has a fourth open: the directory. */
	assert_int_equal(process_capture(argv, NULL, 10 * SECOND_NS, &out, &errors, &status, &err),
			 0);
	assert_string_equal(text_string(&out), "0 1 2 3 ");
	text_free(&out);
}

/* A process in between starts the sleeper, says its pid, and is killed. */
static void test_children_die_with_their_parent(void **state)
{
	struct pollfd gone = { .events = POLLIN };
	struct error err;
	pid_t parent, pid;
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	parent = fork();
	if (parent == 0) {
		pid = spawn(sleeper, &err);
		if (write(fds[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	assert_true(pid > 0);
	gone.fd = syscall(SYS_pidfd_open, pid, 0);
	assert_true(gone.fd >= 0);
	assert_int_equal(poll(&gone, 1, 0), 0);
	kill(parent, SIGKILL);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(poll(&gone, 1, 10000), 1);
	close(gone.fd);
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_program_that_is_missing),
		cmocka_unit_test(test_program_that_is_none),
		cmocka_unit_test(test_capture),
		cmocka_unit_test(test_capture_of_a_program_that_does_not_read),
		cmocka_unit_test(test_capture_is_bounded_in_time),
		cmocka_unit_test(test_capture_is_bounded_in_size),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_nothing_is_inherited),
		cmocka_unit_test(test_children_die_with_their_parent),
	};

	return cmocka_run_group_tests_name("process", tests, scratch_enter, scratch_leave);
}
