/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address translation: one identity map, shared by all CPUs, in blocks of 2 MiB; the image's own in
 * pages. RAM is normal cacheable memory, of which only the image's text can be executed, and text
 * and constants cannot be written. Devices are device-nGnRE. What nobody has named is not mapped,
 * so that a wild pointer, NULL first, raises an exception. RAM is EL0's as it is the image's own level's
 * (arch/el0.h), devices are not.
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "types.h"

#define MMU_BLOCK_SIZE 0x200000UL

/* Maps all blocks that [base, base + size) touches. Ends the image when they are memory already. */
void mmu_map_device(u64 base, u64 size);

/* Maps the whole blocks within [base, base + size). */
void mmu_map_memory(u64 base, u64 size);

/* true when something is mapped at this address. */
bool mmu_is_mapped(u64 address);

#endif
