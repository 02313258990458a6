// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A vCPU that comes up seconds after the others: by the first PSCI CPU_ON of one that was off since the
 * start (argument late-cpus=1), since machines of this architecture get no further ones. Its counters
 * are in step with the others', its registers are as theirs were, its timers work.
 *
 * A hypervisor that takes the counter's offset at the first run of a vCPU, and not at the machine's,
 * leaves it behind by those seconds; one that resets the PMU's constant fields at CPU_ON loses them (P10).
 */
#include "libcflat.h"
#include "hostplugtest.h"

int main(void)
{
	return host_plug_report_run("host-plug");
}
