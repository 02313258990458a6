/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The address space: physical and virtual addresses are the same. 4 GiB are mapped at start-up,
 * the fourth of them uncached; page 0 is not, so that a NULL pointer faults.
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "types.h"

/* Makes [start, start + size) reachable, uncached; panics above 512 GiB. Returns start. */
uintptr_t mmu_map_device(u64 start, u64 size);

#endif
