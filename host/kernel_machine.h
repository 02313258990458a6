/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel mode's machine: boots a kernel as KVM host, with the runner as its PID 1, and hands over
 * the records that this one prints (stream.h). What else the console says is kept: it is the
 * kernel's, and the evidence when the kernel does not get far.
 */
#ifndef HOST_KERNEL_MACHINE_H
#define HOST_KERNEL_MACHINE_H

#include <jansson.h>
#include <stdio.h>
#include "backend.h"
#include "util/loop.h"

struct kernel_machine_spec {
	struct loop *loop;
	const struct backend *backend;
	struct machine_spec machine; /* image: the kernel; args: its command line; initrd */
	FILE *log;		     /* the caller's: every line that is no record */
	unsigned int boot_timeout_s; /* until the first record */
	unsigned int silence_s;	     /* after it: without any line */
};

struct kernel_machine_events {
	/* One record; content holds during the call. */
	void (*record)(void *ctx, const char *kind, const json_t *content);
	/*
	 * Once, the last call: no record will come. trouble is NULL when PID 1 said that the runner
	 * ended by itself, else what happened, in a sentence.
	 */
	void (*ended)(void *ctx, const char *trouble);
};

struct kernel_machine;

/* NULL with err set when not even a process came up. */
struct kernel_machine *kernel_machine_start(const struct kernel_machine_spec *spec,
					    const struct kernel_machine_events *events, void *ctx,
					    struct error *err);

/* The last lines of the kernel's own, at most some 40, sanitised. Malloced. */
char *kernel_machine_tail(const struct kernel_machine *k);
const char *kernel_machine_command(const struct kernel_machine *k);

/* Ends the machine, whatever it is doing; no event afterwards. NULL is allowed. */
void kernel_machine_free(struct kernel_machine *k);

#endif
