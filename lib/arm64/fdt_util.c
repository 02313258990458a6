// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * See fdt_util.h. The forms of reg and ranges are the Devicetree Specification's, 2.3.
 */
#include "string.h"
#include "types.h"
#include "fdt_util.h"

#define CELL_SIZE 4
#define MAX_DEPTH 16

/* A number of "cells" cells; false where there are more than two and the upper ones count. */
static bool read_cells(const u8 *bytes, int cells, u64 *value)
{
	u64 v = 0;

	for (int i = 0; i < cells; i++) {
		u32 cell = (u32)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];

		if (v >> 32)
			return false;
		v = v << 32 | cell;
		bytes += CELL_SIZE;
	}
	*value = v;
	return true;
}

/* From an address on the bus that "bus" is to one on the bus that its parent is. */
static int translate_once(const void *fdt, int bus, int parent, u64 *address)
{
	int child_cells = fdt_address_cells(fdt, bus);
	int parent_cells = fdt_address_cells(fdt, parent);
	int size_cells = fdt_size_cells(fdt, bus);
	int entry = (child_cells + parent_cells + size_cells) * CELL_SIZE;
	int len;
	const u8 *ranges = fdt_getprop(fdt, bus, "ranges", &len);

	if (!ranges || child_cells < 0 || parent_cells < 0 || size_cells < 0)
		return -1;
	if (len == 0) /* the two buses are the same */
		return 0;
	for (; len >= entry; ranges += entry, len -= entry) {
		u64 from, to, size;

		if (read_cells(ranges, child_cells, &from) &&
		    read_cells(ranges + child_cells * CELL_SIZE, parent_cells, &to) &&
		    read_cells(ranges + (child_cells + parent_cells) * CELL_SIZE, size_cells,
			       &size) &&
		    *address >= from && *address - from < size) {
			*address = to + (*address - from);
			return 0;
		}
	}
	return -1;
}

static int translate(const void *fdt, int bus, u64 *address)
{
	for (int depth = 0; bus > 0 && depth < MAX_DEPTH; depth++) {
		int parent = fdt_parent_offset(fdt, bus);

		if (parent < 0 || translate_once(fdt, bus, parent, address))
			return -1;
		bus = parent;
	}
	return bus == 0 ? 0 : -1;
}

int fdt_util_reg(const void *fdt, struct fdt_node where, int index, struct address_range *range)
{
	int address_cells, size_cells, entry, len;
	const u8 *reg = fdt_getprop(fdt, where.node, "reg", &len);

	if (!reg)
		return -1;
	address_cells = fdt_address_cells(fdt, where.parent);
	size_cells = fdt_size_cells(fdt, where.parent);
	if (address_cells < 1 || size_cells < 0)
		return -1;
	entry = (address_cells + size_cells) * CELL_SIZE;
	if (len / entry <= index)
		return -1;
	reg += index * entry;
	if (!read_cells(reg, address_cells, &range->base) ||
	    !read_cells(reg + address_cells * CELL_SIZE, size_cells, &range->size))
		return -1;
	return translate(fdt, where.parent, &range->base);
}

u64 fdt_util_number(const void *fdt, int node, const char *property, u64 fallback)
{
	int len;
	const u8 *bytes = fdt_getprop(fdt, node, property, &len);
	u64 value;

	if (!bytes || (len != CELL_SIZE && len != 2 * CELL_SIZE) ||
	    !read_cells(bytes, len / CELL_SIZE, &value))
		return fallback;
	return value;
}

int fdt_util_cell(const void *fdt, int node, const char *property, int index, u32 *cell)
{
	int len;
	const u8 *bytes = fdt_getprop(fdt, node, property, &len);
	u64 value;

	if (!bytes || len / CELL_SIZE <= index || !read_cells(bytes + index * CELL_SIZE, 1, &value))
		return -1;
	*cell = value;
	return 0;
}

const char *fdt_util_string(const void *fdt, int node, const char *property, int index)
{
	return fdt_stringlist_get(fdt, node, property, index, NULL);
}

bool fdt_util_is_compatible(const void *fdt, int node, const char *const *names, size_t count)
{
	int len;
	const char *list = fdt_getprop(fdt, node, "compatible", &len);

	if (!list)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (fdt_stringlist_contains(list, len, names[i]))
			return true;
	}
	return false;
}

bool fdt_util_is_enabled(const void *fdt, int node)
{
	const char *status = fdt_util_string(fdt, node, "status", 0);

	return !status || !strcmp(status, "okay") || !strcmp(status, "ok");
}
