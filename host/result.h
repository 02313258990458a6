/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one run of one test gave: the data from which results.json is written and which every view
 * reads. Filled by guest_output.c and test_run.c, judged by judge.c, written by results.c.
 */
#ifndef HOST_RESULT_H
#define HOST_RESULT_H

#include <jansson.h>
#include "config.h"
#include "verdict.h"

/* Before judge() verdict and raw are the same. */
struct check_result {
	char *name;	      /* "cross-cpu", sub-checks "cross-cpu/4" before it */
	enum verdict verdict; /* as judged: a FAIL that is expected is an XFAIL */
	enum verdict raw;     /* as the guest said */
	char *reason;	      /* the directive's text, or NULL */
	char **diagnostics;   /* the "# " lines before it, NULL-terminated, or NULL */
	char *story;	      /* of one that failed: the invariant in a sentence, or NULL */
	char *guards;	      /* of one that failed: ids of the catalogue, "A21,K19", or NULL */
	int cpu;	      /* of one that failed: the vCPU that found it, or -1 */
	bool unexpected_pass; /* expected/ says it fails, and it did not */
	const struct expectation *expectation; /* or NULL */
	bool has_children;		       /* a parent of sub-checks: not counted */
};

struct test_result {
	const struct test *test;
	unsigned repetition; /* 1 … N of --repeat */
	enum verdict
		verdict; /* the test's: the most severe of its checks and of its own troubles */
	enum verdict raw;
	char *reason; /* for ERROR, TIMEOUT, SKIP: what happened, in a sentence */
	bool unexpected_pass;
	const struct expectation *expectation;
	struct check_result *checks;
	size_t nr_checks;
	json_t *listed; /* array of objects: what it said of checks: of all, or of failed ones */
	json_t *measurements; /* array of objects, from "measure" lines */
	json_t *calls;	      /* array of objects: host calls made and what they gave */
	u64 start_ns;	      /* since the run's start */
	u64 duration_ns;      /* start of the VMM to the verdict */
	u64 boot_ns;	      /* start of the VMM to the hello line; 0: there was none */
	char *log;	      /* path relative to the run's directory: "logs/x86_64/counter.log" */
	char *log_tail;	      /* last lines, for ERROR and TIMEOUT */
	char *vmm_stderr;     /* what the VMM said on stderr, NULL where nothing */
	char *command;	      /* the VMM's command line, shell-quoted */
	char *backtrace;      /* symbolised, one frame a line, or NULL */
};

/*
 * Verdict and raw begin as SKIP, the least severe. Who finds a trouble of the test itself (no boot,
 * no end, a panic) sets verdict and reason; what the checks say is left to judge().
 */
void test_result_init(struct test_result *r, const struct test *test, unsigned repetition);
void test_result_free(struct test_result *r);

/* Appends a check; the name is copied. The pointer holds until the next call. */
struct check_result *test_result_add_check(struct test_result *r, const char *name);

#endif
