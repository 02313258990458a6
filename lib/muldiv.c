// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ticks to nanoseconds and back, by products of 128 bits.
 */
#include "muldiv.h"
#include "panic.h"

static u64 saturate_u64(u128 value)
{
	return value > UINT64_MAX ? UINT64_MAX : (u64)value;
}

static s64 saturate_s64(u128 magnitude, bool negative)
{
	if (negative)
		return magnitude >= BIT(63) ? INT64_MIN : -(s64)magnitude;
	return magnitude > INT64_MAX ? INT64_MAX : (s64)magnitude;
}

static u64 magnitude_of(s64 value)
{
	return value < 0 ? -(u64)value : (u64)value;
}

u64 mul_div_u64(u64 a, u64 b, u64 c)
{
	assert(c);
	return saturate_u64((u128)a * b / c);
}

s64 mul_div_s64(s64 a, s64 b, s64 c)
{
	assert(c);
	return saturate_s64((u128)magnitude_of(a) * magnitude_of(b) / magnitude_of(c),
			    (a < 0) ^ (b < 0) ^ (c < 0));
}

u64 mul_shift_u64(u64 a, u64 mul, unsigned int shift)
{
	assert(shift < 128);
	return saturate_u64((u128)a * mul >> shift);
}

u64 ticks_to_ns(u64 ticks, u64 hz)
{
	return mul_div_u64(ticks, NSEC_PER_SEC, hz);
}

u64 ns_to_ticks(u64 ns, u64 hz)
{
	return mul_div_u64(ns, hz, NSEC_PER_SEC);
}

s64 error_ppm(u64 measured, u64 reference)
{
	bool negative = measured < reference;
	u64 difference = negative ? reference - measured : measured - reference;

	assert(reference);
	return saturate_s64((u128)difference * 1000000 / reference, negative);
}
