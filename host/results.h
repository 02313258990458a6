/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of one run: results.json, ktap.txt, logs/. docs/results.md has the schema. Files
 * appear whole (written beside, then renamed); what a run had so far is on disk after every test,
 * so that a run that is killed loses nothing.
 */
#ifndef HOST_RESULTS_H
#define HOST_RESULTS_H

#include <jansson.h>
#include "benchmarks.h"
#include "policy.h"
#include "result.h"
#include "util/error.h"

#define RESULTS_SCHEMA_VERSION 1

struct results;

/* How one arch was run in this run. */
struct results_target {
	enum arch arch;
	const char *vmm;
	enum accel accel;
	const char *accel_reason; /* why this one: "--accel", "/dev/kvm works", "no /dev/kvm" */
	const char *vmm_version;
	const char *vmm_path;
	const char *cpu;
	bool exact;	     /* what it measures is counted in instructions (icount) */
	const char *restore; /* --restore, or NULL where the VMM is not ours */
	u64 preempt_us;	     /* --preempt-us */
	struct policy policy;
};

/*
 * Makes the directory and checks that it can be written. NULL: YYYYmmdd-HHMMSS[-N] in
 * $KTT_RESULTS, else in $KTT_ROOT/results, else in results; "latest" beside it then points to it,
 * safe against a second run at the same time. A directory that another run writes to is refused.
 * start_ns: when the run began, on now_ns()'s clock; its duration counts from there.
 */
struct results *results_open(const char *dir, u64 start_ns, struct error *err);
const char *results_dir(const struct results *r);

/* What the tests added so far have measured. */
const struct benchmarks *results_benchmarks(const struct results *r);

/*
 * Environment, command line, targets; before the first test. environment is taken over. options: of
 * the command line those that say how a test is run, as text for a shell.
 */
void results_begin(struct results *r, json_t *environment, int argc, char **argv,
		   const char *options, const struct results_target *targets, size_t nr_targets,
		   size_t nr_planned);

/* Opens logs/ARCH/NAME[.REPETITION].log for a test; path (relative) goes to result->log. */
FILE *results_open_log(struct results *r, struct test_result *result, struct error *err);

/* "environment".kernel_mode.NAME: what the machine of kernel mode is. Taken over. */
void results_set_environment(struct results *r, const char *name, json_t *value);

/* "bench": how benchmarks were run. After results_begin(). */
void results_set_bench(struct results *r, unsigned boots, u64 seed);

/* Opens logs/ARCH/NAME.log for what is no test's; NULL with err set. */
FILE *results_open_side_log(struct results *r, enum arch arch, const char *name, struct error *err);

/* Records one test. -1 with err when the disk said no; the run then ends with status 3. */
int results_add(struct results *r, const struct test_result *result, struct error *err);

/*
 * The same for a test whose record is there already, as another runner made it (kernel mode's
 * machine): an object of "tests" of docs/results.md. It is not taken over. A record that is none
 * is refused.
 */
int results_add_record(struct results *r, const struct test *test, json_t *record,
		       struct error *err);

/* The record that results_add() makes; target may be NULL. */
json_t *results_record(const struct test_result *result, const struct results_target *target);

struct results_totals {
	unsigned passed, failed, skipped; /* tests; failed: unexpected fail, error or timeout */
	unsigned xfailed;		  /* tests; counted in passed as well */
	unsigned unexpected_passes;	  /* tests or checks */
};

/* Completes the files; interrupted: by a signal. Fills totals. -1 when they could not be written. */
int results_finish(struct results *r, bool interrupted, struct results_totals *totals,
		   struct error *err);
void results_free(struct results *r);

/*
 * For --ktap: writes what was added since the last call, in the order of unittests.cfg. Called once
 * after results_finish() it writes the text of ktap.txt; called after every test too, tests come
 * and are numbered as they ended.
 */
void results_ktap_stream(struct results *r, FILE *out);

#endif
