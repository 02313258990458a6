/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The VMM's command line.
 */
#ifndef KVM_OPTIONS_H
#define KVM_OPTIONS_H

#include "kvm/vm.h"

struct vmm_options {
	struct machine_options machine;
	const char *restore; /* snapshot to go on from, instead of an image; or NULL */
	const char *save_to; /* write a snapshot there save_after_ms from the start, then end */
	u64 save_after_ms;
	int control_fd; /* or -1 */
	bool stats;
	bool probe;
	struct fault_set faults; /* what machine.faults points to, where any was asked for */
};

/*
 * Returns -1 to go on, or the exit status (0 for --help, 3 for a mistake, said on stderr). The
 * strings hold as long as argv.
 */
int vmm_options_parse(struct vmm_options *o, int argc, char **argv);

/* "hv-time,hv-stimer" into flags; "max" and "host" mean what KVM supports, which is the default. */
int machine_options_set_cpu(struct machine_options *o, const char *list, struct error *err);

#endif
