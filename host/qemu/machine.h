/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine under QEMU, as its life (qemu.c) and the host actions on it (actions.c) share it.
 */
#ifndef QEMU_MACHINE_H
#define QEMU_MACHINE_H

#include "backend.h"
#include "qemu/qmp.h"
#include "vmm_process.h"

/* What the machine's state is on its way to or from: QEMU's migration, of one kind or another. */
enum qemu_transfer {
	TRANSFER_NONE,
	TRANSFER_SAVE,	   /* paused, to a file */
	TRANSFER_MIGRATE,  /* running, to a socket */
	TRANSFER_INCOMING, /* from a file or a socket, before the start */
};

struct machine {
	struct vmm_process process;
	enum arch arch;
	enum accel accel;
	unsigned int smp;
	struct qmp *qmp;

	char *restore_path; /* see machine_spec; or NULL */
	int incoming_fd;    /* our copy, or -1 */

	enum qemu_transfer transfer;
	bool transfer_failed; /* told by an event; the reason is being asked for */
	bool stopped;	      /* by us, or about to be: a STOP event is no news */
	bool resetting;
	unsigned int plugged; /* vCPUs added since the start */

	/* The action under way; the start is one. */
	action_done done; /* NULL: none */
	void *ctx;
	struct action_times times;
	cpu_set_t cpus; /* of set_affinity() */
};

/* struct backend's. */
void qemu_pause(struct machine *m, action_done done, void *ctx);
void qemu_resume(struct machine *m, action_done done, void *ctx);
void qemu_save(struct machine *m, const char *path, action_done done, void *ctx);
void qemu_migrate(struct machine *m, int fd, action_done done, void *ctx);
void qemu_reset(struct machine *m, action_done done, void *ctx);
void qemu_plug(struct machine *m, action_done done, void *ctx);
void qemu_set_affinity(struct machine *m, const cpu_set_t *cpus, action_done done, void *ctx);
void qemu_policy(const struct machine_spec *spec, struct policy *policy);

/* The state comes in from restore_path or incoming_fd; then done, and the machine is paused. */
void qemu_incoming(struct machine *m, action_done done, void *ctx);

/* What actions.c makes of an event; name as QEMU says it. */
void qemu_action_event(struct machine *m, const char *name, const json_t *data);

#endif
