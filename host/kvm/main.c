// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The VMM as a program: builds the machine, puts an image or a snapshot into it, lets it run, and
 * serves until it ends: stdin to the guest, the control socket, signals. vCPUs have threads of their
 * own (run.c); everything here is one thread with one event loop.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>
#include "kvm/control.h"
#include "kvm/fault_hooks.h"
#include "kvm/options.h"
#include "kvm/snapshot.h"
#include "kvm/stats.h"
#include "util/loop.h"

enum {
	STATUS_OK = 0,
	STATUS_GUEST_FAILED = 1,
	STATUS_NOT_RUN = 3,
};

struct program {
	struct vmm_options options;
	struct vm vm;
	struct snapshot *snapshot; /* or NULL; the machine's options point into it */
	struct loop *loop;
	struct control *control;   /* or NULL */
	struct loop_source *input; /* NULL at end of file, or while the guest has enough of it */
	u64 started_ns;
	int status; /* of the program, where it is not the guest's end that decides */
};

/* ---- events ------------------------------------------------------------------------------------- */

static void on_input(void *ctx, unsigned int events)
{
	struct program *p = ctx;
	char buffer[CONSOLE_INPUT_MAX];
	size_t room = console_room(&p->vm);
	ssize_t n = room ? read(STDIN_FILENO, buffer, room) : 0;

	if (n > 0) {
		console_give_input(&p->vm, buffer, n);
		return;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	loop_remove(p->loop, p->input);
	p->input = NULL;
	/* Not at the end, but full: on_room() goes on with it. */
}

static void on_room(void *ctx, unsigned int events)
{
	struct program *p = ctx;
	eventfd_t count;

	eventfd_read(p->vm.console.room_fd, &count);
	if (!p->input)
		p->input = loop_add_fd(p->loop, STDIN_FILENO, LOOP_READ, on_input, p);
}

static void on_flush(void *ctx, unsigned int events)
{
	struct program *p = ctx;

	console_flush(&p->vm);
}

static void on_end(void *ctx, unsigned int events)
{
	struct program *p = ctx;

	loop_quit(p->loop);
}

static void on_signal(void *ctx, int signo)
{
	struct program *p = ctx;

	fprintf(stderr, "vmm: stopped by signal %d (%s)\n", signo, strsignal(signo));
	p->status = STATUS_NOT_RUN;
	loop_quit(p->loop);
}

static void on_save_due(void *ctx)
{
	struct program *p = ctx;
	struct error err;

	if (vm_stop(&p->vm, &err) || snapshot_save(&p->vm, p->options.save_to, &err)) {
		fprintf(stderr, "vmm: %s\n", err.text);
		p->status = STATUS_NOT_RUN;
	}
	loop_quit(p->loop);
}

/* The program at the other end has gone, or says that it is done with us. */
static void on_control_quit(void *ctx)
{
	struct program *p = ctx;

	loop_quit(p->loop);
}

static void add_sources(struct program *p)
{
	struct console *c = &p->vm.console;

	p->loop = loop_new();
	p->input = loop_add_fd(p->loop, STDIN_FILENO, LOOP_READ, on_input, p);
	loop_add_fd(p->loop, c->room_fd, LOOP_READ, on_room, p);
	loop_add_fd(p->loop, c->flush_fd, LOOP_READ, on_flush, p);
	loop_add_fd(p->loop, p->vm.end_fd, LOOP_READ, on_end, p);
	loop_add_signal(p->loop, SIGINT, on_signal, p);
	loop_add_signal(p->loop, SIGTERM, on_signal, p);
	loop_add_signal(p->loop, SIGHUP, on_signal, p);
	if (p->options.save_to)
		loop_add_timer(p->loop, p->options.save_after_ms * 1000000, on_save_due, p);
	if (p->options.control_fd >= 0)
		p->control = control_new(&p->vm, p->loop, p->options.control_fd, p->started_ns,
					 on_control_quit, p);
}

/* ---- the end ------------------------------------------------------------------------------------ */

static const char *const end_names[] = {
	[VM_POWEROFF] = "the guest powered off",
	[VM_RESET] = "the guest reset the machine",
	[VM_PANICKED] = "the guest crashed",
	[VM_ERROR] = "the guest cannot go on",
};

static int end_status(const struct vm_end *end)
{
	if (end->kind == VM_POWEROFF || (end->kind == VM_RESET && !*end->text))
		return STATUS_OK;
	return STATUS_GUEST_FAILED;
}

static int report_end(struct program *p)
{
	const struct vm_end *end = &p->vm.end;

	if (end->kind && *end->text)
		fprintf(stderr, "vmm: %s: %s%s", end_names[end->kind], end->text,
			end->text[strlen(end->text) - 1] == '\n' ? "" : "\n");
	if (p->status || !end->kind)
		return p->status;
	return end_status(end);
}

static void print_stats(struct program *p)
{
	struct text t = { 0 };

	stats_print(&p->vm, p->started_ns, &t);
	fputs(text_string(&t), stderr);
	text_free(&t);
}

/* What the VMM may need beside the machine as built, such as a snapshot's buffers; a stack a vCPU. */
#define MEMORY_HEADROOM (256ull << 20)
#define STACK_SIZE	(8ull << 20)

/*
 * No guest makes the VMM grow without bounds: from here on it may take so much more than it has and
 * no more (getrlimit(2), RLIMIT_DATA; proc(5), statm's sixth field is what that counts). An
 * allocation beyond it ends the VMM with a message.
 */
static void bound_memory(void)
{
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	struct rlimit limit;

	if (f && fscanf(f, "%*s %*s %*s %*s %*s %llu", &pages) == 1) {
		limit.rlim_cur =
			pages * sysconf(_SC_PAGESIZE) + MEMORY_HEADROOM + VCPUS_MAX * STACK_SIZE;
		limit.rlim_max = limit.rlim_cur;
		setrlimit(RLIMIT_DATA, &limit);
	}
	if (f)
		fclose(f);
}

static int run(struct program *p, struct error *err)
{
	int status;

	bound_memory();
	if (vm_start_threads(&p->vm, err))
		return -1;
	add_sources(p);
	vm_resume(&p->vm);
	if (p->control)
		control_started(p->control);
	fault_start(&p->vm, p->loop);
	loop_run(p->loop);
	if (vm_stop_threads(&p->vm, err))
		return -1;
	console_drain(&p->vm);
	status = report_end(p);
	if (p->options.stats)
		print_stats(p);
	if (p->control)
		control_ended(p->control);
	return status;
}

/* ---- the beginning ------------------------------------------------------------------------------ */

static int build(struct program *p, struct error *err)
{
	if (p->options.restore) {
		p->snapshot = snapshot_open(p->options.restore, &p->options.machine, err);
		if (!p->snapshot)
			return -1;
	}
	if (vm_create(&p->vm, &p->options.machine, err))
		return -1;
	return p->snapshot ? snapshot_restore(p->snapshot, &p->vm, err) : arch_boot(&p->vm, err);
}

static int probe(struct program *p, struct error *err)
{
	if (vm_create(&p->vm, &p->options.machine, err))
		return -1;
	printf("usable\n");
	return STATUS_OK;
}

int main(int argc, char **argv)
{
	static struct program program; /* the console's buffers are too much for a stack */
	struct program *p = &program;
	struct error err;
	int status;

	p->started_ns = now_ns();
	status = vmm_options_parse(&p->options, argc, argv);
	if (status >= 0)
		return status;
	signal(SIGPIPE, SIG_IGN);
	if (p->options.probe)
		status = probe(p, &err);
	else
		status = build(p, &err) ? -1 : run(p, &err);
	if (status < 0) {
		fprintf(stderr, "vmm: %s\n", err.text);
		return STATUS_NOT_RUN;
	}
	control_free(p->control);
	loop_free(p->loop);
	vm_destroy(&p->vm);
	snapshot_free(p->snapshot);
	return status;
}
