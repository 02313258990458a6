/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Conversion between ticks and nanoseconds that cannot overflow on the way: products are 128 bits
 * wide; a result above 64 bits saturates to UINT64_MAX.
 */
#ifndef MULDIV_H
#define MULDIV_H

#include "types.h"

#define NSEC_PER_SEC  1000000000UL
#define NSEC_PER_MSEC 1000000UL
#define NSEC_PER_USEC 1000UL

/* a * b / c, rounded down; c must not be 0. */
u64 mul_div_u64(u64 a, u64 b, u64 c);

/* Signed: rounds towards zero, saturates to INT64_MIN and INT64_MAX. */
s64 mul_div_s64(s64 a, s64 b, s64 c);

/* (a * mul) >> shift with a 128-bit product, shift 0 to 127: pvclock's arithmetic. */
u64 mul_shift_u64(u64 a, u64 mul, unsigned int shift);

u64 ticks_to_ns(u64 ticks, u64 hz);
u64 ns_to_ticks(u64 ns, u64 hz);

/* (measured - reference) / reference, in parts per million, saturating. */
s64 error_ppm(u64 measured, u64 reference);

#endif
