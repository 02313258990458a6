/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the headers of 64-bit little-endian ELF files that are in memory. No file is believed:
 * every function returns false where what is asked for is not wholly inside the file.
 */
#ifndef HOST_ELF_READ_H
#define HOST_ELF_READ_H

#include <elf.h>
#include "types.h"

/* The file's header; false as well where it is no such ELF file. */
bool elf_header(const void *file, size_t size, Elf64_Ehdr *header);

/* Program header number i, its contents in the file checked. */
bool elf_program_header(const void *file, size_t size, const Elf64_Ehdr *header, size_t i,
			Elf64_Phdr *segment);

/* Section header number i and its name; its contents, where it has any in the file, checked. */
bool elf_section(const void *file, size_t size, const Elf64_Ehdr *header, size_t i,
		 Elf64_Shdr *section, const char **name);

/* The first section of that name. */
bool elf_find_section(const void *file, size_t size, const Elf64_Ehdr *header, const char *name,
		      Elf64_Shdr *section);

#endif
