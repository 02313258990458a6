/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel mode: boots a kernel as KVM host under QEMU and has the tests run there, by the same runner
 * as PID 1. This side finds kernels, packs the initramfs, and records what comes back.
 */
#ifndef HOST_KERNEL_MODE_H
#define HOST_KERNEL_MODE_H

#include "kernel_image.h"
#include "options.h"
#include "progress.h"
#include "results.h"
#include "select.h"
#include "target.h"

/* A kernel for the guests of one architecture, and the machine that it is booted in. */
struct kernel_host {
	enum arch arch;
	struct kernel_image image;
	struct target outer; /* QEMU */
	unsigned int smp;
	char *command_line; /* the kernel's */
};

/*
 * Finds the kernel and chooses the outer machine for tests of this architecture. -1 with err set
 * where there is no such kernel or no QEMU for it.
 */
int kernel_host_prepare(struct kernel_host *h, enum arch arch, const struct options *o,
			const struct selection *selection, struct error *err);
void kernel_host_free(struct kernel_host *h);

/* How the results and the report call what runs the guests: the kvm VMM on that kernel. */
struct results_target kernel_host_target(const struct kernel_host *h);

/* The report's line about it. */
void kernel_host_show(const struct kernel_host *h, struct progress *p);

struct kernel_mode_spec {
	const struct options *options;
	const struct selection *selection;
	struct kernel_host
		*hosts; /* ARCH_COUNT of them, by arch; those without image.path are unused */
	struct results *results;
	struct progress *progress;
	u64 run_start_ns;
	unsigned int repetitions_before; /* boots of other calls for the same results */
};

/*
 * Boots one host after the other. Tests that brought no result, for whatever became of their host,
 * are recorded as errors with the end of its console. Returns as schedule_run() does.
 */
int kernel_mode_run(const struct kernel_mode_spec *spec, int *signo, struct error *err);

#endif
