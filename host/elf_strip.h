/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes ELF files smaller for an initramfs: without what only a debugger reads. Files of a build
 * tree are mostly that, and a machine under emulation has to copy them.
 *
 * Nothing here fails: what is no 64-bit little-endian ELF file, or is damaged, is left as it is,
 * for whoever loads it to judge.
 */
#ifndef HOST_ELF_STRIP_H
#define HOST_ELF_STRIP_H

#include "types.h"
#include "util/text.h"

/* An executable or image: leaves the headers and segments. True where it became smaller. */
bool elf_strip_program(struct text *file);

/*
 * A kernel module: leaves all but the contents of its debug sections. A signed one stays as it is,
 * since the signature is over all of it. True where it became smaller.
 */
bool elf_strip_module(struct text *file);

#endif
