/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --compare: a comparison of two files of measurements, for a reader and for CI.
 */
#ifndef HOST_COMPARE_REPORT_H
#define HOST_COMPARE_REPORT_H

#include <stdio.h>
#include "baseline.h"
#include "compare.h"

enum compare_outcome {
	COMPARE_FAILED = -1, /* err says why */
	COMPARE_SAME,	     /* nothing became slower */
	COMPARE_SLOWER,
};

/*
 * Loads the two files or result directories, prints what differs in their making and the table of
 * their benchmarks. Fails where a file cannot be read, or where the two cannot be compared.
 */
enum compare_outcome compare_files(const char *old, const char *new, double threshold, FILE *out,
				   struct error *err);

/* The table alone. */
void comparison_print(const struct comparison *c, FILE *out);

#endif
