/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Formatted output. %d %i %u %x %X %o %c %s %p %%, widths hh h l ll z t j, flags - + space 0 #,
 * width and precision as numbers or *. No floating point: times are integers with a unit.
 * snprintf and vsnprintf return what glibc's would.
 */
#ifndef CFLAT_STDIO_H
#define CFLAT_STDIO_H

#include <stdarg.h>
#include "types.h"

int vsnprintf(char *buf, size_t size, const char *fmt, va_list ap) PRINTF_LIKE(3, 0);
int snprintf(char *buf, size_t size, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* To the console, whole: concurrent callers' texts do not mix. Returns the length. */
int vprintf(const char *fmt, va_list ap) PRINTF_LIKE(1, 0);
int printf(const char *fmt, ...) PRINTF_LIKE(1, 2);

#endif
