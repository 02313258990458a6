// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The virtual and the physical timer of an idle guest while the host acts: pauses it, saves it, restores it in a new
 * process, migrates it, moves its vCPUs. A timer armed once fires once, not early by the counter that
 * it goes by, and not late once the guest runs again, wherever the action strikes: before it is due,
 * at about that instant, while the guest does not run, and long before. What was pending stays so.
 *
 * A VMM that restores a timer's control before its counter, or forgets to arm its own timer for one that
 * the guest does not look at any more, leaves the guest asleep; one that lets the counters' offsets
 * change behind an armed timer fires it early or late (A15, A16).
 *
 * Arguments: actions=NAME,NAME… (default all), hold-ms=N: how long the guest is held; rounds=N: of the
 * four in which every CPU has had a timer due at each of the four instants.
 */
#include "libcflat.h"
#include "hosttimertest.h"

int main(void)
{
	return host_timer_report_run("host-timers");
}
