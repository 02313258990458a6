// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The life of one machine under QEMU. QEMU is started stopped, asked over QMP whether it runs under
 * the accelerator it was told to use, and only then let go. Its console and its monitor are
 * sockets that it inherits, so no file is left behind; both are read to their ends before a death is
 * told.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qemu/command_line.h"
#include "qemu/machine.h"
#include "qemu/probe.h"
#include "util/memory.h"
#include "util/text.h"

static void destroy(struct vmm_process *p)
{
	struct machine *m = container_of(p, struct machine, process);

	qmp_free(m->qmp);
	if (m->incoming_fd >= 0)
		close(m->incoming_fd);
	free(m->restore_path);
	vmm_process_free(p);
	free(m);
}

static void drain(struct vmm_process *p)
{
	qmp_drain(container_of(p, struct machine, process)->qmp);
}

/* QEMU is there but of no use. */
static void give_up(struct machine *m, const char *text)
{
	vmm_process_set_exit(&m->process, MACHINE_VMM_DIED, text);
	vmm_process_tell_exit(&m->process);
}

/* ---- QMP ------------------------------------------------------------------------------------- */

static void on_shutdown(struct machine *m, const json_t *data)
{
	const char *reason = json_string_value(json_object_get(data, "reason"));
	char text[128];

	reason = reason ? reason : "unknown";
	if (!strcmp(reason, "guest-shutdown")) {
		vmm_process_set_exit(&m->process, MACHINE_POWEROFF, NULL);
	} else if (!strcmp(reason, "guest-reset")) {
		vmm_process_set_exit(&m->process, MACHINE_RESET, NULL);
	} else if (!strcmp(reason, "guest-panic")) {
		vmm_process_set_exit(&m->process, MACHINE_PANICKED, "QEMU saw the guest crash");
	} else {
		snprintf(text, sizeof(text), "QEMU was shut down (%s)", reason);
		vmm_process_set_exit(&m->process, MACHINE_VMM_DIED, text);
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
	vmm_process_set_exit(&m->process, MACHINE_PANICKED, text);
	vmm_process_tell_exit(&m->process);
}

static void on_event(void *ctx, const char *name, const json_t *data)
{
	struct machine *m = ctx;

	if (!strcmp(name, "SHUTDOWN"))
		on_shutdown(m, data);
	else if (!strcmp(name, "STOP") && !m->stopped && !m->process.exit_known)
		/* Nobody asked for it: a KVM internal error stops the guest like this. */
		qmp_execute(m->qmp, "query-status", NULL, on_status, m);
	else
		qemu_action_event(m, name, data);
}

static void on_closed(void *ctx, const char *why)
{
	struct machine *m = ctx;

	/* When QEMU is dying its end says more. */
	if (m->process.child && qmp_greeted(m->qmp))
		return;
	if (m->process.child && !strstr(why, "closed"))
		give_up(m, why);
}

static void on_running(void *ctx, const struct error *err, const struct action_times *times)
{
	struct machine *m = ctx;

	if (err)
		give_up(m, err->text);
	else
		m->process.events->started(m->process.ctx, times);
}

static void on_incoming(void *ctx, const struct error *err, const struct action_times *times)
{
	struct machine *m = ctx;

	if (err)
		give_up(m, err->text);
	else
		qemu_resume(m, on_running, m);
}

static void on_kvm(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	bool kvm = json_is_true(json_object_get(value, "enabled"));
	char text[128];

	if (error)
		return; /* QEMU is going away: its end says why */
	if (kvm != (m->accel == ACCEL_KVM)) {
		snprintf(text, sizeof(text), "asked for %s, runs under %s", accel_to_name(m->accel),
			 kvm ? "kvm" : "tcg");
		give_up(m, text);
		return;
	}
	if (m->restore_path || m->incoming_fd >= 0)
		qemu_incoming(m, on_incoming, m);
	else
		qemu_resume(m, on_running, m);
}

static const struct qmp_events qmp_events = { .event = on_event, .closed = on_closed };

/* ---- life ------------------------------------------------------------------------------------ */

static struct machine *qemu_start(const struct machine_spec *spec, struct loop *loop,
				  const struct machine_events *events, void *ctx, struct error *err)
{
	struct machine *m = memory_zalloc(sizeof(*m));
	struct vmm_channels c;
	int keep[2];
	struct process_spec process = {
		.stdin_fd = -1,
		.stdout_fd = -1,
		.keep_fds = keep,
		.nr_keep_fds = ARRAY_SIZE(keep),
		.cpus = spec->pin,
	};
	char **argv = NULL;
	int started;

	m->process = (struct vmm_process){ .loop = loop,
					   .events = events,
					   .ctx = ctx,
					   .name = "QEMU",
					   .drain = drain,
					   .destroy = destroy };
	m->arch = spec->arch;
	m->accel = spec->accel;
	m->smp = spec->smp;
	m->restore_path = text_copy(spec->restore_path);
	m->incoming_fd = spec->incoming_fd ? fcntl(spec->incoming_fd, F_DUPFD_CLOEXEC, 3) : -1;
	started = vmm_channels_open(&c, "QEMU", err);
	if (started == 0) {
		argv = qemu_command_line(spec, c.console[1], c.control[1]);
		keep[0] = c.console[1];
		keep[1] = c.control[1];
		process.argv = argv;
		started = vmm_process_start(&m->process, &c, &process, err);
		words_free(argv);
	}
	if (started < 0) {
		destroy(&m->process);
		return NULL;
	}
	m->qmp = qmp_new(loop, c.control[0], &qmp_events, m);
	qmp_execute(m->qmp, "query-kvm", NULL, on_kvm, m);
	return m;
}

static void qemu_console_send(struct machine *m, const char *data, size_t len)
{
	vmm_process_console_send(&m->process, data, len);
}

static void qemu_kill(struct machine *m)
{
	vmm_process_kill(&m->process);
}

static const char *qemu_command(const struct machine *m)
{
	return m->process.command;
}

static const char *qemu_stderr_text(const struct machine *m)
{
	return text_string(&m->process.stderr_text);
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
	.pause = qemu_pause,
	.resume = qemu_resume,
	.save = qemu_save,
	.migrate = qemu_migrate,
	.reset = qemu_reset,
	.plug = qemu_plug,
	.set_affinity = qemu_set_affinity,
	.policy = qemu_policy,
};
