/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory for the host programs. Where there is none left, nothing useful can be done: the program
 * says so and ends with status 3, so no caller has a NULL to check for.
 */
#ifndef UTIL_MEMORY_H
#define UTIL_MEMORY_H

#include "types.h"

/* Zeroed memory of size bytes; free() it. Never NULL. */
void *memory_zalloc(size_t size) __attribute__((malloc, alloc_size(1), returns_nonnull));

/* realloc() of an array of count elements of size bytes; new elements are not cleared. */
void *memory_resize(void *p, size_t count, size_t size)
	__attribute__((alloc_size(2, 3), returns_nonnull));

#endif
