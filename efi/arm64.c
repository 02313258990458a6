// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * arm64: the image is a Linux Image (Documentation/arch/arm64/booting.rst). It gets a copy of the
 * firmware's devicetree, in which bootargs are its command line and the memory is a range that was
 * taken from the firmware for it.
 */
#include <libfdt.h>

#include "efi.h"
#include "string.h"

#define MEMORY_MIN (16ULL << 20)
#define MEMORY_MAX (256ULL << 20)
#define FDT_ROOM   (64U << 10) /* for what is added to it */
#define FDT_MAX	   (2U << 20)

struct image_header {
	u32 code[2];
	u64 text_offset, image_size, flags, reserved[3];
	u32 magic, pe_offset;
};

/* entry-arm64.S */
void enter_image(u64 fdt, u64 entry) __attribute__((noreturn, visibility("hidden")));

/* libfdt was built with a stack protector. */
uintptr_t __stack_chk_guard = 0x5bd1e995;
void __stack_chk_fail(void);

void __stack_chk_fail(void)
{
	for (;;)
		__asm__ volatile("wfi");
}

static u64 cache_line_size(void)
{
	u64 ctr;

	__asm__("mrs %0, ctr_el0" : "=r"(ctr));
	return 4ULL << (ctr >> 16 & 15);
}

/* To the point of coherency: the image begins with its caches off. */
static void clean(u64 base, u64 size)
{
	u64 line = cache_line_size();

	for (u64 at = ALIGN_DOWN(base, line); at < base + size; at += line)
		__asm__ volatile("dc civac, %0" ::"r"(at) : "memory");
	__asm__ volatile("dsb sy" ::: "memory");
}

static int remove_memory_nodes(void *fdt)
{
	int node;

	while ((node = fdt_node_offset_by_prop_value(fdt, -1, "device_type", "memory", 7)) >= 0) {
		int ret = fdt_del_node(fdt, node);

		if (ret)
			return ret;
	}
	return 0;
}

/* A number of one or two cells, as the root node says. */
static size_t put_cells(fdt32_t *cells, int count, u64 value)
{
	if (count == 1) {
		cells[0] = cpu_to_fdt32(value);
		return 1;
	}
	cells[0] = cpu_to_fdt32(value >> 32);
	cells[1] = cpu_to_fdt32(value);
	return 2;
}

static int add_memory_node(void *fdt, u64 base, u64 size)
{
	fdt32_t cells[4];
	size_t count = put_cells(cells, fdt_address_cells(fdt, 0), base);
	int node = fdt_add_subnode(fdt, 0, "memory");

	count += put_cells(cells + count, fdt_size_cells(fdt, 0), size);
	return node < 0 || fdt_setprop(fdt, node, "device_type", "memory", 7) ||
	       fdt_setprop(fdt, node, "reg", cells, count * sizeof(*cells));
}

static int adapt(void *fdt, const struct loader *l, u64 base, u64 size)
{
	int chosen = fdt_path_offset(fdt, "/chosen");

	if (chosen < 0)
		chosen = fdt_add_subnode(fdt, 0, "chosen");
	if (chosen < 0 || fdt_setprop_string(fdt, chosen, "bootargs", l->args))
		return -1;
	return remove_memory_nodes(fdt) || add_memory_node(fdt, base, size);
}

void arch_start_image(struct loader *l)
{
	static const struct efi_guid devicetree = {
		0xb1b621d5, 0xf19c, 0x41a5, { 0x83, 0x0b, 0xd9, 0x15, 0x2c, 0x69, 0xaa, 0xe0 }
	};
	const struct image_header *header = (const void *)payload;
	const void *firmware_fdt = loader_find_table(l, &devicetree);
	u64 base, size;
	u8 *fdt;

	if (!firmware_fdt || fdt_check_header(firmware_fdt) ||
	    fdt_totalsize(firmware_fdt) > FDT_MAX - FDT_ROOM) {
		loader_say(l, "the firmware has no devicetree (QEMU: -M virt,acpi=off)\n");
		return;
	}
	if (!loader_take_range(l, 0, 1ULL << 48, MEMORY_MIN + header->image_size + FDT_MAX,
			       MEMORY_MAX, &base, &size)) {
		loader_say(l, "there is too little free memory\n");
		return;
	}
	/* The image in front, the devicetree behind, and the image's own use of memory between. */
	memcpy((void *)base, payload, payload_end - payload);
	fdt = (u8 *)(base + size - FDT_MAX);
	if (fdt_open_into(firmware_fdt, fdt, fdt_totalsize(firmware_fdt) + FDT_ROOM) ||
	    adapt(fdt, l, base, size)) {
		loader_say(l, "the devicetree cannot be adapted\n");
		return;
	}
	if (!loader_exit_boot_services(l)) {
		loader_say(l, "the firmware does not end its services\n");
		return;
	}
	clean(base, header->image_size);
	clean((u64)fdt, fdt_totalsize(fdt));
	enter_image((u64)fdt, base);
}
