// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bump allocator of alloc.h.
 */
#include "alloc.h"
#include "panic.h"
#include "spinlock.h"
#include "string.h"

static struct spinlock lock;
static uintptr_t next, limit;

void alloc_init(uintptr_t start, uintptr_t end)
{
	next = start;
	limit = MAX(start, end);
}

/* 0 where it does not fit. */
static uintptr_t take(size_t size, size_t align)
{
	uintptr_t begin = 0, gap;

	spin_lock(&lock);
	/* All by subtraction from what is left: begin + size might wrap. */
	gap = -next & (align - 1);
	if (gap <= limit - next && size <= limit - next - gap) {
		begin = next + gap;
		next = begin + size;
	}
	spin_unlock(&lock);
	return begin;
}

void *alloc_aligned(size_t size, size_t align)
{
	uintptr_t begin;

	if (!align || (align & (align - 1)))
		panic("alloc_aligned(%zu, %zu): the alignment is no power of two", size, align);
	begin = take(size, align);
	if (!begin)
		panic("out of memory: %zu bytes aligned to %zu wanted, %zu left; give the machine "
		      "more",
		      size, align, alloc_left());
	return memset((void *)begin, 0, size);
}

void *alloc(size_t size)
{
	return alloc_aligned(size, 16);
}

void *alloc_pages(size_t count)
{
	size_t size;

	if (__builtin_mul_overflow(count, PAGE_SIZE, &size))
		panic("alloc_pages(%zu): more than the address space", count);
	return alloc_aligned(size, PAGE_SIZE);
}

size_t alloc_left(void)
{
	return READ_ONCE(limit) - READ_ONCE(next);
}
