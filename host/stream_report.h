/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report of a runner that is PID 1's child in kernel mode: the records of stream.h on stdout,
 * in place of progress.h's lines.
 */
#ifndef HOST_STREAM_REPORT_H
#define HOST_STREAM_REPORT_H

#include <jansson.h>
#include "result.h"
#include "results.h"

/* "begin": what this machine is. environment is taken over. */
void stream_report_begin(json_t *environment);

/* "started": the keys of the tests that run now. */
void stream_report_running(const char *const *keys, size_t count);

/* "test": the test's record and the text of its log, read from the run's directory. */
void stream_report_test(const struct test_result *r, const struct results_target *target,
			const char *results_dir);

#endif
