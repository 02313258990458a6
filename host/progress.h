/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report on the terminal: what runs, what came of it, and where to look.
 */
#ifndef HOST_PROGRESS_H
#define HOST_PROGRESS_H

#include "options.h"
#include "result.h"
#include "results.h"
#include "target.h"

struct progress;

/* Prints nothing at all where the options ask for KTAP. planned: runs there will be. */
struct progress *progress_new(const struct options *o, const char *results_dir, size_t planned);
void progress_free(struct progress *p);

/* One line: how the guests of this architecture are run and why so. */
void progress_target(struct progress *p, const struct target *t);

/* The line that a terminal shows while tests run; keys are those of the running tests. */
void progress_running(struct progress *p, const char *const *keys, size_t count);

/* One line for a judged result, more where something is not as it should be. */
void progress_result(struct progress *p, const struct test_result *r);

/* Something to know between the lines. */
void progress_note(struct progress *p, const char *text);

/* The last line. */
void progress_totals(struct progress *p, const struct results_totals *totals);

#endif
