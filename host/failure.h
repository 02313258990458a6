/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a failure means, for whoever reads it: the invariant that does not hold, where, which known
 * defects show like this, and how to see it again. The same lines in every view.
 */
#ifndef HOST_FAILURE_H
#define HOST_FAILURE_H

#include <jansson.h>
#include "util/text.h"

/* NULL, or -1, is what is not known. The strings are the caller's. */
struct failure {
	const char *story;  /* the invariant, in a sentence */
	const char *guards; /* ids of the catalogue, "T2,T7" */
	int cpu;	    /* vCPU that found it */
	const char *rerun;  /* command that runs the test again */
	const char *check;
};

/* Of a test's record and a check's in it. */
struct failure failure_of_record(const json_t *test, const json_t *check);

/* A line for each that is known, each behind the indent. */
void failure_describe(struct text *out, const char *indent, const struct failure *f);

/* The array's strings, a line each behind the indent. */
void failure_add_figures(struct text *out, const char *indent, const json_t *diagnostics);

#endif
