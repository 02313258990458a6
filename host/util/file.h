/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whole files: read into memory, or written so that a reader never sees half of one.
 */
#ifndef UTIL_FILE_H
#define UTIL_FILE_H

#include "types.h"
#include "util/error.h"
#include "util/text.h"

/*
 * Appends the file's content to out. -1 with err set where it cannot be read or is longer than
 * max bytes; out is then as it was.
 */
int file_read(const char *path, size_t max, struct text *out, struct error *err);

/* The content under that name, by way of a temporary file beside it. -1 with err set. */
int file_write(const char *path, const void *data, size_t len, struct error *err);

#endif
