// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads requests, acts on them one after the other, and answers.
 */
#include "kvm/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "kvm/control_names.h"
#include "kvm/snapshot.h"
#include "kvm/stats.h"
#include "util/memory.h"

/* A path may have 4096 bytes. */
#define LINE_MAX_BYTES 8192

struct control {
	struct vm *vm;
	struct loop *loop;
	struct loop_source *source; /* NULL once the other end is of no use any more */
	int fd;
	u64 started_ns;
	bool running;
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

struct stamp {
	u64 raw_ns, realtime_ns;
};

static u64 clock_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return t.tv_sec * 1000000000ULL + t.tv_nsec;
}

static struct stamp stamp_now(void)
{
	return (struct stamp){ clock_ns(CLOCK_MONOTONIC_RAW), clock_ns(CLOCK_REALTIME) };
}

static void reply_ok(struct control *c, const char *id, const struct stamp *before,
		     const char *text)
{
	struct stamp after = stamp_now();
	struct text t = { 0 };

	text_printf(&t,
		    "reply %s ok before-raw-ns=%llu after-raw-ns=%llu before-realtime-ns=%llu "
		    "after-realtime-ns=%llu",
		    id, (unsigned long long)before->raw_ns, (unsigned long long)after.raw_ns,
		    (unsigned long long)before->realtime_ns, (unsigned long long)after.realtime_ns);
	if (text) {
		text_append(&t, " text=");
		append_escaped(&t, text);
	}
	text_append_char(&t, '\n');
	send_text(c, &t);
	text_free(&t);
}

static void reply_error(struct control *c, const char *id, const char *why)
{
	struct text t = { 0 };

	text_printf(&t, "reply %s error ", id);
	append_escaped(&t, why);
	text_append_char(&t, '\n');
	send_text(c, &t);
	text_free(&t);
}

/* ---- requests ----------------------------------------------------------------------------------- */

static int do_pause(struct control *c, const char *argument, struct text *out, struct error *err)
{
	if (vm_pause(c->vm, err))
		return -1;
	if (c->running)
		arch_paused(c->vm);
	c->running = false;
	return 0;
}

static int do_resume(struct control *c, const char *argument, struct text *out, struct error *err)
{
	if (c->vm->end.kind)
		return error_set(err, "the machine has ended");
	c->running = true;
	vm_resume(c->vm);
	return 0;
}

static int do_save(struct control *c, const char *argument, struct text *out, struct error *err)
{
	bool was_running = c->running;
	int result;

	if (!*argument)
		return error_set(err, "save: a path is wanted");
	if (do_pause(c, NULL, NULL, err))
		return -1;
	result = snapshot_save(c->vm, argument, err);
	if (was_running)
		do_resume(c, NULL, NULL, err);
	return result;
}

static int do_reset(struct control *c, const char *argument, struct text *out, struct error *err)
{
	bool was_running = c->running;

	if (do_pause(c, NULL, NULL, err) || vm_reset(c->vm, err))
		return -1;
	return was_running ? do_resume(c, NULL, NULL, err) : 0;
}

/* The counters are the vCPUs' own, so they are read while those stand still. */
static int do_stats(struct control *c, const char *argument, struct text *out, struct error *err)
{
	bool was_running = c->running;

	if (vm_pause(c->vm, err))
		return -1;
	stats_print(c->vm, c->started_ns, out);
	if (was_running)
		vm_resume(c->vm);
	return 0;
}

/* Where a guest hangs that does not say it. */
static int do_registers(struct control *c, const char *argument, struct text *out,
			struct error *err)
{
	bool was_running = c->running;

	if (vm_pause(c->vm, err))
		return -1;
	for (unsigned int i = 0; i < c->vm->nr_vcpus; i++) {
		text_printf(out, "vCPU %u\n", i);
		arch_dump_registers(&c->vm->vcpus[i], out);
	}
	if (was_running)
		vm_resume(c->vm);
	return 0;
}

static int do_quit(struct control *c, const char *argument, struct text *out, struct error *err)
{
	c->quit(c->ctx);
	return 0;
}

static const struct request {
	const char *word;
	int (*act)(struct control *c, const char *argument, struct text *out, struct error *err);
} requests[] = {
	{ "pause", do_pause }, { "resume", do_resume }, { "save", do_save },
	{ "reset", do_reset }, { "stats", do_stats },	{ "registers", do_registers },
	{ "quit", do_quit },
};

static void act_on(struct control *c, const char *id, const char *word, const char *argument)
{
	struct stamp before = stamp_now();
	struct text out = { 0 };
	struct error err;

	for (size_t i = 0; i < ARRAY_SIZE(requests); i++) {
		if (strcmp(requests[i].word, word))
			continue;
		if (requests[i].act(c, argument, &out, &err))
			reply_error(c, id, err.text);
		else
			reply_ok(c, id, &before, out.len ? text_string(&out) : NULL);
		text_free(&out);
		return;
	}
	reply_error(c, id, "there is no such request");
}

/* "ID WORD[ ARGUMENT]", cut in place. */
static void take_line(struct control *c, char *line)
{
	char *word = strchr(line, ' '), *argument;

	if (!word) {
		reply_error(c, "?", "a request is \"ID WORD[ ARGUMENT]\"");
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

	c->vm = vm;
	c->loop = loop;
	c->fd = fd;
	c->started_ns = started_ns;
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

	c->running = true;
	text_append(&t, CONTROL_STARTED "\n");
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
	const struct vm_end *end = &c->vm->end;
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
