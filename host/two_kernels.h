/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --bench with two --kernel: both are booted in turn, so that what changes on this host meanwhile
 * meets both alike.
 */
#ifndef HOST_TWO_KERNELS_H
#define HOST_TWO_KERNELS_H

#include "kernel_mode.h"

/*
 * Runs the benchmarks of both specs, which differ in hosts and results. Of time, each boot of a guest
 * has a boot of its kernel of its own; where figures are exact one boot of each kernel has them all.
 * Returns as kernel_mode_run() does.
 */
int two_kernels_run(const struct kernel_mode_spec *first, const struct kernel_mode_spec *second,
		    bool exact, int *signo, struct error *err);

#endif
