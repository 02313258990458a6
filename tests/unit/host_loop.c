// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The event loop: every kind of source, and sources that come and go while it runs.
 */
#include "host_support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include "util/loop.h"

#define MS 1000000ULL

struct fixture {
	struct loop *loop;
	struct text heard;
	struct loop_source *other;
	int fds[2];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->loop = loop_new();
	*state = f;
	return pipe2(f->fds, O_CLOEXEC | O_NONBLOCK);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	loop_free(f->loop);
	close(f->fds[0]);
	if (f->fds[1] >= 0)
		close(f->fds[1]);
	text_free(&f->heard);
	free(f);
	return 0;
}

static void expect_heard(struct fixture *f, const char *expected)
{
	assert_string_equal(text_string(&f->heard), expected);
}

static void say_a(void *ctx)
{
	text_append_char(&((struct fixture *)ctx)->heard, 'a');
}

static void say_b(void *ctx)
{
	text_append_char(&((struct fixture *)ctx)->heard, 'b');
}

static void remove_other(void *ctx)
{
	struct fixture *f = ctx;

	loop_remove(f->loop, f->other);
	text_append_char(&f->heard, 'r');
}

static void quit(void *ctx)
{
	struct fixture *f = ctx;

	text_append_char(&f->heard, 'q');
	loop_quit(f->loop);
}

static void test_timers_in_order(void **state)
{
	struct fixture *f = *state;
	u64 begin_ns = now_ns();

	loop_add_timer(f->loop, 20 * MS, say_b, f);
	loop_add_timer(f->loop, 10 * MS, say_a, f);
	loop_run(f->loop); /* ends by itself: no source is left */
	expect_heard(f, "ab");
	assert_true(now_ns() - begin_ns >= 20 * MS);
}

static void test_removed_timer_does_not_fire(void **state)
{
	struct fixture *f = *state;

	f->other = loop_add_timer(f->loop, 1 * MS, say_a, f);
	loop_add_timer(f->loop, 0, remove_other, f);
	loop_run(f->loop);
	expect_heard(f, "r");
}

static void test_far_timer_does_not_overflow(void **state)
{
	struct fixture *f = *state;

	loop_add_timer(f->loop, UINT64_MAX, say_a, f);
	loop_add_timer(f->loop, 1 * MS, quit, f);
	loop_run(f->loop);
	expect_heard(f, "q");
}

static void read_all(void *ctx, unsigned int events)
{
	struct fixture *f = ctx;
	char c;
	ssize_t n = read(f->fds[0], &c, 1);

	assert_true(events & LOOP_READ);
	if (n == 1) {
		text_append_char(&f->heard, c);
		return;
	}
	assert_int_equal(n, 0);
	text_append_char(&f->heard, '.');
	loop_remove(f->loop, f->other);
}

static void test_fd_until_its_end(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(write(f->fds[1], "xyz", 3), 3);
	close(f->fds[1]);
	f->fds[1] = -1;
	f->other = loop_add_fd(f->loop, f->fds[0], LOOP_READ, read_all, f);
	loop_run(f->loop);
	expect_heard(f, "xyz.");
}

static void write_once(void *ctx, unsigned int events)
{
	struct fixture *f = ctx;

	assert_int_equal(events, LOOP_WRITE);
	text_append_char(&f->heard, 'w');
	loop_set_events(f->other, 0); /* stays, but is not called */
}

static void test_events_can_be_changed(void **state)
{
	struct fixture *f = *state;

	f->other = loop_add_fd(f->loop, f->fds[1], LOOP_WRITE, write_once, f);
	loop_add_timer(f->loop, 5 * MS, quit, f);
	loop_run(f->loop);
	expect_heard(f, "wq");
}

static void child_ended(void *ctx, int status)
{
	struct fixture *f = ctx;

	text_printf(&f->heard, "%d", WEXITSTATUS(status));
}

static pid_t child_that_exits(int code)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(code);
	assert_true(pid > 0);
	return pid;
}

static void test_children(void **state)
{
	struct fixture *f = *state;

	loop_add_child(f->loop, child_that_exits(7), child_ended, f);
	loop_run(f->loop);
	expect_heard(f, "7");
}

static void test_removed_child_is_reaped(void **state)
{
	struct fixture *f = *state;
	pid_t pid = fork();
	struct loop_source *child;

	if (pid == 0)
		pause();
	child = loop_add_child(f->loop, pid, child_ended, f);
	loop_remove(f->loop, child);
	kill(pid, SIGKILL);
	loop_add_timer(f->loop, 2000 * MS, quit, f);
	/* The timer holds the loop; the child's end is seen long before it fires. */
	f->other = loop_add_timer(f->loop, 100 * MS, quit, f);
	loop_run(f->loop);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	expect_heard(f, "q");
}

/* A child that somebody else reaped must not keep the loop busy. */
static void test_child_reaped_elsewhere(void **state)
{
	struct fixture *f = *state;
	pid_t pid = child_that_exits(0);
	struct loop_source *child = loop_add_child(f->loop, pid, child_ended, f);

	loop_remove(f->loop, child);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	loop_add_timer(f->loop, 1 * MS, quit, f);
	loop_run(f->loop);
	expect_heard(f, "q");
}

static void got_signal(void *ctx, int signo)
{
	struct fixture *f = ctx;

	text_printf(&f->heard, "%s", signo == SIGUSR1 ? "usr1" : "?");
	loop_remove(f->loop, f->other);
}

static void test_signals(void **state)
{
	struct fixture *f = *state;
	sigset_t blocked;

	f->other = loop_add_signal(f->loop, SIGUSR1, got_signal, f);
	kill(getpid(), SIGUSR1); /* blocked: it waits for the loop */
	loop_run(f->loop);
	expect_heard(f, "usr1");
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	assert_false(sigismember(&blocked, SIGUSR1));
}

static void add_another(void *ctx)
{
	struct fixture *f = ctx;

	text_append_char(&f->heard, '1');
	loop_add_timer(f->loop, 0, say_a, f);
}

static void test_callbacks_add_sources(void **state)
{
	struct fixture *f = *state;

	loop_add_timer(f->loop, 0, add_another, f);
	loop_run(f->loop);
	expect_heard(f, "1a");
}

static void test_quit_leaves_the_rest(void **state)
{
	struct fixture *f = *state;

	loop_add_timer(f->loop, 0, quit, f);
	loop_add_timer(f->loop, 1 * MS, say_a, f);
	loop_run(f->loop);
	expect_heard(f, "q");
	loop_run(f->loop);
	expect_heard(f, "qa");
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_timers_in_order),
		TEST(test_removed_timer_does_not_fire),
		TEST(test_far_timer_does_not_overflow),
		TEST(test_fd_until_its_end),
		TEST(test_events_can_be_changed),
		TEST(test_children),
		TEST(test_removed_child_is_reaped),
		TEST(test_child_reaped_elsewhere),
		TEST(test_signals),
		TEST(test_callbacks_add_sources),
		TEST(test_quit_leaves_the_rest),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
