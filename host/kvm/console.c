// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output goes out a line at a time, by the vCPU that wrote it; what is no whole line yet follows
 * after FLUSH_NS, so that a prompt is seen. Writing may block, and then the guest waits; a vCPU that
 * is told to park meanwhile is interrupted by the kick and leaves the rest for later.
 */
#include "kvm/console.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "kvm/vm.h"
#include "util/loop.h"

#define FLUSH_NS 20000000L

int console_open(struct console *c, int out_fd)
{
	c->out_fd = out_fd;
	pthread_mutex_init(&c->input_lock, NULL);
	c->flush_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	c->room_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return c->flush_fd < 0 || c->room_fd < 0 ? -1 : 0;
}

void console_close(struct console *c)
{
	if (c->flush_fd >= 0)
		close(c->flush_fd);
	if (c->room_fd >= 0)
		close(c->room_fd);
	c->flush_fd = -1;
	c->room_fd = -1;
	pthread_mutex_destroy(&c->input_lock);
}

static bool is_stopping(struct vm *vm)
{
	return __atomic_load_n(&vm->stop, __ATOMIC_ACQUIRE);
}

/* Writes the first len bytes of what waits. */
static void write_out(struct vm *vm, size_t len)
{
	struct console *c = &vm->console;
	size_t done = 0;

	while (done < len && !c->dead) {
		ssize_t n = write(c->out_fd, c->output + done, len - done);

		if (n > 0) {
			done += n;
		} else if (n < 0 && errno == EINTR) {
			if (is_stopping(vm))
				break;
		} else {
			c->dead = true;
			vm_ended(vm, VM_ERROR, 0, "the guest's console cannot be written: %s",
				 n < 0 ? strerror(errno) : "end of file");
		}
	}
	if (c->dead)
		done = c->output_len;
	memmove(c->output, c->output + done, c->output_len - done);
	c->output_len -= done;
}

static bool start_timer(struct console *c)
{
	struct itimerspec when = { .it_value.tv_nsec = FLUSH_NS };

	return !timerfd_settime(c->flush_fd, 0, &when, NULL);
}

static void arm_flush(struct console *c)
{
	if (c->output_len && !c->flush_armed)
		c->flush_armed = start_timer(c);
}

/* Takes what fits. A line's end, or a full buffer, sends it. */
static size_t take(struct vm *vm, const char *data, size_t len)
{
	struct console *c = &vm->console;
	size_t n = MIN(len, CONSOLE_OUTPUT_MAX - c->output_len);
	const char *newline;

	memcpy(c->output + c->output_len, data, n);
	c->output_len += n;
	newline = memrchr(c->output, '\n', c->output_len);
	if (c->output_len == CONSOLE_OUTPUT_MAX)
		write_out(vm, c->output_len);
	else if (newline)
		write_out(vm, newline + 1 - c->output);
	return n;
}

static void count(struct console *c, const char *data, size_t len)
{
	bool ended_line = false;

	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n') {
			c->lines++;
			ended_line = true;
		}
	}
	c->bytes += len;
	if (ended_line)
		c->last_output_ns = now_ns();
}

void console_put(struct vm *vm, const char *data, size_t len)
{
	count(&vm->console, data, len);
	while (len && !vm->console.dead) {
		size_t n = take(vm, data, len);

		/* Only with a full buffer, a reader that does not read, and a pause under way. */
		if (!n && is_stopping(vm))
			break;
		data += n;
		len -= n;
	}
	arm_flush(&vm->console);
}

bool console_has_input(struct vm *vm)
{
	return console_room(vm) < CONSOLE_INPUT_MAX;
}

int console_get(struct vm *vm)
{
	struct console *c = &vm->console;
	bool was_full;
	int byte = -1;

	pthread_mutex_lock(&c->input_lock);
	was_full = c->input_len == CONSOLE_INPUT_MAX;
	if (c->input_len) {
		byte = (u8)c->input[0];
		memmove(c->input, c->input + 1, --c->input_len);
	}
	pthread_mutex_unlock(&c->input_lock);
	if (was_full)
		eventfd_write(c->room_fd, 1);
	return byte;
}

size_t console_room(struct vm *vm)
{
	struct console *c = &vm->console;
	size_t room;

	pthread_mutex_lock(&c->input_lock);
	room = CONSOLE_INPUT_MAX - c->input_len;
	pthread_mutex_unlock(&c->input_lock);
	return room;
}

void console_give_input(struct vm *vm, const char *data, size_t len)
{
	struct console *c = &vm->console;

	pthread_mutex_lock(&c->input_lock);
	len = MIN(len, CONSOLE_INPUT_MAX - c->input_len);
	memcpy(c->input + c->input_len, data, len);
	c->input_len += len;
	pthread_mutex_unlock(&c->input_lock);
}

/* Pieces that a pipe or socket that polls writable takes without blocking (pipe(7), PIPE_BUF). */
static void write_while_ready(struct vm *vm, int timeout_ms)
{
	struct console *c = &vm->console;
	struct pollfd p = { .fd = c->out_fd, .events = POLLOUT };

	while (c->output_len && !c->dead && poll(&p, 1, timeout_ms) > 0)
		write_out(vm, MIN(c->output_len, (size_t)PIPE_BUF));
}

void console_flush(struct vm *vm)
{
	struct console *c = &vm->console;
	u64 expirations;

	if (read(c->flush_fd, &expirations, sizeof(expirations)) < 0)
		return;
	if (pthread_mutex_trylock(&vm->device_lock)) {
		/* A vCPU is at a device, perhaps writing to a reader that does not read. */
		start_timer(c);
		return;
	}
	c->flush_armed = false;
	write_while_ready(vm, 0);
	arm_flush(c);
	pthread_mutex_unlock(&vm->device_lock);
}

void console_drain(struct vm *vm)
{
	pthread_mutex_lock(&vm->device_lock);
	write_while_ready(vm, 1000);
	pthread_mutex_unlock(&vm->device_lock);
}
