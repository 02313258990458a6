/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The image's arguments: the words of its command line, "key=value" or "key". A word in double
 * quotes may hold spaces. The last of two words with the same key counts.
 */
#ifndef ARGS_H
#define ARGS_H

#include "types.h"

/* Keeps its own copy (at most 1023 bytes; a longer line is an ERROR, not cut in silence). */
void args_init(const char *cmdline);

bool args_has(const char *key);

/* The value, "" for a bare key, fallback where there is none. */
const char *args_str(const char *key, const char *fallback);

/* Decimal, 0x or 0 prefix. A value that is no number ends the image with an ERROR that names it. */
u64 args_u64(const char *key, u64 fallback);

#endif
