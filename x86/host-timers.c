// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The local APIC's timer of an idle guest, in all its modes, while the host acts: pauses it, saves it,
 * restores it in a new
 * process, migrates it, moves its vCPUs. A timer armed once fires once, not early by the counter that
 * it goes by, and not late once the guest runs again, wherever the action strikes: before it is due,
 * at about that instant, while the guest does not run, and long before. What was pending stays so.
 *
 * A VMM that restores the deadline before the TSC or before the local APIC leaves the guest asleep (L3,
 * L5, H4); one that changes the TSC's offset behind an armed deadline fires it early or late (H3); one
 * that forgets a timer which expired meanwhile, or an interrupt not yet delivered, loses it (L1, L2).
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
