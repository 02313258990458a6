// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of one machine under QEMU. QEMU is started stopped, asked over QMP whether it runs under
 * the accelerator it was told to use, and only then let go. Its console and its monitor are
 * sockets that it inherits, so no file is left behind; both are read to their ends before a death is
 * told.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <fcntl.h>
#include "backend.h"
#include "qemu/command_line.h"
#include "qemu/probe.h"
#include "qemu/qmp.h"
#include "util/memory.h"
#include "util/process.h"
#include "util/text.h"

#define STDERR_MAX	(64u << 10)
#define CONSOLE_OUT_MAX (64u << 10)
/* How long a killed QEMU may take to go: only a kernel that holds on to it takes any time. */
#define KILL_TIMEOUT_NS 10000000000ULL

struct machine {
	struct loop *loop;
	const struct machine_events *events;
	void *ctx;
	enum accel accel;
	pid_t pid;
	struct loop_source *child; /* NULL when QEMU has ended */
	struct qmp *qmp;
	int console_fd; /* -1 when closed, as the others */
	struct loop_source *console;
	struct text console_out; /* for the guest, not yet taken */
	int stderr_fd;
	struct loop_source *stderr_source;
	struct text stderr_text;
	char *command;
	struct machine_exit exit; /* how it ends, as far as is known */
	struct text exit_text;
	bool exit_known;
	bool exit_told;
	unsigned int busy; /* calls into this struct on the stack; see leave() */
	bool killed;
};

static void machine_free(struct machine *m)
{
	qmp_free(m->qmp);
	text_free(&m->console_out);
	text_free(&m->stderr_text);
	text_free(&m->exit_text);
	free(m->command);
	free(m);
}

static void enter(struct machine *m)
{
	m->busy++;
}

/* A callback may have killed the machine: its memory goes when nobody is using it any more. */
static void leave(struct machine *m)
{
	if (--m->busy == 0 && m->killed)
		machine_free(m);
}

/* ---- how it ends ---------------------------------------------------------------------------- */

static void set_exit(struct machine *m, int kind, const char *text)
{
	if (m->exit_known)
		return;
	m->exit_known = true;
	m->exit.kind = kind;
	if (text) {
		text_append(&m->exit_text, text);
		m->exit.text = text_string(&m->exit_text);
	}
}

static void tell_exit(struct machine *m)
{
	if (m->exit_told || m->killed)
		return;
	m->exit_told = true;
	m->events->exited(m->ctx, &m->exit);
}

/* QEMU is there but of no use. */
static void give_up(struct machine *m, const char *text)
{
	set_exit(m, MACHINE_VMM_DIED, text);
	tell_exit(m);
}

static void close_fd(struct machine *m, int *fd, struct loop_source **source)
{
	if (*fd < 0)
		return;
	loop_remove(m->loop, *source);
	*source = NULL;
	close(*fd);
	*fd = -1;
}

/* ---- console and stderr ---------------------------------------------------------------------- */

/* false at the end of file, or when there is nothing to read. */
static bool read_console(struct machine *m)
{
	char buffer[65536];
	ssize_t n;

	if (m->console_fd < 0)
		return false;
	n = recv(m->console_fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close_fd(m, &m->console_fd, &m->console);
		return false;
	}
	m->events->console(m->ctx, buffer, n);
	return !m->killed;
}

static void flush_console(struct machine *m)
{
	ssize_t n;

	if (m->console_fd < 0 || !m->console_out.len)
		return;
	n = send(m->console_fd, m->console_out.data, m->console_out.len,
		 MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0) {
		memmove(m->console_out.data, m->console_out.data + n, m->console_out.len - n + 1);
		m->console_out.len -= n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		text_clear(&m->console_out); /* the reader's side finds out why */
	}
	loop_set_events(m->console, LOOP_READ | (m->console_out.len ? LOOP_WRITE : 0));
}

static void on_console(void *ctx, unsigned int events)
{
	struct machine *m = ctx;

	enter(m);
	if (events & LOOP_WRITE)
		flush_console(m);
	if (events & LOOP_READ)
		read_console(m);
	leave(m);
}

static void qemu_console_send(struct machine *m, const char *data, size_t len)
{
	/* A guest that asks and never reads the answers: what it does not take is lost. */
	if (m->console_fd < 0 || m->console_out.len + len > CONSOLE_OUT_MAX)
		return;
	text_append_bytes(&m->console_out, data, len);
	flush_console(m);
}

/* Keeps the last STDERR_MAX bytes. false when there is nothing to read. */
static bool read_stderr(struct machine *m)
{
	char buffer[4096];
	ssize_t n;

	if (m->stderr_fd < 0)
		return false;
	n = read(m->stderr_fd, buffer, sizeof(buffer));
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close_fd(m, &m->stderr_fd, &m->stderr_source);
		return false;
	}
	text_append_bytes(&m->stderr_text, buffer, n);
	if (m->stderr_text.len > STDERR_MAX) {
		size_t drop = m->stderr_text.len - STDERR_MAX;

		memmove(m->stderr_text.data, m->stderr_text.data + drop, STDERR_MAX + 1);
		m->stderr_text.len = STDERR_MAX;
	}
	return true;
}

static void on_stderr(void *ctx, unsigned int events)
{
	read_stderr(ctx);
}

/* ---- QMP ------------------------------------------------------------------------------------- */

static void on_shutdown(struct machine *m, const json_t *data)
{
	const char *reason = json_string_value(json_object_get(data, "reason"));
	char text[128];

	reason = reason ? reason : "unknown";
	if (!strcmp(reason, "guest-shutdown")) {
		set_exit(m, MACHINE_POWEROFF, NULL);
	} else if (!strcmp(reason, "guest-reset")) {
		set_exit(m, MACHINE_RESET, NULL);
	} else if (!strcmp(reason, "guest-panic")) {
		set_exit(m, MACHINE_PANICKED, "QEMU saw the guest crash");
	} else {
		snprintf(text, sizeof(text), "QEMU was shut down (%s)", reason);
		set_exit(m, MACHINE_VMM_DIED, text);
	}
}

static void on_status(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	const char *status = json_string_value(json_object_get(value, "status"));
	char text[128];

	if (error || !status || json_is_true(json_object_get(value, "running")) ||
	    !strcmp(status, "shutdown"))
		return;
	snprintf(text, sizeof(text), "QEMU stopped the guest (%s)", status);
	set_exit(m, MACHINE_PANICKED, text);
	tell_exit(m);
}

static void on_event(void *ctx, const char *name, const json_t *data)
{
	struct machine *m = ctx;

	if (!strcmp(name, "SHUTDOWN"))
		on_shutdown(m, data);
	else if (!strcmp(name, "STOP") && !m->exit_known)
		/* Nobody asked for it: a KVM internal error stops the guest like this. */
		qmp_execute(m->qmp, "query-status", NULL, on_status, m);
}

static void on_closed(void *ctx, const char *why)
{
	struct machine *m = ctx;

	/* When QEMU is dying its end says more. */
	if (m->child && qmp_greeted(m->qmp))
		return;
	if (m->child && !strstr(why, "closed"))
		give_up(m, why);
}

static void on_cont(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	char text[256];

	if (!error) {
		m->events->started(m->ctx);
		return;
	}
	if (!m->child || !strncmp(error, "QEMU closed", strlen("QEMU closed")))
		return;
	snprintf(text, sizeof(text), "QEMU did not start the guest: %.200s", error);
	give_up(m, text);
}

static void on_kvm(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	bool kvm = json_is_true(json_object_get(value, "enabled"));
	char text[128];

	if (!error && kvm == (m->accel == ACCEL_KVM)) {
		qmp_execute(m->qmp, "cont", NULL, on_cont, m);
		return;
	}
	if (error)
		return; /* QEMU is going away: its end says why */
	snprintf(text, sizeof(text), "asked for %s, runs under %s", accel_to_name(m->accel),
		 kvm ? "kvm" : "tcg");
	give_up(m, text);
}

static const struct qmp_events qmp_events = { .event = on_event, .closed = on_closed };

/* ---- life ------------------------------------------------------------------------------------ */

static const char *last_stderr_line(struct machine *m)
{
	size_t end = m->stderr_text.len, start;
	const char *data = text_string(&m->stderr_text);

	while (end > 0 && strchr("\r\n", data[end - 1]))
		end--;
	for (start = end; start > 0 && data[start - 1] != '\n'; start--)
		;
	m->stderr_text.len = end;
	if (m->stderr_text.data)
		m->stderr_text.data[end] = '\0';
	return data + start;
}

static void on_child(void *ctx, int status)
{
	struct machine *m = ctx;
	struct text text = { 0 };
	const char *last;
	char *how;

	m->child = NULL;
	/* Where QEMU is a script: what it left behind would hold the sockets open. */
	kill(-m->pid, SIGKILL);
	enter(m);
	while (read_stderr(m))
		;
	while (read_console(m))
		;
	if (!m->killed)
		qmp_drain(m->qmp);
	if (!m->killed) {
		how = process_status_text(status);
		last = last_stderr_line(m);
		text_printf(&text, "QEMU %s%s%.300s", how, *last ? ": " : "", last);
		free(how);
		set_exit(m, MACHINE_VMM_DIED, text_string(&text));
		text_free(&text);
		tell_exit(m);
	}
	leave(m);
}

/* The sockets and the pipe that QEMU is born with: [0] ours, [1] QEMU's. */
struct channels {
	int console[2], qmp[2], errors[2];
};

static int open_channels(struct channels *c, struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->console) < 0)
		return error_set(err, "cannot start QEMU: socketpair: %s", strerror(errno));
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->qmp) < 0)
		return error_set(err, "cannot start QEMU: socketpair: %s", strerror(errno));
	if (pipe2(c->errors, O_CLOEXEC) < 0)
		return error_set(err, "cannot start QEMU: pipe: %s", strerror(errno));
	fcntl(c->errors[0], F_SETFL, O_NONBLOCK);
	return 0;
}

static void close_end(struct channels *c, int end)
{
	int fds[] = { c->console[end], c->qmp[end], c->errors[end] };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

static pid_t spawn(const struct machine_spec *spec, const struct channels *c, char **command,
		   struct error *err)
{
	char **argv = qemu_command_line(spec, c->console[1], c->qmp[1]);
	int keep[] = { c->console[1], c->qmp[1] };
	struct process_spec process = {
		.argv = argv,
		.stdin_fd = -1,
		.stdout_fd = c->errors[1],
		.stderr_fd = c->errors[1],
		.keep_fds = keep,
		.nr_keep_fds = ARRAY_SIZE(keep),
	};
	struct text text = { 0 };
	pid_t pid = process_spawn(&process, err);

	text_append_command(&text, argv);
	*command = text_take(&text);
	words_free(argv);
	return pid;
}

static struct machine *qemu_start(const struct machine_spec *spec, struct loop *loop,
				  const struct machine_events *events, void *ctx, struct error *err)
{
	struct channels c = { { -1, -1 }, { -1, -1 }, { -1, -1 } };
	struct machine *m = memory_zalloc(sizeof(*m));

	m->pid = open_channels(&c, err) ? -1 : spawn(spec, &c, &m->command, err);
	close_end(&c, 1);
	if (m->pid < 0) {
		close_end(&c, 0);
		machine_free(m);
		return NULL;
	}
	m->loop = loop;
	m->events = events;
	m->ctx = ctx;
	m->accel = spec->accel;
	m->console_fd = c.console[0];
	m->stderr_fd = c.errors[0];
	m->child = loop_add_child(loop, m->pid, on_child, m);
	m->console = loop_add_fd(loop, m->console_fd, LOOP_READ, on_console, m);
	m->stderr_source = loop_add_fd(loop, m->stderr_fd, LOOP_READ, on_stderr, m);
	m->qmp = qmp_new(loop, c.qmp[0], &qmp_events, m);
	qmp_execute(m->qmp, "query-kvm", NULL, on_kvm, m);
	return m;
}

static void qemu_kill(struct machine *m)
{
	if (m->killed)
		return;
	m->killed = true;
	enter(m);
	loop_remove(m->loop, m->child);
	if (m->child && !process_kill(m->pid, KILL_TIMEOUT_NS, NULL))
		fprintf(stderr,
			"runner: QEMU (pid %d) does not go although it was killed: the host's "
			"kernel holds on to it\n",
			(int)m->pid);
	close_fd(m, &m->console_fd, &m->console);
	close_fd(m, &m->stderr_fd, &m->stderr_source);
	leave(m);
}

static const char *qemu_command(const struct machine *m)
{
	return m->command;
}

static const char *qemu_stderr_text(const struct machine *m)
{
	return text_string(&m->stderr_text);
}

const struct backend qemu_backend = {
	.kind = VMM_QEMU,
	.name = "qemu",
	.probe = qemu_probe,
	.start = qemu_start,
	.console_send = qemu_console_send,
	.kill = qemu_kill,
	.command = qemu_command,
	.stderr_text = qemu_stderr_text,
};
