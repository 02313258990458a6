// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A vCPU that comes up seconds after the others: plugged in by the host, or (argument late-cpus=1) there
 * from the start and waiting for its INIT. Its TSC is in step with the others', kvmclock shows no step
 * on either side, its timer works.
 *
 * A VMM that creates a vCPU with its TSC at 0, or writes the TSC by value more than a second after
 * the others (within which KVM takes it for an attempt to match them), leaves it out of step (T2);
 * KVM's update of its master clock at the new vCPU may move kvmclock on all others (K3).
 */
#include "libcflat.h"
#include "hostplugtest.h"

int main(void)
{
	return host_plug_report_run("host-plug");
}
