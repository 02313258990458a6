/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the guest exited and why, for --stats and the control socket.
 */
#ifndef KVM_STATS_H
#define KVM_STATS_H

#include "kvm/vm.h"

/* Lines of text, no vCPU running. started_ns: CLOCK_MONOTONIC of the program's start. */
void stats_print(struct vm *vm, u64 started_ns, struct text *out);

#endif
