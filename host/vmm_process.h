/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What every back end has in common: a VMM as a process with the guest's console, a control channel
 * and stderr on inherited descriptors, so that no file is left behind. All are read to their ends
 * before a death is told.
 *
 * A back end's struct machine begins with a struct vmm_process.
 */
#ifndef HOST_VMM_PROCESS_H
#define HOST_VMM_PROCESS_H

#include <sys/types.h>
#include "backend.h"
#include "util/process.h"
#include "util/text.h"

struct vmm_process {
	struct loop *loop;
	const struct machine_events *events;
	void *ctx;
	const char *name; /* "QEMU", for messages */
	/* Reads what the control channel still holds; the process has ended. */
	void (*drain)(struct vmm_process *p);
	/* Frees the back end's machine, all of it. */
	void (*destroy)(struct vmm_process *p);

	/* The rest is vmm_process.c's; command and stderr_text may be read. */
	pid_t pid;
	struct loop_source *child; /* NULL when it has ended */
	int console_fd;		   /* -1 when closed, as the others */
	struct loop_source *console;
	struct text console_out; /* for the guest, not yet taken */
	int stderr_fd;
	struct loop_source *stderr_source;
	struct text stderr_text;
	char *command;
	struct machine_exit exit; /* how it ends, as far as is known */
	struct text exit_text;
	bool exit_known;
	bool exit_told;
	unsigned int busy; /* calls into this struct on the stack; see vmm_process_leave() */
	bool killed;
};

/* What the VMM is born with: [0] ours, [1] the VMM's. */
struct vmm_channels {
	int console[2], control[2], errors[2];
};

int vmm_channels_open(struct vmm_channels *c, const char *name, struct error *err);

/*
 * Starts the program of spec, whose stdout and stderr are set here where they are -1, and watches
 * it. The VMM's ends of the channels are closed; console and errors belong to p, control[0] to the
 * caller. -1 with err set: nothing runs, all channels are closed, and p is to be freed by the caller
 * with vmm_process_free().
 */
int vmm_process_start(struct vmm_process *p, struct vmm_channels *c, struct process_spec *spec,
		      struct error *err);

/* Around every call from the loop: a callback may kill the machine, and leave() then frees it. */
void vmm_process_enter(struct vmm_process *p);
void vmm_process_leave(struct vmm_process *p);

/* Notes how the machine ends, unless that is known already; told when the process is gone. */
void vmm_process_set_exit(struct vmm_process *p, int kind, const char *text);
/* Tells it now: the process is there but of no use. */
void vmm_process_tell_exit(struct vmm_process *p);

/* Tells the console's output that is already there: before a paused machine is done away with. */
void vmm_process_drain_console(struct vmm_process *p);

/* struct backend's: kill() and console_send(). */
void vmm_process_kill(struct vmm_process *p);
void vmm_process_console_send(struct vmm_process *p, const char *data, size_t len);

/* Frees what p holds, not p: for destroy(). */
void vmm_process_free(struct vmm_process *p);

#endif
