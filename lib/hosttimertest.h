/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timers of an idle guest while the host acts, for every action and every timer of the architecture.
 */
#ifndef HOSTTIMERTEST_H
#define HOSTTIMERTEST_H

/*
 * report_run() with a block for each action of host_action_kinds(), in it one for each of
 * action_timers, and in that the checks "idle" and "pending", or "ticks" for a periodic timer.
 */
int host_timer_report_run(const char *image);

#endif
