// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A VMM's process: its life, its console and what it says on stderr.
 */
#include "vmm_process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STDERR_MAX	(64u << 10)
#define CONSOLE_OUT_MAX (64u << 10)
/* How long a killed VMM may take to go: only a kernel that holds on to it takes any time. */
#define KILL_TIMEOUT_NS 10000000000ULL

void vmm_process_free(struct vmm_process *p)
{
	text_free(&p->console_out);
	text_free(&p->stderr_text);
	text_free(&p->exit_text);
	free(p->command);
}

void vmm_process_enter(struct vmm_process *p)
{
	p->busy++;
}

void vmm_process_leave(struct vmm_process *p)
{
	if (--p->busy == 0 && p->killed)
		p->destroy(p);
}

/* ---- how it ends ------------------------------------------------------------------------------ */

void vmm_process_set_exit(struct vmm_process *p, int kind, const char *text)
{
	if (p->exit_known)
		return;
	p->exit_known = true;
	p->exit.kind = kind;
	if (text) {
		text_append(&p->exit_text, text);
		p->exit.text = text_string(&p->exit_text);
	}
}

void vmm_process_tell_exit(struct vmm_process *p)
{
	if (p->exit_told || p->killed)
		return;
	p->exit_told = true;
	p->events->exited(p->ctx, &p->exit);
}

static void close_fd(struct vmm_process *p, int *fd, struct loop_source **source)
{
	if (*fd < 0)
		return;
	loop_remove(p->loop, *source);
	*source = NULL;
	close(*fd);
	*fd = -1;
}

/* ---- console and stderr ---------------------------------------------------------------------- */

/* false at the end of file, or when there is nothing to read. */
static bool read_console(struct vmm_process *p)
{
	char buffer[65536];
	ssize_t n;

	if (p->console_fd < 0)
		return false;
	n = recv(p->console_fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close_fd(p, &p->console_fd, &p->console);
		return false;
	}
	p->events->console(p->ctx, buffer, n);
	return !p->killed;
}

static void flush_console(struct vmm_process *p)
{
	ssize_t n;

	if (p->console_fd < 0 || !p->console_out.len)
		return;
	n = send(p->console_fd, p->console_out.data, p->console_out.len,
		 MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0) {
		memmove(p->console_out.data, p->console_out.data + n, p->console_out.len - n + 1);
		p->console_out.len -= n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		text_clear(&p->console_out); /* the reader's side finds out why */
	}
	loop_set_events(p->console, LOOP_READ | (p->console_out.len ? LOOP_WRITE : 0));
}

static void on_console(void *ctx, unsigned int events)
{
	struct vmm_process *p = ctx;

	vmm_process_enter(p);
	if (events & LOOP_WRITE)
		flush_console(p);
	if (events & LOOP_READ)
		read_console(p);
	vmm_process_leave(p);
}

void vmm_process_drain_console(struct vmm_process *p)
{
	while (read_console(p))
		;
}

void vmm_process_console_send(struct vmm_process *p, const char *data, size_t len)
{
	/* A guest that asks and never reads the answers: what it does not take is lost. */
	if (p->console_fd < 0 || p->console_out.len + len > CONSOLE_OUT_MAX)
		return;
	text_append_bytes(&p->console_out, data, len);
	flush_console(p);
}

/* Keeps the last STDERR_MAX bytes. false when there is nothing to read. */
static bool read_stderr(struct vmm_process *p)
{
	char buffer[4096];
	ssize_t n;

	if (p->stderr_fd < 0)
		return false;
	n = read(p->stderr_fd, buffer, sizeof(buffer));
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		close_fd(p, &p->stderr_fd, &p->stderr_source);
		return false;
	}
	text_append_bytes(&p->stderr_text, buffer, n);
	if (p->stderr_text.len > STDERR_MAX) {
		size_t drop = p->stderr_text.len - STDERR_MAX;

		memmove(p->stderr_text.data, p->stderr_text.data + drop, STDERR_MAX + 1);
		p->stderr_text.len = STDERR_MAX;
	}
	return true;
}

static void on_stderr(void *ctx, unsigned int events)
{
	read_stderr(ctx);
}

/* ---- life ------------------------------------------------------------------------------------- */

static const char *last_stderr_line(struct vmm_process *p)
{
	size_t end = p->stderr_text.len, start;
	const char *data = text_string(&p->stderr_text);

	while (end > 0 && strchr("\r\n", data[end - 1]))
		end--;
	for (start = end; start > 0 && data[start - 1] != '\n'; start--)
		;
	p->stderr_text.len = end;
	if (p->stderr_text.data)
		p->stderr_text.data[end] = '\0';
	return data + start;
}

static void on_child(void *ctx, int status)
{
	struct vmm_process *p = ctx;
	struct text text = { 0 };
	const char *last;
	char *how;

	p->child = NULL;
	/* Where QEMU is a script: what it left behind would hold the sockets open. */
	kill(-p->pid, SIGKILL);
	vmm_process_enter(p);
	while (read_stderr(p))
		;
	while (read_console(p))
		;
	if (!p->killed)
		p->drain(p);
	if (!p->killed) {
		how = process_status_text(status);
		last = last_stderr_line(p);
		text_printf(&text, "%s %s%s%.300s", p->name, how, *last ? ": " : "", last);
		free(how);
		vmm_process_set_exit(p, MACHINE_VMM_DIED, text_string(&text));
		text_free(&text);
		vmm_process_tell_exit(p);
	}
	vmm_process_leave(p);
}

static void close_end(struct vmm_channels *c, int end)
{
	int *fds[] = { &c->console[end], &c->control[end], &c->errors[end] };

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

int vmm_channels_open(struct vmm_channels *c, const char *name, struct error *err)
{
	*c = (struct vmm_channels){ { -1, -1 }, { -1, -1 }, { -1, -1 } };
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->console) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, c->control) < 0 ||
	    pipe2(c->errors, O_CLOEXEC) < 0) {
		error_set(err, "cannot start %s: no descriptors for it: %s", name, strerror(errno));
		close_end(c, 0);
		close_end(c, 1);
		return -1;
	}
	fcntl(c->errors[0], F_SETFL, O_NONBLOCK);
	return 0;
}

int vmm_process_start(struct vmm_process *p, struct vmm_channels *c, struct process_spec *spec,
		      struct error *err)
{
	struct text command = { 0 };

	text_append_command(&command, spec->argv);
	p->command = text_take(&command);
	p->console_fd = -1;
	p->stderr_fd = -1;
	if (spec->stdout_fd < 0)
		spec->stdout_fd = c->errors[1];
	spec->stderr_fd = c->errors[1];
	p->pid = process_spawn(spec, err);
	close_end(c, 1);
	if (p->pid < 0) {
		close_end(c, 0);
		return -1;
	}
	p->console_fd = c->console[0];
	p->stderr_fd = c->errors[0];
	p->child = loop_add_child(p->loop, p->pid, on_child, p);
	p->console = loop_add_fd(p->loop, p->console_fd, LOOP_READ, on_console, p);
	p->stderr_source = loop_add_fd(p->loop, p->stderr_fd, LOOP_READ, on_stderr, p);
	return 0;
}

void vmm_process_kill(struct vmm_process *p)
{
	if (p->killed)
		return;
	p->killed = true;
	vmm_process_enter(p);
	loop_remove(p->loop, p->child);
	if (p->child && !process_kill(p->pid, KILL_TIMEOUT_NS, NULL))
		fprintf(stderr,
			"runner: %s (pid %d) does not go although it was killed: the host's "
			"kernel holds on to it\n",
			p->name, (int)p->pid);
	close_fd(p, &p->console_fd, &p->console);
	close_fd(p, &p->stderr_fd, &p->stderr_source);
	vmm_process_leave(p);
}
