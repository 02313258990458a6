/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the checks of kvmclock share: the clock on all CPUs, with its stable flag or without it.
 */
#ifndef KVMCLOCKTEST_H
#define KVMCLOCKTEST_H

#include "types.h"
#include <arch/pvclock.h>

/*
 * After an update of one CPU's page KVM updates the others' 100 ms later (arch/x86/kvm/x86.c,
 * KVMCLOCK_UPDATE_DELAY).
 */
#define KVMCLOCK_DELAYED_NS 300000000UL

/* Enables the clock on all CPUs; false, with nothing enabled, after a verdict. */
bool kvmclock_open(void);

/* The same, and SKIP where the clock does not have the stable flag on CPU 0. */
bool kvmclock_open_stable(void);

/*
 * The same without the flag: MSR_KVM_SYSTEM_TIME, the former number, takes it away from the whole
 * machine as long as CPU 0 uses it (arch/x86/kvm/x86.c, boot_vcpu_runs_old_kvmclock).
 */
bool kvmclock_open_without_stable(void);

void kvmclock_close(void);

/* For on_cpu(): *failed is set to 1 where no clock comes of it. */
void kvmclock_enable_here(void *failed);
void kvmclock_disable_here(void *arg);

/* To the former number and back, on CPU 0: KVM looks at the host's clock each time. false after #GP. */
bool kvmclock_take_snapshot(void);

#endif
