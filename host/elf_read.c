// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the headers of ELF files, within bounds.
 */
#include "elf_read.h"

#include <string.h>

/* Is [at, at + len) in a file of size bytes? */
static bool inside(u64 at, u64 len, size_t size)
{
	return at <= size && len <= size - at;
}

/* Entry number i of a table of entries of len bytes each. */
static bool read_entry(const void *file, size_t size, u64 table, size_t i, void *entry, size_t len)
{
	u64 at;

	if (__builtin_add_overflow(table, (u64)i * len, &at) || !inside(at, len, size))
		return false;
	memcpy(entry, (const char *)file + at, len);
	return true;
}

bool elf_header(const void *file, size_t size, Elf64_Ehdr *header)
{
	return read_entry(file, size, 0, 0, header, sizeof(*header)) &&
	       memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	       header->e_ident[EI_CLASS] == ELFCLASS64 && header->e_ident[EI_DATA] == ELFDATA2LSB;
}

bool elf_program_header(const void *file, size_t size, const Elf64_Ehdr *header, size_t i,
			Elf64_Phdr *segment)
{
	return i < header->e_phnum && header->e_phentsize == sizeof(*segment) &&
	       read_entry(file, size, header->e_phoff, i, segment, sizeof(*segment)) &&
	       inside(segment->p_offset, segment->p_filesz, size);
}

static bool section_header(const void *file, size_t size, const Elf64_Ehdr *header, size_t i,
			   Elf64_Shdr *section)
{
	return i < header->e_shnum && header->e_shentsize == sizeof(*section) &&
	       read_entry(file, size, header->e_shoff, i, section, sizeof(*section)) &&
	       (section->sh_type == SHT_NOBITS || section->sh_type == SHT_NULL ||
		inside(section->sh_offset, section->sh_size, size));
}

bool elf_section(const void *file, size_t size, const Elf64_Ehdr *header, size_t i,
		 Elf64_Shdr *section, const char **name)
{
	Elf64_Shdr strings;

	if (!section_header(file, size, header, i, section) ||
	    !section_header(file, size, header, header->e_shstrndx, &strings) ||
	    strings.sh_type != SHT_STRTAB || section->sh_name >= strings.sh_size)
		return false;
	*name = (const char *)file + strings.sh_offset + section->sh_name;
	return memchr(*name, '\0', strings.sh_size - section->sh_name) != NULL;
}

bool elf_find_section(const void *file, size_t size, const Elf64_Ehdr *header, const char *name,
		      Elf64_Shdr *section)
{
	const char *found;

	for (size_t i = 0; i < header->e_shnum; i++) {
		if (elf_section(file, size, header, i, section, &found) && strcmp(found, name) == 0)
			return true;
	}
	return false;
}
