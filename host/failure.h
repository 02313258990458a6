/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a failure means, for whoever reads it: the invariant that does not hold, where, which known
 * defects show like this, and how to see it again. The same lines in every view.
 */
#ifndef HOST_FAILURE_H
#define HOST_FAILURE_H

#include <jansson.h>
#include "result.h"
#include "util/text.h"

/* NULL, or -1, is what is not known. The strings are the caller's. */
struct failure {
	const char *story;   /* the invariant, in a sentence */
	const char *guards;  /* ids of the catalogue, "T2,T7" */
	int cpu;	     /* vCPU that found it */
	const char *options; /* options to run the test again, as text for a shell */
	const char *key;     /* the test's; NULL: no word on how to run it */
	const char *check;
};

/* Of a check of a result. options: see struct failure. */
struct failure failure_of_result(const char *options, const struct test_result *r,
				 const struct check_result *check);

/* Of a check in a test's record in the results of a run (record.h). run and test may be NULL. */
struct failure failure_of_record(const json_t *run, const json_t *test, const json_t *check);

/* A line for each that is known, each behind the indent. */
void failure_describe(struct text *out, const char *indent, const struct failure *f);

/* The array's strings, a line each behind the indent. */
void failure_add_figures(struct text *out, const char *indent, const json_t *diagnostics);

#endif
