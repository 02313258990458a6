/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How far a counter is off after each of many save/restore cycles, and after all of them.
 */
#ifndef DRIFTTEST_H
#define DRIFTTEST_H

/*
 * The body of main(): check "restore-drift" of the clock_ticks() counter, over cycles=N cycles (default
 * 5), and the measure line of that name.
 */
int drift_report_run(const char *image);

#endif
