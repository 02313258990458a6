/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --merge: the results of several runs, such as the shards of one, as those of one run.
 */
#ifndef HOST_MERGE_H
#define HOST_MERGE_H

#include "config.h"
#include "results.h"

struct merge_spec {
	const struct config *config; /* for the order of the tests */
	char *const *dirs;	     /* result directories, NULL-terminated */
	int argc;
	char **argv;
};

/*
 * Puts all records and logs into out, which is fresh, and begins it. A test that two runs have is
 * taken once; where their verdicts differ, the more severe one is, and a line on stderr says so. -1
 * with err set when a directory has no results or out cannot be written.
 */
int merge_results(const struct merge_spec *spec, struct results *out, struct error *err);

#endif
