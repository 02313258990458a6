/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits of int and long, for libfdt's headers: a compiler's own limits.h wants a C library's
 * behind it.
 */
#ifndef CFLAT_LIMITS_H
#define CFLAT_LIMITS_H

#define CHAR_BIT  __CHAR_BIT__
#define INT_MAX	  __INT_MAX__
#define INT_MIN	  (-INT_MAX - 1)
#define UINT_MAX  (2U * INT_MAX + 1)
#define LONG_MAX  __LONG_MAX__
#define LONG_MIN  (-LONG_MAX - 1)
#define ULONG_MAX (2UL * LONG_MAX + 1)

#endif
