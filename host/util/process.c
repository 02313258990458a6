// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * fork, exec and the end of it. What goes wrong between the two in the child is told to the parent
 * through a pipe that exec closes.
 */
#include "util/process.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "util/loop.h"

#define CAPTURE_MAX (1u << 20)

/* Puts from (or /dev/null) at the number to, without close-on-exec. */
static int place_fd(int from, int to)
{
	if (from < 0) {
		from = open("/dev/null", (to == STDIN_FILENO ? O_RDONLY : O_WRONLY) | O_CLOEXEC);
		if (from < 0)
			return -1;
	}
	if (from == to)
		return fcntl(to, F_SETFD, 0);
	return dup2(from, to) < 0 ? -1 : 0;
}

static int child_set_up(const struct process_spec *spec, pid_t parent)
{
	sigset_t none;

	setpgid(0, 0);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -1;
	/* The parent may have died before the line above. */
	if (getppid() != parent)
		_exit(127);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	/*
	 * What we were born with ourselves, perhaps without close-on-exec; older kernels than Linux
	 * 5.11 leave that to the child.
	 */
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
	if (spec->cpus && sched_setaffinity(0, sizeof(*spec->cpus), spec->cpus) < 0)
		return -1;
	for (size_t i = 0; i < spec->nr_keep_fds; i++) {
		if (fcntl(spec->keep_fds[i], F_SETFD, 0) < 0)
			return -1;
	}
	if (place_fd(spec->stdin_fd, STDIN_FILENO) < 0 ||
	    place_fd(spec->stdout_fd, STDOUT_FILENO) < 0 ||
	    place_fd(spec->stderr_fd, STDERR_FILENO) < 0)
		return -1;
	return 0;
}

static NORETURN void child_main(const struct process_spec *spec, pid_t parent, int report_fd)
{
	int code;

	if (!child_set_up(spec, parent)) {
		/* execvp() would have a shell read what is no program. */
		if (strchr(spec->argv[0], '/'))
			execv(spec->argv[0], spec->argv);
		else
			execvp(spec->argv[0], spec->argv);
	}
	code = errno;
	/* What the parent cannot read it takes for success, and then sees status 127. */
	if (write(report_fd, &code, sizeof(code)) != sizeof(code))
		_exit(126);
	_exit(127);
}

pid_t process_spawn(const struct process_spec *spec, struct error *err)
{
	pid_t parent = getpid(), pid;
	int report[2], code = 0;
	ssize_t n;

	if (pipe2(report, O_CLOEXEC) < 0)
		return error_set(err, "cannot start %s: pipe: %s", spec->argv[0], strerror(errno));
	pid = fork();
	if (pid == 0)
		child_main(spec, parent, report[1]);
	close(report[1]);
	if (pid < 0) {
		close(report[0]);
		return error_set(err, "cannot start %s: fork: %s", spec->argv[0], strerror(errno));
	}
	do
		n = read(report[0], &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	close(report[0]);
	if (n == sizeof(code)) {
		waitpid(pid, NULL, 0);
		return error_set(err, "cannot execute %s: %s", spec->argv[0], strerror(code));
	}
	return pid;
}

bool process_kill(pid_t pid, u64 timeout_ns, int *status)
{
	struct pollfd p = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	u64 deadline_ns = now_ns() + timeout_ns;
	int unused;

	kill(-pid, SIGKILL);
	kill(pid, SIGKILL); /* it may not have made its group yet */
	for (;;) {
		u64 now = now_ns();

		if (waitpid(pid, status ? status : &unused, WNOHANG) != 0)
			break;
		if (now >= deadline_ns || p.fd < 0) {
			close(p.fd);
			return false;
		}
		poll(&p, 1, (deadline_ns - now) / 1000000 + 1);
	}
	if (p.fd >= 0)
		close(p.fd);
	return true;
}

/* ---- capture ------------------------------------------------------------------------------- */

struct stream {
	struct capture *capture;
	int fd; /* our end, -1 when closed */
	struct loop_source *source;
	struct text *text;
};

struct capture {
	struct loop *loop;
	struct stream out, err, in;
	const char *input;
	size_t input_len;
	bool ended, timed_out, too_long;
	int status;
};

static void stream_close(struct stream *s)
{
	if (s->fd < 0)
		return;
	loop_remove(s->capture->loop, s->source);
	close(s->fd);
	s->fd = -1;
}

static void capture_check(struct capture *c)
{
	if (c->ended && c->out.fd < 0 && c->err.fd < 0)
		loop_quit(c->loop);
}

static void capture_read(void *ctx, unsigned int events)
{
	struct stream *s = ctx;
	char buffer[4096];
	ssize_t n = read(s->fd, buffer, sizeof(buffer));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		stream_close(s);
	} else if (s->text->len + n > CAPTURE_MAX) {
		s->capture->too_long = true;
		loop_quit(s->capture->loop);
	} else {
		text_append_bytes(s->text, buffer, n);
	}
	capture_check(s->capture);
}

static void capture_write(void *ctx, unsigned int events)
{
	struct stream *s = ctx;
	struct capture *c = s->capture;
	/* A socket, since a pipe would raise SIGPIPE where the caller does not ignore it. */
	ssize_t n = send(s->fd, c->input, c->input_len, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		c->input += n;
		c->input_len -= n;
	}
	if (n < 0 || !c->input_len)
		stream_close(s);
}

static void capture_ended(void *ctx, int status)
{
	struct capture *c = ctx;

	c->ended = true;
	c->status = status;
	capture_check(c);
}

/* The timer is gone with this. */
static void capture_timed_out(void *ctx)
{
	struct capture *c = ctx;

	c->timed_out = true;
	loop_quit(c->loop);
}

static void stream_open(struct capture *c, struct stream *s, int fd, struct text *text)
{
	s->capture = c;
	s->fd = fd;
	s->text = text;
	s->source = loop_add_fd(c->loop, fd, text ? LOOP_READ : LOOP_WRITE,
				text ? capture_read : capture_write, s);
}

static int capture_run(struct capture *c, pid_t pid, const char *name, u64 timeout_ns,
		       struct error *err)
{
	struct loop_source *timer, *child;

	child = loop_add_child(c->loop, pid, capture_ended, c);
	timer = loop_add_timer(c->loop, timeout_ns, capture_timed_out, c);
	loop_run(c->loop);
	if (!c->timed_out)
		loop_remove(c->loop, timer);
	if (!c->ended) {
		loop_remove(c->loop, child);
		process_kill(pid, 1000000000, NULL);
	} else if (c->timed_out) {
		kill(-pid, SIGKILL); /* whoever holds its output open */
	}
	if (c->too_long)
		return error_set(err, "%s printed more than %u bytes", name, CAPTURE_MAX);
	if (c->timed_out)
		return error_set(err, "%s did not end within %llu s", name,
				 (unsigned long long)(timeout_ns / 1000000000));
	return 0;
}

int process_capture(char *const *argv, const char *input, u64 timeout_ns, struct text *out,
		    struct text *errors, int *status, struct error *err)
{
	struct capture c = { .input = input ? input : "", .err.fd = -1 };
	int in_fds[2], out_fds[2], err_fds[2], result = -1;
	pid_t pid;

	c.input_len = strlen(c.input);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in_fds) < 0 ||
	    pipe2(out_fds, O_CLOEXEC) < 0 || pipe2(err_fds, O_CLOEXEC) < 0)
		return error_set(err, "cannot start %s: %s", argv[0], strerror(errno));
	pid = process_spawn(
		&(struct process_spec){ .argv = argv,
					.stdin_fd = in_fds[1],
					.stdout_fd = out_fds[1],
					.stderr_fd = errors ? err_fds[1] : STDERR_FILENO },
		err);
	close(in_fds[1]);
	close(out_fds[1]);
	close(err_fds[1]);
	c.loop = loop_new();
	stream_open(&c, &c.in, in_fds[0], NULL);
	stream_open(&c, &c.out, out_fds[0], out);
	if (errors)
		stream_open(&c, &c.err, err_fds[0], errors);
	else
		close(err_fds[0]);
	if (pid > 0)
		result = capture_run(&c, pid, argv[0], timeout_ns, err);
	stream_close(&c.in);
	stream_close(&c.out);
	stream_close(&c.err);
	loop_free(c.loop);
	*status = c.status;
	return result;
}

char *process_status_text(int status)
{
	if (WIFSIGNALED(status))
		return text_format("was killed by signal %d (%s)", WTERMSIG(status),
				   strsignal(WTERMSIG(status)));
	return text_format("ended with status %d", WEXITSTATUS(status));
}
