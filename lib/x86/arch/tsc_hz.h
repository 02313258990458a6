/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The TSC's frequency as each source advertises it, in Hz; 0 where the source is not there.
 */
#ifndef ARCH_TSC_HZ_H
#define ARCH_TSC_HZ_H

#include "types.h"

u64 tsc_hz_cpuid_15(void);	  /* crystal and ratio; 0 without the crystal's frequency */
u64 tsc_hz_cpuid_16(void);	  /* the processor's base frequency, in whole MHz */
u64 tsc_hz_hypervisor_leaf(void); /* CPUID 0x40000010, in whole kHz */
u64 tsc_hz_pvclock(void);	  /* by mul and shift; leaves the clock disabled on this CPU */

#endif
