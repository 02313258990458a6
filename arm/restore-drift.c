// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The CNTVCT_EL0 over many cycles of save and restore: the error of each, by brackets of the host's clock,
 * and what they add up to. A VMM that carries the counter's value loses, each time, what passes between
 * reading it and writing it, and the more the more its thread is preempted; one that carries its
 * offset loses nothing.
 *
 * Arguments: cycles=N (default 5); window-ms=N: for the counter's frequency, before the first cycle.
 */
#include "libcflat.h"
#include "drifttest.h"

int main(void)
{
	return drift_report_run("restore-drift");
}
