// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The TSC, kvmclock and Hyper-V's reference TSC of a running guest while the host acts: pauses it,
 * saves it, restores it in a new process, migrates it, moves its vCPUs. None runs backwards, on no CPU
 * and from none to the next; each has advanced by what the VMM declares: through the stop or not at
 * all; they part from one another no more than that; CPUID, IA32_TSC_ADJUST and the rate stay.
 *
 * A VMM that restores the TSC by value loses the time between reading and writing it; one that
 * forgets kvmclock stops it (K11), or lets it part from the TSC, which guests take for a broken TSC (K7).
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
