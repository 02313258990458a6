/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Clocks and counters of a running guest while the host acts: invariant 9 for each action and each
 * clock of the architecture.
 */
#ifndef CONTINUITYTEST_H
#define CONTINUITYTEST_H

/*
 * report_run() with a block for each action of host_action_kinds(), in it one for each of
 * action_clocks with "monotonic", "ordered", "elapsed" and "offset", and one "machine" with
 * "constants" and "rate".
 */
int continuity_report_run(const char *image);

#endif
