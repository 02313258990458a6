/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs the selected tests: several at a time, those that measure time alone, each as often as asked
 * for; judges, records and reports every one as it ends.
 */
#ifndef HOST_SCHEDULE_H
#define HOST_SCHEDULE_H

#include "expected.h"
#include "options.h"
#include "progress.h"
#include "results.h"
#include "select.h"
#include "target.h"
#include "util/error.h"

struct schedule_spec {
	const struct options *options;
	const struct selection *selection;
	const struct target *targets; /* ARCH_COUNT of them, by arch */
	struct expectations *expectations;
	struct results *results;
	struct progress *progress;
	u64 run_start_ns; /* what start_ns of a result counts from */
};

/* How many results there will be. */
size_t schedule_planned(const struct schedule_spec *spec);

/*
 * Returns 0 when all has run or a signal ended it (*signo is then not 0), -1 with err set when a
 * result could not be recorded. No machine is left in any case.
 */
int schedule_run(const struct schedule_spec *spec, int *signo, struct error *err);

#endif
