/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts an ELF image into memory and finds out how it wants to be entered.
 */
#ifndef KVM_X86_LOADER_H
#define KVM_X86_LOADER_H

#include "kvm/image_file.h"
#include "types.h"
#include "util/error.h"

struct vm;

struct x86_image {
	bool is_pvh; /* else multiboot 1 */
	u32 entry;   /* physical */
	u64 end;     /* behind the highest byte loaded */
};

int x86_load(struct vm *vm, const struct image_file *f, struct x86_image *image, struct error *err);

#endif
