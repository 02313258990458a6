/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts an Image (Linux, Documentation/arm64/booting.rst) into memory.
 */
#ifndef KVM_ARM64_IMAGE_H
#define KVM_ARM64_IMAGE_H

#include "kvm/image_file.h"
#include "types.h"
#include "util/error.h"

struct vm;

/*
 * At the start of memory. *entry: where it begins; *end: behind all that it takes, its own .bss
 * included.
 */
int arm64_load(struct vm *vm, const struct image_file *f, u64 *entry, u64 *end, struct error *err);

#endif
