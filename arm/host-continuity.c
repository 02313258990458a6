// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * CNTVCT_EL0 and CNTPCT_EL0 of a running guest while the host acts: pauses it, saves it, restores it in
 * a new process, migrates it, moves its vCPUs. Neither runs backwards or parts from the other, on no
 * CPU and from none to the next; each has advanced by what the VMM declares: through the stop or not
 * at all; rate, CNTFRQ_EL0 and ID registers stay.
 *
 * A VMM that restores the counter by value loses the time between reading and writing it, or all of
 * the stop (A15); one that restores one of the two counters only parts them (A11).
 *
 * Arguments: actions=NAME,NAME… (default all), hold-ms=N: how long the guest is held; handovers=N,
 * window-ms=N, budget-ms=N as in counter.c.
 */
#include "libcflat.h"
#include "continuitytest.h"

int main(void)
{
	return continuity_report_run("host-continuity");
}
