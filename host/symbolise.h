/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names for the addresses of a guest's backtrace, by the architecture's addr2line.
 */
#ifndef HOST_SYMBOLISE_H
#define HOST_SYMBOLISE_H

#include "arch.h"
#include "types.h"

/*
 * "0x… function at file:line" a line, innermost first; addresses alone where addr2line or the ELF
 * is missing (or takes longer than five seconds). Malloced. elf: the image with symbols.
 */
char *symbolise(enum arch arch, const char *elf, const u64 *pcs, size_t count);

#endif
