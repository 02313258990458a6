/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file in memory, for the loaders, and reading from it within its bounds.
 */
#ifndef KVM_IMAGE_FILE_H
#define KVM_IMAGE_FILE_H

#include "types.h"
#include "util/error.h"

/* Larger is no test image. */
#define IMAGE_FILE_MAX (256u << 20)

struct image_file {
	const char *path;
	u8 *data;
	size_t size;
};

/* -1 with err: not there, no regular file, or larger than max bytes. */
int image_file_read(struct image_file *f, const char *path, u64 max, struct error *err);
void image_file_free(struct image_file *f);

/* len bytes at offset, or NULL where the file does not have them. */
const void *image_file_at(const struct image_file *f, u64 offset, u64 len);

#endif
