// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The runner's side of our own VMM: starts the program vmm (main.c) and speaks over its control
 * socket (control.h).
 */
#include "backend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include "kvm/backend_policy.h"
#include "kvm/control_names.h"
#include "kvm/kvm_compat.h"
#include "util/memory.h"
#include "version.h"
#include "vmm_process.h"

/* What an action's times are the bracket of. */
enum timed {
	TIMED_NOTHING,
	TIMED_STOP,
	TIMED_RUN,
	TIMED_BOTH,
};

struct machine {
	struct vmm_process process;
	int control_fd; /* -1 when closed */
	struct loop_source *control;
	struct text line;

	/* The action under way. */
	action_done done; /* NULL: none */
	void *ctx;
	enum timed timed;
	unsigned int request; /* its number */
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

/* The TIMES of control.h: the request, or the start, fell between the two. */
static void take_times(char *fields, struct host_time *before, struct host_time *after)
{
	const struct {
		const char *name;
		u64 *value;
	} known[] = {
		{ CONTROL_BEFORE_RAW "=", &before->raw_ns },
		{ CONTROL_AFTER_RAW "=", &after->raw_ns },
		{ CONTROL_BEFORE_REALTIME "=", &before->realtime_ns },
		{ CONTROL_AFTER_REALTIME "=", &after->realtime_ns },
	};
	char *word;

	while ((word = strtok_r(fields, " ", &fields))) {
		for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
			if (text_starts_with(word, known[i].name))
				text_to_u64(word + strlen(known[i].name), 0, UINT64_MAX,
					    known[i].value);
		}
	}
}

static void take_started(struct machine *m, char *fields)
{
	struct action_times times = { 0 };

	take_times(fields, &times.run_before, &times.run_after);
	m->process.events->started(m->process.ctx, &times);
}

static void end_action(struct machine *m, const struct error *err, const struct action_times *times)
{
	action_done done = m->done;

	m->done = NULL;
	done(m->ctx, err, times);
}

static void succeed(struct machine *m, char *fields)
{
	struct host_time before = { 0 }, after = { 0 };
	struct action_times times = { 0 };

	take_times(fields, &before, &after);
	if (m->timed == TIMED_STOP || m->timed == TIMED_BOTH) {
		times.stop_before = before;
		times.stop_after = after;
		/* It stands still; what it printed before comes first. */
		vmm_process_drain_console(&m->process);
	}
	if (m->timed == TIMED_RUN || m->timed == TIMED_BOTH) {
		times.run_before = before;
		times.run_after = after;
	}
	if (!m->process.killed)
		end_action(m, NULL, &times);
}

static void fail(struct machine *m, bool unsupported, char *why)
{
	struct error err;

	unescape(why);
	if (unsupported)
		error_unsupported(&err, "%s", why);
	else
		error_set(&err, "the VMM: %s", why);
	end_action(m, &err, NULL);
}

/* "ID STATUS REST" */
static void take_reply(struct machine *m, char *fields)
{
	char *id = strtok_r(fields, " ", &fields);
	char *status = strtok_r(NULL, " ", &fields);
	u64 number;

	if (!m->done || !id || !status || text_to_u64(id, m->request, m->request, &number))
		return;
	if (!strcmp(status, CONTROL_OK))
		succeed(m, fields);
	else
		fail(m, !strcmp(status, CONTROL_UNSUPPORTED), fields);
}

static void take_line(struct machine *m, char *line)
{
	if (text_starts_with(line, CONTROL_STARTED " "))
		take_started(m, line + strlen(CONTROL_STARTED " "));
	else if (text_starts_with(line, CONTROL_REPLY " "))
		take_reply(m, line + strlen(CONTROL_REPLY " "));
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

/* ---- what it is told ---------------------------------------------------------------------------- */

/*
 * The socket has room for any request: each is answered before the next one comes. Where the VMM is
 * gone nothing is answered: its end is told instead, and says more.
 */
static void ask(struct machine *m, enum timed timed, action_done done, void *ctx, const char *fmt,
		...) PRINTF_LIKE(5, 6);

static void ask(struct machine *m, enum timed timed, action_done done, void *ctx, const char *fmt,
		...)
{
	struct text line = { 0 };
	va_list args;

	m->done = done;
	m->ctx = ctx;
	m->timed = timed;
	text_printf(&line, "%u ", ++m->request);
	va_start(args, fmt);
	text_vprintf(&line, fmt, args);
	va_end(args);
	text_append_char(&line, '\n');
	if (m->control_fd >= 0)
		send(m->control_fd, line.data, line.len, MSG_NOSIGNAL);
	text_free(&line);
}

static void kvm_pause(struct machine *m, action_done done, void *ctx)
{
	ask(m, TIMED_STOP, done, ctx, CONTROL_PAUSE);
}

static void kvm_resume(struct machine *m, action_done done, void *ctx)
{
	ask(m, TIMED_RUN, done, ctx, CONTROL_RESUME);
}

static void kvm_save(struct machine *m, const char *path, action_done done, void *ctx)
{
	ask(m, TIMED_NOTHING, done, ctx, CONTROL_SAVE " %s", path);
}

static void kvm_reset(struct machine *m, action_done done, void *ctx)
{
	ask(m, TIMED_BOTH, done, ctx, CONTROL_RESET_IT);
}

static void kvm_plug(struct machine *m, action_done done, void *ctx)
{
	ask(m, TIMED_NOTHING, done, ctx, CONTROL_PLUG);
}

static void kvm_set_affinity(struct machine *m, const cpu_set_t *cpus, action_done done, void *ctx)
{
	struct text list = { 0 };

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, cpus))
			text_printf(&list, "%s%d", list.len ? "," : "", cpu);
	}
	ask(m, TIMED_NOTHING, done, ctx, CONTROL_AFFINITY " %s", text_string(&list));
	text_free(&list);
}

static void kvm_shift(struct machine *m, u64 ns, action_done done, void *ctx)
{
	ask(m, TIMED_NOTHING, done, ctx, CONTROL_SHIFT " %llu", (unsigned long long)ns);
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

/* Malloced; NULL where it is not wanted. */
static char *option(bool wanted, const char *fmt, ...) PRINTF_LIKE(2, 3);

static char *option(bool wanted, const char *fmt, ...)
{
	struct text t = { 0 };
	va_list args;

	if (!wanted)
		return NULL;
	va_start(args, fmt);
	text_vprintf(&t, fmt, args);
	va_end(args);
	return text_take(&t);
}

/* A snapshot says itself what machine it is of. words_free() it. */
static char **command_line(const struct machine_spec *spec, int control_fd)
{
	const struct clock_rule *rule = &spec->restore_rule;
	char *account = clock_rule_account_text(rule);
	bool boots = !spec->restore_path;
	char *options[] = {
		text_copy(spec->vmm_path),
		option(boots, "--image=%s", spec->image),
		option(boots, "--append=%s", spec->args),
		option(boots, "--smp=%u", spec->smp),
		option(boots, "--memory=%u", spec->memory_mib),
		option(boots && spec->maxcpus, "--maxcpus=%u", spec->maxcpus),
		option(boots && spec->el2, "--el2"),
		option(boots && spec->cpu, "--cpu=%s", spec->cpu),
		option(boots && spec->counter_offset, "--counter-offset=%llu",
		       (unsigned long long)spec->counter_offset),
		option(!boots, "--restore=%s", spec->restore_path),
		option(rule->method, "--restore-method=%s", restore_method_name(rule->method)),
		option(account, "--account=%s", account),
		option(rule->preempt_us, "--preempt-us=%llu", (unsigned long long)rule->preempt_us),
		option(true, "--control=%d", control_fd),
	};
	size_t nr_faults = spec->faults ? words_count(spec->faults) : 0;
	char **argv = memory_zalloc((ARRAY_SIZE(options) + nr_faults + 1) * sizeof(*argv));
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		if (options[i])
			argv[count++] = options[i];
	}
	for (size_t i = 0; i < nr_faults; i++)
		argv[count++] = text_format("--fault=%s", spec->faults[i]);
	free(account);
	return argv;
}

static struct machine *kvm_start(const struct machine_spec *spec, struct loop *loop,
				 const struct machine_events *events, void *ctx, struct error *err)
{
	struct machine *m = memory_zalloc(sizeof(*m));
	struct process_spec process = { .stdin_fd = -1, .stdout_fd = -1, .cpus = spec->pin };
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
	.pause = kvm_pause,
	.resume = kvm_resume,
	.save = kvm_save,
	.reset = kvm_reset,
	.plug = kvm_plug,
	.set_affinity = kvm_set_affinity,
	.shift = kvm_shift,
	.policy = kvm_policy,
};
