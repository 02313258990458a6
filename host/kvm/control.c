// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads requests, acts on them one after the other, and answers.
 */
#include "kvm/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kvm/control_names.h"
#include "kvm/request.h"
#include "util/memory.h"

/* A path may have 4096 bytes. */
#define LINE_MAX_BYTES 8192

struct control {
	struct request_target target;
	struct loop *loop;
	struct loop_source *source; /* NULL once the other end is of no use any more */
	int fd;
	char line[LINE_MAX_BYTES];
	size_t len;
	void (*quit)(void *ctx);
	void *ctx;
};

/* ---- out ---------------------------------------------------------------------------------------- */

static void close_down(struct control *c)
{
	loop_remove(c->loop, c->source);
	c->source = NULL;
	c->quit(c->ctx);
}

/* The descriptor does not block: who asks and does not read the answers gets no more of them. */
static void send_text(struct control *c, const struct text *t)
{
	size_t done = 0;

	while (c->source && done < t->len) {
		ssize_t n = write(c->fd, t->data + done, t->len - done);

		if (n > 0)
			done += n;
		else if (n == 0 || errno != EINTR)
			close_down(c);
	}
}

static void append_escaped(struct text *t, const char *s)
{
	for (; *s; s++) {
		if (*s == '\n')
			text_append(t, "\\n");
		else if (*s == '\\')
			text_append(t, "\\\\");
		else
			text_append_char(t, *s);
	}
}

/* From then until now. */
static void append_times(struct text *t, const struct stamp *before)
{
	struct stamp after = stamp_now();

	text_printf(t,
		    " " CONTROL_BEFORE_RAW "=%llu " CONTROL_AFTER_RAW
		    "=%llu " CONTROL_BEFORE_REALTIME "=%llu " CONTROL_AFTER_REALTIME "=%llu",
		    (unsigned long long)before->raw_ns, (unsigned long long)after.raw_ns,
		    (unsigned long long)before->realtime_ns, (unsigned long long)after.realtime_ns);
}

static void reply_ok(struct control *c, const char *id, const struct stamp *before,
		     const char *text)
{
	struct text t = { 0 };

	text_printf(&t, CONTROL_REPLY " %s " CONTROL_OK, id);
	append_times(&t, before);
	if (text) {
		text_append(&t, " " CONTROL_TEXT "=");
		append_escaped(&t, text);
	}
	text_append_char(&t, '\n');
	send_text(c, &t);
	text_free(&t);
}

static void reply_error(struct control *c, const char *id, const struct error *err)
{
	struct text t = { 0 };

	text_printf(&t, CONTROL_REPLY " %s %s ", id,
		    err->unsupported ? CONTROL_UNSUPPORTED : CONTROL_ERROR);
	append_escaped(&t, err->text);
	text_append_char(&t, '\n');
	send_text(c, &t);
	text_free(&t);
}

/* ---- requests ----------------------------------------------------------------------------------- */

static void act_on(struct control *c, const char *id, const char *word, const char *argument)
{
	struct stamp before = stamp_now();
	struct text out = { 0 };
	struct error err;

	if (!strcmp(word, CONTROL_QUIT)) {
		c->quit(c->ctx);
		reply_ok(c, id, &before, NULL);
	} else if (request_act(&c->target, word, argument, &out, &err)) {
		reply_error(c, id, &err);
	} else {
		reply_ok(c, id, &before, out.len ? text_string(&out) : NULL);
	}
	text_free(&out);
}

/* "ID WORD[ ARGUMENT]", cut in place. */
static void take_line(struct control *c, char *line)
{
	char *word = strchr(line, ' '), *argument;
	struct error err;

	if (!word) {
		error_set(&err, "a request is \"ID WORD[ ARGUMENT]\"");
		reply_error(c, "?", &err);
		return;
	}
	*word++ = '\0';
	argument = strchr(word, ' ');
	if (argument)
		*argument++ = '\0';
	act_on(c, line, word, argument ? argument : "");
}

static void take_lines(struct control *c)
{
	char *newline;

	while (c->source && (newline = memchr(c->line, '\n', c->len))) {
		size_t used = newline + 1 - c->line;

		*newline = '\0';
		take_line(c, c->line);
		memmove(c->line, c->line + used, c->len - used);
		c->len -= used;
	}
	if (c->len == sizeof(c->line))
		close_down(c); /* nobody who knows this protocol */
}

static void on_readable(void *ctx, unsigned int events)
{
	struct control *c = ctx;
	ssize_t n = read(c->fd, c->line + c->len, sizeof(c->line) - c->len);

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		close_down(c);
		return;
	}
	c->len += n;
	take_lines(c);
}

/* ------------------------------------------------------------------------------------------------- */

struct control *control_new(struct vm *vm, struct loop *loop, int fd, u64 started_ns,
			    void (*quit)(void *ctx), void *ctx)
{
	struct control *c = memory_zalloc(sizeof(*c));

	c->target.vm = vm;
	c->target.started_ns = started_ns;
	c->loop = loop;
	c->fd = fd;
	c->quit = quit;
	c->ctx = ctx;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	c->source = loop_add_fd(loop, fd, LOOP_READ, on_readable, c);
	return c;
}

void control_started(struct control *c)
{
	struct text t = { 0 };

	c->target.running = true;
	text_append(&t, CONTROL_STARTED);
	append_times(&t, &c->target.vm->clocks_at);
	text_append_char(&t, '\n');
	send_text(c, &t);
	text_free(&t);
}

void control_ended(struct control *c)
{
	static const char *const kinds[] = {
		[VM_POWEROFF] = CONTROL_POWEROFF,
		[VM_RESET] = CONTROL_RESET,
		[VM_PANICKED] = CONTROL_PANICKED,
		[VM_ERROR] = CONTROL_ERROR,
	};
	const struct vm_end *end = &c->target.vm->end;
	struct text t = { 0 };

	if (!end->kind)
		return;
	text_printf(&t, CONTROL_EXITED " %s %d ", kinds[end->kind], end->status);
	append_escaped(&t, end->text);
	text_append_char(&t, '\n');
	send_text(c, &t);
	text_free(&t);
}

void control_free(struct control *c)
{
	if (!c)
		return;
	loop_remove(c->loop, c->source);
	free(c);
}
