/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A bump allocator over one range of free memory. Nothing is freed: images live for seconds.
 */
#ifndef ALLOC_H
#define ALLOC_H

#include "types.h"

#define PAGE_SIZE 4096UL

/* Hands over [start, end); called once by the start-up code. */
void alloc_init(uintptr_t start, uintptr_t end);

/* Zeroed memory; align is a power of two. Ends the image with an ERROR when there is none left. */
void *alloc_aligned(size_t size, size_t align);
void *alloc(size_t size); /* aligned to 16 bytes */
void *alloc_pages(size_t count);

/* Bytes left. */
size_t alloc_left(void);

#endif
