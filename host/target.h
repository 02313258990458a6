/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the guests of one architecture are run in this run: which VMM, under which accelerator, and
 * why.
 */
#ifndef HOST_TARGET_H
#define HOST_TARGET_H

#include "backend.h"
#include "expected.h"
#include "options.h"
#include "results.h"

struct target {
	enum arch arch;
	const struct backend *backend;
	char *vmm_path;
	enum accel accel; /* not ACCEL_AUTO */
	char *accel_reason;
	struct vmm_probe probe;
	struct clock_rule restore_rule; /* as given */
	char *policy;			/* --policy, or NULL */
	bool usable; /* else accel_reason says why not, and its tests are errors */
};

/* Puts the path of a fetched QEMU in the place of every debian:SUITE. -1 with err set. */
int target_fetch_qemus(struct options *o, struct error *err);

/* Decides by asking the VMM. Never fails: a target that cannot be used says so. */
void target_choose(struct target *t, enum arch arch, const struct options *o);
void target_free(struct target *t);

/* The same as seen by the results and by expected/; they hold as long as the target. */
struct results_target target_for_results(const struct target *t);
/* outer_qemu: version of the QEMU that emulates the host the guests run on, or NULL. */
struct circumstances target_circumstances(const struct target *t, const char *outer_qemu);

#endif
