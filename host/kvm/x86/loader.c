// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ELF, 64 or 32 bits wide (ELF specification 1.2), with an entry point by PVH's note or by a
 * multiboot 1 header (its specification 0.6.96, 3.1). Nothing in the file is believed without
 * bounds: it may be cut short or made to harm.
 */
#include "kvm/x86/loader.h"

#include <elf.h>
#include <string.h>
#include "kvm/vm.h"

#define PVH_NOTE_TYPE	 18 /* Xen, public/elfnote.h: XEN_ELFNOTE_PHYS32_ENTRY */
#define MULTIBOOT_MAGIC	 0x1badb002
#define MULTIBOOT_SEARCH 8192
#define MULTIBOOT_FLAGS_KNOWN \
	0x3 /* of 0 to 15, which a loader has to understand: page align, memory */
#define SEGMENTS_MAX   64
#define NOTES_SIZE_MAX 65536

struct elf {
	const struct image_file *f;
	bool is_64;
	u64 entry;
	u64 phoff;
	unsigned int phnum;
};

static int read_header(struct elf *e, struct error *err)
{
	const unsigned char *ident = image_file_at(e->f, 0, EI_NIDENT);
	const Elf64_Ehdr *h64 = image_file_at(e->f, 0, sizeof(*h64));
	const Elf32_Ehdr *h32 = image_file_at(e->f, 0, sizeof(*h32));

	if (!ident || memcmp(ident, ELFMAG, SELFMAG) || ident[EI_DATA] != ELFDATA2LSB)
		return error_set(err, "%s: no ELF file of x86", e->f->path);
	e->is_64 = ident[EI_CLASS] == ELFCLASS64;
	if (e->is_64 && h64 && h64->e_machine == EM_X86_64 &&
	    h64->e_phentsize == sizeof(Elf64_Phdr)) {
		e->entry = h64->e_entry;
		e->phoff = h64->e_phoff;
		e->phnum = h64->e_phnum;
	} else if (!e->is_64 && h32 && h32->e_machine == EM_386 &&
		   h32->e_phentsize == sizeof(Elf32_Phdr)) {
		e->entry = h32->e_entry;
		e->phoff = h32->e_phoff;
		e->phnum = h32->e_phnum;
	} else {
		return error_set(err, "%s: an ELF file, but cut short or not of x86", e->f->path);
	}
	if (!e->phnum || e->phnum > SEGMENTS_MAX)
		return error_set(err, "%s: %u program headers; 1 to %d are believed", e->f->path,
				 e->phnum, SEGMENTS_MAX);
	return 0;
}

static int read_segment(const struct elf *e, unsigned int index, Elf64_Phdr *out, struct error *err)
{
	size_t size = e->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	const void *at = NULL;
	Elf32_Phdr p32;

	if (e->phoff <= e->f->size)
		at = image_file_at(e->f, e->phoff + index * size, size);
	if (!at)
		return error_set(err, "%s: program header %u lies behind the file's end",
				 e->f->path, index);
	if (e->is_64) {
		memcpy(out, at, size);
		return 0;
	}
	memcpy(&p32, at, size);
	*out = (Elf64_Phdr){
		.p_type = p32.p_type,
		.p_offset = p32.p_offset,
		.p_paddr = p32.p_paddr,
		.p_filesz = p32.p_filesz,
		.p_memsz = p32.p_memsz,
	};
	return 0;
}

static int load_segment(struct vm *vm, const struct elf *e, const Elf64_Phdr *p, u64 *end,
			struct error *err)
{
	const void *from = image_file_at(e->f, p->p_offset, p->p_filesz);
	void *to = vm_memory(vm, p->p_paddr, p->p_memsz);

	if (!from || p->p_filesz > p->p_memsz)
		return error_set(err, "%s: a segment's bytes lie behind the file's end",
				 e->f->path);
	if (!to)
		return error_set(err,
				 "%s: a segment wants %llu bytes of memory at 0x%llx, where the "
				 "machine has less; it has %u MiB",
				 e->f->path, (unsigned long long)p->p_memsz,
				 (unsigned long long)p->p_paddr, vm->options->memory_mib);
	if (p->p_paddr < BOOT_AREA_END && p->p_paddr + p->p_memsz > BOOT_AREA_START)
		return error_set(err,
				 "%s: a segment at 0x%llx covers 0x%x to 0x%x, which the boot "
				 "information and ACPI take",
				 e->f->path, (unsigned long long)p->p_paddr, BOOT_AREA_START,
				 BOOT_AREA_END);
	memcpy(to, from, p->p_filesz);
	*end = MAX(*end, p->p_paddr + p->p_memsz);
	return 0;
}

/* ---- how it is entered -------------------------------------------------------------------------- */

/* One note at *offset of len bytes; moves on. True: it is PVH's. */
static bool read_note(const u8 *notes, size_t len, size_t *offset, u32 *entry)
{
	Elf64_Nhdr n;
	size_t name = *offset + sizeof(n), desc, next;
	bool is_pvh;

	memcpy(&n, notes + *offset, sizeof(n));
	desc = name + ALIGN_UP((size_t)n.n_namesz, 4);
	next = desc + ALIGN_UP((size_t)n.n_descsz, 4);
	if (n.n_namesz > len || n.n_descsz > len || desc + n.n_descsz > len) {
		*offset = len;
		return false;
	}
	is_pvh = n.n_type == PVH_NOTE_TYPE && n.n_namesz == 4 && n.n_descsz >= 4 &&
		 !memcmp(notes + name, "Xen", 4);
	if (is_pvh)
		memcpy(entry, notes + desc, 4);
	*offset = MIN(next, len);
	return is_pvh;
}

static bool find_pvh_entry(const struct elf *e, const Elf64_Phdr *p, u32 *entry)
{
	const u8 *notes = image_file_at(e->f, p->p_offset, p->p_filesz);
	size_t offset = 0;

	if (!notes || p->p_filesz > NOTES_SIZE_MAX)
		return false;
	while (p->p_filesz - offset >= sizeof(Elf64_Nhdr)) {
		if (read_note(notes, p->p_filesz, &offset, entry))
			return true;
	}
	return false;
}

static bool has_multiboot_header(const struct image_file *f)
{
	for (u64 at = 0; at + 12 <= MULTIBOOT_SEARCH; at += 4) {
		const void *p = image_file_at(f, at, 12);
		u32 words[3];

		if (!p)
			return false;
		memcpy(words, p, sizeof(words));
		if (words[0] == MULTIBOOT_MAGIC && !(u32)(words[0] + words[1] + words[2]))
			return !(words[1] & 0xffff & ~MULTIBOOT_FLAGS_KNOWN);
	}
	return false;
}

int x86_load(struct vm *vm, const struct image_file *f, struct x86_image *image, struct error *err)
{
	struct elf e = { .f = f };

	*image = (struct x86_image){ 0 };
	if (read_header(&e, err))
		return -1;
	for (unsigned int i = 0; i < e.phnum; i++) {
		Elf64_Phdr p = { 0 };

		if (read_segment(&e, i, &p, err))
			return -1;
		if (p.p_type == PT_LOAD && p.p_memsz && load_segment(vm, &e, &p, &image->end, err))
			return -1;
		if (p.p_type == PT_NOTE && !image->is_pvh)
			image->is_pvh = find_pvh_entry(&e, &p, &image->entry);
	}
	if (image->is_pvh)
		return 0;
	if (!has_multiboot_header(f) || e.entry > UINT32_MAX)
		return error_set(err,
				 "%s: neither a PVH note nor a multiboot 1 header says how it "
				 "is entered",
				 f->path);
	image->entry = e.entry;
	return 0;
}
