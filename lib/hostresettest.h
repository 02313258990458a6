/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A machine that is reset in the middle of its work, judged by the image that is started again.
 */
#ifndef HOSTRESETTEST_H
#define HOSTRESETTEST_H

#include "report.h"

/*
 * The body of main(). In the first incarnation leave_dirty() is called on every CPU, and the runner is
 * asked for a reset. In the second, report_run() of the checks that the architecture has, then of
 * "quiet", "ordered" and a block of each timer; all are a SKIP where there was no reset.
 */
int host_reset_report_run(const char *image, void (*leave_dirty)(void), const struct check *checks,
			  size_t nr_checks);

/* For the architecture's checks, first of all: false after the verdict where there was no reset. */
bool host_reset_was_done(void);

#endif
