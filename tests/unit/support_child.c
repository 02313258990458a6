// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a function in a child process, where it may panic: arch_stop() ends the child and hands over
 * what it printed. What the parent's libcflat knows stays untouched.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"

/* A child that hangs is killed after so long; the parent then says so. */
#define CHILD_SECONDS 120

#define EXIT_RETURNED 0
#define EXIT_STOPPED  17

static int output_fd = -1;

static void hand_over(int status)
{
	static int begun;
	const char *text = console_captured();
	size_t len = strlen(text);

	/* Two CPUs may stop at once: the first ends both. */
	while (__atomic_exchange_n(&begun, 1, __ATOMIC_ACQ_REL))
		pause();
	while (len) {
		ssize_t n = write(output_fd, text, len);

		if (n <= 0)
			_exit(99);
		text += n;
		len -= n;
	}
	_exit(status);
}

void arch_stop(void)
{
	if (output_fd < 0) {
		fprintf(stderr, "stopped outside of a child; the console had:\n%s\n",
			console_captured());
		abort();
	}
	hand_over(EXIT_STOPPED);
	__builtin_unreachable();
}

static void be_child(int fd, void (*fn)(void *arg), void *arg)
{
	output_fd = fd;
	console_capture();
	alarm(CHILD_SECONDS);
	fn(arg);
	hand_over(EXIT_RETURNED);
}

const struct child *run_in_child(void (*fn)(void *arg), void *arg)
{
	static struct child child;
	int fds[2], status;
	size_t len = 0;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		close(fds[0]);
		be_child(fds[1], fn, arg);
	}
	close(fds[1]);
	while ((n = read(fds[0], child.output + len, sizeof(child.output) - 1 - len)) > 0)
		len += n;
	close(fds[0]);
	child.output[len] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!WIFEXITED(status) ||
	    (WEXITSTATUS(status) != EXIT_RETURNED && WEXITSTATUS(status) != EXIT_STOPPED))
		fail_msg("the child ended with wait status %#x (14: it hung); it printed: %s",
			 status, child.output);
	child.stopped = WEXITSTATUS(status) == EXIT_STOPPED;
	return &child;
}

void expect_panic(void (*fn)(void *arg), void *arg, const char *text)
{
	const struct child *child = run_in_child(fn, arg);
	const char *line = strstr(child->output, "\n" PROTO_PREFIX PROTO_PANIC " text=");

	if (!child->stopped || !line)
		fail_msg("no panic, wanted one with '%s'; printed: %s", text, child->output);
	else if (!strstr(line, text))
		fail_msg("wanted a panic with '%s', got: %s", text, line + 1);
}
