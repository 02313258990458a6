/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A vCPU that comes up when the others have long been running.
 */
#ifndef HOSTPLUGTEST_H
#define HOSTPLUGTEST_H

/*
 * report_run() with "starts", in which the runner is asked for a vCPU, or one that was left out at the
 * start (argument late-cpus=1) is started; then a block for each of action_clocks, "constants" and a
 * check of each of action_timers on the new CPU.
 */
int host_plug_report_run(const char *image);

#endif
