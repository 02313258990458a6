/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fixed-width integer names, shared by the images, libcflat and the host programs.
 */
#ifndef TYPES_H
#define TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;
typedef unsigned __int128 u128;
typedef __int128 s128;

#define ARRAY_SIZE(a)	      (sizeof(a) / sizeof((a)[0]))
#define BIT(n)		      (1ULL << (n))
#define ALIGN_UP(x, a)	      (((x) + (a)-1) & ~((__typeof__(x))(a)-1))
#define ALIGN_DOWN(x, a)      ((x) & ~((__typeof__(x))(a)-1))
#define container_of(p, t, m) ((t *)((char *)(p)-offsetof(t, m)))
#define MIN(a, b)                        \
	({                               \
		__typeof__(a) a__ = (a); \
		__typeof__(b) b__ = (b); \
		a__ < b__ ? a__ : b__;   \
	})
#define MAX(a, b)                        \
	({                               \
		__typeof__(a) a__ = (a); \
		__typeof__(b) b__ = (b); \
		a__ > b__ ? a__ : b__;   \
	})

#define PRINTF_LIKE(fmt, args) __attribute__((format(__printf__, fmt, args)))
#define NORETURN	       __attribute__((noreturn))
#define UNUSED		       __attribute__((unused))
#define READ_ONCE(x)	       (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)       (*(volatile __typeof__(x) *)&(x) = (v))

#endif
