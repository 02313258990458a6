// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * x86_64: the image is an ELF file with a multiboot2 header. It is put at its link address and entered
 * in 32-bit protected mode with what a multiboot2 loader passes (Multiboot2 Specification 3.3, 3.6).
 */
#include "efi.h"
#include "string.h"

#define MULTIBOOT2_LOADER_MAGIC 0x36d76289
#define INFO_SIZE		8192
#define MEMORY_MIN		(8ULL << 20)
#define MEMORY_MAX		(256ULL << 20)
#define LOW_PAGE_MAX		0x9efff /* where the image starts its other CPUs */
#define PT_LOAD			1

enum {
	TAG_END = 0,
	TAG_CMDLINE = 1,
	TAG_MEMORY_MAP = 6,
	TAG_ACPI_NEW = 15,
};

struct elf_header {
	u8 ident[16];
	u16 type, machine;
	u32 version;
	u64 entry, program_headers, section_headers;
	u32 flags;
	u16 size, program_size, nr_program;
};

struct elf_program_header {
	u32 type, flags;
	u64 offset, virtual, physical, in_file, in_memory, align;
};

struct range {
	u64 address, size;
	u32 type, reserved;
};

/* entry-x86.S: leaves long mode and jumps to the image. Copied to memory below 4 GiB. */
extern const u8 leave_long_mode[] __attribute__((visibility("hidden")));
extern const u8 leave_long_mode_end[] __attribute__((visibility("hidden")));
typedef void __attribute__((sysv_abi)) (*leave_fn)(u32 entry, u32 info);

static const struct elf_program_header *program_header(const struct elf_header *elf, unsigned int i)
{
	return (const void *)((const u8 *)elf + elf->program_headers + i * elf->program_size);
}

/* Where the image lies, as a whole. */
static struct range image_range(const struct elf_header *elf)
{
	u64 start = ~0ULL, end = 0;

	for (unsigned int i = 0; i < elf->nr_program; i++) {
		const struct elf_program_header *p = program_header(elf, i);

		if (p->type != PT_LOAD)
			continue;
		start = MIN(start, ALIGN_DOWN(p->physical, EFI_PAGE_SIZE));
		end = MAX(end, ALIGN_UP(p->physical + p->in_memory, EFI_PAGE_SIZE));
	}
	return (struct range){ start, end - start, 1, 0 };
}

static void copy_image(const struct elf_header *elf)
{
	for (unsigned int i = 0; i < elf->nr_program; i++) {
		const struct elf_program_header *p = program_header(elf, i);

		if (p->type != PT_LOAD)
			continue;
		memset((void *)p->physical, 0, p->in_memory);
		memcpy((void *)p->physical, (const u8 *)elf + p->offset, p->in_file);
	}
}

/* ---- multiboot2 information --------------------------------------------------------------------- */

static void add_tag(u8 *info, u32 type, const void *content, size_t len)
{
	u32 *total = (u32 *)info;
	u32 *tag = (u32 *)(info + *total);

	tag[0] = type;
	tag[1] = 8 + len;
	memcpy(tag + 2, content, len);
	*total = ALIGN_UP(*total + 8 + (u32)len, 8U);
}

static void make_info(u8 *info, const struct loader *l, const struct range *ranges, size_t count,
		      const u8 *rsdp)
{
	struct {
		u32 entry_size, entry_version;
		struct range ranges[3];
	} map = { sizeof(struct range), 0, { { 0 } } };

	memset(info, 0, INFO_SIZE);
	*(u32 *)info = 8; /* total size and a reserved word */
	add_tag(info, TAG_CMDLINE, l->args, strlen(l->args) + 1);
	memcpy(map.ranges, ranges, count * sizeof(*ranges));
	add_tag(info, TAG_MEMORY_MAP, &map, 8 + count * sizeof(*ranges));
	/* Revision 2 has its length at 20 (ACPI 6.5, 5.2.5.3). */
	add_tag(info, TAG_ACPI_NEW, rsdp, MIN(*(const u32 *)(rsdp + 20), 64U));
	add_tag(info, TAG_END, NULL, 0);
}

/* ---- start -------------------------------------------------------------------------------------- */

void arch_start_image(struct loader *l)
{
	static const struct efi_guid acpi_20 = {
		0x8868e871, 0xe4f1, 0x11d3, { 0xbc, 0x22, 0x00, 0x80, 0xc7, 0x3c, 0x88, 0x81 }
	};
	const struct elf_header *elf = (const void *)payload;
	const u8 *rsdp = loader_find_table(l, &acpi_20);
	struct range image = image_range(elf), low = { 0, EFI_PAGE_SIZE, 1, 0 },
		     heap = { .type = 1 };
	u64 info, code;

	if (!rsdp) {
		loader_say(l, "the firmware has no ACPI 2.0 tables\n");
		return;
	}
	if (loader_allocate(l, EFI_ALLOCATE_AT, EFI_LOADER_DATA, image.size, image.address) !=
	    image.address) {
		loader_say(l, "the memory at 1 MiB, where the image belongs, is not free\n");
		return;
	}
	low.address =
		loader_allocate(l, EFI_ALLOCATE_BELOW, EFI_LOADER_DATA, low.size, LOW_PAGE_MAX);
	info = loader_allocate(l, EFI_ALLOCATE_BELOW, EFI_LOADER_DATA, INFO_SIZE, 0xffffffff);
	code = loader_allocate(l, EFI_ALLOCATE_BELOW, EFI_LOADER_CODE, EFI_PAGE_SIZE, 0xffffffff);
	if (!low.address || !info || !code ||
	    !loader_take_range(l, image.address + image.size, 3ULL << 30, MEMORY_MIN, MEMORY_MAX,
			       &heap.address, &heap.size)) {
		loader_say(l, "there is too little free memory below 3 GiB\n");
		return;
	}
	copy_image(elf);
	make_info((u8 *)info, l, (struct range[]){ low, image, heap }, 3, rsdp);
	memcpy((void *)code, leave_long_mode, leave_long_mode_end - leave_long_mode);
	if (loader_exit_boot_services(l))
		((leave_fn)code)(elf->entry, info);
	loader_say(l, "the firmware does not end its services\n");
}
