// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * RAM: maps all of it and gives the largest free piece to the allocator.
 */
#include "alloc.h"
#include "panic.h"
#include "types.h"
#include <libfdt.h>
#include "startup.h"
#include <arch/devicetree.h>
#include <arch/mmu.h>

/* Calls fn for everything that lies in RAM and is not free. */
static void for_each_taken(void (*fn)(struct address_range taken, void *arg), void *arg)
{
	const struct machine *m = machine();

	fn((struct address_range){ (u64)_start, _end - _start }, arg);
	fn((struct address_range){ (u64)m->fdt, fdt_totalsize(m->fdt) }, arg);
	fn(m->initrd, arg);
	devicetree_for_each_reserved(fn, arg);
}

struct cut {
	u64 at;	 /* the first address in question */
	u64 end; /* where the free piece that begins there ends */
};

/* Moves cut->at behind a taken piece that covers it, and cut->end before one that follows. */
static void cut_taken(struct address_range taken, void *arg)
{
	struct cut *cut = arg;
	u64 end = taken.base + taken.size;

	if (!taken.size)
		return;
	if (taken.base <= cut->at && cut->at < end)
		cut->at = end;
	else if (taken.base > cut->at && taken.base < cut->end)
		cut->end = taken.base;
}

/* The largest free piece of RAM, of whole blocks but for what is cut off; size 0 if none. */
static struct address_range largest_free_piece(void)
{
	const struct machine *m = machine();
	struct address_range best = { 0 };

	for (int i = 0; i < m->nr_memory; i++) {
		u64 at = ALIGN_UP(m->memory[i].base, MMU_BLOCK_SIZE);
		u64 bank_end = ALIGN_DOWN(m->memory[i].base + m->memory[i].size, MMU_BLOCK_SIZE);

		while (at < bank_end) {
			struct cut cut = { at, bank_end };

			for_each_taken(cut_taken, &cut);
			if (cut.at != at) { /* was taken; look again from behind it */
				at = cut.at;
				continue;
			}
			if (cut.end - at > best.size)
				best = (struct address_range){ at, cut.end - at };
			at = cut.end;
		}
	}
	return best;
}

void memory_init(void)
{
	const struct machine *m = machine();
	struct address_range free;

	for (int i = 0; i < m->nr_memory; i++)
		mmu_map_memory(m->memory[i].base, m->memory[i].size);
	free = largest_free_piece();
	if (!free.size)
		panic("devicetree: no free 2 MiB block of memory beside the image; give the "
		      "machine "
		      "more memory");
	alloc_init(free.base, free.base + free.size);
}
