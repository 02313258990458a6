// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Runs a short program and keeps what it prints.
 */
#include "util/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util/loop.h"

#define CAPTURE_MAX (1u << 20)

NORETURN static void exec_child(char *const argv[], int out, int errors, int report)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	if (errors >= 0)
		dup2(errors, STDERR_FILENO);
	execvp(argv[0], argv);
	null = errno;
	if (write(report, &null, sizeof(null)) < 0)
		_exit(126);
	_exit(127);
}

/* Reads what there is; false at the end of the file. */
static bool take(int fd, struct text *to)
{
	char buffer[8192];
	ssize_t n = read(fd, buffer, sizeof(buffer));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN;
	if (n > 0 && to->len + n <= CAPTURE_MAX)
		text_append_bytes(to, buffer, n);
	return n > 0;
}

/* Until all pipes are at their end; false when the time was over first. */
static bool drain(struct pollfd *fds, struct text **texts, u64 timeout_ns)
{
	u64 deadline_ns = now_ns() + timeout_ns;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		u64 now = now_ns();

		if (now >= deadline_ns)
			return false;
		if (poll(fds, 2, (deadline_ns - now) / 1000000 + 1) < 0 && errno != EINTR)
			return false;
		for (int i = 0; i < 2; i++) {
			if (fds[i].fd >= 0 && fds[i].revents && !take(fds[i].fd, texts[i]))
				fds[i].fd = -1;
		}
	}
	return true;
}

static int finish(pid_t pid, bool in_time, const char *name, u64 timeout_ns, struct error *err)
{
	int status;

	if (!in_time)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!in_time)
		return error_set(err, "%s did not end within %u s", name,
				 (unsigned)(timeout_ns / 1000000000));
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int capture(char *const argv[], u64 timeout_ns, struct text *out, struct text *errors,
	    struct error *err)
{
	int out_pipe[2], err_pipe[2] = { -1, -1 }, report[2], failure = 0;
	struct text *texts[2] = { out, errors };
	bool in_time;
	pid_t pid;

	if (pipe2(out_pipe, O_CLOEXEC) < 0 || pipe2(report, O_CLOEXEC) < 0 ||
	    (errors && pipe2(err_pipe, O_CLOEXEC) < 0))
		return error_set(err, "cannot run %s: pipe: %s", argv[0], strerror(errno));
	pid = fork();
	if (pid == 0)
		exec_child(argv, out_pipe[1], err_pipe[1], report[1]);
	close(out_pipe[1]);
	close(report[1]);
	if (errors)
		close(err_pipe[1]);
	if (pid > 0 && read(report[0], &failure, sizeof(failure)) == sizeof(failure)) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		error_set(err, "cannot run %s: %s", argv[0], strerror(failure));
		pid = -1;
	} else if (pid < 0) {
		error_set(err, "cannot run %s: %s", argv[0], strerror(errno));
	}
	close(report[0]);
	if (pid > 0) {
		struct pollfd fds[2] = { { out_pipe[0], POLLIN, 0 }, { err_pipe[0], POLLIN, 0 } };

		in_time = drain(fds, texts, timeout_ns);
		failure = finish(pid, in_time, argv[0], timeout_ns, err);
	} else {
		failure = -1;
	}
	close(out_pipe[0]);
	if (errors)
		close(err_pipe[0]);
	return failure;
}
