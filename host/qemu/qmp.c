// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The QMP client: lines in, lines out, answers matched to commands by their ids.
 */
#include "qemu/qmp.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include "util/memory.h"
#include "util/text.h"

struct command {
	struct command *next;
	json_int_t id;
	qmp_done done;
	void *ctx;
};

struct qmp {
	struct loop *loop;
	int fd;	       /* -1 when closed */
	int passed_fd; /* goes with the next bytes that are sent; or -1 */
	struct loop_source *source;
	const struct qmp_events *events;
	void *ctx;
	struct text in;
	struct text out;
	struct command *commands, **last_command;
	json_int_t last_id;
	char version[64];
	bool greeted;
	unsigned int busy; /* calls into this struct that are on the stack */
	bool freed;	   /* by a callback: memory goes when the last of them returns */
};

static void enter(struct qmp *q)
{
	q->busy++;
}

static void leave(struct qmp *q)
{
	if (--q->busy || !q->freed)
		return;
	text_free(&q->in);
	text_free(&q->out);
	free(q);
}

static void drop_passed_fd(struct qmp *q)
{
	if (q->passed_fd >= 0)
		close(q->passed_fd);
	q->passed_fd = -1;
}

static void close_socket(struct qmp *q)
{
	if (q->fd < 0)
		return;
	loop_remove(q->loop, q->source);
	close(q->fd);
	q->fd = -1;
	drop_passed_fd(q);
}

/* Takes the oldest command out of the queue. */
static struct command *pop(struct qmp *q)
{
	struct command *c = q->commands;

	q->commands = c->next;
	if (!q->commands)
		q->last_command = &q->commands;
	return c;
}

/* Ends the connection; every open command is answered first. */
static void shut(struct qmp *q, const char *why)
{
	if (q->fd < 0)
		return;
	close_socket(q);
	enter(q);
	while (q->commands) {
		struct command *c = pop(q);

		if (c->done)
			c->done(c->ctx, NULL, why);
		free(c);
	}
	if (!q->freed)
		q->events->closed(q->ctx, why);
	leave(q);
}

static ssize_t send_output(struct qmp *q)
{
	union {
		struct cmsghdr header;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS,
				  .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct iovec bytes = { .iov_base = q->out.data, .iov_len = q->out.len };
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };

	if (q->passed_fd >= 0) {
		memcpy(CMSG_DATA(&control.header), &q->passed_fd, sizeof(int));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	return sendmsg(q->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void flush(struct qmp *q)
{
	ssize_t n;

	if (q->fd < 0 || !q->out.len)
		return;
	n = send_output(q);
	/* A broken connection shows when it is read: what QEMU still said comes first. */
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		text_clear(&q->out);
	if (n > 0) {
		drop_passed_fd(q);
		memmove(q->out.data, q->out.data + n, q->out.len - n + 1);
		q->out.len -= n;
	}
	loop_set_events(q->source, LOOP_READ | (q->out.len ? LOOP_WRITE : 0));
}

static void take_version(struct qmp *q, const json_t *greeting)
{
	const json_t *qemu = json_object_get(json_object_get(greeting, "version"), "qemu");

	snprintf(q->version, sizeof(q->version),
		 "%" JSON_INTEGER_FORMAT ".%" JSON_INTEGER_FORMAT ".%" JSON_INTEGER_FORMAT,
		 json_integer_value(json_object_get(qemu, "major")),
		 json_integer_value(json_object_get(qemu, "minor")),
		 json_integer_value(json_object_get(qemu, "micro")));
	q->greeted = true;
}

static void answer(struct qmp *q, const json_t *message)
{
	json_int_t id = json_integer_value(json_object_get(message, "id"));
	const json_t *error = json_object_get(message, "error");
	const json_t *value = json_object_get(message, "return");
	const char *text = NULL;
	struct command *c = q->commands;

	/* Answers come in the order of the commands. */
	if (!c || c->id != id) {
		shut(q, "QEMU answered a command that was not sent");
		return;
	}
	pop(q);
	if (error || !value) {
		text = json_string_value(json_object_get(error, "desc"));
		text = text ? text : "an answer with neither value nor error";
		value = NULL;
	}
	if (c->done)
		c->done(c->ctx, value, text);
	free(c);
}

static void take_line(struct qmp *q, const char *line, size_t len)
{
	json_t *message = json_loadb(line, len, 0, NULL);
	const char *event = json_string_value(json_object_get(message, "event"));

	if (!json_is_object(message))
		shut(q, "QEMU's monitor sent a line that is no JSON object");
	else if (json_object_get(message, "QMP"))
		take_version(q, json_object_get(message, "QMP"));
	else if (event)
		q->events->event(q->ctx, event, json_object_get(message, "data"));
	else
		answer(q, message);
	json_decref(message);
}

static void take_input(struct qmp *q)
{
	size_t start = 0;
	char *end;

	while (q->fd >= 0 && (end = memchr(q->in.data + start, '\n', q->in.len - start))) {
		size_t len = end - (q->in.data + start);

		if (len && q->in.data[start] != '\r')
			take_line(q, q->in.data + start, len);
		start += len + 1;
	}
	memmove(q->in.data, q->in.data + start, q->in.len - start + 1);
	q->in.len -= start;
	if (q->in.len > QMP_LINE_MAX)
		shut(q, "QEMU's monitor sent a line of more than 1 MiB");
}

/* Takes what is there; false when there is nothing or nothing more will come. */
static bool receive(struct qmp *q)
{
	char buffer[4096];
	ssize_t n;

	if (q->fd < 0)
		return false;
	n = recv(q->fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && errno == EINTR)
		return true;
	if (n < 0 && errno == EAGAIN)
		return false;
	if (n <= 0) {
		shut(q, q->greeted ? "QEMU closed its monitor"
				   : "QEMU closed its monitor before it had greeted");
		return false;
	}
	text_append_bytes(&q->in, buffer, n);
	take_input(q);
	return true;
}

static void on_socket(void *ctx, unsigned int events)
{
	struct qmp *q = ctx;

	enter(q);
	if (events & LOOP_WRITE)
		flush(q);
	if (events & LOOP_READ)
		receive(q);
	leave(q);
}

void qmp_drain(struct qmp *q)
{
	enter(q);
	while (receive(q))
		;
	leave(q);
}

struct qmp *qmp_new(struct loop *l, int fd, const struct qmp_events *events, void *ctx)
{
	struct qmp *q = memory_zalloc(sizeof(*q));

	q->loop = l;
	q->fd = fd;
	q->passed_fd = -1;
	q->events = events;
	q->ctx = ctx;
	q->last_command = &q->commands;
	q->source = loop_add_fd(l, fd, LOOP_READ, on_socket, q);
	qmp_execute(q, "qmp_capabilities", NULL, NULL, NULL);
	return q;
}

void qmp_execute(struct qmp *q, const char *command, json_t *arguments, qmp_done done, void *ctx)
{
	struct command *c = memory_zalloc(sizeof(*c));
	json_t *message = json_pack("{s:s, s:I}", "execute", command, "id", ++q->last_id);
	char *line;

	if (q->fd < 0) {
		json_decref(message);
		json_decref(arguments);
		free(c);
		if (done)
			done(ctx, NULL, "QEMU's monitor is closed");
		return;
	}
	if (arguments)
		json_object_set_new(message, "arguments", arguments);
	line = json_dumps(message, JSON_COMPACT);
	text_printf(&q->out, "%s\n", line);
	free(line);
	json_decref(message);
	c->id = q->last_id;
	c->done = done;
	c->ctx = ctx;
	*q->last_command = c;
	q->last_command = &c->next;
	flush(q);
}

void qmp_execute_fd(struct qmp *q, const char *command, json_t *arguments, int fd, qmp_done done,
		    void *ctx)
{
	if (q->fd >= 0) {
		drop_passed_fd(q);
		q->passed_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	}
	qmp_execute(q, command, arguments, done, ctx);
}

bool qmp_open(const struct qmp *q)
{
	return q->fd >= 0;
}

bool qmp_greeted(const struct qmp *q)
{
	return q->greeted;
}

const char *qmp_version(const struct qmp *q)
{
	return q->version;
}

void qmp_free(struct qmp *q)
{
	if (!q)
		return;
	enter(q);
	close_socket(q);
	while (q->commands)
		free(pop(q));
	q->freed = true;
	leave(q);
}
