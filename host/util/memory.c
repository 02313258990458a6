// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allocation that ends the program where there is no memory left.
 */
#include <stdio.h>
#include <stdlib.h>

#include "util/memory.h"

static NORETURN void out_of_memory(size_t bytes)
{
	fprintf(stderr, "out of memory: %zu bytes could not be had\n", bytes);
	exit(3);
}

void *memory_zalloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		out_of_memory(size);
	return p;
}

void *memory_resize(void *p, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		out_of_memory(SIZE_MAX);
	p = realloc(p, bytes ? bytes : 1);
	if (!p)
		out_of_memory(bytes);
	return p;
}
