/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A little on top of libfdt: numbers of one or two cells, reg entries with their addresses
 * translated to the CPU's, strings that are certain to end. -1 and NULL mean that there is none,
 * or that what is there makes no sense.
 */
#ifndef ARM64_FDT_UTIL_H
#define ARM64_FDT_UTIL_H

#include <libfdt.h>
#include "types.h"
#include <arch/devicetree.h>

/* A node and the one that it is in; node is negative where there is none. */
struct fdt_node {
	int node;
	int parent;
};

/* The index-th entry of the node's reg. */
int fdt_util_reg(const void *fdt, struct fdt_node where, int index, struct address_range *range);

/* A property of one or two cells. */
u64 fdt_util_number(const void *fdt, int node, const char *property, u64 fallback);

/* The index-th cell. */
int fdt_util_cell(const void *fdt, int node, const char *property, int index, u32 *cell);

/* The index-th string of a property. */
const char *fdt_util_string(const void *fdt, int node, const char *property, int index);

/* Whether "compatible" has one of these strings. */
bool fdt_util_is_compatible(const void *fdt, int node, const char *const *names, size_t count);

/* Whether it has no status, or one that says okay. */
bool fdt_util_is_enabled(const void *fdt, int node);

#endif
