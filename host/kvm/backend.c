// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runner's side of our own VMM: starts the program vmm (main.c) and speaks over its control
 * socket (control.h).
 */
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "kvm/control_names.h"
#include "kvm/kvm_compat.h"
#include "util/memory.h"
#include "version.h"
#include "vmm_process.h"

struct machine {
	struct vmm_process process;
	int control_fd; /* -1 when closed */
	struct loop_source *control;
	struct text line;
	struct host_time start_before;
};

static void close_control(struct machine *m)
{
	if (m->control_fd < 0)
		return;
	loop_remove(m->process.loop, m->control);
	close(m->control_fd);
	m->control_fd = -1;
}

static void destroy(struct vmm_process *p)
{
	struct machine *m = container_of(p, struct machine, process);

	close_control(m);
	text_free(&m->line);
	vmm_process_free(p);
	free(m);
}

/* ---- what the VMM says -------------------------------------------------------------------------- */

/* "\n" and "\\" back to what they stand for, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1]) {
			s++;
			*to++ = *s == 'n' ? '\n' : *s;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* "KIND STATUS TEXT" */
static void take_exit(struct machine *m, char *fields)
{
	static const struct {
		const char *word;
		int kind;
	} kinds[] = {
		{ CONTROL_POWEROFF, MACHINE_POWEROFF },
		{ CONTROL_RESET, MACHINE_RESET },
		{ CONTROL_PANICKED, MACHINE_PANICKED },
		{ CONTROL_ERROR, MACHINE_PANICKED },
	};
	char *kind = strtok_r(fields, " ", &fields);
	char *text;

	strtok_r(NULL, " ", &fields); /* the status, for programs that have no kinds */
	text = fields && *fields ? fields : NULL;
	if (text)
		unescape(text);
	for (size_t i = 0; kind && i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(kind, kinds[i].word) == 0)
			vmm_process_set_exit(&m->process, kinds[i].kind, text);
	}
}

/* The line comes just before the vCPUs run. */
static void take_started(struct machine *m)
{
	struct action_times times = { .run_before = m->start_before, .run_after = host_time_now() };

	m->process.events->started(m->process.ctx, &times);
}

static void take_line(struct machine *m, char *line)
{
	if (strcmp(line, CONTROL_STARTED) == 0)
		take_started(m);
	else if (text_starts_with(line, CONTROL_EXITED " "))
		take_exit(m, line + strlen(CONTROL_EXITED " "));
}

/* false at the end, or when there is nothing to read. */
static bool read_control(struct machine *m)
{
	char buffer[4096];
	ssize_t n;

	if (m->control_fd < 0)
		return false;
	n = recv(m->control_fd, buffer, sizeof(buffer), MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return errno == EINTR;
	if (n <= 0) {
		close_control(m); /* its end says more */
		return false;
	}
	for (ssize_t i = 0; i < n && !m->process.killed; i++) {
		if (buffer[i] != '\n') {
			text_append_char(&m->line, buffer[i]);
			continue;
		}
		take_line(m, m->line.data ? m->line.data : "");
		text_clear(&m->line);
	}
	return !m->process.killed;
}

static void on_control(void *ctx, unsigned int events)
{
	struct machine *m = ctx;

	(void)events;
	vmm_process_enter(&m->process);
	read_control(m);
	vmm_process_leave(&m->process);
}

static void drain(struct vmm_process *p)
{
	while (read_control(container_of(p, struct machine, process)))
		;
}

/* ---- the back end ------------------------------------------------------------------------------- */

static void kvm_probe(enum arch arch, enum accel accel, const char *vmm_path,
		      struct vmm_probe *probe)
{
	int fd;

	memset(probe, 0, sizeof(*probe));
	snprintf(probe->version, sizeof(probe->version), "%s", SUITE_VERSION);
	snprintf(probe->cpu, sizeof(probe->cpu), "host");
	if (accel != ACCEL_KVM) {
		snprintf(probe->detail, sizeof(probe->detail),
			 "this VMM has no %s, only KVM (see --kernel for a host under emulation)",
			 accel_to_name(accel));
		return;
	}
	if (arch != arch_native()) {
		snprintf(probe->detail, sizeof(probe->detail),
			 "KVM on this %s host runs no %s guests (see --kernel)",
			 arch_to_name(arch_native()), arch_to_name(arch));
		return;
	}
	if (access(vmm_path, X_OK) < 0) {
		snprintf(probe->detail, sizeof(probe->detail), "%.200s: %s", vmm_path,
			 strerror(errno));
		return;
	}
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		snprintf(probe->detail, sizeof(probe->detail), "/dev/kvm: %s (see --kernel)",
			 strerror(errno));
		return;
	}
	if (arch == ARCH_ARM64 && ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_ARM_EL2) <= 0)
		snprintf(probe->no_el2, sizeof(probe->no_el2),
			 "KVM gives guests no EL2 here (no KVM_CAP_ARM_EL2)");
	if (ioctl(fd, KVM_CHECK_EXTENSION, KVM_CAP_COUNTER_OFFSET) <= 0)
		snprintf(
			probe->no_counter_offset, sizeof(probe->no_counter_offset),
			"KVM sets no offset to the counters here (no KVM_CAP_COUNTER_OFFSET: Linux "
			"6.4, arm64)");
	close(fd);
	probe->usable = true;
}

/* words_free() it. */
static char **command_line(const struct machine_spec *spec, int control_fd)
{
	char *fixed[] = {
		text_copy(spec->vmm_path),
		text_format("--image=%s", spec->image),
		text_format("--append=%s", spec->args),
		text_format("--smp=%u", spec->smp),
		text_format("--memory=%u", spec->memory_mib),
		text_format("--control=%d", control_fd),
		text_copy(spec->el2 ? "--el2" : NULL),
		spec->cpu ? text_format("--cpu=%s", spec->cpu) : NULL,
		spec->counter_offset ? text_format("--counter-offset=%llu",
						   (unsigned long long)spec->counter_offset)
				     : NULL,
	};
	char **argv = memory_zalloc((ARRAY_SIZE(fixed) + 1) * sizeof(*argv));
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++) {
		if (fixed[i])
			argv[count++] = fixed[i];
	}
	return argv;
}

static struct machine *kvm_start(const struct machine_spec *spec, struct loop *loop,
				 const struct machine_events *events, void *ctx, struct error *err)
{
	struct machine *m = memory_zalloc(sizeof(*m));
	struct process_spec process = { .stdin_fd = -1, .stdout_fd = -1 };
	struct vmm_channels c;
	char **argv;
	int started;

	m->process = (struct vmm_process){ .loop = loop,
					   .events = events,
					   .ctx = ctx,
					   .name = "the VMM",
					   .drain = drain,
					   .destroy = destroy };
	m->control_fd = -1;
	m->start_before = host_time_now();
	started = vmm_channels_open(&c, "the VMM", err);
	if (started == 0) {
		argv = command_line(spec, c.control[1]);
		process.argv = argv;
		process.stdin_fd = c.console[1];
		process.stdout_fd = c.console[1];
		process.keep_fds = &c.control[1];
		process.nr_keep_fds = 1;
		started = vmm_process_start(&m->process, &c, &process, err);
		words_free(argv);
	}
	if (started < 0) {
		destroy(&m->process);
		return NULL;
	}
	m->control_fd = c.control[0];
	m->control = loop_add_fd(loop, m->control_fd, LOOP_READ, on_control, m);
	return m;
}

static void kvm_console_send(struct machine *m, const char *data, size_t len)
{
	vmm_process_console_send(&m->process, data, len);
}

static void kvm_kill(struct machine *m)
{
	vmm_process_kill(&m->process);
}

static const char *kvm_command(const struct machine *m)
{
	return m->process.command;
}

static const char *kvm_stderr_text(const struct machine *m)
{
	return text_string(&m->process.stderr_text);
}

const struct backend kvm_backend = {
	.kind = VMM_KVM,
	.name = "kvm",
	.probe = kvm_probe,
	.start = kvm_start,
	.console_send = kvm_console_send,
	.kill = kvm_kill,
	.command = kvm_command,
	.stderr_text = kvm_stderr_text,
};
