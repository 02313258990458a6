/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Address translation: one identity map, shared by all CPUs, in blocks of 2 MiB. RAM is normal
 * cacheable memory, devices are device-nGnRE; what nobody has named is not mapped, so that a wild
 * pointer, NULL first, raises an exception.
 */
#ifndef ARCH_MMU_H
#define ARCH_MMU_H

#include "types.h"

#define MMU_BLOCK_SIZE 0x200000UL

/* Maps all blocks that [base, base + size) touches. Ends the image when they are memory already. */
void mmu_map_device(u64 base, u64 size);

/* Maps the whole blocks within [base, base + size). */
void mmu_map_memory(u64 base, u64 size);

/* true when the block of this address is mapped. */
bool mmu_is_mapped(u64 address);

#endif
