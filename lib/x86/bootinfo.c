// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads what the loader passed, PVH's start_info or multiboot2's tags, into struct boot_info, so
 * that nobody else depends on the loader's memory afterwards. Nothing in it is believed unbounded.
 */
#include "startup.h"
#include "string.h"

struct boot_info boot_info;

/* Xen, public/arch-x86/hvm/start_info.h; the memory map is there from version 1. */
#define PVH_START_MAGIC 0x336ec578

struct pvh_start_info {
	u32 magic;
	u32 version;
	u32 flags;
	u32 nr_modules;
	u64 modules;
	u64 cmdline;
	u64 rsdp;
	u64 memmap;
	u32 memmap_entries;
	u32 reserved;
};

struct pvh_memmap_entry {
	u64 address;
	u64 size;
	u32 type;
	u32 reserved;
};

/* Multiboot2 specification 3.6. */
enum {
	TAG_END = 0,
	TAG_CMDLINE = 1,
	TAG_MEMORY_MAP = 6,
	TAG_ACPI_OLD = 14,
	TAG_ACPI_NEW = 15,
};

struct multiboot2_tag {
	u32 type;
	u32 size;
};

struct multiboot2_memory_map {
	struct multiboot2_tag tag;
	u32 entry_size;
	u32 entry_version;
};

struct multiboot2_memory_map_entry {
	u64 address;
	u64 size;
	u32 type;
	u32 reserved;
};

#define MEMORY_USABLE 1 /* in both protocols, as in BIOS E820 */
#define MAP_END	      (4ULL << 30)
#define TAGS_MAX      (1U << 20)

static void problem(const char *what)
{
	if (!boot_info.problem)
		boot_info.problem = what;
}

static void add_range(u64 address, u64 size, u32 type)
{
	u64 end = MIN(address + size, MAP_END);

	if (type != MEMORY_USABLE || address >= MAP_END || address + size < address)
		return;
	if (boot_info.nr_ranges == BOOT_RANGES_MAX) {
		problem("the loader's memory map has more usable ranges than lib/x86/startup.h "
			"allows (BOOT_RANGES_MAX); the rest is unused");
		return;
	}
	boot_info.ranges[boot_info.nr_ranges++] = (struct boot_range){ address, end };
}

/* A line too long keeps its first 1024 bytes: args_init() then refuses it with a message. */
static void copy_cmdline(const char *line, size_t max)
{
	size_t length = strnlen(line, MIN(max, sizeof(boot_info.cmdline) - 1));

	memcpy(boot_info.cmdline, line, length);
}

static void read_pvh(u64 address)
{
	const struct pvh_start_info *info = (const void *)address;
	const struct pvh_memmap_entry *entry;

	boot_info.protocol = "PVH";
	if (!address || info->magic != PVH_START_MAGIC) {
		problem("the PVH start_info has no magic number");
		return;
	}
	if (info->cmdline && info->cmdline < MAP_END)
		copy_cmdline((const char *)info->cmdline, SIZE_MAX);
	if (info->rsdp < MAP_END)
		boot_info.rsdp = info->rsdp;
	if (info->version < 1 || !info->memmap || info->memmap >= MAP_END) {
		problem("the PVH start_info has no memory map (version below 1)");
		return;
	}
	entry = (const void *)info->memmap;
	for (u32 i = 0; i < MIN(info->memmap_entries, 1024U); i++)
		add_range(entry[i].address, entry[i].size, entry[i].type);
}

static void read_memory_map(const struct multiboot2_tag *tag)
{
	const struct multiboot2_memory_map *map = (const void *)tag;
	u32 offset = sizeof(*map);

	if (tag->size < sizeof(*map) ||
	    map->entry_size < sizeof(struct multiboot2_memory_map_entry)) {
		problem("the multiboot2 memory map is malformed");
		return;
	}
	for (; tag->size - offset >= map->entry_size; offset += map->entry_size) {
		const struct multiboot2_memory_map_entry *entry = (const void *)tag + offset;

		add_range(entry->address, entry->size, entry->type);
	}
}

static void read_tag(const struct multiboot2_tag *tag)
{
	const char *payload = (const char *)(tag + 1);

	switch (tag->type) {
	case TAG_CMDLINE:
		copy_cmdline(payload, tag->size - sizeof(*tag));
		break;
	case TAG_MEMORY_MAP:
		read_memory_map(tag);
		break;
	case TAG_ACPI_OLD:
		/* A copy of the RSDP within the tag; the newer one is preferred. */
		if (!boot_info.rsdp)
			boot_info.rsdp = (u64)payload;
		break;
	case TAG_ACPI_NEW:
		boot_info.rsdp = (u64)payload;
		break;
	}
}

static void read_multiboot2(u64 address)
{
	u32 total = *(const u32 *)address;
	u32 offset = 8;

	boot_info.protocol = "multiboot2";
	if (total < 16 || total > TAGS_MAX) {
		problem("the multiboot2 information has an impossible size");
		return;
	}
	while (total - offset >= sizeof(struct multiboot2_tag)) {
		const struct multiboot2_tag *tag = (const void *)(address + offset);

		if (tag->type == TAG_END)
			return;
		if (tag->size < sizeof(*tag) || tag->size > total - offset) {
			problem("a multiboot2 tag is longer than the information it is in");
			return;
		}
		read_tag(tag);
		offset = MIN(total, offset + ALIGN_UP(tag->size, 8U));
	}
	problem("the multiboot2 information has no end tag");
}

void boot_info_read(u32 boot_protocol, u32 info)
{
	switch (boot_protocol) {
	case BOOT_PVH:
		read_pvh(info);
		break;
	case BOOT_MULTIBOOT2:
		read_multiboot2(info);
		break;
	default:
		boot_info.protocol = "none";
		problem("the loader speaks neither PVH nor multiboot2");
	}
}
