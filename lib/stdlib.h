/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of stdlib.h that images need.
 */
#ifndef CFLAT_STDLIB_H
#define CFLAT_STDLIB_H

#include "types.h"

/* In place, O(n log n) at worst, not stable. */
void qsort(void *base, size_t count, size_t size, int (*cmp)(const void *, const void *));

/* As ISO C's, without errno: out of range gives the nearest limit. */
unsigned long strtoul(const char *s, char **end, int base);
long strtol(const char *s, char **end, int base);

/* Decimal, 0x or 0 prefix: true when the whole string is a number of at most 64 bits, unsigned. */
bool str_to_u64(const char *s, u64 *value);

#endif
