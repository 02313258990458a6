// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The Image header, and the checks that its numbers need: the file may be cut short or made to harm.
 */
#include "kvm/arm64/image.h"

#include <string.h>
#include "kvm/vm.h"

#define MAGIC		   "ARM\x64"
#define FLAG_BIG_ENDIAN	   BIT(0)
#define TEXT_OFFSET_BEFORE 0x80000 /* where image_size is 0: an Image from before Linux 3.17 */

struct image_header {
	u32 code[2];
	u64 text_offset;
	u64 image_size;
	u64 flags;
	u64 reserved[3];
	char magic[4];
	u32 pe_header;
};

static int check(const struct image_file *f, struct image_header *h, struct error *err)
{
	const void *at = image_file_at(f, 0, sizeof(*h));

	if (at)
		memcpy(h, at, sizeof(*h));
	if (!at || memcmp(h->magic, MAGIC, sizeof(h->magic)))
		return error_set(err, "%s: no Image of arm64: it has no magic number at byte 56",
				 f->path);
	if (h->flags & FLAG_BIG_ENDIAN)
		return error_set(err, "%s: a big-endian Image", f->path);
	if (!h->image_size) {
		h->text_offset = TEXT_OFFSET_BEFORE;
		h->image_size = f->size;
	}
	if (h->image_size < f->size)
		return error_set(err, "%s: the file has %zu bytes and its header says %llu",
				 f->path, f->size, (unsigned long long)h->image_size);
	return 0;
}

int arm64_load(struct vm *vm, const struct image_file *f, u64 *entry, u64 *end, struct error *err)
{
	struct image_header h;
	void *to;

	if (check(f, &h, err))
		return -1;
	/* Memory begins at a multiple of 2 MiB, as text_offset counts from one. */
	to = h.text_offset < vm->regions[0].size
		     ? vm_memory(vm, vm->regions[0].base + h.text_offset, h.image_size)
		     : NULL;
	if (!to)
		return error_set(err,
				 "%s: it wants %llu bytes of memory %llu bytes from its start; "
				 "there are %u MiB",
				 f->path, (unsigned long long)h.image_size,
				 (unsigned long long)h.text_offset, vm->options->memory_mib);
	memcpy(to, f->data, f->size);
	*entry = vm->regions[0].base + h.text_offset;
	*end = *entry + h.image_size;
	return 0;
}
