// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Host actions on a machine under QEMU, by QMP. A snapshot is a migration to a file (QEMU's "file:",
 * new in 8.2; before that a descriptor of ours, which later versions refuse for files); a live
 * migration goes through a socket that both QEMUs are handed, so that nothing is left in the file
 * system. Where QEMU is gone no action is answered: its end is told instead, and says more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "qemu/machine.h"
#include "util/text.h"

#define FD_NAME "state"

static void begin(struct machine *m, action_done done, void *ctx)
{
	m->done = done;
	m->ctx = ctx;
	memset(&m->times, 0, sizeof(m->times));
}

/* NULL: it is done. The machine may be gone afterwards. */
static void end(struct machine *m, const struct error *err)
{
	struct action_times times = m->times;
	action_done done = m->done;

	m->done = NULL;
	m->transfer = TRANSFER_NONE;
	if (done)
		done(m->ctx, err, err ? NULL : &times);
}

static void fail(struct machine *m, const char *what, const char *why)
{
	struct error err;

	error_set(&err, "QEMU did not %s: %s", what, why);
	end(m, &err);
}

/* Whether an answer is none since QEMU is going away. */
static bool lost(const struct machine *m, const char *error)
{
	return error && !qmp_open(m->qmp);
}

/* ---- pause and resume ------------------------------------------------------------------------ */

/* The guest stands still; what it printed before comes first. */
static void end_drained(struct machine *m)
{
	vmm_process_enter(&m->process);
	vmm_process_drain_console(&m->process);
	if (!m->process.killed)
		end(m, NULL);
	vmm_process_leave(&m->process);
}

static void on_stopped(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (lost(m, error))
		return;
	if (error) {
		m->stopped = false;
		fail(m, "pause the guest", error);
		return;
	}
	m->times.stop_after = host_time_now();
	end_drained(m);
}

void qemu_pause(struct machine *m, action_done done, void *ctx)
{
	begin(m, done, ctx);
	m->stopped = true;
	m->times.stop_before = host_time_now();
	qmp_execute(m->qmp, "stop", NULL, on_stopped, m);
}

static void on_resumed(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (lost(m, error))
		return;
	if (error) {
		fail(m, "let the guest run", error);
		return;
	}
	m->times.run_after = host_time_now();
	m->stopped = false;
	end(m, NULL);
}

void qemu_resume(struct machine *m, action_done done, void *ctx)
{
	begin(m, done, ctx);
	m->times.run_before = host_time_now();
	qmp_execute(m->qmp, "cont", NULL, on_resumed, m);
}

/* ---- the machine's state, out and in --------------------------------------------------------- */

static const char *transfer_text(const struct machine *m)
{
	switch (m->transfer) {
	case TRANSFER_SAVE:
		return "save the guest";
	case TRANSFER_MIGRATE:
		return "migrate the guest";
	default:
		return "take the guest's state";
	}
}

static void transfer_fail(struct machine *m, const char *why)
{
	/* A guest that was running goes on by itself. */
	if (m->transfer == TRANSFER_MIGRATE)
		m->stopped = false;
	fail(m, transfer_text(m), why);
}

/* To the commands of a transfer: refused, so that no event will come. */
static void on_transfer_begun(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (error && !lost(m, error) && !m->transfer_failed && m->transfer)
		transfer_fail(m, error);
}

static void on_transfer_failed(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	const char *why = json_string_value(json_object_get(value, "error-desc"));

	if (!lost(m, error) && m->transfer)
		transfer_fail(m, why ? why : "it gives no reason");
}

/* QEMU lets a guest go on when it has left this state, which it does after the event. */
static void on_status_after_save(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	const char *status = json_string_value(json_object_get(value, "status"));

	if (lost(m, error) || !m->transfer)
		return;
	if (error)
		transfer_fail(m, error);
	else if (status && !strcmp(status, "finish-migrate"))
		qmp_execute(m->qmp, "query-status", NULL, on_status_after_save, m);
	else
		end(m, NULL);
}

static void transfer_event(struct machine *m, const char *status)
{
	if (!strcmp(status, "completed")) {
		if (m->transfer == TRANSFER_MIGRATE && !m->times.stop_after.raw_ns)
			m->times.stop_after = host_time_now();
		if (m->transfer == TRANSFER_SAVE)
			qmp_execute(m->qmp, "query-status", NULL, on_status_after_save, m);
		else
			end_drained(m);
	} else if (!strcmp(status, "failed") && !m->transfer_failed) {
		/* Answered after the command that began it, which may know the reason as well. */
		m->transfer_failed = true;
		qmp_execute(m->qmp, "query-migrate", NULL, on_transfer_failed, m);
	}
}

static void transfer(struct machine *m, enum qemu_transfer kind, const char *command,
		     const char *uri)
{
	m->transfer = kind;
	m->transfer_failed = false;
	qmp_execute(
		m->qmp, "migrate-set-capabilities",
		json_pack("{s:[{s:s,s:b}]}", "capabilities", "capability", "events", "state", 1),
		on_transfer_begun, m);
	qmp_execute(m->qmp, command, json_pack("{s:s}", "uri", uri), on_transfer_begun, m);
}

static void transfer_by_fd(struct machine *m, enum qemu_transfer kind, const char *command, int fd)
{
	m->transfer = kind;
	qmp_execute_fd(m->qmp, "getfd", json_pack("{s:s}", "fdname", FD_NAME), fd,
		       on_transfer_begun, m);
	transfer(m, kind, command, "fd:" FD_NAME);
}

/* At least MAJOR.MINOR. */
static bool is_version(const struct machine *m, unsigned int major, unsigned int minor)
{
	unsigned int own_major = 0, own_minor = 0;

	sscanf(qmp_version(m->qmp), "%u.%u", &own_major, &own_minor);
	return own_major > major || (own_major == major && own_minor >= minor);
}

/* flags: for open(2). */
static void transfer_by_file(struct machine *m, enum qemu_transfer kind, const char *command,
			     const char *path, int flags)
{
	struct error err;
	char *uri;
	int fd;

	if (is_version(m, 8, 2)) {
		uri = text_format("file:%s", path);
		transfer(m, kind, command, uri);
		free(uri);
		return;
	}
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0) {
		error_set(&err, "%s: %s", path, strerror(errno));
		end(m, &err);
		return;
	}
	transfer_by_fd(m, kind, command, fd);
	close(fd);
}

void qemu_save(struct machine *m, const char *path, action_done done, void *ctx)
{
	begin(m, done, ctx);
	transfer_by_file(m, TRANSFER_SAVE, "migrate", path, O_WRONLY | O_CREAT | O_TRUNC);
}

/* Seen with 7.2.22, and not with 10.0.13, on one vCPU, on arm64, or in a snapshot. */
static bool loses_writes(const struct machine *m)
{
	return m->arch == ARCH_X86_64 && m->accel == ACCEL_TCG && m->smp > 1 &&
	       !is_version(m, 10, 0);
}

void qemu_migrate(struct machine *m, int fd, action_done done, void *ctx)
{
	struct error err;

	begin(m, done, ctx);
	if (loses_writes(m)) {
		error_unsupported(&err,
				  "QEMU %s loses what x86_64 guests with several vCPUs write while "
				  "TCG migrates them (docs/findings.md)",
				  qmp_version(m->qmp));
		end(m, &err);
		return;
	}
	m->stopped = true;
	m->times.stop_before = host_time_now();
	transfer_by_fd(m, TRANSFER_MIGRATE, "migrate", fd);
}

void qemu_incoming(struct machine *m, action_done done, void *ctx)
{
	begin(m, done, ctx);
	if (m->restore_path) {
		transfer_by_file(m, TRANSFER_INCOMING, "migrate-incoming", m->restore_path,
				 O_RDONLY);
		return;
	}
	transfer_by_fd(m, TRANSFER_INCOMING, "migrate-incoming", m->incoming_fd);
	close(m->incoming_fd);
	m->incoming_fd = -1;
}

/* ---- reset ----------------------------------------------------------------------------------- */

static void end_reset(struct machine *m, const char *why)
{
	m->resetting = false;
	if (why)
		fail(m, "reset the guest", why);
	else
		end(m, NULL);
}

static void set_reboot(struct machine *m, const char *action, qmp_done done)
{
	qmp_execute(m->qmp, "set-action", json_pack("{s:s}", "reboot", action), done, m);
}

/* QEMU answers from its main loop, in which it let the vCPUs go again before. */
static void on_reset_done(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (lost(m, error))
		return;
	m->times.run_after = host_time_now();
	end_reset(m, error);
}

static void on_reset(struct machine *m)
{
	m->times.stop_after = host_time_now();
	m->times.run_before = m->times.stop_before;
	set_reboot(m, "shutdown", on_reset_done);
}

static void on_reset_asked(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (error && !lost(m, error))
		end_reset(m, error);
}

/* -no-reboot turns every reset into the end of QEMU, ours included. */
static void on_reboot_allowed(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (lost(m, error))
		return;
	if (error) {
		end_reset(m, error);
		return;
	}
	m->times.stop_before = host_time_now();
	qmp_execute(m->qmp, "system_reset", NULL, on_reset_asked, m);
}

void qemu_reset(struct machine *m, action_done done, void *ctx)
{
	begin(m, done, ctx);
	m->resetting = true;
	set_reboot(m, "reset", on_reboot_allowed);
}

/* ---- vCPUs ----------------------------------------------------------------------------------- */

static void on_plugged(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;

	if (lost(m, error))
		return;
	if (error)
		fail(m, "add a vCPU", error);
	else
		end(m, NULL);
}

/* The lowest that is not there yet: QEMU begins with the highest. */
static const json_t *next_cpu(const json_t *list)
{
	const json_t *next = NULL, *cpu;
	size_t i;

	json_array_foreach(list, i, cpu) {
		if (!json_object_get(cpu, "qom-path"))
			next = cpu;
	}
	return next;
}

static void on_hotpluggable(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	const json_t *cpu = next_cpu(value);
	struct error err;
	json_t *arguments;
	char id[32];

	if (lost(m, error))
		return;
	if (error) {
		error_unsupported(&err, "QEMU cannot add a vCPU here: %s", error);
		end(m, &err);
		return;
	}
	if (!cpu) {
		error_unsupported(&err, "all vCPUs that this machine can have are there");
		end(m, &err);
		return;
	}
	snprintf(id, sizeof(id), "plugged%u", ++m->plugged);
	arguments = json_deep_copy(json_object_get(cpu, "props"));
	json_object_set(arguments, "driver", json_object_get(cpu, "type"));
	json_object_set_new(arguments, "id", json_string(id));
	qmp_execute(m->qmp, "device_add", arguments, on_plugged, m);
}

void qemu_plug(struct machine *m, action_done done, void *ctx)
{
	begin(m, done, ctx);
	qmp_execute(m->qmp, "query-hotpluggable-cpus", NULL, on_hotpluggable, m);
}

static void on_cpus(void *ctx, const json_t *value, const char *error)
{
	struct machine *m = ctx;
	const json_t *cpu;
	size_t i;

	if (lost(m, error))
		return;
	if (error || !json_array_size(value)) {
		fail(m, "name the threads of vCPUs", error ? error : "there are none");
		return;
	}
	json_array_foreach(value, i, cpu) {
		json_int_t thread = json_integer_value(json_object_get(cpu, "thread-id"));

		/* Not 0, which would move the runner. */
		if (thread <= 0 || sched_setaffinity(thread, sizeof(m->cpus), &m->cpus) < 0) {
			fail(m, "move a vCPU's thread",
			     thread <= 0 ? "it has no number" : strerror(errno));
			return;
		}
	}
	end(m, NULL);
}

void qemu_set_affinity(struct machine *m, const cpu_set_t *cpus, action_done done, void *ctx)
{
	begin(m, done, ctx);
	m->cpus = *cpus;
	qmp_execute(m->qmp, "query-cpus-fast", NULL, on_cpus, m);
}

/* ---- events ---------------------------------------------------------------------------------- */

void qemu_action_event(struct machine *m, const char *name, const json_t *data)
{
	const char *status = json_string_value(json_object_get(data, "status"));

	if (!strcmp(name, "STOP") && m->transfer == TRANSFER_MIGRATE)
		m->times.stop_after = host_time_now();
	else if (!strcmp(name, "RESET") && m->resetting)
		on_reset(m);
	else if (!strcmp(name, "MIGRATION") && m->transfer && status)
		transfer_event(m, status);
}

/* ---- policy ---------------------------------------------------------------------------------- */

/*
 * TCG's clocks are QEMU's virtual clock, which stands still with the guest and goes with its state
 * (QEMU, system/cpus.c and cpu-timers.c).
 *
 * KVM on x86: "stop" leaves the TSC and the local APIC's timer to the kernel, where they go on; the
 * kvmclock is read at the stop and set again (hw/i386/kvm/clock.c). A new process sets the TSC, the
 * kvmclock and the local APIC from the state.
 *
 * KVM on arm64: unless the CPU has kvm-no-adjvtime, the virtual counter is read at the stop and set
 * again (target/arm/kvm.c); the physical one is the host's.
 */
void qemu_policy(const struct machine_spec *spec, struct policy *policy)
{
	const char *no_adjvtime = spec->cpu ? strstr(spec->cpu, "kvm-no-adjvtime") : NULL;

	memset(policy, 0, sizeof(*policy));
	for (int action = 0; action < POLICY_ACTION_COUNT; action++)
		policy_set_action(policy, action, PROMISE_FROZEN);
	if (spec->accel != ACCEL_KVM)
		return;
	if (spec->arch == ARCH_X86_64) {
		policy->promise[POLICY_COUNTER][POLICY_PAUSE] = PROMISE_RUNNING;
		policy->promise[POLICY_TIMER][POLICY_PAUSE] = PROMISE_RUNNING;
		return;
	}
	policy->promise[POLICY_PHYSICAL][POLICY_PAUSE] = PROMISE_RUNNING;
	policy->promise[POLICY_PHYSICAL][POLICY_RESTORE] = PROMISE_UNKNOWN;
	policy->promise[POLICY_PHYSICAL][POLICY_MIGRATE] = PROMISE_UNKNOWN;
	if (no_adjvtime && !text_starts_with(no_adjvtime, "kvm-no-adjvtime=off")) {
		policy->promise[POLICY_COUNTER][POLICY_PAUSE] = PROMISE_RUNNING;
		policy->promise[POLICY_TIMER][POLICY_PAUSE] = PROMISE_RUNNING;
	}
}
