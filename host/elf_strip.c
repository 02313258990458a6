// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes ELF files smaller. All that a file says of itself is checked before it is followed.
 */
#include "elf_strip.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "elf_read.h"
#include "util/memory.h"

/* What scripts/sign-file.c appends, behind the signature: include/linux/module_signature.h. */
#define SIGNATURE_END "~Module signature appended~\n"

bool elf_strip_program(struct text *file)
{
	Elf64_Ehdr header;
	u64 end;

	if (!elf_header(file->data, file->len, &header) || header.e_type == ET_REL ||
	    header.e_phnum == 0 || header.e_phentsize != sizeof(Elf64_Phdr))
		return false;
	end = header.e_phoff + (u64)header.e_phnum * sizeof(Elf64_Phdr);
	for (size_t i = 0; i < header.e_phnum; i++) {
		Elf64_Phdr segment;

		if (!elf_program_header(file->data, file->len, &header, i, &segment))
			return false;
		end = MAX(end, segment.p_offset + segment.p_filesz);
	}
	if (end >= file->len)
		return false;
	header.e_shoff = 0;
	header.e_shnum = 0;
	header.e_shstrndx = SHN_UNDEF;
	memcpy(file->data, &header, sizeof(header));
	file->len = end;
	file->data[end] = '\0';
	return true;
}

static bool is_debug(const char *name)
{
	return text_starts_with(name, ".debug_") || text_starts_with(name, ".rela.debug_");
}

static void align(struct text *out, u64 alignment)
{
	/* ELF allows 0 and 1 for none. What else there is, is small in a module. */
	if (alignment < 2 || alignment > 65536)
		return;
	while (out->len % alignment)
		text_append_char(out, '\0');
}

/* The sections go into a new file one after the other, headers last: their numbers stay. */
static bool rebuild(const struct text *file, Elf64_Ehdr *header, struct text *out)
{
	Elf64_Shdr *sections = memory_zalloc(header->e_shnum * sizeof(*sections));
	bool good = true;

	text_append_bytes(out, header, sizeof(*header));
	for (size_t i = 0; good && i < header->e_shnum; i++) {
		Elf64_Shdr *section = &sections[i];
		const char *name;

		good = elf_section(file->data, file->len, header, i, section, &name);
		if (!good || section->sh_type == SHT_NULL)
			continue;
		if (is_debug(name))
			section->sh_size = 0;
		align(out, section->sh_addralign);
		if (section->sh_type != SHT_NOBITS)
			text_append_bytes(out, file->data + section->sh_offset, section->sh_size);
		section->sh_offset = out->len;
		if (section->sh_type != SHT_NOBITS)
			section->sh_offset -= section->sh_size;
	}
	if (good) {
		align(out, 8);
		header->e_shoff = out->len;
		text_append_bytes(out, sections, header->e_shnum * sizeof(*sections));
		memcpy(out->data, header, sizeof(*header));
	}
	free(sections);
	return good;
}

bool elf_strip_module(struct text *file)
{
	struct text out = { 0 };
	Elf64_Ehdr header;
	size_t end = strlen(SIGNATURE_END);

	if (file->len > end && memcmp(file->data + file->len - end, SIGNATURE_END, end) == 0)
		return false;
	if (!elf_header(file->data, file->len, &header) || header.e_type != ET_REL ||
	    header.e_phnum != 0)
		return false;
	if (!rebuild(file, &header, &out) || out.len >= file->len) {
		text_free(&out);
		return false;
	}
	text_free(file);
	*file = out;
	return true;
}
