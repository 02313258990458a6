/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --bisect: a run as the command of "git bisect run", which wants a build first and an exit status of
 * its own.
 */
#ifndef HOST_BISECT_H
#define HOST_BISECT_H

#include <jansson.h>
#include "options.h"

enum bisect_status {
	BISECT_GOOD = 0,
	BISECT_BAD = 1,
	BISECT_SKIP = 125, /* this commit tells nothing; git tries one beside it */
	BISECT_STOP = 128, /* and above: git gives up; the signal is added */
};

/*
 * Builds the kernel in its tree. Returns BISECT_GOOD to go on, BISECT_SKIP where it does not build,
 * or BISECT_STOP and a signal where the build was interrupted by one.
 */
int bisect_build(const struct options *o);

/*
 * From the run's own exit status to git's. signo: the signal that ended the run, or 0. run: its
 * results.json, or NULL; a kernel that never came so far as to run a test is skipped, whatever the
 * verdicts that were made of it.
 */
int bisect_status(int status, int signo, const json_t *run);

#endif
